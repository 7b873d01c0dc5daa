"""Where a store keeps what belongs to a caller."""

from __future__ import annotations

import hashlib


def folder_of(owner: str) -> str:
    """The name of an owner's folder: a hash, so any name is safe, and what is in it is found under its owner alone."""
    return hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:24]
