"""Whether the figures of a conclusion come from the run's evidence; sentences whose figures do not are withheld."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quelea_checker import UNSUPPORTED, CheckedFigure, CheckPassage, Report, check_answer
from quelea_kit.errors import QueleaError

from quelea_gateway.core.agent.decision.parsing import canonical
from quelea_gateway.core.agent.grounding.evidence import Evidence, names_several_periods
from quelea_gateway.core.agent.model import NOT_TRACED, FigureCheck
from quelea_gateway.core.agent.ports import Checks

_MARK = re.compile(r"[\[［【]\s*(\d+(?:\s*[,，、]\s*\d+)*)\s*[\]］】]")
_NUMBER = re.compile(r"\d[\d,，]*(?:\.\d+)?")
_YEARS = range(1900, 2101)
_SMALL = 1_500
_LONGEST_COUNT = 5
"""Digits of a number of observations."""
_DATE_GAPS = re.compile(r"(?<=\d)[ \u3000]+(?=[年月日号])|(?<=[年月])[ \u3000]+(?=\d)")
"""Blanks within a Chinese date; without them it is read as one."""
_REMARK = re.compile(r"\((\s*[$€£¥]?\d[\d,.]*\s*(?:[A-Za-z]{3,12}|[\u4e00-\u9fff]{1,4})\s*)\)")
"""An amount with its unit in parentheses: a remark. Bare, or with a sign only, it may be a bookkeeper's minus."""
_YEARLY = frozenset({"12", "52", "250", "252", "360", "365"})
"""Periods of a year, by which code annualises."""
_ANNUALISED = re.compile(
    r"(?:[√×]|\b(?:root of|sqrt\s?\(?|times|(?:multipl|divid|scal|annuali[sz])[a-z]{1,4} by)|根号|乘以|除以)\s?\Z",
    re.IGNORECASE,
)
_LONGEST_WORDS = 20
"""Characters of what that reads: "fell by 250" is no computation."""
_COUNTED = re.compile(
    r"\s?(?:(?:daily|weekly|monthly|quarterly|annual|closing)\s)?"
    r"(?:closes|prices|returns|observations|rows|quotes|data points)\b|\s?(?:个观测值|个数据点|个收盘价|条记录)",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"[\s-]?(?:trading|business|calendar)?[\s-]?(?:days?|weeks?|months?|years?|sessions?|hours?|minutes?)\b"
    r"|\s?(?:个?交易日|天|日|周|个?月|年|小时|分钟)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Checked:
    """A text with the verdicts on its figures."""

    text: str
    figures: tuple[FigureCheck, ...]
    used: tuple[int, ...]
    """Numbers of the sources that it cites or has figures of."""
    spans: tuple[tuple[int, int], ...]
    """Of its sentences."""

    @property
    def unsupported(self) -> tuple[FigureCheck, ...]:
        """The figures that nothing supports; they are withheld."""
        return tuple(one for one in self.figures if one.verdict in UNSUPPORTED)

    @property
    def untraced(self) -> tuple[FigureCheck, ...]:
        """The figures that rest on numbers typed into code; they are shown as such."""
        return tuple(one for one in self.figures if one.verdict == NOT_TRACED)


async def check(text: str, evidence: Evidence, question: str, checks: Checks | None = None) -> Checked:
    """The verdicts; markers of sources that do not exist are taken out of the text first. Never raises."""
    text = _DATE_GAPS.sub("", drop_unknown_markers(text, len(evidence.items)))
    read = _REMARK.sub(r" \1 ", text)
    report = await _report(read, evidence.passages(), question, checks)
    judged = _judge(text, report, evidence, question)
    if any(_is_computed(one, judged, evidence) for one in judged.figures):
        outputs = _judge(text, await _report(read, evidence.results(), question, checks), evidence, question)
        judged = _trust_outputs(judged, outputs, evidence)
    if not judged.unsupported or not evidence.has_untraced:
        return judged
    whole = await _report(read, evidence.passages(traced=False), question, checks)
    return replace(judged, figures=_mark_untraced(judged.figures, whole))


async def _report(text: str, passages: list[CheckPassage], question: str, checks: Checks | None) -> Report:
    if checks is None:
        return await asyncio.to_thread(check_answer, text, passages, question=question)
    with contextlib.suppress(QueleaError):
        return await checks.check(text, passages, question=question)
    # Nothing goes out unchecked: with less evidence, rather than not at all.
    small = [replace(one, text=one.text[:_SMALL]) for one in passages]
    return await asyncio.to_thread(check_answer, text, small, question=question)


def _is_computed(figure: FigureCheck, judged: Checked, evidence: Evidence) -> bool:
    """Whether it is contradicted, though its sentence is about several periods and no passage and no call prints it.

    It can only be a result, or invented. In a sentence about one period it may be that period's own figure instead.
    """
    numbers = _NUMBER.findall(figure.text)
    if figure.verdict != "contradicted" or not numbers or any(map(evidence.is_printed, numbers)):
        return False
    return any(
        names_several_periods(judged.text[start:end]) for start, end in judged.spans if start <= figure.start < end
    )


def _trust_outputs(judged: Checked, outputs: Checked, evidence: Evidence) -> Checked:
    """With what code computed over several periods from traced inputs supported by the line of output that says so.

    A compound rate is not the growth of a year because a passage calls that "annual growth" as well.
    """
    there = {
        (one.start, one.end): one
        for one in outputs.figures
        if one.source and one.verdict not in (*UNSUPPORTED, NOT_TRACED)
    }
    figures = tuple(
        there.get((one.start, one.end), one) if _is_computed(one, judged, evidence) else one for one in judged.figures
    )
    used = tuple(sorted({*judged.used, *(one.source for one in figures if one.source)}))
    return replace(judged, figures=figures, used=used)


def _mark_untraced(figures: Sequence[FigureCheck], whole: Report) -> tuple[FigureCheck, ...]:
    """Figures that only what draws on typed numbers has are not traced."""
    found = {(one.start, one.end): one for one in whole.figures if one.verdict not in UNSUPPORTED}
    return tuple(
        replace(one, verdict=NOT_TRACED, source=there.passage or 0, formula="")
        if one.verdict == "not_found" and (there := found.get((one.start, one.end)))
        else one
        for one in figures
    )


def drop_unknown_markers(text: str, count: int) -> str:
    """The text with no marker of a source that does not exist."""

    def keep(match: re.Match[str]) -> str:
        numbers = [int(one) for one in re.findall(r"\d+", match[1])]
        good = [str(one) for one in numbers if 1 <= one <= count]
        return "".join(f"[{one}]" for one in good)

    return _MARK.sub(keep, text)


def _judge(text: str, report: Report, evidence: Evidence, question: str) -> Checked:
    figures = []
    for one in report.figures:
        verdict: str = one.verdict
        source = one.passage or 0
        if verdict == "supported":
            rest = [number for number in one.passages or (source,) if not _is_typed(one, number, evidence)]
            if not rest:
                verdict = NOT_TRACED
            elif source not in rest:
                source = rest[0]
        elif verdict in UNSUPPORTED and _is_setting(one, text, evidence, question):
            verdict = "supported"
        figures.append(FigureCheck(one.text, one.start, one.end, verdict, source, one.formula))
    used = {one.source for one in figures if one.source}
    used |= {int(number) for match in _MARK.finditer(text) for number in re.findall(r"\d+", match[1])}
    spans = tuple((one.start, one.end) for one in report.sentences)
    return Checked(text, tuple(figures), tuple(sorted(used)), spans)


def _is_typed(figure: CheckedFigure, number: int, evidence: Evidence) -> bool:
    """Whether the source only repeats a number of a text in the code: that is no evidence.

    Small round numbers (a window of 20 days) and years are let pass: they are settings more often than data.
    """
    item = evidence.items[number - 1]
    found = _NUMBER.findall(figure.text)
    if item.source.kind != "execution" or len(found) != 1:
        return False
    value = canonical(found[0])
    digits = value.replace(".", "").strip("0")
    if len(digits) < 3 or (value.isdigit() and int(value) in _YEARS):
        return False
    return value in item.typed


def _is_setting(figure: CheckedFigure, text: str, evidence: Evidence, question: str) -> bool:
    """Whether it is a length of time that was asked for or computed with ("20-day average"): a setting, no datum.

    52 weeks are a usual window, whoever asked. What code annualised by needs no unit ("the square root of 252"), and a
    number of observations is that of the days that code counted.
    """
    if not figure.text.isdigit() or len(figure.text) > _LONGEST_COUNT:
        return False
    before = max(0, figure.start - _LONGEST_WORDS)
    if figure.text in _YEARLY & evidence.settings and _ANNUALISED.search(text, before, figure.start):
        return True
    if _COUNTED.match(text, figure.end):
        return evidence.is_counted(figure.text)
    if len(figure.text) > 3 or not _SPAN.match(text, figure.end):
        return False
    return figure.text == "52" or figure.text in evidence.settings or figure.text in _NUMBER.findall(question)


def marked(checked: Checked, word: str) -> Checked:
    """The text with a word behind each figure that is not traced; spans move along."""
    text, figures, spans = checked.text, list(checked.figures), list(checked.spans)
    for one in sorted(checked.untraced, key=lambda figure: -figure.end):
        text = text[: one.end] + word + text[one.end :]
        at, more = one.end, len(word)
        figures = [
            replace(f, start=f.start + more * (f.start >= at), end=f.end + more * (f.start >= at)) for f in figures
        ]
        spans = [(start + more * (start >= at), end + more * (end >= at)) for start, end in spans]
    return replace(checked, text=text, figures=tuple(figures), spans=tuple(spans))


def without_unsupported(checked: Checked) -> tuple[str, tuple[str, ...]]:
    """(the text without the sentences that have a contradicted figure or one that was not found, those sentences)."""
    bad = [
        span
        for span in checked.spans
        if any(span[0] <= one.start < span[1] for one in checked.unsupported)
    ]  # fmt: skip
    if not bad:
        return checked.text, ()
    kept, place = [], 0
    for start, end in sorted(bad):
        kept.append(checked.text[place:start])
        place = end
    kept.append(checked.text[place:])
    rest = re.sub(r"[ \t]{2,}", " ", "".join(kept))
    rest = "\n".join(
        line.rstrip() for line in rest.split("\n") if line.strip(" \t-*•·#>0123456789.") or not line.strip()
    )
    return re.sub(r"\n{3,}", "\n\n", rest).strip(), tuple(checked.text[start:end].strip() for start, end in bad)
