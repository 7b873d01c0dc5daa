"""The sets of a home: which there are, which is in use, and the one before it.

    HOME/models/sets/NAME/      a set
    HOME/models/active          a link to the set in use; none: what is packaged
    HOME/models/previous        a link to the one before; to nothing: what is packaged

A switch is the replacement of one link, so whoever opens active/gate.json has the old set's or the new one's.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quelea_kit.errors import Conflict, NotFound

from quelea_training.sets.manifest import MANIFEST, ModelSet, check_name, read, verify

PACKAGED = "packaged"
"""The name of what comes with this version, beside the sets."""


@dataclass(frozen=True)
class Shelf:
    """The models of one home."""

    home: Path

    @property
    def root(self) -> Path:
        """Folder of everything here."""
        return self.home / "models"

    @property
    def sets(self) -> Path:
        """Folder of the sets."""
        return self.root / "sets"

    def all(self) -> list[ModelSet]:
        """Every set, oldest first."""
        found = [read(path.parent) for path in sorted(self.sets.glob(f"*/{MANIFEST}"))]
        return sorted(found, key=lambda one: (one.created, one.name))

    def folder(self, name: str) -> Path:
        """Of a set. Raises NotFound, and names those that there are."""
        path = self.sets / check_name(name)
        if not (path / MANIFEST).is_file():
            names = ", ".join([PACKAGED, *(one.name for one in self.all())])
            raise NotFound(f"There is no set {name}; there are {names}.")
        return path

    def active(self) -> str:
        """Name of the set in use."""
        return _target(self.root / "active")

    def previous(self) -> str | None:
        """Name of the one before; None where nothing was switched yet."""
        link = self.root / "previous"
        return _target(link) if link.is_symlink() else None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One switch at a time. Raises Conflict while another is under way."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Conflict(f"Another switch of models is under way in {self.home}; try again.") from error
            yield

    def check(self, name: str) -> ModelSet | None:
        """The set, when it is as it was made; None for what is packaged."""
        return None if name == PACKAGED else verify(self.folder(name))

    def switch(self, name: str) -> str:
        """Use a set from now on, and keep in mind the one before; that one's name.

        First the note of the one before, then the switch: a death in between leaves the old set in use.
        """
        before = self.active()
        if name == before:
            return before
        _link(self.root / "previous", before)
        if name == PACKAGED:
            (self.root / "active").unlink(missing_ok=True)
        else:
            _link(self.root / "active", name)
        return before


def _target(link: Path) -> str:
    return Path(os.readlink(link)).name if link.is_symlink() else PACKAGED  # noqa: PTH115  # the name alone


def _link(link: Path, name: str) -> None:
    fresh = link.with_name(f".{link.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(Path("sets") / name)
    fresh.replace(link)
