#!/usr/bin/env bash
# Makes the environment, builds everything and passes all tests. Ends with a non-zero status on any failure.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
scripts/bootstrap.sh --tests || exit 1
env=${MLIP_DD_ENV:-$root/.venv}
build=${MLIP_DD_BUILD:-$root/build}
export PATH=$env/bin:$PATH OMP_NUM_THREADS=1

failed=0
echo "== unit tests"
ctest --test-dir "$build" --output-on-failure --no-tests=error || failed=1
echo "== scripts through lmp, and the Python side"
python -m pytest -q --durations=10 tests || failed=1
echo "== the spec reader under a fuzzer, briefly"
if echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }' |
  clang++ -x c++ -fsanitize=fuzzer,address,undefined - -o /dev/null 2>/dev/null; then
  fuzz/run.sh 30 || failed=1
else
  echo "SKIPPED: clang++ with the fuzzer's runtime was not found (Debian: clang, libclang-rt-dev)"
fi
if [ "$failed" != 0 ]; then
  echo "tests/run.sh: some tests failed (see above)" >&2
fi
exit $failed
