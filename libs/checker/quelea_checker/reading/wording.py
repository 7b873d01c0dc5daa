"""What the words about a figure say: up or down, and which computation they ask for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Literal

from quelea_fintext.text import CJK, lower, stem

Operation = Literal["change", "growth", "sum", "average", "ratio", "share"]


def _read_directions() -> dict[str, tuple[str, str]]:
    """Of each axis of directions.txt the regular expressions of its two ends, without groups that capture."""
    lines = resources.files("quelea_checker.reading").joinpath("directions.txt").read_text("utf-8").splitlines()
    axes = (line.partition(": ") for line in lines if not line.startswith("#"))
    found = {}
    for axis, _, ends in axes:
        up, down = (_alternatives(end.split()) for end in ends.split(" / "))
        found[axis] = up, down
    return found


def _alternatives(words: Sequence[str]) -> str:
    """Words of the list as one regular expression for lower-case text, which looks for a word's beginning but once."""
    chinese = [word for word in words if CJK.search(word)]
    english = "|".join(_pattern(word) for word in words if not CJK.search(word))
    return "|".join((rf"\b(?:{english})", *chinese))


def _pattern(word: str) -> str:
    """An English word of the list as a regular expression: with its endings, or with any after its stem."""
    if word.endswith("*"):
        return rf"{stem(word[:-1])}\w*"
    return rf"{word}(?:e?[sd]|ing)?\b" if word.isalpha() else rf"{word.replace('_', ' ')}\b"


_AXES = _read_directions()
_UP, _DOWN = _AXES["change"]
_DIRECTION = re.compile(rf"(?P<up>{_UP})|(?P<down>{_DOWN})")
_LEVELS = [ends for axis, ends in _AXES.items() if axis != "change"]
_LEVEL = re.compile(f"(?P<up>{'|'.join(up for up, _ in _LEVELS)})|(?P<down>{'|'.join(down for _, down in _LEVELS)})")
_REMARK = re.compile(r"[(（][^()（）]{0,80}[)）]")
DIRECTION = rf"{_UP}|{_DOWN}"
"""A pattern for lower-case text: any word of direction."""
_BOTH = re.compile(
    r"\bincreases?\s?[/(]+\s?\(?decreases?\)*|\bdecreases?\s?[/(]+\s?\(?increases?\)*"
    r"|\b(?:growth|rise)\s?[/(]+\s?\(?(?:decline|decrease|fall)\)*"
    r"|\bincreases? (?:or|and) decreases?|增减|增\(减\)|增加/\(?减少\)?"
    r"|(?:增加|增长|上升)[(（/][减下降少]+[)）]?"
)
_CLAUSE = re.compile(
    r"[;；。！？!?，\n]|,(?! or\b|\d{3}|\s?(?:19|20)\d\d\b)|\.(?=\s|$)|\b(?:while|whereas|but|although"
    r"|offset by|partially|compared|versus|primarily|due to|driven by|as a result)\b|而|但"
)
_SPENT = (
    r"\b(?:expenses?|costs?|charges?|payments?|paid|repay\w*|repurchase\w*|purchases?"
    r"|dividends?|provision|allowance|less|impairment|amorti[sz]ation|depreciation|eliminations?"
    r"|write-?offs?|taxes|tax|debit|deductions?"
    r"|liabilit\w+|acquisition\w*|disposals?|net of|treasury|redemptions?"
    r"|settlements?|restructuring|interest|vested|forfeit\w*|cancel\w*|expired|released|exercised"
    r"|lapse[sd]?|matured|drawdowns?)\b"
    r"|支出|费用|成本|支付|减值|为负|净负|偿还|回购|回撤|税|负数"
)
_NEGATIVE = re.compile("|".join(down for _, down in _AXES.values()) + f"|{_SPENT}")
_SPENDING = re.compile(_SPENT)
_PAID = re.compile(
    r"^\W*(?:payments?|purchases?|repayments?|principal repayments?|repurchases?|dividends? paid|cash paid"
    r"|acquisitions?"
    r"|additions to|capital expenditures?|common stock repurchased|cost of|interest expense|provision for|less:?"
    r"|支付|购买|购建|偿还|分配|减[:：])"
)
"""How the label of a row begins whose amounts go out: their brackets are the bookkeeper's, not the figure's sign."""
_EITHER_WAY = re.compile(r"\b(?:benefits?|credits?|income|gains?|recover\w*|reversals?|proceeds)\b[^()]{0,200}\)")
"""A label that says in brackets what its brackets are: "Provision for (benefit from) taxes", "expense (income)"."""
_BEFORE = 240
_BEHIND = 60
_REACH = 100
"""Code points before and behind a figure in which words are about it."""
_OPERATIONS: tuple[tuple[Operation, re.Pattern[str]], ...] = tuple(
    (operation, re.compile(pattern))  # type: ignore[misc]  # the first of each pair is an Operation
    for operation, pattern in (
        ("average", r"\b(?:averag\w*|mean|mid-?point)\b|平均|年均|均值|中值|中点"),
        ("sum", (
            r"\b(?:total\w*|sum|combined|together|altogether|aggregate|overall|in all|cumulative)\b"
            r"|合计|总计|总和|总额|共计|一共|累计|总共|之和"
        )),
        ("share", (
            r"\b(?:share|proportion|portion|percent(?:age)?(?! (?:change|increase|decrease|difference"
            r"|growth|variance|points?))|fraction|represent\w*|account\w* for|made up|makes? up"
            r"|comprised?|as a % of|% of|margin|rate|out of|of which"
            r"|(?:half|third|quarter|fifth|sixth|eighth|tenth)s? of)\b|占|比重|相当于|分之|一半|半数|比例|份额|率"
        )),
        ("ratio", r"\b(?:ratio|times|multiple|per|each|apiece|relative to|divided|turnover"
            r"|doubled|tripled|trebled|quadrupled|quintupled)\b|fold\b|翻|倍|比率|之比|每"),
        ("growth", (
            rf"\b(?:chang\w*|growth|year-over-year|yoy|variance|compared|versus)\b|{_UP}|{_DOWN}|同比"
            r"|环比|变动|变化|增速|增幅|降幅"
        )),
        ("change", (
            r"\b(?:chang\w*|differ\w*|variance|variation|gap|surplus|deficit|more|less|compared|versus|exceed\w*"
            rf"|remaining|excluding|below|above|earlier|previously|implies|implied)\b|{_UP}|{_DOWN}|差|比[^，。；]{{1,20}}?[高低大小]|变动|变化|相比|较|超过|多|少|同比|环比|净|推算|此前"
        )),
    )
)  # fmt: skip


