"""What a run says to its user, in English and Chinese."""

from __future__ import annotations

from quelea_fintext import notices


def say(name: str, language: str, **values: object) -> str:
    """A text in a language."""
    return notices.say(f"agent.{name}", language, **values)
