"""Which column of a table answers: reading the periods in its head, and choosing by the question's period.

It claims nothing when the head and the cells of the row do not match in number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache

from quelea_fintext.dates import find_dates, parse_iso
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.times.period_words import MONTH, MONTHS_LONG, QUARTERS, TO_DATE

from quelea_generator.core.extractive.question import Query
from quelea_generator.core.extractive.rows import parse_row
from quelea_generator.core.extractive.spans import Span
from quelea_generator.core.model import Evidence

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_CHANGE = (
    r"(?:[$%€] ?)?\b(?:change|variance|increase ?/? ?\(?decrease\)?)\b"
    r"|(?<!\d)(?:19|20)\d\d\s{1,4}(?:vs\.?|versus)\s{1,4}(?:19|20)\d\d"
    r"|%\s*(?:chg|inc)|[\w（(]{0,20}(?:增减|变动)[\w（(%）)]*"
)
_TOKEN = re.compile(
    rf"(?P<span>\b(?:three|six|nine|twelve|3|6|9|12)[ -]months?(?: ended)?|\b(?:fiscal )?(?:years?|quarters?) ended)"
    rf"|(?P<day>\b{_MONTH}\s+\d{{1,2}}\b)"
    rf"|(?P<change>{_CHANGE})"
    r"|(?P<quarter>\bQ[1-4] ?(?:FY)?(?:19|20)\d\d\b"
    r"|第[一二三四1-4]季度|(?:19|20)\d\d年(?:第?[一二三四1-4]季度|1-\d{1,2}月|上半年|半年度|末)?|本报告期末?|本期\w{0,3}|本年\w{0,2}"
    r"|上年同期|上期\w{0,3}|上年\w{0,2}|期末\w{0,2}|期初\w{0,2})"
    r"|(?P<year>(?<![\d,.])(?:FY ?)?(?:19|20)\d\d(?![\d,.]\d))",
    re.IGNORECASE,
)
_OF_QUARTER, _OF_YEAR = LANGUAGES.pattern("passages.of_quarter"), LANGUAGES.pattern("passages.of_year")
_QUARTER_HEAD = re.compile("第([一二三四1-4])季度")
_HEAD_YEAR = re.compile(r"(?:19|20)\d\d")
_NOW, _BEFORE = ("本", "期末"), ("上", "期初")
_YEAR, _NEAR = timedelta(days=365), 20
_NAMES_MONTH = re.compile(rf"\b(?:{MONTH})\b|月", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head: as a person says it, and what it means."""

    text: str
    year: int = 0
    months: int = 0
    is_change: bool = False
    quarter: int = 0
    """Of a table of one year's quarters."""


def head_of(evidence: Evidence, span: Span) -> str:
    """The lines that head a row's table: the table head, and the nearest lines above the row that hold a period."""
    lines: list[str] = []
    for line in reversed(evidence.text[: span.start].splitlines()):
        if parse_row(line):
            if has_period("\n".join(lines)):
                break
            lines = []
        else:
            lines.insert(0, line)
    found = "\n".join(lines[-14:])
    return found if has_period(found) else f"{evidence.table_head}\n{found}"


def has_period(text: str) -> bool:
    """Whether a head names a year or a quarter."""
    return any(match.lastgroup in {"year", "quarter"} for match in _TOKEN.finditer(text))


@lru_cache(maxsize=1024)
def read_columns(head: str, cells: int) -> tuple[Column, ...]:
    """The head's columns when there are as many as cells, else none. The rows of a table share what was read."""
    lines = [line for line in head.splitlines() if line.strip()]
    best: list[Column] = []
    for take in range(1, len(lines) + 1):
        found = _columns("\n".join(lines[-take:]), cells)
        if found and (not best or sum(map(_known, found)) > sum(map(_known, best))):
            best = found
    return tuple(best)


def match_columns(head: str, cells: Sequence[str]) -> list[Column | None]:
    """One column head per cell. Percentages that stand between the columns of a head have none of their own."""
    found = read_columns(head, len(cells))
    if found:
        return list(found)
    plain = [i for i, cell in enumerate(cells) if not re.search(r"[%％]", cell)]
    found = read_columns(head, len(plain)) if 0 < len(plain) < len(cells) else ()
    result: list[Column | None] = [None] * len(cells)
    for index, column in zip(plain, found, strict=False):
        result[index] = column
    return result


