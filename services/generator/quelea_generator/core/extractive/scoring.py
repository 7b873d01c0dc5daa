"""How well a span answers a question: a few readable features and one weighted sum."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.numerals import CARDINAL_WORD
from quelea_fintext.text import terms

from quelea_generator.core.extractive.glosses import is_foreign
from quelea_generator.core.extractive.matching import (
    OTHER_ITEMS,
    distinguishing_facets,
    is_exact,
    label_precision,
    meets,
    says_together,
)
from quelea_generator.core.extractive.question import Facet, Query
from quelea_generator.core.extractive.spans import Span, find_runs, find_spans
from quelea_generator.core.model import Evidence

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "coverage": 4.0,
        "context": 2.5,
        "precision": 1.0,
        "exact": 1.5,
        "pairs": 0.7,
        "rank": 0.5,
        "figure": 0.2,
        "kind": 1.2,
        "row": 0.8,
        "reason": 0.8,
        "causes": 1.0,
        "together": 1.3,
        "run": 1.5,
        "facts": 0.7,
        "period": 1.0,
        "span": 0.4,
        "length": 0.8,
        "hedge": -1.0,
        "foreseen": -1.0,
        "pointer": -1.2,
        "fragment": -0.8,
    }
)
"""Worth of each feature. Every feature lies between 0 and 1; "period", "span" and "row" between -1 and 1."""

_CAUSE = LANGUAGES.pattern("passages.cause", ignore_case=False)
_HEDGE = LANGUAGES.pattern("passages.hedge", ignore_case=False)
_FORESEES = LANGUAGES.pattern("passages.foresees")
_PERCENT = re.compile(r"\d\s*[%％]|百分之|个百分点|\bbasis points\b")
_MONEY = re.compile(
    r"[$€£¥￥]\s{0,8}+\(?\d|(?<![\d,.])\d[\d,]*+(?:\.\d*+)?+\s{0,8}+(?:million|billion|trillion|thousand|亿|万|元)|\d{1,3}(?:,\d{3})+"
)
_POINTER = LANGUAGES.pattern("passages.pointer", r"<>|[?？][\"”]?$|(?<!\w)\([^()]*\)[:：]$")
_FRAGMENT = re.compile(r"^[a-z]|^.{1,60}[:：]$|\b(?:for|of|the|and|to|in|an?|by|with|or|from)$")
_HEADING = re.compile(
    r"(?:note|item|part)\s+\d+\w?\b[^.]{0,120}|[（(]?[一二三四五六七八九十\d]{1,3}[)）、.．][^。；;，,：:]{2,40}",
    re.IGNORECASE,
)
"""A heading of a section: it names what is asked for and says nothing of it."""
_QUARTER_SPAN = LANGUAGES.pattern("passages.of_quarter")
_LONG_SPAN = LANGUAGES.pattern("passages.of_longer")
_MET = 0.7
REACHED = 0.45
"""A row has what is asked for in its label, in the heading above it, or in its table's title."""
_ITEM_FLOOR, _WORD_FLOOR = 0.6, 0.3
"""Least share of a financial item, and of a word, before shares are made to add up to 1."""
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_DIGITS = re.compile(r"\d")


_COUNTED = re.compile(
    rf"(?<![$€£¥￥A-Za-z\d.,])(?!(?:19|20)\d\d(?!\d))\d[\d,.]{{0,20}}+(?!\s?(?:[%％]|percent|[万亿]?元))|\b(?:{CARDINAL_WORD})\b",
    re.IGNORECASE,
)
"""A number of things: no money, percentage or year."""
_COUNTED_CELL = re.compile(
    r"(?!(?:19|20)\d\d$)(?!\d{1,3}(?:[,，]\d{3})+\.\d\d$)"
    r"\d[\d,，.]*+(?!\s?(?:percent|pts|pp|bps|倍))[^\d%％元$€£¥￥]{0,20}",
    re.IGNORECASE,
)
"""The same, as a cell of a row: 74, 74人, 466.1 (thousands). Large sums of money are printed with their currency or its
hundredths."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span with what was seen of it.

    Attributes:
        matched: For each facet of the question, how well the span itself meets it, 0 to 1.
        reached: The same with what stands above it: heading, section, table head.
        features: What WEIGHTS weighs.
        score: The weighted sum.
    """

    evidence: Evidence
    span: Span
    matched: tuple[float, ...]
    reached: tuple[float, ...]
    features: Mapping[str, float]
    score: float

    @property
    def text(self) -> str:
        """The quoted text, exactly."""
        return self.evidence.text[self.span.start : self.span.end]


