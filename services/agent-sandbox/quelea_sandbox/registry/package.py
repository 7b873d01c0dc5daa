"""Files of a Python distribution: installed here, in a `pip --target` folder, or in a wheel. Nothing is imported."""

from __future__ import annotations

import importlib.metadata
import zipfile
from pathlib import Path, PurePosixPath

from quelea_kit.errors import InvalidInput

_LARGEST_FILE = 64 * 1024 * 1024


class Package:
    """Read-only files of a distribution, by their path inside it.

    Args:
        distribution: Its name on the package index.
        places: Wheels, folders of wheels, or site folders, the first that has it wins; none: this environment.

    Raises:
        InvalidInput: No place has it.
    """

    def __init__(self, distribution: str, places: tuple[Path, ...] = ()) -> None:
        self.distribution = distribution
        self._zip: zipfile.ZipFile | None = None
        self._folder: Path | None = None
        for place in places:
            if self._open(place):
                return
        if not places:
            try:
                found = importlib.metadata.distribution(distribution)
                self._folder = Path(str(found.locate_file("")))
                self.version = found.version
            except importlib.metadata.PackageNotFoundError:
                pass
            else:
                return
        where = ", ".join(str(place) for place in places) or "this environment"
        raise InvalidInput(
            f"{distribution} is not in {where}; `make tools` fetches its wheel.", details={"distribution": distribution}
        )

    def _open(self, place: Path) -> bool:
        prefix = f"{self.distribution.replace('-', '_')}-"
        if place.is_file():
            if not place.name.startswith(prefix):
                return False
            self._zip = zipfile.ZipFile(place)
            self.version = place.name.split("-")[1]
            return True
        infos = sorted(place.glob(f"{prefix}*.dist-info"))
        if infos:
            self._folder, self.version = place, infos[-1].name.removesuffix(".dist-info").removeprefix(prefix)
            return True
        wheels = sorted(place.glob(f"{prefix}*.whl"))
        return bool(wheels) and self._open(wheels[-1])

    def read(self, path: str) -> str:
        """A file's text. Raises InvalidInput when it is not there."""
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise InvalidInput(f"{path} is not a path inside {self.distribution}.")
        try:
            if self._zip is not None:
                if self._zip.getinfo(path).file_size > _LARGEST_FILE:
                    raise InvalidInput(f"{path} of {self.distribution} is larger than expected.")
                return self._zip.read(path).decode("utf-8")
            return ((self._folder or Path()) / path).read_text("utf-8")
        except (KeyError, OSError, ValueError) as error:
            raise InvalidInput(f"{self.distribution} {self.version} has no readable {path}.") from error
