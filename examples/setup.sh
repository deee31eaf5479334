# Sourced by the run.sh of an example: reads its arguments, makes the environment and goes to the folder of its results.
#
#   ranks=2 steps=400                                         what --ranks and --steps may change; no steps: no --steps
#   . "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"            sets here, root, out and PATH
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$root/examples/out/$(basename "$here")

fail() { echo "$(basename "$here"): $*" >&2; exit 1; }
whole_number() { [[ $2 =~ ^[1-9][0-9]{0,5}$ ]] || fail "$1 takes a positive whole number (found: '$2')"; }
while [ $# -gt 0 ]; do
  case $1 in
    --ranks) whole_number "$1" "${2:-}"; ranks=$2; shift 2 ;;
    --steps) [ -n "${steps:-}" ] || fail "this example has no --steps"; whole_number "$1" "${2:-}"; steps=$2; shift 2 ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[1]}"; exit 0 ;;
    *) fail "unknown argument '$1'" ;;
  esac
done

"$root/scripts/bootstrap.sh"
export PATH=$(realpath -m "${MLIP_DD_ENV:-$root/.venv}")/bin:$PATH
mkdir -p "$out"
cd "$out"

# What the exporter writes to the folder named last is kept for the next time.
export_model() { # arguments of `mlip_dd export` ... folder
  [ -e "${*: -1}/spec.json" ] || python -m mlip_dd export "${@:1:$#-1}" -o "${*: -1}"
}
