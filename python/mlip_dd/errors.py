"""The one exception that ends a command with a message instead of a traceback."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something the user can put right. The message says what was found, where, and the cure."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that looks most like `name`; the first one when none does."""
    names = list(known)
    close = difflib.get_close_matches(name.lower(), [known_name.lower() for known_name in names], 1, 0.0)
    return next((known_name for known_name in names if close and known_name.lower() == close[0]), names[0])


# Where the name to import and the name to install differ.
_DISTRIBUTIONS = {"sklearn": "scikit-learn", "yaml": "pyyaml", "torch_geometric": "torch-geometric"}


def missing_package(error: ImportError, needed_for: str, pinned: dict[str, str]) -> UserError:
    """Turns a failed import into the `pip install` that mends it.

    `pinned` maps an import name to the requirement to install, where a version matters.
    """
    module = (error.name or "").split(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not module:
        return UserError(f"{needed_for} could not be loaded: {error}. Is its installation complete?")
    requirement = pinned.get(module, _DISTRIBUTIONS.get(module, module))
    return UserError(f"{needed_for} needs the Python package '{module}', which is not installed. "
                     f"Run: pip install '{requirement}'")
