"""What a sentence calls the largest or the smallest, against the others of its set, where the evidence holds them all.

A set is known when its members add up to a total that stands beside them, when they are rows of one block whose names
are of things and not of line items, or, for times, when the sentence counts or names the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from quelea_checker import opposites
from quelea_checker.facts import TOTAL, Evidence
from quelea_checker.matching import Claim, same_currency, same_kind, sizes
from quelea_checker.model import Figure, Period
from quelea_checker.passage_facts import Fact, Group, content
from quelea_checker.times import fits

MOST, LEAST = opposites.ends("extreme")
_WORDS = re.compile(
    r"(?P<rank>\b(?:second|third)[- ]|第[二三])?"
    r"(?:(?P<most>\bthe most\b(?! (?:recent|significant|important|of)\b)"
    rf"|{MOST}|(?<=[二三])大|(?:居|列|为)(?:首位?|第一)|排名?(?:首位|第一)|第一大|榜首)"
    rf"|(?P<least>{LEAST}|垫底))",
    re.IGNORECASE,
)
_MAY = re.compile(r"(?:[ghk]|at|ll|ow|ew|\bb)est\b|the most|最|首|第一|第[二三]大|垫底")
_ELSE = re.compile(
    r"\b(?:one of|among|amongst) (?:the |its |our |their )?(?:\w+ )?$|\bat (?:the )?$|\b(?:not|no longer)\b[^,;]*$"
    r"|[不非]是?[^,，;]*$",
    re.IGNORECASE,
)
"""Before the word: it is no claim that it is the largest of all."""
_OTHERWISE = re.compile(
    r"\s?(?:\w+ ){0,2}?(?:increases?|decreases?|declines?|growth|gains?|drops?|changes?|rises?|falls?|contributors?"
    r"|customers?|suppliers?|shareholders?|holders?|ever|on record|since|outside|after|except|other than|excluding"
    r"|in (?:its |the )?(?:history|world|country|industry))\b"
    r"|的?(?:增[长幅速]|降幅|跌幅|涨幅|股东|客户|供应商|变[动化]|限度|竞争)|之一|以来",
    re.IGNORECASE,
)
_CHANGE = re.compile(r"(?:增[长幅速加]|降[幅低]|跌幅|涨幅|变[动化]幅?度?|贡献|提升|下[降滑])[^,，;。]{0,4}$")
_EXCEPT = re.compile(
    r"\b(?:outside|except|excluding|other than|apart from|besides)\b|除了?[^,，]{1,20}[外以]|之一", re.IGNORECASE
)
_NEXT = re.compile(
    r"[;；。]|\b(?:followed by|ahead of|while|whereas|but|then|compared|versus|against|next)\b"
    r"|其次|而|高于|低于|超过|以及",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"\b(?P<en>two|three|four|five|six|eight) (?:\w+ )?(?:quarters|years|months|periods)\b"
    r"|(?<!第)(?<!前)(?P<zh>[两二三四五六八])个?(?:季度?|年|月|报告期)"
    r"|(?P<all>各个?季度|单季|\bquarterly\b|\bof all quarters\b)",
    re.IGNORECASE,
)
_COUNTS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8,
    "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "八": 8,
}  # fmt: skip
_OF_PARTS = re.compile(
    r"\bof (?:the|all|its) (?P<en>two|three|four|five|six|eight) (?!months|quarters|years)"
    r"|(?P<zh>[两二三四五六八])(?:大|个|项|类|家)(?!季|月)",
    re.IGNORECASE,
)
LINE_ITEM = re.compile(
    r"\b(?:revenues?|sales|income|profit|loss(?:es)?|earnings|costs?|expenses?|margin|tax(?:es)?|assets?|liabilit\w+"
    r"|equity|cash|debt|dividends?|shares?|provision|EBITDA?|per|rate|ratio|change|growth|depreciation|amorti[sz]ation"
    r"|activities|backlog|employees|net|gross|other|all|less)\b|%"
    r"|收入|利润|成本|费用|资产|负债|权益|现金|毛利|税|每股|收益|率|合计|总|净|增|其中|其他|股东|金额|占比|同比",
    re.IGNORECASE,
)
_REACH = 90
_MOST_ROWS = 40


def broken(sentence: str, figures: Sequence[Figure], evidence: Evidence) -> Iterator[int]:
    """Starts of figures that are called the largest, or the smallest, of a set that has a larger, or a smaller, one."""
    if not _MAY.search(sentence) or _EXCEPT.search(sentence):
        return
    terms: frozenset[str] | None = None
    for word in _WORDS.finditer(sentence):
        if _ELSE.search(sentence[: word.start()]) or _OTHERWISE.match(sentence, word.end()):
            continue
        if _CHANGE.search(sentence[: word.start()]):
            continue
        terms = content(sentence) if terms is None else terms
        times = tuple(f.period for f in figures if f.period is not None)
        for figure in _said_so(sentence, figures, word):
            claim = Claim(figure, sentence, "", terms, times, times, 0)
            verdicts = [_holds(own, rest, word) for own, rest in _sets(claim, evidence, sentence)]
            if verdicts and not any(verdicts):
                yield figure.start
            if verdicts:
                break


def _said_so(sentence: str, figures: Sequence[Figure], word: re.Match[str]) -> list[Figure]:
    """The amounts that may be the largest one's: the first behind the word, else the last before it in reach."""
    amounts = [f for f in figures if f.period is None and f.kind in {"number", "percent"} and not f.negative]
    cut = _NEXT.search(sentence, word.end())
    last = min(word.end() + _REACH, cut.start() if cut else len(sentence))
    behind = [f for f in amounts if word.end() <= f.start and f.end <= last]
    before = [f for f in amounts if f.end <= word.start() and not _NEXT.search(sentence[f.end : word.start()])]
    return (behind or before[-1:])[:2]


