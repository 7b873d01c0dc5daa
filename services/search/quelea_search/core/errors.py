"""Why a document cannot become passages. Each message is one sentence: what is wrong and what to do.

InvalidInput
├── Encrypted       ENCRYPTED        the file wants a password
├── EmptyDocument   EMPTY_DOCUMENT   no bytes, or no text in them
├── Unreadable      UNREADABLE       broken, or a scan without a text layer
├── TooLarge        TOO_LARGE        over the limit of bytes, unpacked bytes, characters, rows or memory
│   └── TooManyPages  TOO_MANY_PAGES
├── ReadTimeout     READ_TIMEOUT     reading it takes longer than a file of its size may
└── CrashedReader   CRASHED_READER   it ends the process that reads it
Unavailable
└── ReaderKilled    WORKER_LOST      nothing is wrong with it: somebody else ended the process that reads it
Unsupported
└── WrongType       WRONG_TYPE       not a format that is read here, or not the one its name says
"""

from __future__ import annotations

from typing import ClassVar

from quelea_kit.errors import InvalidInput, TooLarge, Unavailable, Unsupported

__all__ = [
    "CrashedReader",
    "EmptyDocument",
    "Encrypted",
    "ReadTimeout",
    "ReaderKilled",
    "TooLarge",
    "TooManyPages",
    "Unreadable",
    "WrongType",
]


class Encrypted(InvalidInput):
    """The file wants a password."""

    reason: ClassVar[str] = "ENCRYPTED"


class EmptyDocument(InvalidInput):
    """There are no bytes, or no text in them."""

    reason: ClassVar[str] = "EMPTY_DOCUMENT"


class Unreadable(InvalidInput):
    """The file is broken, or a scan without a text layer."""

    reason: ClassVar[str] = "UNREADABLE"


class ReadTimeout(InvalidInput):
    """Reading the file takes longer than one of its size may."""

    reason: ClassVar[str] = "READ_TIMEOUT"


class CrashedReader(InvalidInput):
    """The file ends the process that reads it."""

    reason: ClassVar[str] = "CRASHED_READER"


class ReaderKilled(Unavailable):
    """Somebody else ended the process that reads the file, as the OOM killer does."""

    reason: ClassVar[str] = "WORKER_LOST"


class TooManyPages(TooLarge):
    """The document has more pages, sheets or slides than the limit."""

    reason: ClassVar[str] = "TOO_MANY_PAGES"


class WrongType(Unsupported):
    """The bytes are not a format that is read here, or not the one that the file's name says."""

    reason: ClassVar[str] = "WRONG_TYPE"
