#!/usr/bin/env bash
# Charges that a model makes, in a lattice sum: AIMNet2 -> PME, with DFT-D3, on one rank and on several.
#
#   bash examples/water-charges/run.sh [--ranks N]
#
#   --ranks N    MPI ranks that one is compared with    (default: 4)
#   MLIP_DD_ENV  and others: see scripts/bootstrap.sh
ranks=4
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

# The weights are drawn at random, so the numbers mean nothing to a chemist; the package fetches trained ones, whose
# files are exported in the same way.
export_model aimnet2 --untrained 7 --dtype float64 aimnet2
cp "$here"/*.json "$here/h2o.mol" .
[ -e water.data ] || lmp -in "$here/box.in" -var data water.data -log none -screen none
run() { mpirun -np "$1" lmp -in "$here/in.water" -var spec pipeline.json -var data water.data "${@:2}"; }
run 1 -var forces one.dump -var differences yes -log one.log
run "$ranks" -var forces many.dump -log many.log
python "$here/compare.py" one.dump many.dump -o water.png
echo "The picture: $out/water.png"
