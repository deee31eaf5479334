#!/usr/bin/env bash
# SevenNet-0, a pretrained model, moves a crystal of NaCl on two ranks: makes the environment, runs LAMMPS,
# compares forces on one rank and on two, draws a picture and says where the time went.
#
#   bash examples/quickstart.sh [--ranks N] [--steps N]
#
#   --ranks N    MPI ranks of the run                    (default: 2)
#   --steps N    steps in each of its two stages         (default: 250)
#   MLIP_DD_ENV  and others: see scripts/bootstrap.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
env=$(realpath -m "${MLIP_DD_ENV:-$root/.venv}")
out=$root/examples/out
ranks=2
steps=250

fail() { echo "quickstart: $*" >&2; exit 1; }
usage() { sed -n '5,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
whole_number() { [[ $2 =~ ^[1-9][0-9]{0,5}$ ]] || fail "$1 takes a positive whole number (found: '$2')"; }
while [ $# -gt 0 ]; do
  case $1 in
    --ranks) whole_number "$1" "${2:-}"; ranks=$2; shift 2 ;;
    --steps) whole_number "$1" "${2:-}"; steps=$2; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "unknown argument '$1'" ;;
  esac
done

started=$SECONDS
step() { printf '\n== %s\n' "$*"; }
# Shows a command as one could type it in $out with $env/bin on PATH, then runs it.
run() { echo "\$ $*"; "$@"; }

step "The environment: LAMMPS, torch, the plugin (some minutes the first time)"
"$root/scripts/bootstrap.sh" || exit 1
export PATH=$env/bin:$PATH

# The model is exported again only when the exporter has changed.
model=$env/share/mlip-dd/models/7net-0
stamp=$(cat "$root"/python/mlip_dd/export/*.py "$root/scripts/requirements.txt" | sha256sum)
step "The model: SevenNet-0"
if [ -e "$model/spec.json" ] && [ "$(cat "$model/exported" 2>/dev/null || true)" = "$stamp" ]; then
  echo "$model/spec.json is there"
else
  run python -m mlip_dd export sevennet 7net-0 -o "$model" || fail "the model could not be exported (see above)"
  echo "$stamp" >"$model/exported"
fi
ready=$SECONDS

mkdir -p "$out"
cd "$out"
rm -f ./*.data ./*.dump ./*.png ./*.log
spec=$model/spec.json
step "The crystal"
echo "(commands run in $out, with $env/bin on PATH)"
run lmp -in ../nacl/crystal.in -var data crystal.data -log crystal.log -screen none ||
  fail "LAMMPS could not write the crystal; its log is $out/crystal.log"

step "Molecular dynamics on $ranks rank(s): NVT, then NPT, $steps steps each"
run mpirun -np "$ranks" lmp -in ../nacl/in.nacl -var spec "$spec" -var data crystal.data -var steps "$steps" \
  -var final final.data -log md.log || fail "the run failed (see above); its log is $out/md.log"
moved=$SECONDS

[ "$ranks" -gt 1 ] && other=$ranks || other=2
step "Forces of the last configuration on 1 and on $other ranks"
for n in 1 "$other"; do
  run mpirun -np "$n" lmp -in ../nacl/in.forces -var spec "$spec" -var data final.data \
    -var forces "forces-$n.dump" -log "forces-$n.log" -screen none ||
    { tail -3 "forces-$n.log" >&2; fail "the run on $n rank(s) failed; its log is $out/forces-$n.log"; }
done
python ../nacl/plot.py --log md.log --forces "1:forces-1.dump" "$other:forces-$other.dump" -o quickstart.png ||
  fail "the forces were not compared, or don't agree (see above)"

step "Where the time went"
python ../nacl/where_time_went.py md.log
echo
echo "Environment and model $((ready - started)) s, molecular dynamics $((moved - ready)) s, forces and picture" \
  "$((SECONDS - moved)) s."
echo "The picture: $out/quickstart.png"
