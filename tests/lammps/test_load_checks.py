"""If these fail, a plugin that was built for another LAMMPS or another MPI is used all the same, and reads memory
wrongly, instead of saying what it was built for and what it found."""

import pytest
from evaluate import Case
from preload import build_preload
from run import launch
from systems import rock_salt
from tolerances import ERROR_LIMIT

# Name; what stands in for the functions that LAMMPS or MPI would answer with; words of the message: what the plugin was
# built for, and what it found.
PRETENCES = {
    "ids_of_64_bits": ("""
#include <dlfcn.h>
#include <cstring>
extern "C" int lammps_extract_setting(void *handle, const char *name)
{
  if (std::strcmp(name, "tagint") == 0) return 8;
  return reinterpret_cast<int (*)(void *, const char *)>(dlsym(RTLD_NEXT, "lammps_extract_setting"))(handle, name);
}
""", ["atom IDs of 32 bits", "found: 64 bits"]),
    "open_mpi": ("""
#include <cstring>
extern "C" int MPI_Get_library_version(char *version, int *length)
{
  std::strcpy(version, "Open MPI v5.0.1, package: pretended");
  *length = static_cast<int>(std::strlen(version));
  return 0;
}
""", ["the MPI library MPICH", "found: Open MPI"]),
}


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", PRETENCES)
def test_another_build_of_the_host_is_refused(name, ranks, toy2, tmp_path):
    source, words = PRETENCES[name]
    outcome = launch(Case(rock_salt(1), toy2).script(tmp_path), tmp_path, ranks, limit=ERROR_LIMIT,
                     variables={"LD_PRELOAD": str(build_preload(source, tmp_path))})
    assert outcome.status != 0 and len(outcome.error_lines) == 1, outcome.output
    missing = [word for word in ("mlip/dd", "built for", *words, "Build mlip-dd for the LAMMPS")
               if word not in outcome.error_lines[0]]
    assert not missing, (missing, outcome.error_lines[0])
