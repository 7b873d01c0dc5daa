"""Which recorded call is most like one that was not recorded: what a refusal tells, so that code can be mended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from quelea_search.door.core.matching import Match, differences

_LOOKED_AT = 500
"""Recorded calls of one host that are compared; a bundle with more is compared in part."""
_COMPARED = 400
"""Characters of an address that are compared."""
_NAMED = 6


def nearest(match: Match, recorded: Iterable[tuple[str, Mapping[str, str]]]) -> str:
    """A sentence on the nearest recorded call; empty when nothing of the same host is recorded.

    Args:
        match: Of the call that was refused.
        recorded: Address and match facts of each recorded call.
    """
    host = _host(match.url)
    best, best_score = None, 0.0
    compare = SequenceMatcher(autojunk=False)
    compare.set_seq2(match.url[:_COMPARED])
    looked = 0
    for url, facts in recorded:
        if _host(facts.get("url", "")) != host:
            continue
        looked += 1
        if looked > _LOOKED_AT:
            break
        compare.set_seq1(facts["url"][:_COMPARED])
        score = compare.quick_ratio()
        if score > best_score:
            best, best_score = (url, facts), score
    if best is None:
        return ""
    names = differences(match.facts(), best[1])
    told = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    return f"The nearest recorded call is {best[0][:_COMPARED]}" + (f"; it differs in {told}." if told else ".")


def _host(url: str) -> str:
    return url.removeprefix("//").partition("/")[0]
