"""If these fail, users are not told what to cite for the models that they run."""

import json

from evaluate import Case
from mlip_dd.export.citations import CITATIONS
from pipeline_models import native_spec, pipeline, single
from run import run
from systems import rock_salt


def log_cite(case: Case, folder) -> str:
    folder.mkdir()
    run(case.script(folder), folder, 2, arguments=["-cite", "log.cite"])
    return (folder / "log.cite").read_text()


def test_models_and_mlip_dd_are_in_the_list_once(toy2, tmp_path):
    entries = [*CITATIONS["mace"], *CITATIONS["allegro"]]
    spec = json.loads(toy2.spec.read_text())
    spec["model"].update(file=str(toy2.file), citations=entries)
    alone = single(tmp_path, "alone", spec)
    text = log_cite(Case(rock_salt(1), alone), tmp_path / "alone")
    for entry in (*entries, "@Misc{mlip-dd,"):
        assert text.count(entry) == 1, text
    assert "doi:10.1038/s41467-023-36329-y" in text
    # Of each model of a pipeline; a spec without citations adds none.
    both = pipeline(tmp_path, "both", {"a": spec, "lj": native_spec("lj", 5.0, epsilon=0.01, sigma=2.5)})
    again = log_cite(Case(rock_salt(1), both), tmp_path / "both")
    assert all(again.count(entry) == 1 for entry in entries)
    plain = log_cite(Case(rock_salt(1), toy2), tmp_path / "plain")
    assert "@Misc{mlip-dd," in plain and "MACE" not in plain
