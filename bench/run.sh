#!/usr/bin/env bash
# Measures the pair style against its peers, all in one run on this machine, and prints ratios.
# Usage: bench/run.sh [--quick]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/scripts/bootstrap.sh" --tests
env=${MLIP_DD_ENV:-$root/.venv}
export PATH=$env/bin:$PATH OMP_NUM_THREADS=1
exec python "$root/bench/main_job.py" --bare "${MLIP_DD_BUILD:-$root/build}/bench/mlip_dd_bench_bare" "$@"