def _holds(own: Fact, rest: Sequence[Fact], word: re.Match[str]) -> bool:
    rank = 1
    if word["rank"]:
        rank = 2 if word["rank"][0] in "sS" or word["rank"].endswith("二") else 3
    value = abs(own.value) if all(f.value <= 0 for f in (own, *rest)) else own.value
    values = [abs(f.value) if value != own.value else f.value for f in rest]
    ahead = sum(v > value for v in values) if word["most"] else sum(v < value for v in values)
    level = sum(v == value for v in values)
    return ahead < rank <= ahead + level + 1


def _sets(claim: Claim, evidence: Evidence, sentence: str) -> Iterator[tuple[Fact, list[Fact]]]:
    """The places where the figure stands, each with the others of its set; sets that are not known are left out."""
    wanted = parts(sentence)
    timely = _TIMES.search(sentence)
    for fact in _standing(claim, evidence):
        group = evidence.groups[fact.group]
        if timely:
            rest = _columns(fact, group, timely)
        elif fact.table >= 0:
            rest = _rows(fact, group, evidence, claim.terms)
        else:
            rest = _listed(fact, group)
        if rest and (not wanted or len(rest) + 1 == wanted):
            yield fact, rest


def parts(sentence: str) -> int:
    """Of how many things it speaks: 3 of "of the three segments"; 0 where it does not say."""
    counted = _OF_PARTS.search(sentence)
    return _COUNTS[(counted["en"] or counted["zh"]).lower()] if counted else 0


def _standing(claim: Claim, evidence: Evidence) -> Iterator[Fact]:
    """Facts that are the claim's figure, of rows and sentences that it names."""
    figure, seen = claim.figure, set()
    scales = {Decimal(1)} if figure.kind != "number" else {Decimal(10) ** n for n in (0, 3, 4, 6, 8, 9)}
    for times in sorted(scales):
        low, high = (figure.size - claim.tolerance) / times, (figure.size + claim.tolerance) / times
        for fact in evidence.near(low, high, _MOST_ROWS):
            if id(fact) in seen or fact.change:
                continue
            seen.add(id(fact))
            group = evidence.groups[fact.group]
            named = group.name <= claim.terms if fact.table >= 0 else True
            if (
                named
                and group.name
                and same_kind(figure, fact)
                and same_currency(figure, fact)
                and sizes(claim, fact) is not None
                and fits(claim.periods, fact.periods, fact.years)
            ):
                yield fact


def _rows(fact: Fact, group: Group, evidence: Evidence, terms: frozenset[str]) -> list[Fact]:
    """The same column of the other rows of its kind; empty where they are not known to be all of one kind."""
    rows = evidence.rows.get(fact.table, [])
    if TOTAL.search(group.label):
        return []
    if LINE_ITEM.search(group.label) and _is_named(group, terms):  # "Americas: net sales; Europe: net sales"
        alike = [g for g in rows if g.label == group.label and g.section]
        if len(alike) > 1 and len({g.section for g in alike}) == len(alike):
            return _others(fact, alike)
    part, total = _run(rows, group)
    found = _others(fact, part) if len({g.label for g in part}) == len(part) else []
    last = next((f for f in total.facts if f.column == fact.column), None) if total else None
    if found and last and abs(sum((f.value for f in found), fact.value) - last.value) <= _slack(found, last):
        return found
    if whole := _whole(fact, [g for g in rows if g.block == group.block]):
        return whole
    block = [g for g in rows if g.block == group.block and g.label and not TOTAL.search(g.label)]
    if any(LINE_ITEM.search(g.label) for g in block):
        return []
    found = _others(fact, block)
    return [] if has_sum([fact.value, *(f.value for f in found)]) else found


