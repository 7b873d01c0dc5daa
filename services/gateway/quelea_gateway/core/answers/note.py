"""An answer as a research note: what stands in it and in which order, for every format that it is written in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from quelea_gateway.core.answers.export import Link, Words, once, place, record, remarks, web_address

_MARKER = re.compile(r"\[(\d{1,3})\]")
_MOST_DIGITS = 30
_MOST_CHARTS = 4
_MOST_NAME = 300
_MOST_TITLE = 600
_MOST_BASIS = 1500
_MOST_POINTS = 24
_MOST_SERIES = 6
_COMPUTED = ("change", "compound_growth", "share", "remainder", "calculation")
_SCALES = {
    "en": ((Decimal(10) ** 9, "billion"), (Decimal(10) ** 6, "million"), (Decimal(10) ** 3, "thousand")),
    "zh": ((Decimal(10) ** 8, "亿"), (Decimal(10) ** 4, "万")),
}
_UNSCALED = ("percent", "points", "times", "days")
_UNITS = {"percent": "%", "points": "pp", "times": "×"}


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text in one style; `marker` is the number of the source that it points at."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    marker: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, an item of a list (`number`: of a numbered one) or a heading of the answer's text; of a table, its
    rows."""

    kind: Literal["paragraph", "item", "heading", "code", "table"]
    runs: tuple[Run, ...] = ()
    number: int = 0
    rows: tuple[tuple[tuple[Run, ...], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A row of the table of figures."""

    name: str
    period: str
    value: str
    unit: str
    basis: str
    """The formula over its operands by name and value; empty of a stated figure."""
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars: for each series a value for each category, None where there is none."""

    title: str
    unit: str
    categories: tuple[str, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class NoteSource:
    """A numbered source."""

    number: int
    title: str
    details: str
    quote: str
    address: str
    web: str
    """Its address in the web, where it was read from there."""


@dataclass(frozen=True, slots=True)
class Note:
    """The whole note."""

    language: str
    title: str
    facts: tuple[str, ...]
    """As of, companies and periods, route, reader."""
    blocks: tuple[Block, ...]
    figures: tuple[FigureLine, ...]
    charts: tuple[Chart, ...]
    sources: tuple[NoteSource, ...]
    remarks: tuple[tuple[str, tuple[str, ...]], ...]
    record: tuple[str, ...]
    words: Words


def note(question: str, answer: Mapping[str, Any], link: Link) -> Note:
    """The note of an answer.

    Args:
        question: As it was asked.
        answer: As POST /v1/ask gives it.
        link: Gives the address of a citation's page.
    """
    say = Words(answer["language"])
    cited = once(answer["citations"])
    numbers = {one["number"] for one in cited}
    figures = answer.get("figures") or []
    facts = [say("as_of", answer["as_of"]), answer["reading"]["text"], say("route", answer["route"])]
    facts.append(say("reader", answer["model"] or answer["reader"]))
    return Note(
        language=answer["language"],
        title=" ".join(question.split())[:_MOST_TITLE],
        facts=tuple(one for one in facts if one),
        blocks=tuple(blocks_of(answer["answer"], numbers)),
        figures=tuple(_figure(one, answer["language"], numbers) for one in figures),
        charts=tuple(charts(figures, answer["language"])),
        sources=tuple(_source(one, say, link(one)) for one in cited),
        remarks=tuple((title, tuple(lines)) for title, lines in remarks(answer, say)),
        record=tuple(record(answer, say)),
        words=say,
    )


def blocks_of(text: str, numbers: Collection[int] = ()) -> Iterator[Block]:
    """The blocks of a text in Markdown.

    Args:
        numbers: Of the sources that its markers point at; other markers stay text.
    """
    return _blocks(_parse_markdown(text), numbers)


def _source(citation: Mapping[str, Any], say: Words, address: str) -> NoteSource:
    title = " ".join((citation["title"] or citation["uri"]).split())
    web = web_address(citation) if citation.get("from_web") else ""
    return NoteSource(citation["number"], title, ", ".join(place(citation, say)), citation["quote"], address, web)


def _parse_markdown(text: str) -> Sequence[SyntaxTreeNode]:
    """The text's Markdown; its HTML stays text."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return SyntaxTreeNode(parser.parse(text)).children


def _blocks(
    nodes: Sequence[SyntaxTreeNode],
    numbers: Collection[int],
    kind: Literal["paragraph", "item"] = "paragraph",
    number: int = 0,
) -> Iterator[Block]:
    for node in nodes:
        if node.type in ("bullet_list", "ordered_list"):
            first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else 0
            for index, item in enumerate(node.children):
                yield from _blocks(item.children, numbers, "item", first and first + index)
        elif node.type == "table":
            rows = [row for part in node.children for row in part.children]
            yield Block("table", rows=tuple(tuple(_cell(cell, numbers) for cell in row.children) for row in rows))
        elif node.type in ("fence", "code_block"):
            yield Block("code", (Run(node.content.rstrip("\n"), code=True),))
        elif node.type in ("heading", "paragraph"):
            yield Block("heading" if node.type == "heading" else kind, _cell(node, numbers), number)
        else:
            yield from _blocks(node.children, numbers, kind, number)


def _cell(node: SyntaxTreeNode, numbers: Collection[int]) -> tuple[Run, ...]:
    return tuple(run for one in node.children for run in _runs(one, numbers))


def _runs(node: SyntaxTreeNode, numbers: Collection[int], *, bold: bool = False, italic: bool = False) -> Iterator[Run]:
    if node.type in ("softbreak", "hardbreak"):
        yield Run("\n")
    elif node.type == "code_inline":
        yield Run(node.content, code=True)
    elif node.children:
        for one in node.children:
            strong, slanted = bold or node.type == "strong", italic or node.type == "em"
            yield from _runs(one, numbers, bold=strong, italic=slanted)
    elif node.content:
        for index, piece in enumerate(_MARKER.split(node.content)):
            if index % 2 and int(piece) in numbers:
                yield Run(f"[{piece}]", marker=int(piece))
            elif piece:
                yield Run(f"[{piece}]" if index % 2 else piece, bold=bold, italic=italic)


def decimal_of(text: str) -> Decimal | None:
    """The number that a text is; None of what is none, or of a size that no statement has."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and abs(value.adjusted()) <= _MOST_DIGITS else None


def scale_of(most: Decimal, unit: str, language: str) -> tuple[Decimal, str]:
    """By what a value is divided so that it reads well, and what that is called."""
    if unit in _UNSCALED or "/" in unit:
        return Decimal(1), ""
    for size, word in _SCALES["zh" if language == "zh" else "en"]:
        if abs(most) >= size:
            return size, word
    return Decimal(1), ""


def write_value(value: str, unit: str, language: str) -> tuple[str, str]:
    """A value and its unit as people read them: ("81,797.00", "USD million")."""
    number = decimal_of(value)
    if number is None:
        return value, unit
    size, word = scale_of(number, unit, language)
    scaled = number / size
    places = 0 if size == 1 and scaled == scaled.to_integral_value() else 2
    return f"{scaled:,.{places}f}", f"{_UNITS.get(unit, unit)} {word}".strip()


def _name(figure: Mapping[str, Any]) -> str:
    operands = figure["operands"]
    return figure["metric"].replace("_", " ").capitalize() or (operands[0]["label"] if operands else "")


def _figure(figure: Mapping[str, Any], language: str, numbers: Collection[int]) -> FigureLine:
    value, unit = write_value(figure["value"], figure["unit"], language)
    operands = figure["operands"]
    basis = figure["formula"] if figure["metric"] else ""
    for number, one in enumerate(operands):
        basis = basis.replace(
            f"{{{number}}}", f"{one['label']} {' '.join(write_value(one['value'], one['unit'], language))}"
        )
    if figure["growth"]:
        growth, percent = write_value(figure["growth"], "percent", language)
        value = f"{value} ({growth}{percent})"
    return FigureLine(
        name=" · ".join(one for one in (figure["company"], _name(figure)) if one)[:_MOST_NAME],
        period=" – ".join(one for one in (figure["period_start"], figure["period_end"]) if one)[:_MOST_NAME],
        value=value[:_MOST_NAME],
        unit=unit[:_MOST_NAME],
        basis=basis[:_MOST_BASIS],
        sources=tuple(dict.fromkeys(one["number"] for one in operands if one["number"] in numbers)),
    )


def _points(figures: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str, str, str, Decimal]]:
    """Key, name, company, period's end, unit and value of all that can stand in a chart."""
    for figure in figures:
        computed = figure["metric"] in _COMPUTED
        found = [] if computed else [(figure["metric"], _name(figure), figure)]
        found += [("", one["label"], one) for one in figure["operands"] if computed]
        for metric, name, one in found:
            value = decimal_of(one["value"])
            stated = figure["operands"][0] if figure["operands"] else {}
            concept = metric or one.get("concept") or stated.get("concept") or name
            if value is not None and one["period_end"]:
                yield concept, name, figure["company"], one["period_end"], one["unit"], value


def charts(figures: Sequence[Mapping[str, Any]], language: str) -> Iterator[Chart]:
    """Of each line or metric that the answer has for two periods or companies, bars."""
    groups: dict[tuple[str, str], dict[tuple[str, str], Decimal]] = {}
    names: dict[tuple[str, str], str] = {}
    for concept, name, company, end, unit, value in _points(figures):
        names.setdefault((concept, unit), name)
        groups.setdefault((concept, unit), {}).setdefault((company, end), value)
    for (concept, unit), values in list(groups.items())[:_MOST_CHARTS]:
        companies = list(dict.fromkeys(company for company, _ in values))[:_MOST_SERIES]
        ends = sorted({end for _, end in values})[-_MOST_POINTS:]
        if len(values) < 2:
            continue
        size, word = scale_of(max(values.values(), key=abs), unit, language)
        series = tuple(
            (
                company,
                tuple(float(values[(company, end)] / size) if (company, end) in values else None for end in ends),
            )
            for company in companies
        )
        title = names[(concept, unit)]
        yield Chart(title, f"{_UNITS.get(unit, unit)} {word}".strip(), tuple(map(_label, ends)), series)


def _label(end: str) -> str:
    """2024 of a calendar year's end, else its month."""
    return end[:4] if end.endswith("-12-31") else end[:7]
