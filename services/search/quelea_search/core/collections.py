"""Parts of a tenant's knowledge base."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Collection:
    """A part of a tenant's knowledge base, by which documents are grouped and rights are given."""

    name: str
    title: str = ""
    """What people call it."""
    created: float = 0.0
    """Seconds since 1970; 0 of the default one."""
