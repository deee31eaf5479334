"""Where models for the tests are kept between runs, and when they must be made anew."""

import hashlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path


def cache_folder(fallback: Path) -> Path:
    """Lives as long as the environment, which holds all that the models are made from."""
    folder = Path(sys.prefix, "share", "mlip-dd", "test-models")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return fallback
    return folder if os.access(folder, os.W_OK) else fallback


def fingerprint(arguments: Iterable[str], packages: Iterable[str] = (), files: Iterable[Path] = ()) -> str:
    """Changes where the exporters, the packages they use or other files that take part change."""
    found = importlib.util.find_spec("mlip_dd")
    assert found and found.origin, "the Python package mlip_dd is not installed"
    digest = hashlib.sha256(" ".join(arguments).encode())
    for file in [*sorted(Path(found.origin).parent.rglob("*.py")), *files]:
        digest.update(file.read_bytes())
    for package in ("torch", *packages):
        try:
            digest.update(importlib.metadata.version(package).encode())
        except importlib.metadata.PackageNotFoundError:
            pass
    return digest.hexdigest()[:16]
