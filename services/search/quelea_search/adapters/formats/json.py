"""JSON and JSON lines: news (title, date, text), tables of records, pages of lines, or any other tree of values."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quelea_search.adapters.formats.common import (
    Progress,
    bounded,
    check_characters,
    check_rows,
    day_of,
    finish,
    stated_fields,
)
from quelea_search.adapters.formats.csv import row_pages
from quelea_search.core.errors import TooManyPages, Unreadable
from quelea_search.core.layout.page_assembly import Block, paginate
from quelea_search.core.layout.text_blocks import plain, table, wrap_width
from quelea_search.core.model import LineKind, ParsedDocument, ParseLimits

TITLE = tuple("title headline 标题 题目 subject news_title name".split())
TEXT = tuple("content body text article 正文 内容 news_content inside abstract 摘要 summary description".split())
DATE = tuple(
    """published published_at publishedat publish_date publish_time pub_date pubdate date datetime 发布时间 发布日期
    日期 时间 time created_at""".split()
)
COMPANY = tuple("company company_name 公司 公司名称 公司简称 股票名称 stock_name".split())
TICKER = tuple("ticker symbol stock_code ts_code 股票代码 证券代码".split())
TYPE = tuple("document_type doc_type 文档类型 文件类型".split())
MAXIMUM_DEPTH = 40
SPARSE = 4
"""Cells of a table for each value in it, at most."""
_RUNNING = ("header", "footer", "页眉", "页脚")


def read(text: str, limits: ParseLimits, on_progress: Progress) -> ParsedDocument:
    """A JSON document or JSON lines. Raises Unreadable for broken or too deeply nested input, TooLarge."""
    check_characters(len(text), limits)
    on_progress(0, 1)
    value = _load(text)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        check_rows(len(value), limits)
        if all(isinstance(item.get("page"), int) and _text_of(item) is not None for item in value):
            return finish(_line_pages(value, limits), "json", {}, limits, on_progress, numbered=True)
        if any(_is_article(item) for item in value):
            pages = [page for item in value for page in paginate(_record(item))]
            facts = _facts(value[0]) if len(value) == 1 else {}
            return finish(pages, "json", facts, limits, on_progress)
        if all(not isinstance(field, dict | list) for item in value for field in item.values()):
            keys = list(dict.fromkeys(key for item in value for key in item))
            # Records that share few keys are no table: its cells, nearly all of them empty, would grow with the square.
            if len(keys) * len(value) <= SPARSE * sum(map(len, value)):
                rows = [keys, *([_scalar(item.get(key)) for key in keys] for item in value)]
                return finish(row_pages(rows), "json", {}, limits, on_progress)
    if isinstance(value, dict) and _is_article(value):
        return finish(paginate(_record(value)), "json", _facts(value), limits, on_progress)
    return finish(paginate(list(bounded(_tree(value, "", 0), limits))), "json", {}, limits, on_progress)


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise Unreadable("The JSON is nested too deeply; flatten it.") from error
    except ValueError as whole:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1:
            try:
                return [json.loads(line) for line in lines]
            except (ValueError, RecursionError) as error:
                raise Unreadable("The file is neither JSON nor JSON lines; export it again.") from error
        raise Unreadable(f"The JSON is broken ({whole}); export it again.") from whole


def _pick(record: Mapping[str, Any], names: Sequence[str]) -> str:
    lower = {str(key).lower(): value for key, value in record.items()}
    for name in names:
        value = lower.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""


def _text_of(record: Mapping[str, Any]) -> str | None:
    lower = {str(key).lower(): value for key, value in record.items()}
    return next((value for name in TEXT if isinstance(value := lower.get(name), str)), None)


def _is_article(record: Mapping[str, Any]) -> bool:
    """A record with running text, not a row of short values."""
    said = _text_of(record)
    return said is not None and (len(said) > 80 or bool(_pick(record, TITLE)))


def _facts(record: Mapping[str, Any]) -> dict[str, str]:
    return stated_fields(
        title=_pick(record, TITLE)[:300],
        published=day_of(_pick(record, DATE)),
        company=_pick(record, COMPANY),
        ticker=_pick(record, TICKER),
        author=_pick(record, ("author", "作者")),
        document_type=_pick(record, TYPE)[:60],
    )


def _record(record: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    title, published = _pick(record, TITLE), _pick(record, DATE)
    if title:
        blocks.append(Block(LineKind.HEADING, title[:300], 1))
    if published:
        blocks.append(Block(LineKind.TEXT, published))
    said = _text_of(record) or ""
    blocks.extend(plain(said.splitlines()))
    for key, value in record.items():
        if (
            str(key).lower() in TEXT
            and isinstance(value, str)
            and value not in (said, title)
            and value[:200] not in said
        ):
            blocks.extend(plain(value.splitlines()))
    return blocks


def _line_pages(records: Sequence[Mapping[str, Any]], limits: ParseLimits) -> list[list[Block]]:
    """Lines that say which page they are on, as layout tools export them; rows are written as lists."""
    last = max(int(record["page"]) for record in records)
    if last > limits.max_pages:
        raise TooManyPages(f"The file has {last} pages, the limit is {limits.max_pages}; split it.")
    wrap = wrap_width([(_text_of(record) or "").strip() for record in records])
    pages: list[list[Block]] = [[] for _ in range(max(last, 0))]
    lines: list[str] = []
    rows: list[list[str]] = []
    at = 0

    def close() -> None:
        if at >= 1:
            pages[at - 1].extend(plain(lines, wrap) if lines else table(rows))
        lines.clear()
        rows.clear()

    for record in records:
        number, said = int(record["page"]), (_text_of(record) or "").strip()
        if not said or str(record.get("type", "")).lower() in _RUNNING:
            continue
        cells = _row_of(said)
        if number != at or (rows if cells is None else lines):
            close()
        at = number
        if cells is None:
            lines.append(said)
        else:
            rows.append(cells)
    close()
    return pages


def _row_of(said: str) -> list[str] | None:
    if not (said.startswith("[") and said.endswith("]")):
        return None
    try:
        value = ast.literal_eval(said)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return [str(cell) for cell in value] if isinstance(value, list) and value else None


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _tree(value: Any, name: str, depth: int) -> Iterator[Block]:
    """Any other value: keys are headings down to the third level, then part of the line."""
    if depth > MAXIMUM_DEPTH:
        raise Unreadable("The JSON is nested too deeply; flatten it.")
    if isinstance(value, dict):
        if name and depth <= 3:
            yield Block(LineKind.HEADING, name, depth)
        for key, item in value.items():
            nested = isinstance(item, dict | list)
            yield from _tree(item, str(key) if depth < 3 or not nested else f"{name}.{key}", depth + 1)
    elif isinstance(value, list):
        if value and all(
            isinstance(item, list) and not any(isinstance(c, dict | list) for c in item) for item in value
        ):
            yield from table([[_scalar(cell) for cell in item] for item in value], keep_empty=True)
            return
        for item in value:
            yield from _tree(item, name, depth + 1)
    elif (said := _scalar(value)).strip():
        label = f"{name}: " if name else ""
        if "\n" in said:
            yield from plain((label + said).splitlines())
        else:
            yield Block(LineKind.TEXT, label + said)
