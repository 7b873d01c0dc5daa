"""How a question speaks of time besides the periods that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from quelea_fintext.languages import LANGUAGES


def _words_of(kind: str) -> re.Pattern[str]:
    return re.compile(LANGUAGES.alternatives(f"time.intent.{kind}"), re.IGNORECASE)


_LATEST = _words_of("latest")
NEWEST_OF_EACH = _words_of("newest_of_each")
"""Of several companies: one each."""
_NOW, _PREVIOUS, _MULTI, _COMPARE, _FORM, _ANNUAL, _QUARTERLY = map(
    _words_of, ("now", "previous", "multi", "compare", "form", "annual", "quarterly")
)


@dataclass(frozen=True, slots=True)
class TimeIntent:
    """How a question speaks of time besides the periods it names."""

    latest: bool
    """Narrow to the newest filing."""
    now: bool
    """Wants the newest information, of whatever kind."""
    previous: bool
    multi: bool
    """Several periods, none of them named."""
    compare: bool
    form: bool
    """Speaks of filings."""
    annual: bool
    quarterly: bool


def read_time_intent(query: str) -> TimeIntent:
    """Read them."""
    latest = bool(_LATEST.search(query))
    return TimeIntent(
        latest=latest,
        now=latest or bool(_NOW.search(query)),
        previous=bool(_PREVIOUS.search(query)),
        multi=bool(_MULTI.search(query)),
        compare=bool(_COMPARE.search(query)),
        form=bool(_FORM.search(query)),
        annual=bool(_ANNUAL.search(query)),
        quarterly=bool(_QUARTERLY.search(query)),
    )