def ends_with(pattern: re.Pattern[str], text: str, end: int) -> bool:
    """What stands before a place ends as a pattern says, which ends in "$"; no such words are longer than _REACH."""
    return pattern.search(text, max(0, end - _REACH), end) is not None


def find_clause(text: str, start: int, end: int) -> tuple[int, int]:
    """The clause of text[start:end]: between commas, conjunctions and full stops."""
    first, last = 0, len(text)
    for begin, behind in _cuts(text):
        if behind <= start:
            first = behind
        elif begin >= end:
            last = begin
            break
    return first, last


@lru_cache(maxsize=2048)
def _cuts(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for match in _CLAUSE.finditer(text))


@lru_cache(maxsize=4096)
def _directions(part: str) -> tuple[tuple[int, int, int], ...]:
    """(start, end, sign) of each word of direction in a clause."""
    part = _BOTH.sub(lambda m: " " * len(m.group()), lower(part))
    return tuple((*match.span(), 1 if match["up"] else -1) for match in _DIRECTION.finditer(part))


def find_direction(text: str, start: int, end: int) -> int:
    """1 when the words about text[start:end] say that it is upwards, -1 downwards, 0 when they say neither.

    The nearest word before it in its clause decides, else the nearest behind it.
    """
    cut = max(0, start - _BEFORE)
    text, start, end = text[cut : end + _BEHIND], start - cut, end - cut
    first, last = find_clause(text, start, end)
    before = after = 0
    for begin, behind, sign in _directions(text[first:last]):
        if behind + first <= start:
            before = sign
        elif begin + first >= end:
            after = sign
            break
    return before or (after if len(text[end:last]) < _BEHIND else 0)


