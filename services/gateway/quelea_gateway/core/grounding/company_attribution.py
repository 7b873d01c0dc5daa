"""What is said of one company is not supported by a passage about another, whatever figures they share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from quelea_checker import UNSUPPORTED, CheckedFigure, CheckedSentence, Report
from quelea_checker.reading.attachment import is_base
from quelea_checker.reading.periods import find_periods
from quelea_fintext.glossary import gloss_phrases
from quelea_fintext.text import CJK, normalise

from quelea_gateway.core.model import Passage

_MOVED_FROM = re.compile(r"(?:\bfrom|[从由自])\s?[$€£¥￥]?\s?\Z", re.IGNORECASE)
_EARLIER = re.compile(
    r"\b(?:earlier|ago|before|(?:prior|previous|last|preceding)[ -](?:year|quarter|period))\b|上年|上期|去年|同期",
    re.IGNORECASE,
)


def attribute(report: Report, evidence: Sequence[Passage], companies: Sequence[str], *, missing: bool) -> Report:
    """The report without support from passages that are not about whom the sentence names.

    Args:
        report: The checker's.
        evidence: [n] is the n-th.
        companies: Those that the question names, as far as they were recognised.
        missing: Of one of them no document is stored: a passage that does not name it is not about it. Else one that
            belongs to no company is given the benefit of the doubt.
    """
    forms = {company: _forms(company) for company in companies}
    if not forms:
        return report
    sentences: list[CheckedSentence] = []
    figures = list(report.figures)
    for sentence in report.sentences:
        named = [patterns for patterns in forms.values() if _says(sentence.text, patterns)]
        if named:
            about = {n for n, one in enumerate(evidence, start=1) if _is_about(one, named, missing=missing)}
            left = tuple(n for n in sentence.passages if n in about)
            if sentence.passages and not left:
                sentence = replace(sentence, verdict="not_found", passages=())  # noqa: PLW2901  # the same, put right
            else:
                sentence = replace(sentence, passages=left)  # noqa: PLW2901  # as above
            mine = [f for f in figures if sentence.start <= f.start < sentence.end]
            others = {id(f) for f in mine if _is_compared(sentence, f, mine, about)}
            figures = [_keep_support(f, about) if f in mine and id(f) not in others else f for f in figures]
        sentences.append(sentence)
    return replace(report, sentences=tuple(sentences), figures=tuple(figures))


def _is_compared(
    sentence: CheckedSentence, figure: CheckedFigure, figures: Sequence[CheckedFigure], about: set[int]
) -> bool:
    """What the named company's figure before it is set against: "Amazon added 15,982, against 6,395".

    What it moved from, and what it was at another time, is its own.
    """
    before = [f for f in figures if f.end <= figure.start and about & set(f.passages)]
    start, end = figure.start - sentence.start, figure.end - sentence.start
    ahead, behind = sentence.text[:start], sentence.text[end:]
    is_own = _MOVED_FROM.search(ahead) or _EARLIER.search(behind) or find_periods(behind)
    return bool(before) and is_base(sentence.text, start) and not is_own


def _keep_support(figure: CheckedFigure, about: set[int]) -> CheckedFigure:
    if figure.verdict in UNSUPPORTED:
        return figure
    left = tuple(n for n in figure.passages if n in about)
    if figure.verdict == "derived" and left == figure.passages:
        return figure
    if figure.verdict == "supported" and left:
        return replace(figure, passages=left, passage=figure.passage if figure.passage in about else left[0])
    return replace(figure, verdict="not_found", passage=None, passages=(), formula="")


def _is_about(passage: Passage, named: Sequence[Sequence[re.Pattern[str]]], *, missing: bool) -> bool:
    said = f"{passage.header}\n{passage.title}\n{passage.company}\n{passage.ticker}\n{passage.text}"
    if any(_says(said, patterns) for patterns in named):
        return True
    return not passage.company and not missing


def _says(text: str, patterns: Sequence[re.Pattern[str]]) -> bool:
    plain = normalise(text)
    return any(pattern.search(plain) for pattern in patterns)


def _forms(company: str) -> tuple[re.Pattern[str], ...]:
    """The name, and what it is called in the other language."""
    names = dict.fromkeys(normalise(name).strip() for name in (company, *gloss_phrases(company)))
    return tuple(_pattern(name) for name in names if name)


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(re.escape(name) if CJK.search(name) else rf"(?<!\w){re.escape(name)}(?!\w)")
