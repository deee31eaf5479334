#!/usr/bin/env bash
# Makes the environment, builds everything and passes all tests. Ends with a non-zero status on any failure.
#
#   tests/run.sh [--whole] [--kokkos PREFIX]
#
#   --whole            also the cases that cost much more time than they are likely to find faults
#   --kokkos PREFIX    also tests the Kokkos variant, by the LAMMPS with KOKKOS in PREFIX; without, by the one in
#                      MLIP_DD_KOKKOS or, built earlier, in the cache
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mlip-dd
export MLIP_DD_KOKKOS=${MLIP_DD_KOKKOS:-}
whole=
while [ $# -gt 0 ]; do
  case $1 in
    --whole) whole=--whole ;;
    --kokkos) MLIP_DD_KOKKOS=${2:?a prefix must follow --kokkos}; shift ;;
    *) echo "tests/run.sh: unknown argument '$1'. Usage: tests/run.sh [--whole] [--kokkos PREFIX]" >&2; exit 2 ;;
  esac
  shift
done
if [ -z "$MLIP_DD_KOKKOS" ] && [ -x "$cache/lammps-kokkos/bin/lmp" ]; then MLIP_DD_KOKKOS=$cache/lammps-kokkos; fi
[ -z "$MLIP_DD_KOKKOS" ] || MLIP_DD_KOKKOS=$(realpath "$MLIP_DD_KOKKOS") || exit 1
scripts/bootstrap.sh --tests || exit 1
env=${MLIP_DD_ENV:-$root/.venv}
build=${MLIP_DD_BUILD:-$root/build}
export PATH=$env/bin:$PATH OMP_NUM_THREADS=1

failed=0
echo "== unit tests"
ctest --test-dir "$build" --output-on-failure --no-tests=error || failed=1
echo "== scripts through lmp, and the Python side"
python -m pytest -q --durations=10 ${whole:+"$whole"} ${MLIP_DD_KOKKOS:+--kokkos "$MLIP_DD_KOKKOS"} tests || failed=1
if [ -n "$MLIP_DD_KOKKOS" ]; then
  # The same scripts under -k on -sf kk: some, or all with one thread and with two.
  scripts=(tests/lammps)
  [ -n "$whole" ] || scripts=(tests/lammps/test_{types,changes,few_atoms}.py)
  for threads in ${whole:+1} 2; do
    echo "== scripts by the Kokkos variant, $threads threads for each rank"
    python -m pytest -q ${whole:+"$whole"} --kokkos "$MLIP_DD_KOKKOS" --all-kokkos "$threads" "${scripts[@]}" || failed=1
  done
fi
echo "== the Kokkos variant"
if [ -z "$MLIP_DD_KOKKOS" ]; then
  echo "SKIPPED: no LAMMPS with KOKKOS. Install one into $cache/lammps-kokkos (commands: docs/kokkos.md, with"
  echo "-D CMAKE_INSTALL_PREFIX=$cache/lammps-kokkos), or: bash tests/run.sh --kokkos PREFIX"
elif cmake --build "$build" --target help | grep kokkos_cuda_objects >/dev/null; then
  cmake --build "$build" --target kokkos_cuda_objects || failed=1
  echo "SKIPPED: runs of the Kokkos variant on a GPU: this Kokkos is for OpenMP"
else
  echo "SKIPPED: compilation for CUDA: no nvcc of torch's version, or no Kokkos configured for it in $MLIP_DD_KOKKOS"
fi
echo "== sanitizers, briefly"
has_sanitizer() { echo 'int main() {}' | "${CXX:-c++}" -x c++ -fsanitize="$1" - -o /dev/null 2>/dev/null; }
if has_sanitizer address,undefined && has_sanitizer thread; then
  tests/sanitize.sh short || failed=1
else
  echo "SKIPPED: ${CXX:-c++} lacks the runtime of AddressSanitizer or ThreadSanitizer (Debian: libgcc-dev of its version)"
fi
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
