#!/usr/bin/env bash
# Makes the project's environment: LAMMPS with MPI, torch, build tools and the mlip-dd wheel, built from this
# source folder. Run it again at any time: what is there and up to date is left alone.
#
#   scripts/bootstrap.sh [--tests]      --tests also builds the unit tests and benchmarks
#
#   MLIP_DD_ENV     where the environment goes               (default: .venv in the source folder)
#   MLIP_DD_BUILD   where things are compiled                (default: build in the source folder)
#   MLIP_DD_CUDA    AUTO, ON or OFF: compile CUDA kernels    (default: AUTO, on where nvcc is found)
#   MLIP_DD_KOKKOS  prefix of a LAMMPS with KOKKOS: also build the plugin for it (docs/kokkos.md)
#   MLIP_DD_JOBS    how many files to compile at a time      (default: by cores and memory)
#   PYTHON          the Python to start from, 3.10 or newer  (default: python3)
#
# Afterwards ENV/bin/lmp, ENV/bin/mpirun and ENV/bin/python -m mlip_dd work with ENV/bin on PATH.
set -euo pipefail
trap 'echo "bootstrap: stopped by a failing command in line $LINENO of scripts/bootstrap.sh" >&2' ERR

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
env=$(realpath -m "${MLIP_DD_ENV:-$root/.venv}")
build=$(realpath -m "${MLIP_DD_BUILD:-$root/build}")
cuda=${MLIP_DD_CUDA:-AUTO}
kokkos=${MLIP_DD_KOKKOS:-}
python=${PYTHON:-python3}
tests=OFF
for argument in "$@"; do
  case $argument in
    --tests) tests=ON ;;
    *) echo "bootstrap: unknown argument '$argument'. Usage: scripts/bootstrap.sh [--tests]" >&2; exit 2 ;;
  esac
done

say() { echo "bootstrap: $*"; }
fail() { echo "bootstrap: $*" >&2; exit 1; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else return 1; fi }

case $cuda in AUTO | ON | OFF) ;; *) fail "MLIP_DD_CUDA must be AUTO, ON or OFF (found: $cuda)" ;; esac
command -v "$python" >/dev/null || fail "'$python' was not found. Install Python 3.10 or newer, or set PYTHON."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
  fail "'$python' is $("$python" --version), but 3.10 or newer is needed. Set PYTHON to another one."
command -v "${CXX:-c++}" >/dev/null ||
  fail "no C++ compiler was found. Install one with C++20 (Debian: apt-get install g++), or set CXX."

# The Python environment. A folder that is there already is left alone unless it is one.
if ! "$env/bin/python" -m pip --version >/dev/null 2>&1; then
  [ ! -e "$env" ] || [ -e "$env/pyvenv.cfg" ] || [ -z "$(ls -A "$env")" ] ||
    fail "$env is there, but is no Python environment. Set MLIP_DD_ENV to a folder that may be made."
  say "making the Python environment $env"
  "$python" -m venv "$env" >/dev/null 2>&1 || {
    as_root apt-get install -y -q python3-venv >/dev/null 2>&1 || true
    "$python" -m venv "$env" || fail "'$python -m venv' failed. Install it (Debian: apt-get install python3-venv)."
  }
fi

# A stamp holds the hash of what a step was made from; the step is skipped while it agrees.
stamps=$env/share/mlip-dd/stamps
mkdir -p "$stamps"
fresh() { [ "$(cat "$stamps/$1" 2>/dev/null || true)" = "$2" ]; }
hash_of() { cat "$@" | sha256sum | cut -d' ' -f1; }

requirements=$root/scripts/requirements.txt
data_packages=$root/scripts/requirements-no-deps.txt
wanted=$(hash_of "$requirements" "$data_packages")
if ! fresh packages "$wanted"; then
  say "installing Python packages (torch is large: some minutes the first time)"
  # Older pips, Debian 12's among them, don't know -C, which the build below needs.
  "$env/bin/python" -m pip install --disable-pip-version-check -q "pip>=23.1" || fail "pip could not renew itself (see above)"
  "$env/bin/python" -m pip install --disable-pip-version-check -q -r "$requirements" ||
    fail "pip could not install $requirements (see above)"
  "$env/bin/python" -m pip install --disable-pip-version-check -q --no-deps -r "$data_packages" ||
    fail "pip could not install $data_packages (see above)"
  echo "$wanted" >"$stamps/packages"
fi

