"""Answers and runs as files: DOCX, PDF, XLSX, notebooks.

Each writer is loaded by its first use, which belongs in a thread: together their libraries take 50 MB of memory and two
seconds of processor time.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quelea_gateway.adapters.exports import note_docx, note_pdf, notebook, report, spreadsheet

__all__ = ["note_docx", "note_pdf", "notebook", "report", "spreadsheet"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
