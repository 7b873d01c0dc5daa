"""Which paths files may have, on their way in and back."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

from quelea_kit.errors import InvalidInput, TooLarge

from quelea_sandbox.core.model import InputFile

MAX_PATH_BYTES = 240
MAX_NAME_BYTES = 120
MAX_DEPTH = 8


def path_fault(path: str) -> str:
    """Why a path is not taken; empty when it is.

    Relative, forward slashes, no empty part, no `.` or `..`, nothing that a terminal, a shell on Windows or a reader of
    a listing could take for something else: no control or format characters, no backslash, no colon.
    """
    try:
        size = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if not path:
        return "it has no name"
    if size > MAX_PATH_BYTES:
        return f"its path is longer than {MAX_PATH_BYTES} bytes"
    if path.startswith("/"):
        return "its path is absolute"
    if "\\" in path or ":" in path:
        return "its path has a backslash or a colon"
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in path):
        return "its path has control characters"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "its path has an empty part, . or .."
    if any(part != part.strip() for part in parts):
        return "its path has a part that begins or ends with a space"
    if len(parts) > MAX_DEPTH:
        return f"it is more than {MAX_DEPTH} folders deep"
    if any(len(part.encode("utf-8")) > MAX_NAME_BYTES for part in parts):
        return f"its name is longer than {MAX_NAME_BYTES} bytes"
    return ""


def place_fault(path: str, others: Collection[str]) -> str:
    """Why a path cannot stand beside others that are taken already; empty when it can."""
    if path in others:
        return "another file has its name"
    if any(path.startswith(f"{other}/") for other in others):
        return "it lies below another file"
    if any(other.startswith(f"{path}/") for other in others):
        return "another file lies below it"
    return ""


def printable(path: str) -> str:
    """A refused path, safe to print: ASCII, at most 80 characters."""
    text = path.encode("ascii", "backslashreplace").decode("ascii")
    text = "".join(char if " " <= char <= "~" else "?" for char in text)
    return text if len(text) <= 80 else text[:77] + "..."


def check_inputs(files: tuple[InputFile, ...], *, max_files: int, max_bytes: int) -> None:
    """Whether files may go in.

    Raises:
        InvalidInput: A path that is not taken, one that comes twice, or a file where another needs a folder.
        TooLarge: Too many, or too many bytes.
    """
    if len(files) > max_files:
        raise TooLarge(f"Too many input files: {len(files)}, the limit is {max_files}.")
    size = sum(len(file.data) for file in files)
    if size > max_bytes:
        raise TooLarge(f"The input files have {size} bytes, the limit is {max_bytes}.")
    paths: set[str] = set()
    for file in files:
        if fault := path_fault(file.path) or place_fault(file.path, paths):
            raise InvalidInput(f"The file {printable(file.path)!r} is not accepted: {fault}.")
        paths.add(file.path)
