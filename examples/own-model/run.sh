#!/usr/bin/env bash
# A model of your own: trains a small one in about a minute, exports it, and runs it on one rank and on several.
#
#   bash examples/own-model/run.sh [--ranks N] [--steps N]
#
#   --ranks N    MPI ranks that one is compared with        (default: 4)
#   --steps N    epochs of training                         (default: 20)
#   FAMILY       nequip, allegro or mace                    (default: nequip)
#   MLIP_DD_ENV  and others: see scripts/bootstrap.sh
ranks=4 steps=20
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

[ -e frames.xyz ] || python "$here/label.py" 60 frames.xyz
export_model sevennet 7net-0 7net-0
family=${FAMILY:-nequip}
mkdir -p "$family"
cp frames.xyz "$family"
cd "$family"
case $family in
  nequip | allegro)
    rm -f trained.ckpt
    nequip-train -cp "$here" -cn "$family" "epochs=$steps" >train.log 2>&1 || fail "training failed; see $PWD/train.log"
    python -m mlip_dd export nequip trained.ckpt -o model ;;
  mace)
    mace_run_train --name=trained --work_dir=. --train_file=frames.xyz --valid_fraction=0.1 --E0s=average --model=MACE \
      --num_interactions=2 --num_channels=8 --max_L=1 --correlation=2 --r_max=5.0 --max_ell=2 --batch_size=5 \
      --valid_batch_size=5 --max_num_epochs="$steps" --lr=0.01 --energy_key=energy --forces_key=forces --seed=1 \
      --device=cpu --default_dtype=float64 >train.log 2>&1 || fail "training failed; see $PWD/train.log"
    python -m mlip_dd export mace trained.model -o model ;;
  *) fail "FAMILY is nequip, allegro or mace (found: '$family')" ;;
esac

lmp -in "$here/../nacl/crystal.in" -var data crystal.data -log none -screen none
forces() { # ranks, spec, dump
  mpirun -np "$1" lmp -in "$here/../nacl/in.forces" -var spec "$2" -var data crystal.data -var forces "$3" \
    -log "$3.log" -screen none || fail "the run failed; its log is $PWD/$3.log"
}
forces 1 ../7net-0/spec.json teacher.dump
forces 1 model/spec.json one.dump
forces "$ranks" model/spec.json many.dump
python "$here/compare.py" teacher.dump one.dump many.dump -o own-model.png
echo "The picture: $PWD/own-model.png"
