#!/usr/bin/env bash
# CHGNet on manganese oxide: energy and magnetic moments against the lattice constant.
#
#   bash examples/chgnet-magnets/run.sh [--ranks N]
#
#   --ranks N    MPI ranks    (default: 2)
#   MLIP_DD_ENV  and others: see scripts/bootstrap.sh
ranks=2
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

export_model chgnet chgnet
rm -f results.txt
for a in 4.20 4.28 4.36 4.44 4.52 4.60 4.68; do
  mpirun -np "$ranks" lmp -in "$here/in.oxide" -var spec chgnet/spec.json -var a "$a" -var results results.txt \
    -log oxide.log -screen none || fail "the run failed; its log is $out/oxide.log"
done
python "$here/plot.py" results.txt -o oxide.png
echo "The picture: $out/oxide.png"
