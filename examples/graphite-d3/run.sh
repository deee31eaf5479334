#!/usr/bin/env bash
# A pretrained model and DFT-D3 in one pipeline: graphite at constant pressure, with dispersion and without.
#
#   bash examples/graphite-d3/run.sh [--ranks N] [--steps N]
#
#   --ranks N    MPI ranks        (default: 2)
#   --steps N    steps per run    (default: 400, about 70 s each on two cores)
#   MLIP_DD_ENV  and others: see scripts/bootstrap.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
env=$(realpath -m "${MLIP_DD_ENV:-$root/.venv}")
out=$root/examples/out/graphite-d3
ranks=2
steps=400

fail() { echo "graphite-d3: $*" >&2; exit 1; }
whole_number() { [[ $2 =~ ^[1-9][0-9]{0,5}$ ]] || fail "$1 takes a positive whole number (found: '$2')"; }
while [ $# -gt 0 ]; do
  case $1 in
    --ranks) whole_number "$1" "${2:-}"; ranks=$2; shift 2 ;;
    --steps) whole_number "$1" "${2:-}"; steps=$2; shift 2 ;;
    -h | --help) sed -n '4,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) fail "unknown argument '$1'" ;;
  esac
done

"$root/scripts/bootstrap.sh"
export PATH=$env/bin:$PATH
mkdir -p "$out"
cd "$out"
[ -e 7net-0/spec.json ] || python -m mlip_dd export sevennet 7net-0 -o 7net-0
cp "$here/dispersion.json" .
cat >sum.json <<'SPEC'
{
  "pipeline": {
    "models": {"mlp": "7net-0/spec.json", "d3": "dispersion.json"},
    "groups": [{"steps": ["mlp", "d3"]}]
  }
}
SPEC
mpirun -np "$ranks" lmp -in "$here/in.graphite" -var spec sum.json -var steps "$steps" -log with.log
mpirun -np "$ranks" lmp -in "$here/in.graphite" -var spec 7net-0/spec.json -var steps "$steps" -log without.log
python "$here/plot.py" with.log without.log -o graphite.png
echo "The picture: $out/graphite.png"