@dataclass(slots=True)
class _Seen:
    """A span with its words, before it is scored."""

    evidence: Evidence
    rank: int
    span: Span
    own: str
    words: tuple[str, ...]
    above: str
    around: str
    abroad: bool
    """In another language than the question."""


def _line(text: str) -> tuple[str, tuple[str, ...]]:
    """Alphabetic terms of a text, and the same as one string with a space on either side of each."""
    found = tuple(term for term in terms(text) if not term[0].isdigit())
    return f" {' '.join(found)} ", found


def score_candidates(
    query: Query, evidence: Sequence[Evidence], weights: Mapping[str, float] = WEIGHTS
) -> list[Candidate]:
    """Every span of the evidence, scored, best first. Evidence is given best first."""
    seen: list[_Seen] = []
    for rank, item in enumerate(evidence):
        abroad = is_foreign(query.language, item)
        section = item.header.split("·", 4)[-1] if item.header.count("·") >= 4 else ""
        around, _ = _line(f"{section} {item.table_head}")
        lines: dict[str, str] = {}
        spans = find_spans(item.text, is_table=item.is_table, heads=query.when)
        for span in [*spans, *find_runs(spans)] if query.breakdown else spans:
            if span.row is None and not span.rows and _HEADING.fullmatch(item.text[span.start : span.end]):
                continue
            label = "; ".join(row.label for row in span.rows) or (span.row.label if span.row else "")
            own, words_ = _line(label or item.text[span.start : span.end])
            if span.above not in lines:
                lines[span.above] = _line(span.above)[0]
            seen.append(_Seen(item, rank, span, own, words_, lines[span.above], around, abroad))
    if not seen:
        return []
    matched = [tuple(meets(facet, one.own, one.abroad) for facet in query.facets) for one in seen]
    shares = _weights(query.facets, matched)
    of_rows = [met for one, met in zip(seen, matched, strict=True) if one.span.row]
    telling = distinguishing_facets(query, of_rows, [(one.own, one.abroad) for one in seen if not one.span.row])
    found = []
    for one, met in zip(seen, matched, strict=True):
        reached = tuple(
            max(m, 0.7 * meets(facet, one.above, one.abroad), 0.5 * meets(facet, one.around, one.abroad))
            if m < 0.7
            else m
            for m, facet in zip(met, query.facets, strict=True)
        )
        has_all = all(reached[at] >= REACHED for at in telling)
        features = _features(query, one, met, reached, shares, len(evidence), has_all=has_all)
        if not one.span.row and (query.moves or query.percent or query.reason):
            features["together"] = float(says_together(query, telling, one.own, one.abroad))
        score = sum(weights[name] * value for name, value in features.items())
        found.append(Candidate(one.evidence, one.span, met, reached, MappingProxyType(features), score))
    found.sort(key=lambda c: (-c.score, c.evidence.number, c.span.start))
    return found


def has_figure(query: Query, candidate: Candidate) -> bool:
    """Whether it has what a question for nothing but a figure wants: a figure, and a sentence that is to say how many
    things there are a number of things."""
    if query.count:
        row = candidate.span.row
        return _counts(row.cells if row else (), candidate.text)
    return bool(candidate.features["figure"])


def states_item(query: Query, candidate: Candidate) -> bool:
    """Whether it is about a financial item that the question names."""
    return any(facet.others and met >= _MET for facet, met in zip(query.facets, candidate.matched, strict=True))


