"""A question as it is put to search providers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import language_of

LONGEST = 380
"""Characters of a query. Brave and Tavily take 400."""
MOST_WORDS = 32
"""Words of a query: what Google reads; Brave takes 50."""

_LIST_NUMBER = re.compile(
    r"^\s*(?:[(（]?\d{1,2}[.)）、．:：](?!\d)|[(（]?[一二三四五六七八九十]{1,3}[)）、]|[①-⑳])\s*(?=\S)"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")
_NOW = LANGUAGES.pattern("time.these_days")
_RECENT = LANGUAGES.pattern("time.recently")
_NOW_DAYS, _RECENT_DAYS = 31, 366


@dataclass(frozen=True, slots=True)
class WebQuery:
    """What a provider is asked."""

    text: str
    language: str
    """ "en" or "zh"."""
    count: int
    today: date
    as_of: date
    """Nothing published later is wanted; at most today."""
    since: date | None = None
    """Nothing published earlier is wanted: the question asks for the present. A wish, not a promise."""

    @property
    def in_the_past(self) -> bool:
        """Whether as_of cuts something off."""
        return self.as_of < self.today


def web_query(question: str, *, count: int, today: date, as_of: date | None = None) -> WebQuery:
    """The question without a leading list number, short enough for every provider, with the time that it is about.

    A question for "today" looks back a month, one for "latest" or 最新 a year: results are dated carelessly, and a
    narrower range loses the page that answers.
    """
    text = " ".join(_LIST_NUMBER.sub("", _CONTROL.sub(" ", question)).split())
    text = " ".join(text.split()[:MOST_WORDS])[:LONGEST].strip()
    until = min(as_of or today, today)
    since = None
    if _NOW.search(text):
        since = until - timedelta(days=_NOW_DAYS)
    elif _RECENT.search(text):
        since = until - timedelta(days=_RECENT_DAYS)
    return WebQuery(text, language_of(text), count, today, until, since)
