#!/usr/bin/env bash
# Fuzzes the reader of spec files for a number of seconds (default 60), starting from the kept corpus.
# Usage: fuzz/run.sh [seconds]. Needs clang++ with its runtime (Debian: clang, libclang-rt-dev).
# $MLIP_DD_FUZZ_BUILD names the build folder, $MLIP_DD_CMAKE_ARGS further arguments of cmake.
# A finding is kept as <build folder>/findings/*, and the status is not zero.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-60}
build=${MLIP_DD_FUZZ_BUILD:-$root/build-fuzz}
command -v clang++ > /dev/null || {
  echo "fuzz/run.sh: clang++ was not found. Install clang and its runtime (Debian: clang, libclang-rt-dev)." >&2
  exit 1
}
# shellcheck disable=SC2086
cmake -S "$root" -B "$build" -DCMAKE_CXX_COMPILER=clang++ -DMLIP_DD_PLUGIN=OFF -DMLIP_DD_TESTS=OFF \
  -DMLIP_DD_FUZZ=ON ${MLIP_DD_CMAKE_ARGS:-} > "$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
rm -f "$build.log"
cmake --build "$build" --target fuzz_spec_reader -j 2
mkdir -p "$build/corpus" "$build/findings"
# New inputs go to the build folder; the kept corpus is read only.
"$build/fuzz/fuzz_spec_reader" -max_total_time="$seconds" -max_len=20000 -timeout=20 -rss_limit_mb=2048 \
  -dict="$root/fuzz/spec.dict" -artifact_prefix="$build/findings/" -print_final_stats=1 \
  "$build/corpus" "$root/fuzz/corpus"
