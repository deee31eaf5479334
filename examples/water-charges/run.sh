#!/usr/bin/env bash
# Charges that a model makes, in a lattice sum: AIMNet2 -> PME, with DFT-D3, on one rank and on four.
#
#   bash examples/water-charges/run.sh
#
#   MLIP_DD_ENV  and others: see scripts/bootstrap.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
env=$(realpath -m "${MLIP_DD_ENV:-$root/.venv}")
out=$root/examples/out/water-charges

"$root/scripts/bootstrap.sh"
export PATH=$env/bin:$PATH
mkdir -p "$out"
cd "$out"
# The weights are drawn at random, so the numbers mean nothing to a chemist; the package fetches trained ones, whose
# files are exported in the same way.
[ -e aimnet2/spec.json ] || python -m mlip_dd export aimnet2 --untrained 7 --dtype float64 -o aimnet2
cp "$here"/*.json "$here/h2o.mol" .
[ -e water.data ] || lmp -in "$here/box.in" -var data water.data -log none -screen none
run() { mpirun -np "$1" lmp -in "$here/in.water" -var spec pipeline.json -var data water.data "${@:2}"; }
run 1 -var forces one.dump -var differences yes -log one.log
run 4 -var forces many.dump -log many.log
python "$here/compare.py" one.dump many.dump -o water.png
echo "The picture: $out/water.png"