def name_columns(head: str, cells: int) -> list[str]:
    """The words above each cell, from the nearest line of the head that has as many; none where no line has."""
    for line in reversed(head.splitlines()):
        parts = [part.strip() for part in line.split("\t")]
        for names in (parts, parts[1:]):  # the labels of the rows may have a head too
            if len(names) == cells > 1 and all(names):
                return names
    return []


def _known(column: Column) -> int:
    return len(column.text)


def _columns(head: str, cells: int) -> list[Column]:
    tokens = [(match.lastgroup, " ".join(match.group().split())) for match in _TOKEN.finditer(_without_change(head))]
    heads = [(kind, text) for kind, text in tokens if kind in {"year", "quarter", "change"}]
    days = [text for kind, text in tokens if kind == "day"]
    spans = [text for kind, text in tokens if kind == "span"]
    if len(heads) != cells or all(kind == "change" for kind, _ in heads) or _is_torn(head):
        return []
    dated = [i for i, (kind, _) in enumerate(heads) if kind == "year"]
    if days and (len(dated) % len(days) or len(days) > len(dated)):
        return []
    if spans and cells % len(spans):
        spans = []
    found = []
    for index, (kind, text) in enumerate(heads):
        if kind == "change":
            found.append(Column(text, is_change=True))
            continue
        day = days[dated.index(index) * len(days) // len(dated)] if days and kind == "year" else ""
        span = spans[index * len(spans) // cells] if spans else ""
        year = _HEAD_YEAR.search(text)
        shown = f"{day}, {text}" if day else text
        months = (
            MONTHS_LONG.get(span.split()[0].split("-")[0].lower(), 12 if "year" in span.lower() else 3) if span else 0
        )
        of_year = _QUARTER_HEAD.match(text)
        quarter = QUARTERS[of_year[1]] if of_year else 0
        found.append(
            Column(f"{span.lower()} {shown}".strip(), int(year.group()) if year else 0, months, quarter=quarter)
        )
    return found


def _without_change(head: str) -> str:
    """The head without "Change" where it stands on a line above the years: its place among them is not known."""
    lines = head.splitlines()
    dated = [at for at, line in enumerate(lines) if _years_of(line)]
    if not dated:
        return head
    early = [re.sub(_CHANGE, " ", line, flags=re.IGNORECASE) for line in lines[: dated[-1]]]
    return "\n".join([*early, *lines[dated[-1] :]])


def _years_of(line: str) -> list[int]:
    """The years of the column heads of a line."""
    heads = [match.group() for match in _TOKEN.finditer(line) if match.lastgroup in {"year", "quarter"}]
    return [int(year.group()) for head in heads if (year := _HEAD_YEAR.search(head))]


def _is_torn(head: str) -> bool:
    """A line of heads that the document broke in pieces: which of them comes first is not known.

    Years on several lines that do not run on in one direction. One head a line is a list, in its order.
    """
    lines = [years for line in head.splitlines() if (years := _years_of(line))]
    found = [year for years in lines for year in years]
    if len(lines) < 2 or max(map(len, lines)) < 2:
        return False
    return found not in (sorted(found), sorted(found, reverse=True))


def choose_column(query: Query, evidence: Evidence, found: Sequence[Column | None]) -> int | None:
    """The index of the column that the question means; None when it is not certain."""
    known = [column for column in found if column]
    scores = [_fit(query, evidence, column, known) if column else -1.0 for column in found]
    best = max(scores, default=0.0)
    return scores.index(best) if best >= 1 and scores.count(best) == 1 else None


def _fit(query: Query, evidence: Evidence, column: Column, found: Sequence[Column]) -> float:
    if column.is_change:
        return -1.0
    if column.quarter:
        of_year = not query.years or str(next(iter(query.years))) in evidence.period_label
        return 2.0 if column.quarter == query.quarter and of_year else -1.0
    days = {match.day for match in find_dates(column.text)}
    end = parse_iso(evidence.period_end)
    fit = 0.0
    if query.days:
        fit += 2.0 if days & set(query.days) else 0.0
    elif query.years and end and _is_beside(query, evidence):
        before = end - _YEAR
        fit += 2.0 if _near(before, days) or (not days and column.year == before.year) else 0.0
    elif query.years and not is_own(query, evidence):
        fit += 2.0 if column.year in query.years and len(query.years) == 1 else 0.0
    elif end:
        fit += 2.0 if end in days or (not days and column.year == end.year) else 0.0
    now, earlier = (_BEFORE, _NOW) if _is_beside(query, evidence) else (_NOW, _BEFORE)
    if column.text.startswith(now):
        fit += 1.5
    if column.text.startswith(earlier):
        fit -= 1.0
    if column.months:
        shortest = min(other.months for other in found if other.months)
        longest = max(other.months for other in found)
        wanted = longest if query.months == TO_DATE else query.months or shortest
        fit += 0.5 if column.months == wanted else 0.0
    return fit


def table_fit(query: Query, evidence: Evidence, span: Span) -> float:
    """-1 when the row's table is of another period than the one that is meant, 1 when a column of a year's table is the
    quarter that is asked for, else 0.

    Trailing twelve months in a quarterly filing, quarters alone where nine months are asked for, or a table whose dates
    are all others: another company's summary.
    """
    if span.row is None:
        return 0.0
    heads = [column for column in match_columns(head_of(evidence, span), span.row.cells) if column]
    end = parse_iso(evidence.period_end)
    quarterly = bool(query.quarter) or re.search(r"Q[1-4]", evidence.period_label) is not None
    months = {column.months for column in heads if column.months}
    if any(column.quarter for column in heads):
        if query.quarter in {column.quarter for column in heads}:
            return 1.0
        return 0.0 if query.quarter or query.breakdown else -1.0  # the quarters of a year that is asked for whole
    if _is_beside(query, evidence) and choose_column(query, evidence, heads) is None:
        return -1.0  # the row begins with the filing's own period, which is not the one asked for
    if quarterly and months == {12} and query.months != 12:
        return -1.0
    if query.months in (6, 9) and months and query.months not in months:
        return -1.0
    days = {match.day for column in heads for match in find_dates(column.text)}
    if query.days:
        return -1.0 if days and not days & set(query.days) else 0.0
    if end and days and end not in days and (not query.years or is_own(query, evidence)):
        return -1.0
    return 0.0


def speaks_of_quarter(text: str) -> bool:
    """It names a quarter, or three months."""
    return _OF_QUARTER.search(text) is not None


def is_longer(query: Query, evidence: Evidence, span: Span) -> bool:
    """The row is of the whole year where a quarter of it is asked for: nothing that flows is the same in both."""
    label = evidence.period_label
    if span.row is None or not query.quarter or query.months > 3 or not label or re.search(r"Q[1-4]", label):
        return False
    head = f"{evidence.table_head}\n{head_of(evidence, span)}"
    if _OF_QUARTER.search(f"{head}\n{span.row.label}"):
        return False
    if _OF_YEAR.search(head):
        return True
    heads = [column for column in match_columns(head, span.row.cells) if column and not column.is_change]
    months = {column.months for column in heads if column.months}
    if months:
        return min(months) > 3
    if not heads:  # a head whose columns cannot be told apart still says of what time they are
        return has_period(head) and not any(find_dates(head)) and not _NAMES_MONTH.search(head)
    return not any(find_dates(column.text) for column in heads)  # a day's balance is the quarter's too


def is_own(query: Query, evidence: Evidence) -> bool:
    """The question's period is the filing's own: by its fiscal calendar, or by the year's unless "fiscal" is said."""
    if is_labelled(query, evidence):
        return True
    return not query.fiscal and calendar_quarter(evidence) in {(year, query.quarter) for year in query.years}


def _is_beside(query: Query, evidence: Evidence) -> bool:
    """The question's period is the one that the filing compares its own with: the same of the year before."""
    quarterly = re.search(r"Q[1-4]", evidence.period_label) is not None
    if len(query.years) != 1 or quarterly is not bool(query.quarter) or is_own(query, evidence):
        return False
    (year,) = query.years
    return is_own(replace(query, years=frozenset({year + 1})), evidence)


def _near(day: date, days: Iterable[date]) -> bool:
    return any(abs((day - other).days) <= _NEAR for other in days)


def is_labelled(query: Query, evidence: Evidence) -> bool:
    """The question's period is the filing's own by its fiscal calendar."""
    said = set(re.findall(r"(?:19|20)\d\d", evidence.period_label))
    quarter = re.search(r"Q([1-4])", evidence.period_label)
    if not said & {str(year) for year in query.years}:
        return False
    return not query.quarter or (quarter is not None and int(quarter[1]) == query.quarter)


def calendar_quarter(evidence: Evidence) -> tuple[int, int]:
    """Year and quarter of the middle of the filing's last quarter: fiscal ones end some days early or late."""
    end = parse_iso(evidence.period_end)
    if end is None:
        return 0, 0
    middle = end - timedelta(days=45)
    return middle.year, (middle.month + 2) // 3


_UNIT = re.compile(
    r"\b(?:(?:amounts|dollars|RMB|USD|[$€£¥]) ?)?in "
    r"(?P<en>(?:thousands|millions|billions|hundreds)(?: of [A-Za-z.]+)?)\b"
    r"|单位(?:[:：]|均?[为是])\s*(?P<zh>[^\s)）,，。;；]{1,8})"
    r"|(?P<yuan>人民币(?:百万|千|万|亿)元)"
    r"|(?P<thousands>(?:RMB|HK\$|US\$|[$€£¥]) ?['’]000s?)"
    r"|\((?P<sign>[$€£¥] ?[MB]|[$€£¥][BMbm]?(?:illions|n)?|£m|€m|\$m)\)",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r",?\s{0,8}+\b(?:except|other than)\b[^)）\n]*", re.IGNORECASE)
_SHARES = LANGUAGES.pattern("passages.shares")
_PER_SHARE = LANGUAGES.pattern("passages.per_share")
_OWN_UNIT = re.compile(
    r"[(（]\s*(?:[%％‰]|(?:人民币)?[十百千万亿]{0,2}(?:[美港欧日]?元(?:[/／][\u4e00-\u9fff]{1,2})?|[股人名户家倍天日吨]))\s*[)）]\s*$"
)
"""A unit in parentheses at the end of a row's label; "（优先股）" and "（个人）" are none."""
_COUNTED = LANGUAGES.pattern("passages.counted")
_MONEY = re.compile(r"[$€£¥￥]")

_BARE = 10
"""A label of so few characters needs the heading above it to say what it is: "Basic", "Diluted"."""


def read_scale(evidence: Evidence, span: Span) -> str:
    """The unit that stands nearest above a row; empty when the table says nothing, or not for this row.

    "In millions, except number of shares, which are reflected in thousands, and per share amounts": most rows are in
    millions, a row of shares in thousands, and a row of amounts per share in no unit of the table. Nor is one whose own
    label ends with its unit ("占营业收入比例（%）"); one that counts people is in no unit of money.
    """
    label = span.row.label if span.row else " ".join(row.label for row in span.rows)
    if span.row and _OWN_UNIT.search(label):
        return ""
    counted = span.row is not None and _COUNTED.search(label) is not None
    figures = evidence.text[span.start : span.end]
    heading = _EXCEPT.sub(" ", span.above).rsplit("\n", 1)[-1]
    per_share = _PER_SHARE.search(f"{label} {heading}" if len(label) <= _BARE else label)
    for text in (evidence.table_head, evidence.text[: span.start], evidence.header):
        plain = _last(_EXCEPT.sub(" ", text))
        if not plain:
            continue
        if per_share or (counted and plain.endswith("元")):
            return ""
        exceptions = " ".join(match.group() for match in _EXCEPT.finditer(text))
        if _SHARES.search(label) and _SHARES.search(exceptions) and not _MONEY.search(figures):
            return _last(exceptions) or plain
        return plain
    return ""


def _last(text: str) -> str:
    matches = list(_UNIT.finditer(text))
    if not matches:
        return ""
    match = matches[-1]
    if match["en"]:
        return f"in {match['en'].lower()}"
    if match["zh"] or match["yuan"]:
        return f"单位：{match['zh'] or match['yuan']}"
    return match["thousands"] or match["sign"] or ""