# Header-only C++ libraries that PyPI lacks: from the system, else from Debian's packages, unpacked into
# the environment where we may not install them.
prefix=$env/share/mlip-dd/debian
have_header() { # header
  local folder
  for folder in /usr/include /usr/local/include "$prefix/usr/include"; do
    [ -e "$folder/$1" ] && return 0
  done
  return 1
}
need_header() { # header, Debian package
  have_header "$1" && return 0
  say "installing $2"
  if as_root true && command -v apt-get >/dev/null; then
    apt-get install -y -q "$2" >/dev/null 2>&1 ||
      { apt-get update -q >/dev/null 2>&1 && apt-get install -y -q "$2" >/dev/null 2>&1; } && return 0
  fi
  if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
    local scratch
    scratch=$(mktemp -d)
    (cd "$scratch" && apt-get download -q "$2" >/dev/null 2>&1 && dpkg-deb -x ./*.deb "$prefix") && rm -rf "$scratch" && return 0
    rm -rf "$scratch"
  fi
  say "the C++ library with the header $1 was not found. Install it (Debian: apt-get install $2)."
  return 1
}
tools=ON
need_header CLI/CLI.hpp libcli11-dev || { tools=OFF; say "going on without the command mlip-dd, which needs it"; }
if [ "$tests" = ON ] && ! have_header catch2/catch_all.hpp; then
  need_header catch2/catch.hpp catch2 || have_header catch2/catch_all.hpp || fail "the unit tests need Catch2 (see above)"
fi

# The wheel. One that was made with the tests serves without them too.
cd "$root"
wheel_hash() { # ON or OFF: tests
  local folders=(CMakeLists.txt pyproject.toml README.md LICENSE cmake src potentials lammps-plugin tools python)
  [ "$1" = OFF ] || folders+=(bench tests/unit)
  {
    find "${folders[@]}" -type f ! -path '*/__pycache__/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
    cat "$stamps/packages"
    echo "$env $build $cuda $kokkos $1"
    "${CXX:-c++}" --version
  } | sha256sum | cut -d' ' -f1
}
wheel_is_fresh() {
  [ -f "$build/CMakeCache.txt" ] && "$env/bin/python" -c 'import mlip_dd' 2>/dev/null || return 1
  fresh "wheel-$tests" "$(wheel_hash "$tests")"
}
# Ninja's count of files now and then: a silent quarter of an hour looks like a hang.
report_progress() { # log
  local counted shown=
  while sleep 20 >/dev/null 2>&1; do
    counted=$(grep -oE '\[[0-9]+/[0-9]+\]' "$1" | tail -1 || true)
    [ "$counted" = "$shown" ] || say "  $counted"
    shown=$counted
  done
}

if ! wheel_is_fresh; then
  memory=$(awk '/MemAvailable/ {print int($2 / 3000000)}' /proc/meminfo 2>/dev/null || echo 1)
  jobs=$(nproc)
  [ "$memory" -lt "$jobs" ] && jobs=$memory
  [ "$jobs" -lt 1 ] && jobs=1
  jobs=${MLIP_DD_JOBS:-$jobs}
  say "compiling with $jobs job(s) in $build"
  # What CMake remembers of another environment's packages would go into the build.
  if ! grep -qs "^Python3_EXECUTABLE:[A-Z]*=$env/bin/python$" "$build/CMakeCache.txt"; then
    rm -f "$build/CMakeCache.txt"
  fi
  options=(-C build-dir="$build" -C cmake.define.MLIP_DD_CUDA="$cuda" -C cmake.define.MLIP_DD_TESTS="$tests"
    -C cmake.define.MLIP_DD_TOOLS="$tools" -C cmake.define.MLIP_DD_BENCH="$tests" -C cmake.define.CMAKE_PREFIX_PATH="$prefix/usr"
    -C cmake.define.MLIP_DD_KOKKOS_LAMMPS="$kokkos" -C cmake.define.Python3_EXECUTABLE="$env/bin/python")
  if command -v ccache >/dev/null; then
    # Another clone of the same sources hits the cache.
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
    options+=(-C cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache -C cmake.define.CMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  fi
  log=$env/share/mlip-dd/build.log
  made_from=$(wheel_hash OFF) made_from_with_tests=$(wheel_hash ON)
  rm -f "$stamps"/wheel-*
  report_progress "$log" &
  reporter=$!
  trap 'kill "$reporter" 2>/dev/null || true' EXIT
  PATH=$env/bin:$PATH CMAKE_GENERATOR=Ninja CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$env/bin/python" -m pip install \
    --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall -v "${options[@]}" . >"$log" 2>&1 || {
    grep -nE 'error|Error|FAILED' "$log" | head -20 >&2 || true
    tail -40 "$log" >&2
    fail "the build failed; all of its output is in $log"
  }
  grep -E '^ *--   (torch|MPI|LAMMPS|CUDA) ' "$log" | tail -4 || true
  echo "$made_from" >"$stamps/wheel-OFF"
  [ "$tests" = OFF ] || echo "$made_from_with_tests" >"$stamps/wheel-ON"
fi
say "ready: $env"
