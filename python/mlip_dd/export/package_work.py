"""What all exporters that call a model's own package have around them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from mlip_dd.errors import missing_package


@contextmanager
def package_work(what: str, requirements: dict[str, str]) -> Iterator[None]:
    """Around all that imports or calls the package, which imports some of what it needs late. A failed import becomes
    the message of missing_package(); warnings (old checkpoints, missing GPU kernels) are nothing to act on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except ImportError as error:
            raise missing_package(error, what, requirements) from error
