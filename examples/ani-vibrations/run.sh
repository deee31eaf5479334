#!/usr/bin/env bash
# Vibrations of methane by ANI-1x: relaxation, and second derivatives by LAMMPS's dynamical_matrix.
#
#   bash examples/ani-vibrations/run.sh [--ranks N]
#
#   --ranks N    MPI ranks    (default: 2)
#   MLIP_DD_ENV  and others: see scripts/bootstrap.sh
ranks=2
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

export_model ani ani1x --dtype float64 ani1x
mpirun -np "$ranks" lmp -in "$here/in.methane" -var spec ani1x/spec.json
python "$here/frequencies.py" hessian.dat -o methane.png
echo "The picture: $out/methane.png"
