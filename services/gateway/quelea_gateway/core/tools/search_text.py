"""From what somebody asks to what is searched."""

from __future__ import annotations

import re

_DATES = re.compile(
    r"(?:19|20)\d{2}[-/.]\d{1,2}(?:[-/.]\d{1,2})?"
    r"|(?:19|20)\d{2}\s*年(?:\s*第?[一二三四1-4]\s*季度)?(?:\s*\d{1,2}\s*月)?(?:\s*\d{1,2}\s*[日号])?"
    r"|\d{1,2}\s*月\d{1,2}\s*[日号]"
    r"|(?<!\d)(?:19|20)\d{2}(?!\d)"
)
MOST_CHARS = 2000


def strip_dates(text: str) -> str:
    """Without dates, which say nothing about which tool is needed; the text itself when nothing is left."""
    without = " ".join(_DATES.sub(" ", text).split())
    return (without or " ".join(text.split()))[:MOST_CHARS]