def _weights(facets: Sequence[Facet], matched: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Share of each facet in the question, higher when few spans meet it; they add up to 1.

    A facet that no span meets tells no span from another: it has no share here (it counts when declining is decided).
    """
    total = len(matched)
    raw = []
    for i, facet in enumerate(facets):
        meeting = sum(own[i] >= _MET for own in matched)
        rarity = math.log((1 + total) / (1 + meeting)) / math.log(1 + total)
        floor = _ITEM_FLOOR if facet.others else _WORD_FLOOR
        raw.append(facet.weight * max(floor, rarity) if any(own[i] > 0 for own in matched) else 0.0)
    whole = sum(raw) or 1.0
    return tuple(value / whole for value in raw)


def _features(
    query: Query,
    one: _Seen,
    own: Iterable[float],
    reached: Iterable[float],
    shares: tuple[float, ...],
    passages: int,
    *,
    has_all: bool,
) -> dict[str, float]:
    text = one.evidence.text[one.span.start : one.span.end]
    row = one.span.row
    shown = " ".join(row.cells) if row else text
    coverage = sum(share * m for share, m in zip(shares, own, strict=True))
    wider = sum(share * m for share, m in zip(shares, reached, strict=True))
    pairs = [pair for pair in query.pairs if f" {pair[0]} {pair[1]} " in one.own]
    wants = query.wants_figure
    explains = _explains(query, row.cells if row else ())
    span = _span(query, text) if row is None else 0.0
    return {
        "coverage": coverage,
        "context": wider - coverage,
        "precision": label_precision(query, one.own, one.words, one.abroad)
        if row and (explains or not query.reason)
        else 0.0,
        "exact": float(row is not None and not query.reason and not query.yes_no and has_all and _exact(query, one)),
        "pairs": min(1.0, len(pairs) / 3),
        "rank": 1 - one.rank / passages,
        "figure": float(wants and _DIGITS.search(shown) is not None),
        "kind": float(wants and _right_kind(query, shown, row.cells if row else ())),
        "row": _row(query) if row and not explains else 0.0,
        "reason": float(explains or (query.reason and row is None and _CAUSE.search(text) is not None)),
        "causes": _causes(query, one.own, text) if row is None else 0.0,
        "run": float(bool(one.span.rows)),
        "facts": float(row is None and _MONEY.search(text) is not None),
        "period": 0.0 if span < 0 else float(_period(query, one.evidence, row.label if row else text)),
        "span": span,
        "length": min(1.0, len(text) / 150) if row is None else 0.5,
        "pointer": float(row is None and _POINTER.search(text) is not None),
        "fragment": float(row is None and not one.span.rows and _FRAGMENT.search(text) is not None),
        "hedge": float(row is None and _HEDGE.search(text) is not None),
        "foreseen": float(row is None and _foreseen(query, text)),
    }


def _explains(query: Query, cells: Sequence[str]) -> bool:
    """Whether a reason is asked for, and a cell of the row says one: the line's change, and what it is due to."""
    return query.reason and any(_CAUSE.search(cell) for cell in cells)


def _foreseen(query: Query, text: str) -> bool:
    """Whether a plan or an expectation stands where the question asks for what was, or why it was so."""
    return (query.reason or query.wants_figure) and not query.foresees and _FORESEES.search(text) is not None


def _row(query: Query) -> float:
    """A row is wanted where a figure is; not where a reason or an account of something is."""
    if query.reason or not query.wants_figure:
        return -1.0
    return 0.0 if query.yes_no else 1.0


def _exact(query: Query, one: _Seen) -> bool:
    if not query.other and one.span.row and OTHER_ITEMS.match(one.span.row.label):
        return False
    return is_exact(query.facets, one.words, one.abroad)


def _right_kind(query: Query, shown: str, cells: Sequence[str]) -> bool:
    if query.percent and _PERCENT.search(shown):
        return True
    if query.count:
        return _counts(cells, shown)
    return query.amount and _MONEY.search(shown) is not None


def _counts(cells: Sequence[str], text: str) -> bool:
    """Whether there is a number of things: in a row's figures, or in a sentence."""
    if cells:
        return any(_COUNTED_CELL.fullmatch(cell.strip()) for cell in cells)
    return _COUNTED.search(text) is not None


def _causes(query: Query, own: str, text: str) -> float:
    """A sentence that explains what moves the item: revenue for net income."""
    if not query.causes or not _CAUSE.search(text):
        return 0.0
    return max(meets(facet, own, False) for facet in query.causes)


def _span(query: Query, text: str) -> float:
    """For a question about a quarter: half when a sentence tells of a quarter, -1 when only of a longer time."""
    if not query.quarter or query.months > 3:
        return 0.0
    if _QUARTER_SPAN.search(text):
        return 0.5
    return -1.0 if _LONG_SPAN.search(text) else 0.0


def _period(query: Query, evidence: Evidence, text: str) -> int:
    """1 when the span names a year that was asked for; -1 when it names others only and its filing is another one too.

    A filer's fiscal year and the calendar's differ, so a filing of the asked period is not held to its number.
    """
    if not query.years:
        return 0
    said = {int(year) for year in _YEAR.findall(text)}
    if said & query.years:
        return 1
    own = {int(year) for year in _YEAR.findall(f"{evidence.period_label} {evidence.period_end}")}
    return -1 if said and not own & query.years else 0
