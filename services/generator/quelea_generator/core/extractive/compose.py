"""Quotes as an answer for a person: which figure, for which period, and the words of the source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType

from quelea_generator.core.extractive import naming
from quelea_generator.core.extractive.columns import choose, columns_of_row, head_of
from quelea_generator.core.extractive.labels import names_item
from quelea_generator.core.extractive.opinions import Opinion
from quelea_generator.core.extractive.question import Asked
from quelea_generator.core.extractive.rows import parse_row
from quelea_generator.core.extractive.scoring import Candidate

_CJK = "\u3000-\u303f\u3400-\u9fff\uff00-\uffef"
_WRAP = re.compile(rf"(?<=[{_CJK}])[ \t]*\n\s*(?=[{_CJK}])")

_OPENING = MappingProxyType(
    {
        ("en", ""): "Quoted from the sources by the extractive reader (no language model wrote this):",
        ("zh", ""): "以下为摘录式阅读器从资料中摘出的原文（未使用语言模型）：",
        (
            "en",
            "advice",
        ): "The sources state facts and this reader gives no recommendation to buy, hold or sell, so here is"
        " only what they state, quoted by the extractive reader (no language model wrote this):",
        (
            "zh",
            "advice",
        ): "资料只陈述事实，本阅读器不提供买入、持有或卖出的建议，以下仅为摘出的原文（未使用语言模型）：",
        (
            "en",
            "forecast",
        ): "The sources state what was reported and this reader makes no forecast, so here is only what they"
        " state, quoted by the extractive reader (no language model wrote this):",
        ("zh", "forecast"): "资料只陈述已披露的情况，本阅读器不作预测，以下仅为摘出的原文（未使用语言模型）：",
    }
)

_MET = 0.8
_LONG_HEADING = 70
_NO_HEADING = re.compile(
    r"\b(?:in (?:thousands|millions|billions)|(?:months|years?|quarters?|weeks) ended|unaudited)\b"
    r"|(?:19|20)\d\d|单位|\t",
    re.IGNORECASE,
)


def opening(language: str, opinion: Opinion = "") -> str:
    """The first line of every extractive answer: it is named as what it is, and as what it is not."""
    return _OPENING[language, opinion]


def plain(text: str) -> str:
    """The quoted text on one line. Words, figures and signs are untouched; only white space is."""
    return " ".join(_WRAP.sub("", text).split())


def line(asked: Asked, candidate: Candidate, *, name_filing: bool, name_heading: bool = False) -> str:
    """One quote, cited.

    A table row reads `Total net sales: 81,797 (three months ended July 1, 2023; in millions), from the row “Total net
    sales 81,797 82,959” [1]` when its column is certain, and just the row when it is not.
    """
    if candidate.span.rows:
        return _run(asked, candidate, name_filing=name_filing)
    evidence, row = candidate.evidence, candidate.span.row
    zh = asked.language == "zh"
    between = "；" if zh else "; "
    quoted, cite = plain(candidate.text), f"[{evidence.number}]"
    lead = _lead(asked, candidate) if name_filing else ""
    if row is None:
        return f"{lead}“{quoted}” {cite}"
    heads = columns_of_row(head_of(evidence, candidate.span), row.cells)
    index = choose(asked, evidence, heads)
    percents = [bool(re.search("[%％]", cell)) for cell in row.cells if re.search(r"\d", cell)]
    units = "" if all(percents) else naming.units(asked.language, evidence, candidate.span)
    column = heads[index] if index is not None else None
    if index is None or column is None or not re.search(r"\d", row.cells[index]):
        notes = " | ".join(naming.period(asked.language, head.text) for head in heads if head)
        shown = between.join(part for part in (notes, units) if part)
        if zh:
            return f"{lead}表格行“{quoted}”{f'（{shown}）' if shown else ''} {cite}"
        return f"{lead}Row “{quoted}”{f' ({shown})' if shown else ''} {cite}"
    cell = row.cells[index]
    period = naming.period(asked.language, column.text)
    shown = between.join(part for part in (period, "" if re.search("[%％]", cell) else units) if part)
    label = row_label(candidate, name_heading=name_heading)
    if zh:
        return f"{lead}{label}：{cell}（{shown}），见表格行“{quoted}” {cite}"
    return f"{lead}{label}: {cell} ({shown}), from the row “{quoted}” {cite}"


def _lead(asked: Asked, candidate: Candidate) -> str:
    """The filing's name before a quote, where the quotes are of several."""
    evidence = candidate.evidence
    filing = " ".join(part for part in (evidence.company, evidence.period_label or evidence.period_end) if part)
    return f"{filing}{'：' if asked.language == 'zh' else ': '}" if filing else ""


