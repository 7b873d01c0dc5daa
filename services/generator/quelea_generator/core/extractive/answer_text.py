"""Quotes as an answer for a person: which figure, for which period, and the words of the source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from types import MappingProxyType

from quelea_fintext.dates import find_dates, write_date

from quelea_generator.core.extractive.matching import names_item
from quelea_generator.core.extractive.opinions import Opinion
from quelea_generator.core.extractive.question import Query
from quelea_generator.core.extractive.rows import Row, parse_row
from quelea_generator.core.extractive.scoring import Candidate
from quelea_generator.core.extractive.spans import Span
from quelea_generator.core.extractive.table_heads import Column, choose_column, head_of, match_columns, read_scale
from quelea_generator.core.model import Evidence

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


def one_line(text: str) -> str:
    """The quoted text on one line. Words, figures and signs are untouched; only white space is."""
    return " ".join(_WRAP.sub("", text).split())


def write_line(query: Query, candidate: Candidate, *, name_filing: bool, name_heading: bool = False) -> str:
    """One quote, cited.

    A table row reads `Total net sales: 81,797 (three months ended July 1, 2023; in millions), from the row “Total net
    sales 81,797 82,959” [1]` when its column is certain, and just the row when it is not.
    """
    if candidate.span.rows:
        return _run(query, candidate, name_filing=name_filing)
    evidence, row = candidate.evidence, candidate.span.row
    zh = query.language == "zh"
    between = "；" if zh else "; "
    quoted, cite = one_line(candidate.text), f"[{evidence.number}]"
    lead = _lead(query, candidate) if name_filing else ""
    if row is None:
        return f"{lead}“{quoted}” {cite}"
    heads, index = _meant_column(query, candidate)
    percents = [bool(re.search("[%％]", cell)) for cell in row.cells if re.search(r"\d", cell)]
    units = "" if all(percents) else scale_phrase(query.language, evidence, candidate.span)
    column = heads[index] if index is not None else None
    if index is None or column is None:
        notes = " | ".join(period_phrase(query.language, head.text) for head in heads if head)
        shown = between.join(part for part in (notes, units) if part)
        if zh:
            return f"{lead}表格行“{quoted}”{f'（{shown}）' if shown else ''} {cite}"
        return f"{lead}Row “{quoted}”{f' ({shown})' if shown else ''} {cite}"
    cell = row.cells[index]
    period = period_phrase(query.language, column.text)
    shown = between.join(part for part in (period, "" if re.search("[%％]", cell) else units) if part)
    label = row_label(candidate, name_heading=name_heading)
    if zh:
        return f"{lead}{label}：{cell}（{shown}），见表格行“{quoted}” {cite}"
    return f"{lead}{label}: {cell} ({shown}), from the row “{quoted}” {cite}"


def meant_cells(query: Query, candidate: Candidate) -> tuple[str, ...]:
    """The cells that its line gives as the answer: of each row the one whose column is certain; none of a sentence."""
    _, index = _meant_column(query, candidate)
    return () if index is None else tuple(row.cells[index] for row in _rows(candidate.span))


def _meant_column(query: Query, candidate: Candidate) -> tuple[Sequence[Column | None], int | None]:
    """The heads of the columns, and the place of the one that is certainly meant, where it has a figure."""
    rows = _rows(candidate.span)
    if not rows:
        return (), None
    heads = match_columns(head_of(candidate.evidence, candidate.span), rows[0].cells)
    index = choose_column(query, candidate.evidence, heads)
    if index is None or heads[index] is None or not re.search(r"\d", rows[0].cells[index]):
        return heads, None
    return heads, index


def _rows(span: Span) -> tuple[Row, ...]:
    return span.rows or ((span.row,) if span.row else ())


def _lead(query: Query, candidate: Candidate) -> str:
    """The filing's name before a quote, where the quotes are of several."""
    evidence = candidate.evidence
    filing = " ".join(part for part in (evidence.company, evidence.period_label or evidence.period_end) if part)
    return f"{filing}{'：' if query.language == 'zh' else ': '}" if filing else ""


def _run(query: Query, candidate: Candidate, *, name_filing: bool) -> str:
    """Adjacent rows, cited: each label with its figure when the column is certain, and the rows as printed."""
    evidence, span = candidate.evidence, candidate.span
    zh = query.language == "zh"
    between, colon = ("；", "：") if zh else ("; ", ": ")
    lead = _lead(query, candidate) if name_filing else ""
    rows = span.rows
    heads, index = _meant_column(query, candidate)
    column = heads[index] if index is not None else None
    units = scale_phrase(query.language, evidence, span)
    quoted = " / ".join(one_line(text) for text in candidate.text.splitlines() if text.strip())
    if index is None or column is None:
        notes = " | ".join(period_phrase(query.language, head.text) for head in heads if head)
        shown = between.join(part for part in (notes, units) if part)
        opened = "表格各行" if zh else "Rows "
        note = f"（{shown}）" if zh else f" ({shown})"
        return f"{lead}{opened}“{quoted}”{note if shown else ''} [{evidence.number}]"
    said = between.join(f"{one_line(row.label)}{colon}{row.cells[index]}" for row in rows)
    shown = between.join(part for part in (period_phrase(query.language, column.text), units) if part)
    if zh:
        return f"{lead}{said}（{shown}），见表格各行“{quoted}” [{evidence.number}]"
    return f"{lead}{said} ({shown}), from the rows “{quoted}” [{evidence.number}]"


