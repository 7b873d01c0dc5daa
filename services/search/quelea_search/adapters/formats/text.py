"""Plain text and Markdown."""

from __future__ import annotations

import itertools
import re

from quelea_search.adapters.formats.common import (
    Progress,
    check_characters,
    check_lines,
    check_pages,
    day_of,
    finish,
    finish_flow,
    stated_fields,
)
from quelea_search.core.layout.page_assembly import Block, paginate
from quelea_search.core.layout.running_headers import body_mask
from quelea_search.core.layout.text_blocks import paragraph, plain, table
from quelea_search.core.model import LineKind, ParsedDocument, ParseLimits

_ATX = re.compile(r"(#{1,6})\s++(.+)")
_RULE = re.compile(r"\s*(?:[-*_]\s*){3,}$")
_ALIGN = re.compile(r"\s{0,8}+\|?\s{0,8}+:?-{2,}:?\s{0,8}+(?:\|\s{0,8}+:?-{2,}:?\s{0,8}+)*\|?\s{0,8}+$")
_LINK = re.compile(r"!?\[([^\]\[]{0,500})\]\([^)\s(]{0,2000}(?:\s{1,8}\"[^\"]{0,200}\")?\)")
_EMPHASIS = re.compile(r"(\*\*|__|~~|`)(?=\S)(.{1,300}?)(?<=\S)\1|(?<![\w*])\*(?=\S)([^*]{1,300}?)(?<=\S)\*(?![\w*])")
_FRONT = re.compile(r"---\s*\n(.*?)\n---\s*\n", re.S)
_FIELD = re.compile(r"^(title|date|published|author|company|ticker)\s{0,8}+:\s{0,8}+(.+)$", re.I | re.M)


def read(text: str, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """A plain text; form feeds are page breaks."""
    check_characters(len(text), limits)
    check_lines(text.count("\n"), limits)
    on_progress(0, 1)
    if "\f" in text.strip("\f"):
        check_pages(text.count("\f") + 1, limits)
        pages = [page.splitlines() for page in text.split("\f")]
        masks = body_mask(pages)
        bodies = [[line for line, kept in zip(*pair, strict=True) if kept] for pair in zip(pages, masks, strict=True)]
        return finish([plain(lines) for lines in bodies], "text", {}, limits, on_progress, numbered=True)
    return finish_flow(plain(text.splitlines()), "text", {}, limits, on_progress)


def read_markdown(text: str, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """A Markdown document: headings, tables, lists; links and emphasis lose their signs."""
    check_characters(len(text), limits)
    check_lines(text.count("\n"), limits)
    on_progress(0, 1)
    facts: dict[str, str] = {}
    front = _FRONT.match(text)
    if front:
        found = {match[1].lower(): match[2].strip("\"'") for match in _FIELD.finditer(front[1])}
        published = day_of(found.get("published", "") or found.get("date", ""))
        facts = stated_fields(
            title=found.get("title", ""),
            published=published,
            author=found.get("author", ""),
            company=found.get("company", ""),
            ticker=found.get("ticker", ""),
        )
        text = text[front.end() :]
    blocks = _markdown(text.splitlines())
    return finish(paginate(blocks), "markdown", facts, limits, on_progress)


def _markdown(lines: list[str]) -> list[Block]:
    blocks: list[Block] = []
    held: list[str] = []
    at = 0
    fenced = False

    def close() -> None:
        if held:
            blocks.append(paragraph(_plain_inline(" ".join(held))))
            held.clear()

    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith(("```", "~~~")):
            close()
            fenced = not fenced
        elif fenced:
            if line.strip():
                blocks.append(Block(LineKind.TEXT, line))
        elif not line.strip() or (_RULE.match(line) and not (held and set(line.strip()) == {"-"})):
            close()
        elif match := _ATX.match(line):
            close()
            blocks.append(Block(LineKind.HEADING, _plain_inline(match[2].rstrip().rstrip("#").rstrip()), len(match[1])))
        elif held and len(held) == 1 and re.fullmatch(r"\s*(=+|-+)\s*", line):
            blocks.append(Block(LineKind.HEADING, _plain_inline(held.pop()), 1 if "=" in line else 2))
        elif _starts_table(lines[at : at + 2]):
            close()
            rows = _table_rows(lines, at)
            blocks.extend(table([_cells(row) for row in rows], 1, keep_empty=True))
            at += len(rows)  # and the line of dashes below the header
        elif re.match(r"\s*(?:[-*+]|\d{1,3}[.)])\s+", line):
            close()
            held.append(re.sub(r"^\s*[-*+]\s+", "• ", line).strip())
        else:
            held.append(line.strip().removeprefix("> "))
        at += 1
    close()
    return blocks


def _starts_table(lines: list[str]) -> bool:
    return len(lines) > 1 and all("|" in line for line in lines) and _ALIGN.match(lines[1]) is not None


def _table_rows(lines: list[str], at: int) -> list[str]:
    """The header and the rows of the table that begins at a line, without the line of dashes."""
    below = (lines[number] for number in range(at + 2, len(lines)))
    return [lines[at], *itertools.takewhile(lambda line: "|" in line, below)]


def _cells(line: str) -> list[str]:
    return [_plain_inline(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _plain_inline(text: str) -> str:
    text = _LINK.sub(lambda m: m[1], text)
    for _ in range(3):
        text = _EMPHASIS.sub(lambda m: m[2] or m[3] or "", text)
    return text.strip()
