#!/usr/bin/env bash
# A pretrained model and DFT-D3 in one pipeline: graphite at constant pressure, with dispersion and without.
#
#   bash examples/graphite-d3/run.sh [--ranks N] [--steps N]
#
#   --ranks N    MPI ranks        (default: 2)
#   --steps N    steps per run    (default: 400, about 70 s each on two cores)
#   MLIP_DD_ENV  and others: see scripts/bootstrap.sh
ranks=2 steps=400
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

export_model sevennet 7net-0 7net-0
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
