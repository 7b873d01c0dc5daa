"""What announces figures and has none: "The following table shows …", the title of a statement, a head of columns."""

from __future__ import annotations

import re

_TIMES = re.compile(
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s+\d{1,2}(?:,?\s+(?:19|20)\d\d)?"
    r"|(?<![\d,.])(?:FY ?)?(?:19|20)\d\d(?![\d,.]\d)(?:年(?:\d{1,2}月(?:\d{1,2}日)?)?)?"
    r"|\b(?:Note|Item|Part|Table|Exhibit|Form)\s+\d+(?:-[A-Z])?\w?|第[一二三四五六七八九十\d]+[章节页]",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"\bfollowing (?:tables?|chart|schedule)|\b(?:tables?|chart|schedule)s? (?:below|above)|\bas follows\b|[:：]\W*$"
    r"|\(?\b(?:in (?:thousands|millions|billions)\b|unaudited\b)|(?:单位|币种)[:：]|如下|见下表|下表",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")


def is_caption(text: str) -> bool:
    """Whether a text only says what figures stand elsewhere: no figure besides dates, and the words of a caption."""
    return _ANNOUNCES.search(text) is not None and _DIGIT.search(_TIMES.sub(" ", text)) is None