def _run(asked: Asked, candidate: Candidate, *, name_filing: bool) -> str:
    """Adjacent rows, cited: each label with its figure when the column is certain, and the rows as printed."""
    evidence, span = candidate.evidence, candidate.span
    zh = asked.language == "zh"
    between, colon = ("；", "：") if zh else ("; ", ": ")
    lead = _lead(asked, candidate) if name_filing else ""
    rows = span.rows
    heads = columns_of_row(head_of(evidence, span), rows[0].cells)
    index = choose(asked, evidence, heads)
    column = heads[index] if index is not None else None
    units = naming.units(asked.language, evidence, span)
    quoted = " / ".join(plain(text) for text in candidate.text.splitlines() if text.strip())
    if index is None or column is None:
        notes = " | ".join(naming.period(asked.language, head.text) for head in heads if head)
        shown = between.join(part for part in (notes, units) if part)
        opened = "表格各行" if zh else "Rows "
        note = f"（{shown}）" if zh else f" ({shown})"
        return f"{lead}{opened}“{quoted}”{note if shown else ''} [{evidence.number}]"
    said = between.join(f"{plain(row.label)}{colon}{row.cells[index]}" for row in rows)
    shown = between.join(part for part in (naming.period(asked.language, column.text), units) if part)
    if zh:
        return f"{lead}{said}（{shown}），见表格各行“{quoted}” [{evidence.number}]"
    return f"{lead}{said} ({shown}), from the rows “{quoted}” [{evidence.number}]"


def row_label(candidate: Candidate, *, name_heading: bool = False) -> str:
    """The row's label, with the heading above it when only that heading meets the question: "Net sales – Products".

    In any case with name_heading, as another quote has the same label, and where the table itself has the label under
    several headings: the "Net sales" of one segment are not the company's. A line of periods or units is no heading.
    """
    label = plain(candidate.span.row.label) if candidate.span.row else ""
    rows = (parse_row(text) for text in candidate.evidence.text.splitlines())
    in_table = sum(row is not None and plain(row.label) == label for row in rows)
    heading = candidate.span.above.rsplit("\n", 1)[-1].strip().rstrip(":： ")
    alone = heading == candidate.span.above.strip().rstrip(":： ")  # then it may be the table's title
    wanted = name_heading or in_table > 1 or (not alone and max(candidate.matched, default=1.0) < _MET)
    # Its rows are of the item that the heading names: the client segment's operating income is not its revenue.
    wanted = wanted or (names_item(heading) and not names_item(label))
    if heading and wanted and len(heading) < _LONG_HEADING and not _NO_HEADING.search(heading):
        return f"{plain(heading)} – {label}"
    return label


def _place(candidate: Candidate) -> tuple[tuple[str, str], str] | None:
    """A row's filing and label: rows of one place are told apart by their headings, those of two filings are so
    already."""
    row = candidate.span.row
    return (candidate.evidence.filing, row.label.lower()) if row else None


def lines(asked: Asked, chosen: Sequence[Candidate]) -> list[str]:
    """The lines of the answer, without the opening. Several filings are told apart by name."""
    several = len({candidate.evidence.filing for candidate in chosen}) > 1
    labels = Counter(_place(candidate) for candidate in chosen)
    written = [
        line(
            asked,
            candidate,
            name_filing=several,
            name_heading=candidate.span.row is not None and labels[_place(candidate)] > 1,
        )
        for candidate in chosen
    ]
    return [f"- {text}" for text in written] if len(written) > 1 else written
