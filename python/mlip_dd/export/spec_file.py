"""What an exporter hands back, and the writing of the spec file that names it."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from mlip_dd.errors import UserError


@dataclass
class ExportedModel:
    """`fields` is the `model` object of the spec file; its `file` already lies in the output folder."""

    spec: str
    fields: dict
    summary: str


def prepare_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"The output folder {folder} can't be made ({error.strerror}). "
                        "Give another one with -o.") from error
    return folder


def spec_text(model: ExportedModel) -> str:
    """One key a line, lists on their line: 89 elements on 89 lines hide the rest."""
    fields = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in model.fields.items())
    return f'{{\n  "spec": {json.dumps(model.spec)},\n  "model": {{\n{fields}\n  }}\n}}\n'


def write_spec(model: ExportedModel, folder: Path) -> Path:
    """Writes `folder`/spec.json last and in one step, so that its presence means a whole export."""
    path = folder / "spec.json"
    unfinished = folder / "spec.json.unfinished"
    unfinished.write_text(spec_text(model), encoding="utf-8")
    os.replace(unfinished, path)
    return path
