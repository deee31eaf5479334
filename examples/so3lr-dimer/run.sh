#!/usr/bin/env bash
# Two molecules of water that come apart, by SO3LR, and the charge that one gives to the other.
#
#   bash examples/so3lr-dimer/run.sh [--ranks N]
#
#   --ranks N    MPI ranks    (default: 2)
#   MLIP_DD_ENV  and others: see scripts/bootstrap.sh
ranks=2
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

export_model so3lr --dtype float64 so3lr
rm -f ./*.txt
for atoms in both first second; do
  mpirun -np "$ranks" lmp -in "$here/in.dimer" -var spec so3lr/spec.json -var atoms "$atoms" \
    -var energies "$atoms.txt" -log "$atoms.log" -screen none || fail "the run failed; its log is $out/$atoms.log"
done
python "$here/binding.py" both.txt first.txt second.txt -o dimer.png
echo "The picture: $out/dimer.png"