def row_label(candidate: Candidate, *, name_heading: bool = False) -> str:
    """The row's label, with the heading above it when only that heading meets the question: "Net sales – Products".

    In any case with name_heading, as another quote has the same label, and where the table itself has the label under
    several headings: the "Net sales" of one segment are not the company's. A line of periods or units is no heading.
    """
    label = one_line(candidate.span.row.label) if candidate.span.row else ""
    rows = (parse_row(text) for text in candidate.evidence.text.splitlines())
    in_table = sum(row is not None and one_line(row.label) == label for row in rows)
    heading = candidate.span.above.rsplit("\n", 1)[-1].strip().rstrip(":： ")
    alone = heading == candidate.span.above.strip().rstrip(":： ")  # then it may be the table's title
    wanted = name_heading or in_table > 1 or (not alone and max(candidate.matched, default=1.0) < _MET)
    # Its rows are of the item that the heading names: the client segment's operating income is not its revenue.
    wanted = wanted or (names_item(heading) and not names_item(label))
    if heading and wanted and len(heading) < _LONG_HEADING and not _NO_HEADING.search(heading):
        return f"{one_line(heading)} – {label}"
    return label


def _place(candidate: Candidate) -> tuple[tuple[str, str], str] | None:
    """A row's filing and label: rows of one place are told apart by their headings, those of two filings are so
    already."""
    row = candidate.span.row
    return (candidate.evidence.filing, row.label.lower()) if row else None


def write_lines(query: Query, chosen: Sequence[Candidate]) -> list[str]:
    """The lines of the answer, without the opening. Several filings are told apart by name."""
    several = len({candidate.evidence.filing for candidate in chosen}) > 1
    labels = Counter(_place(candidate) for candidate in chosen)
    written = [
        write_line(
            query,
            candidate,
            name_filing=several,
            name_heading=candidate.span.row is not None and labels[_place(candidate)] > 1,
        )
        for candidate in chosen
    ]
    return [f"- {text}" for text in written] if len(written) > 1 else written


_SPAN = re.compile(
    r"(?P<months>three|six|nine|twelve|3|6|9|12)[ -]months?(?: ended)?"
    r"|(?P<fiscal>fiscal )?(?P<what>years?|quarters?) ended",
    re.IGNORECASE,
)
_NUMBERS = {"three": "三", "six": "六", "nine": "九", "twelve": "十二", "3": "三", "6": "六", "9": "九", "12": "十二"}
_QUARTER = re.compile(r"Q([1-4]) ?(FY)?((?:19|20)\d\d)", re.IGNORECASE)
_YEAR = re.compile(r"(?:FY ?)?((?:19|20)\d\d)", re.IGNORECASE)
_CHANGE = re.compile(r"[a-z$€£% /()-]*\b(?:change|variance|increase|decrease)\b[a-z /()-]*", re.IGNORECASE)
_SCALES = {"hundreds": "百", "thousands": "千", "millions": "百万", "billions": "十亿"}
_SCALE = re.compile(r"in (?P<scale>hundreds|thousands|millions|billions)(?P<of> of .+)?", re.IGNORECASE)
_DOLLARS = re.compile(r"(?<![A-Za-z])(?:US)?\$|\bUSD\b")
_OF_DOLLARS = re.compile(r"of (?:u\.?s|dollars)", re.IGNORECASE)
_OTHER_MONEY = re.compile(r"(?<![A-Za-z])(?:HK|NT|AU?|CA?|S|R)\$|[€£¥￥]|\b(?:RMB|CNY|EUR|GBP|JPY|HKD)\b")
_NO_MONEY = re.compile(
    r"\b(?:shares?|units?|number|employees|headcount|customers|users|subscribers|stores|options|awards|days)\b",
    re.IGNORECASE,
)


def _quarter(match: re.Match[str]) -> str:
    return f"{match[3]}{'财年' if match[2] else '年'}第{'一二三四'[int(match[1]) - 1]}季度"


@lru_cache(maxsize=1024)
def period_phrase(language: str, text: str) -> str:
    """A column's head as the question's language says it: 截至2023年7月1日的三个月. What is not known stays."""
    if language != "zh" or not text.isascii():
        return text
    if match := _QUARTER.fullmatch(text):
        return _quarter(match)
    if _CHANGE.fullmatch(text):
        return "变动"
    span = _SPAN.match(text)
    rest = text[span.end() :].strip() if span else text
    if span and (match := _QUARTER.fullmatch(rest)):
        return _quarter(match)
    days = [one.day for one in find_dates(rest)]
    if len(days) == 1:
        at = write_date(days[0], language)
    elif year := _YEAR.fullmatch(rest):
        at = f"{year[1]}年"
    else:
        return text
    if span is None:
        return at
    if span["months"]:
        return f"截至{at}的{_NUMBERS[span['months'].lower()]}个月"
    if span["what"].lower().startswith("quarter"):
        return f"截至{at}的季度"
    return f"截至{at}的{'财年' if span['fiscal'] else '年度'}"


def scale_phrase(language: str, evidence: Evidence, span: Span) -> str:
    """The unit of a row's figures as the question's language says it: 百万美元; empty when the table says nothing.

    The currency is added only where the table's figures have one sign, and the row is one of money.
    """
    said = read_scale(evidence, span)
    match = _SCALE.fullmatch(said)
    if language != "zh" or match is None:
        return said
    scale = _SCALES[match["scale"].lower()]
    around = f"{evidence.table_head}\n{evidence.text}"
    label = span.row.label if span.row else " ".join(row.label for row in span.rows)
    if _OF_DOLLARS.search(match["of"] or "") or (
        not match["of"] and _DOLLARS.search(around) and not _OTHER_MONEY.search(around) and not _NO_MONEY.search(label)
    ):
        return f"{scale}美元"
    return f"单位：{scale}" if not match["of"] else said
