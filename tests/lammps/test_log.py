"""If these fail, the account that people paste into bug reports lacks a line or tells a wrong number, or `log no` does
not silence it."""

import re

import pytest
import torch
from evaluate import Case
from models import pairs_within
from program import ROOT
from run import run, spread
from systems import rock_salt

SYSTEM = rock_salt(2)
SKIN = 0.75
THREADS = {1: 2, 2: 1, 4: 1}    # by ranks; more threads than cores wait for one another
RANKS = tuple(THREADS)
EVALUATIONS = 3
# What the lines of times must tell of, by a word of theirs.
TIMES = ("graph", "forward", "backward", "exchange", "packing", "consolidat")
NUMBER = r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)"


def fingerprint(*files) -> str:
    """The 64-bit FNV-1a hash, as RFC 9923 describes it."""
    value = 0xcbf29ce484222325
    for byte in b"".join(file.read_bytes() for file in files):
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"{value:016x}"


@pytest.fixture(scope="module")
def logs(toy2, tmp_path_factory):
    """logs(ranks): what is printed with the account, and with `log no`."""
    known = {}

    def on(ranks: int) -> tuple[str, str]:
        if ranks not in known:
            folder = tmp_path_factory.mktemp(f"ranks{ranks}")
            moves = f"fix 1 all nve\nrun {EVALUATIONS - 1}\n"
            told = Case(SYSTEM, toy2, "told", options=f"device cpu threads {THREADS[ranks]}", skin=SKIN)
            silent = Case(SYSTEM, toy2, "silent", pair="pair_style mlip/dd {spec} log no\npair_coeff * * Na Cl")
            text = told.setup(folder) + moves + 'clear\nprint "SILENCE"\n' + silent.setup(folder) + moves
            known[ranks] = tuple(run(text, folder, ranks).output.split("\nSILENCE\n"))
        return known[ranks]

    return on


def only(pattern: str, text: str) -> re.Match:
    """The one line that begins with this."""
    found = list(re.finditer(rf"^mlip/dd: {pattern}", text, re.MULTILINE))
    assert len(found) == 1, (pattern, text)
    return found[0]


@pytest.mark.parametrize("ranks", RANKS)
def test_account_at_the_start(ranks, logs, toy2):
    text = logs(ranks)[0]
    versions = only(r"mlip-dd (\S+), torch (\S+), LAMMPS (.+), (.*MPI.*)$", text)
    assert f'\nversion = "{versions[1]}"\n' in (ROOT / "pyproject.toml").read_text()
    assert versions[2].split("+")[0] == torch.__version__.split("+")[0]
    assert text.startswith(f"LAMMPS ({versions[3]}") and "MPICH" in versions[4]
    spec = only(r"spec (\S+), fingerprint .*?([0-9a-f]{16})$", text)
    assert spec[1] == str(toy2.spec) and spec[2] == fingerprint(toy2.spec, toy2.file)
    assert only(r"types (.*?);", text)[1] == "1 Na, 2 Cl"
    only(rf"types .*; {ranks} ranks, {THREADS[ranks]} threads .*; device cpu$", text)
    only(r"units metal: length 1 A, energy 1 eV, charge 1 e$", text)
    only(rf"model \S*{toy2.file.name}: .*cutoff {toy2.cutoff:g} A$", text)
    halo = only(rf"halo: (.*); edges within {toy2.cutoff:g} A, kept up to a skin of {SKIN} A$", text)
    assert "exchange per layer" in halo[1]

    def totals(name: str) -> tuple[float, float]:
        (least, average, most), = spread(text, name)
        assert 0 <= least <= average <= most
        return least, ranks * average

    receivers, _, _ = pairs_within(SYSTEM, toy2.cutoff)
    assert totals("owned rows")[1] == pytest.approx(len(SYSTEM), rel=1e-5)
    # Printed with six digits.
    assert totals("edges")[1] == pytest.approx(len(receivers), rel=1e-5)
    for name in ("halo rows", "neighbour ranks", "exchanges in this step", "bytes sent in this step"):
        assert (totals(name)[0] > 0) == (ranks > 1), name


@pytest.mark.parametrize("ranks", RANKS)
def test_account_at_the_end(ranks, logs):
    text = logs(ranks)[0]
    start = only(rf"after {EVALUATIONS} evaluations", text).start()
    lines = [re.fullmatch(rf"mlip/dd:   (.+?) +{NUMBER} +{NUMBER} +{NUMBER}", line)
             for line in text[start:].splitlines()[1:] if line.startswith("mlip/dd:")]
    assert all(lines)
    found = {line[1]: [float(word) for word in line.groups()[1:]] for line in lines}
    for name, (least, average, most) in found.items():
        # Averages are rounded to six digits.
        assert 0 <= least <= average * (1 + 1e-5) <= most * (1 + 2e-5), name
    seconds = {name: values for name, values in found.items() if name.startswith("s ")}
    for word in TIMES:
        assert any(word in name for name in seconds), (word, seconds)
    assert sum(values[0] for values in seconds.values()) > 0
    for name in ("messages sent", "bytes sent"):
        assert (found[name][0] > 0) == (ranks > 1), name


@pytest.mark.parametrize("ranks", RANKS)
def test_silenced(ranks, logs):
    text = logs(ranks)[1]
    assert "Loop time" in text
    assert not [line for line in text.splitlines() if line.startswith("mlip/dd")]
