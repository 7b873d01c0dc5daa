"""An answer as the checker reads it: foreign markers as [1], LaTeX's thousands as commas; verdicts go back to it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from quelea_checker.model import CheckedFigure, CheckedSentence, MarkerFault, Markers, Report

LOOSE = re.compile(
    r"[\[［【〔]\s{0,8}+(?:\^|(?:passage|source|citation|ref|来源|段落|资料)\s{0,8}+[:：#]?\s{0,8}+)?"
    r"(?P<n>\d{1,3}(?:\s{0,8}+[,，、;；]\s{0,8}+\d{1,3})*)\s{0,8}+(?:†[^\]】\n]{0,60})?[\]］】〕](?P<link>\(https?://[^\s()]*\))?",
    re.IGNORECASE,
)
"""A marker as models write it: 【1】, ［1］, [Source 1], [^1], 【1†source】, [1](https://…)."""
_CANONICAL = re.compile(r"\[\d{1,3}(?:\s*[,，、]\s*\d{1,3})*\]")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"“”，。；）]+")
RANGE = re.compile(r"\[(?P<first>\d)\s?[-–]\s?(?P<last>\d)\]")
"""[1-3]"""
_RAISED = re.compile(
    r"(?:(?<=[A-Za-z\u4e00-\u9fff][A-Za-z\u4e00-\u9fff])|(?<=[A-Za-z\u4e00-\u9fff][.。,，)）])|(?<=%))"
    r"\^(?P<n>\d{1,2})(?!\d|\.\d)"
)
_LATEX = re.compile(r"(?<=\d)(?:\{,\}|\\,)(?=\d{3})|\\(?P<sign>[%$])|\\(?:text|mathrm|mbox)\{(?P<text>[^{}\n]{0,80})\}")
_HINT = re.compile(r"[［【〔^\\{]|\[\s{0,8}+(?:\^|[A-Za-z来段资])|\[\d\s?[-–]|\[[^\]\n]{0,200}[;；†]|\]\(")


def unroll(match: re.Match[str]) -> str:
    """A range of markers, [1-3], as [1, 2, 3]."""
    return _marker(match)


def literal_spans(text: str) -> list[tuple[int, int]]:
    """Code and addresses: brackets in them are theirs. An address ends where a marker behind it begins."""
    spans = [match.span() for match in _CODE.finditer(text)]
    for match in _URL.finditer(text):
        start, end = match.span()
        tail = re.search(r"(?<!\])(?:\[\d{1,3}\])++$", text[start:end])
        spans.append((start, start + tail.start() if tail and "[" not in text[start : start + tail.start()] else end))
    return spans


def canonical(match: re.Match[str]) -> str:
    """A LOOSE marker as [1], or as it is where it is one."""
    if _CANONICAL.fullmatch(match.group()):
        return match.group()
    return "[" + ", ".join(re.findall(r"\d+", match["n"])) + "]"


class NormalizedAnswer:
    """An answer's text as it is checked.

    Attributes:
        text: The answer, with its markers and its LaTeX put in shape.
    """

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self._edits = list(_disjoint(_edits(answer))) if _HINT.search(answer) else []
        pieces, at = [], 0
        for start, end, new in self._edits:
            pieces += [answer[at:start], new]
            at = end
        self.text = "".join((*pieces, answer[at:]))
        shifts = list(accumulate((end - start - len(new) for start, end, new in self._edits), initial=0))
        self._starts = [start - shift for (start, _, _), shift in zip(self._edits, shifts, strict=False)]
        self._shifts = shifts

    def place(self, at: int) -> int:
        """Where a place of the answer is in `text`."""
        return at + sum(len(new) - (end - start) for start, end, new in self._edits if end <= at)

    def restore(self, report: Report) -> Report:
        """The report with the answer's own offsets and texts."""
        if not self._edits:
            return report
        marks = report.markers
        markers = Markers(
            tuple(self._fault(one) for one in marks.unresolved),
            tuple(self._fault(one) for one in marks.corrections),
            tuple(replace(one, at=self._end(one.at)) for one in marks.missing),
        )
        return Report(
            tuple(self._move(one) for one in report.sentences), tuple(self._figure(f) for f in report.figures), markers
        )

    def _move(self, one: CheckedSentence) -> CheckedSentence:
        start, end = self._start(one.start), self._end(one.end)
        return replace(one, text=self._answer[start:end], start=start, end=end)

    def _figure(self, one: CheckedFigure) -> CheckedFigure:
        start, end = self._start(one.start), self._end(one.end)
        return replace(one, text=self._answer[start:end], start=start, end=end)

    def _fault(self, one: MarkerFault) -> MarkerFault:
        return replace(one, start=self._start(one.start), end=self._end(one.end))

    def _start(self, place: int) -> int:
        """Where what begins there begins in the answer."""
        at = bisect_right(self._starts, place) - 1
        if at >= 0 and place < self._starts[at] + len(self._edits[at][2]):
            return self._edits[at][0]
        return place + self._shifts[at + 1]

    def _end(self, place: int) -> int:
        """Where what ends there ends in the answer."""
        at = bisect_right(self._starts, place - 1) - 1
        if at >= 0 and place <= self._starts[at] + len(self._edits[at][2]):
            return self._edits[at][1]
        return place + self._shifts[at + 1]


def _edits(text: str) -> Iterator[tuple[int, int, str]]:
    literal = literal_spans(text)
    for pattern in (LOOSE, RANGE, _RAISED):
        for match in pattern.finditer(text):
            if not any(start <= match.start() < end for start, end in literal):
                new = _marker(match)
                if new != match.group():
                    yield *match.span(), new
    for match in _LATEX.finditer(text):
        yield *match.span(), match["sign"] or (match["text"] if match["text"] is not None else ",")


def _marker(match: re.Match[str]) -> str:
    if match.re is RANGE:
        first, last = int(match["first"]), int(match["last"])
        numbers = range(first, last + 1)
        return "[" + ", ".join(map(str, numbers)) + "]" if first < last else match.group()
    return canonical(match) if match.re is LOOSE else f"[{match['n']}]"


def _disjoint(edits: Iterator[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    at: int = 0
    found: Sequence[tuple[int, int, str]] = sorted(edits)
    for start, end, new in found:
        if start >= at:
            yield start, end, new
            at = end
