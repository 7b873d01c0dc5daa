"""Where this command finds what is no code: samples, encoder, catalogue.

In a checkout they are in it. An installed Quelea keeps what it unpacks under the user's cache folder and its data under
the user's data folder, as the XDG Base Directory Specification names them.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

_SAMPLES = "quelea_samples"
"""A package of the distribution `quelea`, which has the samples as its data."""


def checkout() -> Path | None:
    """The repository that this runs from; None when it is installed from wheels."""
    folder = Path(__file__).resolve().parents[2]
    return folder if (folder / "cli" / "pyproject.toml").is_file() and (folder / "proto").is_dir() else None


def cache() -> Path:
    """Folder of what can be made or fetched again."""
    here = checkout()
    return here / ".cache" if here else _xdg("XDG_CACHE_HOME", ".cache") / "quelea"


def default_home() -> Path:
    """Folder of a stack's data: in a checkout .quelea/home of the current one."""
    return Path(".quelea/home") if checkout() else _xdg("XDG_DATA_HOME", ".local/share") / "quelea" / "home"


def watched() -> Path:
    """Folder of what `quelea ingest --watch` remembers."""
    return default_home().parent / "watched"


def samples() -> Path:
    """Folder of the samples; one that does not exist where they are not installed."""
    here = checkout()
    if here:
        return here / "samples"
    found = importlib.util.find_spec(_SAMPLES)
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]) if places else Path(_SAMPLES)


def _xdg(name: str, default: str) -> Path:
    """A base folder; a relative one is to be ignored, says the specification."""
    named = Path(os.environ.get(name, ""))
    return named if named.is_absolute() else Path.home() / default
