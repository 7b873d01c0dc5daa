"""Answers and runs as files: DOCX, PDF, XLSX, notebooks.

Each writer is loaded when it is first used: their libraries are 50 MB of memory in every gateway and two seconds of
processor time at its start. The first use belongs in a thread.
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
