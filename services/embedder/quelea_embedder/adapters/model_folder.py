"""A model's folder: where it is, and the hash of what is in it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from quelea_embedder.core.model import Kind

CHARACTERS_PER_TOKEN = 32
"""A text is cut at so many characters for each token that the model reads, before it is tokenized: no ordinary text
has that few tokens, and megabytes never reach the tokenizer."""

PROMPTS = {Kind.QUERY: ("query",), Kind.PASSAGE: ("passage", "document")}
"""What a model's own settings call the prefix of each kind; the first that there is."""

_NOT_VECTORS = {".md", ".lock", ".gitattributes"}


def find_folder(name: str) -> Path | None:
    """The folder that a name stands for; None: it is a name on a hub.

    Raises:
        FileNotFoundError: The name is a path, and nothing is there.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        return path.resolve()
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise FileNotFoundError(f"no model folder at {name}; `make setup` makes the default one")
    return None


def hash_content(folder: Path, *, reads: Callable[[Path], bool]) -> str:
    """Hash of every file that may change a vector: names and contents, in hex.

    Args:
        folder: Of the model.
        reads: Whether the runtime reads a file; its path is relative to the folder.
    """
    total = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder)
        if path.suffix in _NOT_VECTORS or path.name == "LICENSE" or any(part.startswith(".") for part in name.parts):
            continue
        if not reads(name):
            continue
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{name.as_posix()}\0{digest}\n".encode())
    return total.hexdigest()


def make_model_id(names: Iterable[str], towers: Iterable[tuple[str, str, int]], runtime: str = "") -> str:
    """Name and hash of all that vectors depend on.

    Args:
        names: Of the models' folders, or on the hub.
        towers: Content hash, prefix and maximum of tokens, of the query tower and of the passage tower.
        runtime: What runs the model, where that is not torch, with its precision.
    """
    content = hashlib.sha256()
    for tower in towers:
        content.update("".join(f"{part}\0" for part in tower).encode())
    content.update(runtime.encode())
    return f"{'+'.join(sorted(set(names)))}@{content.hexdigest()[:12]}"