def _whole(fact: Fact, block: Sequence[Group]) -> list[Fact]:
    """The rows of its block that the block's last row is the sum of: "Consolidated"."""
    if len(block) < 3 or fact.group not in (g.facts[0].group for g in block[:-1]):
        return []
    found = _others(fact, block[:-1])
    last = next((f for f in block[-1].facts if f.column == fact.column), None)
    near = last and abs(sum((f.value for f in found), fact.value) - last.value) <= _slack([fact, *found], last)
    return found if found and near else []


def _is_named(group: Group, terms: frozenset[str]) -> bool:
    """The words name its section, which is a thing and no line item."""
    own = content(group.section)
    return bool(own) and own <= terms and not own <= group.name and not LINE_ITEM.search(group.section)


def _run(rows: Sequence[Group], group: Group) -> tuple[list[Group], Group | None]:
    """The rows from a total, or the table's beginning, to the next total; and that."""
    run: list[Group] = []
    inside = False
    for row in rows[:_MOST_ROWS]:
        if row.label and not TOTAL.search(row.label):
            run.append(row)
            inside = inside or row is group
        elif inside:
            return run, row
        else:
            run = []
    return [], None


def _others(fact: Fact, rows: Sequence[Group]) -> list[Fact]:
    """The fact's column in the other rows, where all of them have it in the same unit."""
    cells = [next((f for f in g.facts if f.column == fact.column), None) for g in rows]
    known = [f for f in cells if f is not None]
    even = len({len(g.facts) for g in rows}) == 1 and len(known) == len(rows) <= _MOST_ROWS
    alike = all(f.unit.percent == fact.unit.percent for f in known)
    return [f for f in known if f.group != fact.group] if even and alike else []


def _slack(parts: Sequence[Fact], total: Fact) -> Decimal:
    return max(total.figure.step, *(f.figure.step for f in parts)) * (1 + len(parts) // 2)


def has_sum(values: Sequence[Decimal]) -> bool:
    """One of them is the sum of those before it or behind it: a total by another name."""
    for at, value in enumerate(values):
        for run in (values[:at], values[at + 1 :]):
            if len(run) > 1 and value and abs(sum(run, Decimal(0)) - value) <= abs(value) / 200:
                return True
    return False


def _columns(fact: Fact, group: Group, timely: re.Match[str]) -> list[Fact]:
    """The other times of its row, as many as the sentence says, or all quarters of its year."""
    own = _only_time(fact)
    if fact.table < 0 or own is None:
        return []
    rest = []
    for other in group.facts:
        time = _only_time(other)
        if other is fact or other.change or time is None or other.column == fact.column:
            continue
        if (bool(time.quarter), time.months) == (bool(own.quarter), own.months) and (
            not own.quarter or time.year == own.year
        ):
            rest.append(other)
    if timely["all"]:
        return rest if own.quarter and len(rest) == 3 else []  # the other quarters of a year
    return rest if len(rest) + 1 == _COUNTS[(timely["en"] or timely["zh"]).lower()] else []


def _only_time(fact: Fact) -> Period | None:
    return fact.periods[0] if len({(p.year, p.quarter, p.month) for p in fact.periods}) == 1 else None


def _listed(fact: Fact, group: Group) -> list[Fact]:
    """The run of figures of its sentence that add up to another of them: "19.8 billion, of which 7.6, 6.1, 4.4 …"."""
    alike = [
        f for f in group.facts
        if f.figure.kind == "number" and f.figure.scale == fact.figure.scale and not f.figure.negative
    ]  # fmt: skip
    for at, total in enumerate(alike):
        for run in (alike[at + 1 :], alike[:at]):
            for size in range(len(run), 1, -1):
                for some in (run[:size], run[len(run) - size :]):
                    near = abs(sum((f.value for f in some), Decimal(0)) - total.value) <= _slack(some, total) * (
                        fact.figure.scale or 1
                    )
                    if near and fact in some:
                        return [f for f in some if f is not fact]
    return []