_WAY_REACH = 40
_WAY = re.compile(
    r"\b([A-Za-z]+)(?: (?:by|of))?(?: (?:about|some|nearly|roughly|approximately|another))? ?$"
    r"|(下降|上升|增长|减少|增加|下滑|提高)了?约?$",
    re.IGNORECASE,
)
_THAN = re.compile(
    r"(?:\s?\[\d{1,3}\]){0,6} ?((?:more|higher|lower|less) than (?:in|the|that|a year|last))", re.IGNORECASE
)


def find_direction_beside(text: str, start: int, end: int) -> int:
    """1 where the word right beside text[start:end] says that it rose, -1 that it fell: "fell by", "% more than"."""
    before = _WAY.search(text, max(0, start - _WAY_REACH), start)
    behind = _THAN.match(text, end)
    return _way_of(before and (before[1] or before[2])) or _way_of(behind and behind[1])


def _way_of(word: str | None) -> int:
    return find_direction(f"{word} 0", len(word) + 1, len(word) + 2) if word else 0


def find_level_sign(text: str) -> int:
    """-1 where the last words of a text name what is counted as negative, "net loss", 净流出; 1 of a gain, else 0.

    What only moved, "fell to", says nothing of where it is. Brackets, "income (loss)", leave it open.
    """
    first, _ = find_clause(text, len(text), len(text))
    words = list(_LEVEL.finditer(_REMARK.sub(lambda m: " " * len(m.group()), lower(text[first:]))))
    return 0 if not words else 1 if words[-1]["up"] else -1


def is_negative(text: str) -> bool:
    """It speaks of what is counted as negative, or goes down: a loss, an outflow, an expense."""
    return bool(_NEGATIVE.search(_BOTH.sub(" ", lower(text))))


def is_spent(text: str) -> bool:
    """It speaks of what is spent, or owed: of such rows a minus is the bookkeeper's."""
    return bool(_SPENDING.search(lower(text)))


_COMPOUND = re.compile(r"\bcompound(?:ed)?\b|\bcagr\b|复合|\bannuali[sz]ed (?:growth )?rate\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d")
_ITS_OWN = re.compile(r"[^.;,%％\d]{0,40}\b(?:of|at|was|is)\s\d[\d.]*\s?[%％]|[^。；，,;%％\da-z]{0,12}\d[\d.]*[%％]")
"""Behind "compound" the rate that is one: "8.7%, below the compound rate of 9.9%"."""
_RATE_SIGN = re.compile(r"\d\s?[%％]")


def says_compound(text: str, start: int, end: int) -> bool:
    """The rate text[start:end] is called a compound one: in its clause, nearer to it than to any other figure."""
    first, last = find_clause(text, start, end)
    before = [match.end() for match in _COMPOUND.finditer(text, first, start)]
    if before and not _RATE_SIGN.search(text, before[-1], start):
        return True
    behind = _COMPOUND.search(text, end, min(last, end + _BEHIND))
    if behind is None or _NUMBER.search(text, end, behind.start()):
        return False
    return not _ITS_OWN.match(text, behind.end())


def is_compound(text: str) -> bool:
    """It speaks of a compound rate."""
    return bool(_COMPOUND.search(text))


def is_paid_out(label: str) -> bool:
    """A row of what is paid or deducted, by its label: its brackets say which way the money goes."""
    return bool(_PAID.search(lower(label))) and not _EITHER_WAY.search(lower(label))


@lru_cache(maxsize=4096)
def find_operations(text: str) -> tuple[Operation, ...]:
    """The computations that the wording asks for."""
    low = lower(text)
    return tuple(operation for operation, words in _OPERATIONS if words.search(low))


@lru_cache(maxsize=8192)
def strip_direction(text: str) -> str:
    """Without its words of direction: both of two subjects rise and fall."""
    pieces, at = [], 0
    for match in _DIRECTION.finditer(lower(text)):
        pieces += [text[at : match.start()], " "]
        at = match.end()
    return "".join((*pieces, text[at:]))
