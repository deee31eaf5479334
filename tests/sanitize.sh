#!/usr/bin/env bash
# Unit tests under sanitizers: AddressSanitizer with UndefinedBehaviorSanitizer, and ThreadSanitizer for virtual ranks.
# Usage: tests/sanitize.sh [short|long]. `short` runs what needs no torch: communication, graphs, plans, consolidation,
# wiring. `long` runs all unit tests. Ends with a non-zero status on any finding in our code; what is passed over in
# other libraries stands in tests/sanitizers/. Needs what scripts/bootstrap.sh installs.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
env=${MLIP_DD_ENV:-$root/.venv}
builds=${MLIP_DD_SANITIZE_BUILD:-$root/build-sanitize}
form=${1:-short}
case $form in
  short) targets=(mlip_dd_plain_tests) tests='^plain$' ;;
  long) targets=(all) tests='.*' ;;
  *) echo "tests/sanitize.sh: \`$form\` is neither short nor long" >&2 && exit 2 ;;
esac
export PATH=$env/bin:$PATH OMP_NUM_THREADS=1
launchers=()
if command -v ccache >/dev/null; then
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
  launchers=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
# Torch and MPI free some of what they allocate only with the process, and hand out containers that they filled.
export ASAN_OPTIONS=detect_container_overflow=0 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$root/tests/sanitizers/leak.supp
# MPICH's UCX puts itself before the C library's madvise, and is called there by threads that have ended.
export UCX_MEM_EVENTS=n
export TSAN_OPTIONS="suppressions=$root/tests/sanitizers/thread.supp ignore_noninstrumented_modules=1"

failed=0
check() { # name, sanitizers, tests, command before ctest...
  local name=$1 sanitizers=$2 tests=$3
  shift 3
  echo "== $form: $sanitizers"
  mkdir -p "$builds"
  cmake -S "$root" -B "$builds/$name" -G Ninja -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS="-O1 -g1" \
    -DMLIP_DD_SANITIZE="$sanitizers" -DMLIP_DD_TESTS=ON -DMLIP_DD_BENCH=OFF -DMLIP_DD_TOOLS=OFF -DMLIP_DD_CUDA=OFF \
    -DPython3_EXECUTABLE="$env/bin/python" -DCMAKE_PREFIX_PATH="$env/share/mlip-dd/debian/usr" \
    "${launchers[@]}" >"$builds/$name.log" 2>&1 &&
    cmake --build "$builds/$name" --target "${targets[@]}" >>"$builds/$name.log" 2>&1 || {
    tail -40 "$builds/$name.log" >&2
    failed=1
    return
  }
  "$@" ctest --test-dir "$builds/$name" -R "$tests" --output-on-failure --no-tests=error || failed=1
}
check address address,undefined "$tests"
# ThreadSanitizer wants the addresses of older kernels.
steady=()
setarch "$(uname -m)" -R true 2>/dev/null && steady=(setarch "$(uname -m)" -R)
check thread thread "$tests" "${steady[@]}"
exit $failed
