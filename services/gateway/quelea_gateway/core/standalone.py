"""A follow-up as it was understood: a question that stands alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Standalone:
    """What a follow-up asks, with what it takes from the turns before it; by: "model" or "rules"."""

    question: str
    by: str
