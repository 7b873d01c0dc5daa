"""Which results of a provider are read as pages, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from quelea_search.core.web.errors import BadUrl
from quelea_search.core.web.model import Result
from quelea_search.core.web.urls import canonical, host_of

_MOST_PER_HOST = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A result whose page may be read."""

    position: int
    """In the provider's list, from 0."""
    result: Result
    canonical_url: str
    host: str


def line_up(
    items: Iterable[Result], *, allowed: Callable[[Candidate], bool] = lambda _candidate: True
) -> list[Candidate]:
    """The candidates in the order in which they are read: each page once, and two of each host before any third.

    What is no address of a page is left out.
    """
    first: list[Candidate] = []
    later: list[Candidate] = []
    seen: set[str] = set()
    hosts: Counter[str] = Counter()
    for position, item in enumerate(items):
        try:
            name, host = canonical(item.url), host_of(item.url)
        except BadUrl:
            continue
        candidate = Candidate(position, item, name, host)
        if name in seen or not allowed(candidate):
            continue
        seen.add(name)
        site = host.removeprefix("www.")
        (first if hosts[site] < _MOST_PER_HOST else later).append(candidate)
        hosts[site] += 1
    return first + later
