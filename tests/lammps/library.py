"""Python programs that use LAMMPS as a library, on a number of ranks."""

import os
import subprocess
import sys
from pathlib import Path

import tolerances as tol
from program import found_program
from systems import rock_salt, write_data

CELL = rock_salt(1)
START = """
def setup(lmp, spec=SPEC, tail=""):
    lmp.commands_string(f\"\"\"
clear
units metal
atom_style atomic
read_data {FOLDER}/atoms.data
pair_style mlip/dd {spec} {tail}
pair_coeff * * Na Cl
run 0 post no
\"\"\")
    return lmp.get_thermo("pe")

def quiet(comm=None):
    return lammps(cmdargs=["-screen", "none", "-log", "none"], comm=comm)
"""


def python(body: str, folder: Path, spec, ranks: int = 1, limit: float = tol.RUN_LIMIT) -> subprocess.CompletedProcess:
    write_data(CELL, folder / "atoms.data")
    imports, _, rest = body.partition("---\n")
    script = folder / "job.py"
    script.write_text(f"{imports}\nSPEC, FOLDER = {str(spec)!r}, {str(folder)!r}\n{START}\n{rest}\n")
    # A file for each rank: in one stream they print into one another's lines.
    command = [found_program("mpirun"), "-np", str(ranks), "-outfile-pattern", "rank.%r", sys.executable, str(script)]
    done = subprocess.run(command, cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=limit,
                          env={**os.environ, "OMP_NUM_THREADS": "1",
                               "LD_LIBRARY_PATH": f"{sys.prefix}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}"})
    done.stdout += "".join(file.read_text() for file in sorted(folder.glob("rank.*")))
    return done
