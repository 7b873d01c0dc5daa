"""The computation that the words about a figure state, with the words that name each operand.

"A was 41% of B", "A exceeded B by 5", "A and B together came to 7", A占B的41%, A比B多5: only what is said outright.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from quelea_checker import wording
from quelea_checker.amounts import parse_amounts
from quelea_checker.model import Figure

Form = Literal["ratio", "difference", "sum", "growth", "average", "compound"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A computation.

    Attributes:
        first: The words that name the first operand, or all of a sum's.
        second: Those that name the second: what is divided by, or taken off.
        ranged: Over a range of years, not only those named.
        rest: What is said behind the figure, that may name it further.
    """

    form: Form
    first: str
    second: str = ""
    ranged: bool = False
    rest: str = ""


_ABOUT = (
    r"\s*(?:(?:just |well )?(?:about|approximately|nearly|roughly|around|some|over|almost|more than)|约|近|超过)?\s*"
)
_BREAK = re.compile(r"[;；。]|\.(?=\s|$)")
_IS = (
    r"(?:was|were|is|are|be(?:ing)?|equal(?:s|ed|led)?|account(?:s|ed|ing) for|made up|mak(?:es?|ing) up"
    r"|represent(?:s|ed|ing)|compris(?:es|ed|ing)|constitut(?:es|ed|ing)|came to|contribut(?:es|ed|ing)|stood at"
    r"|amounted to|provided|generated)"
)
_PART = re.compile(rf"(?P<a>.+?)\b{_IS}{_ABOUT}$", re.IGNORECASE)
_OF = re.compile(
    r"\s*(?:times\s+)?(?:of|that of|as (?:\w+ )?as|the (?:size|amount|level) of)\s+(?P<b>.+)", re.IGNORECASE
)
_TIMES_OF = re.compile(
    r"\s*(?:times\s+)?(?:(?:of|that of|as (?:\w+ )?as|the (?:size|amount|level) of)\s+)?(?P<b>.+)", re.IGNORECASE
)
_SHARE_BEFORE = re.compile(
    rf"(?:as a (?:percentage|percent|share|proportion|portion|%) of (?P<b>[^,]+?),\s*(?P<a>.+?)\b{_IS}"
    rf"|(?:share|proportion) of (?P<a2>.+?) in (?P<b2>.+?)\b{_IS})"
    rf"{_ABOUT}$",
    re.IGNORECASE,
)
_RATIO = re.compile(rf"\bratio of (?P<a>.+?) to (?P<b>.+?)\b{_IS}{_ABOUT}$", re.IGNORECASE)
_DIVIDED = re.compile(rf"(?P<a>.+?) divided by (?P<b>.+?)\b{_IS}{_ABOUT}$", re.IGNORECASE)
_ZH_RATIO = re.compile(
    rf"(?P<a>.+?)(?:占(?:到|了|据)?|相当于|等于|是|为)(?P<b>.+?)的?(?:比重|比例|份额|百分比|占比|比率)?"
    rf"(?:(?<=的)|[为是达][到至]?|高达){{0,2}}{_ABOUT}$"
)
_ZH_BETWEEN = re.compile(rf"(?P<a>.+?)[与和同对](?P<b>.+?)(?:的?(?:比率|比例|比值)|之比)(?:[为是达][到至]?)?{_ABOUT}$")
_ZH_WITHIN = re.compile(rf"(?P<a>.+?)在(?P<b>.+?)中?的?(?:占比|比重|份额|所占比例)(?:[为是达][到至]?)?{_ABOUT}$")
_EXCEEDED = re.compile(
    rf"(?P<a>.+?)\b(?:exceed(?:s|ed|ing)|surpass(?:es|ed|ing)|topp?(?:s|ed|ing))\s(?P<b>.+?)\sby{_ABOUT}$",
    re.IGNORECASE,
)
_MORE = re.compile(r"\s*(?P<way>more|higher|larger|greater|above|less|lower|smaller|fewer|below)(?: than)?\s+(?P<b>.+)",
                   re.IGNORECASE)  # fmt: skip
_BETWEEN = re.compile(rf"\b(?:difference|gap) between (?P<a>.+?) and (?P<b>.+?)\b{_IS}{_ABOUT}$", re.IGNORECASE)
_LESS = re.compile(rf"(?P<a>.+?)\b(?:less|minus|net of)\s(?P<b>.+?)\b{_IS}{_ABOUT}$", re.IGNORECASE)
_ZH_MORE = re.compile(rf"(?P<a>.+?)比(?![重例率])(?P<b>.+?)(?:[多高少低](?:出|了)?|大){_ABOUT}$")
_ZH_LESS = re.compile(rf"(?P<a>.+?)(?:减去?|扣除)(?P<b>.+?)(?:之?后)?(?:[为是得]|等于){_ABOUT}$")
_ZH_APART = re.compile(
    rf"(?P<a>.+?)[与和同](?P<b>.+?)(?:之间)?(?:的?(?:差额|差距|差值)|之差|相差)(?:[为是达]到?)?{_ABOUT}$"
)
_SUM = re.compile(
    r"\b(?:totall?(?:ed|ing)|(?:the )?(?:sum|total) of|(?:the )?combined(?: amount of)?|together|altogether|in all)\b"
    r"|合计|总计|总和|共计|一共|之和|总共|加上|(?<![公])共(?=\s*约?\s*$)",
    re.IGNORECASE,
)
_AVERAGE = re.compile(r"\baverag\w*|平均|年均", re.IGNORECASE)
_COMPOUND = re.compile(r"\bCAGR\b|\bcompound(?:ed)?\b|复合", re.IGNORECASE)
_RANGE = re.compile(
    r"\bfrom\b.*\bto\b|(?:19|20)\d\d (?:to|through) |\bbetween\b|\bthrough\b|\d\d\d\d年?\s?[-–—~至到]\s?(?:19|20)\d\d",
    re.IGNORECASE,
)
_AND = re.compile(r"\band\b|\bplus\b|[和与及、]|加上", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:share|proportion|percentage of|as a percent|per|each|ratio|margin|rate|excluding|organic|constant"
    r"|adjusted|expected|would|average)\b|占|比重|率|倍|每|剔除|不含|预计|平均|均价",
    re.IGNORECASE,
)
"""Words of another computation, or of another figure than the row's."""
_GROWS = re.compile(
    r"\b(?:increas|decreas|declin|grow|grew|rose|rise|fell|fall|drop|gain|chang|up\b|down\b|higher|lower)"
    r"|增|减|升|降|变动|变化|下滑|上涨|下跌",
    re.IGNORECASE,
)
_ZH_TOO = re.compile(r"(?:[较比同])")


def asked_of(sentence: str, figure: Figure) -> Asked | None:
    """What is said outright of a figure of the sentence."""
    begin, end = _bounds(sentence, figure)
    before, after = sentence[begin : figure.start], sentence[figure.end : end]
    if figure.kind in {"percent", "multiple"} and (found := _ratio(before, after, figure)):
        return found
    if found := _difference(before, after):
        return found
    clause = f"{before} {after}"
    if _COMPOUND.search(clause):
        return Asked("compound", clause) if figure.kind == "percent" else None
    if figure.kind == "number" and _SUM.search(clause) and not _AVERAGE.search(clause) and not _GROWS.search(clause):
        listed = _summed(before, after)
        return Asked("sum", listed, rest="" if listed in after else after)
    if _AVERAGE.search(clause) and not _GROWS.search(clause):
        return Asked("average", clause, ranged=bool(_RANGE.search(sentence)))
    if _VERB.search(figure.text):
        return Asked("growth", clause)
    if figure.kind == "multiple" or (figure.kind != "points" and _OTHER.search(clause)):
        return None
    if wording.direction(sentence, figure.start, figure.end) and not _LEVEL.search(before):
        # What stands behind the clause belongs to the next figure.
        own = _NEXT_CLAUSE.split(after)[0] if end < len(sentence) else after
        return Asked("growth", wording.DIRECTION.sub(" ", f"{before} {own}"))
    return None


_VERB = re.compile(r"[bt]led\b|\bhalved\b|翻|减半|腰斩", re.IGNORECASE)
_NEXT_CLAUSE = re.compile(r"[,，、]|\b(?:and|but|while|whereas)\b|而|但")
_LEVEL = re.compile(r"(?:\bto|\bat|\bof|[至到为])\s*(?:about|approximately|nearly|约)?\s*$", re.IGNORECASE)


def _bounds(sentence: str, figure: Figure) -> tuple[int, int]:
    """From the figure before, or the clause's beginning, to the figure behind, or its end."""
    begin, end = 0, len(sentence)
    for other in _amounts(sentence):
        if other.end <= figure.start:
            begin = max(begin, other.end)
        elif other.start >= figure.end:
            end = min(end, other.start)
    for match in _BREAK.finditer(sentence):
        if match.end() <= figure.start:
            begin = max(begin, match.end())
        elif match.start() >= figure.end:
            end = min(end, match.start())
    return begin, end


@lru_cache(maxsize=512)
def _amounts(sentence: str) -> tuple[Figure, ...]:
    return tuple(parse_amounts(sentence))


def _pair(form: Form, match: re.Match[str] | None, *, turned: bool = False) -> Asked | None:
    if match is None:
        return None
    got = {key[0]: value for key, value in match.groupdict().items() if value}
    a, b = got.get("a", ""), got.get("b", "")
    return Asked(form, b, a) if turned else Asked(form, a, b)


def _ratio(before: str, after: str, figure: Figure) -> Asked | None:
    for pattern in (_SHARE_BEFORE, _RATIO, _DIVIDED, _ZH_BETWEEN, _ZH_WITHIN):
        if found := _pair("ratio", pattern.search(before)):
            return found
    part = _PART.search(before)
    whole = (_TIMES_OF if figure.kind == "multiple" else _OF).match(after)
    if whole and not _MORE.match(after) and (part or figure.kind == "percent"):
        return Asked("ratio", part["a"] if part else before, whole["b"])
    if re.search(r"[的占]", before) and not _ZH_TOO.search(before[-4:]):
        return _pair("ratio", _ZH_RATIO.search(before))
    return None


def _difference(before: str, after: str) -> Asked | None:
    for pattern in (_EXCEEDED, _BETWEEN, _LESS, _ZH_MORE, _ZH_LESS, _ZH_APART):
        if match := pattern.search(before):
            turned = pattern is _ZH_MORE and re.search(rf"[少低](?:出|了)?{_ABOUT}$", before) is not None
            return _pair("difference", match, turned=turned)
    part, more = _PART.search(before), _MORE.match(after)
    if part and more:
        fewer = more["way"].lower() in {"less", "lower", "smaller", "fewer", "below"}
        return Asked("difference", more["b"], part["a"]) if fewer else Asked("difference", part["a"], more["b"])
    return None


def _summed(before: str, after: str) -> str:
    """The words of the list: "A and B together cost", "together, A and B came to", "the sum of A and B"."""
    if match := re.search(r"\b(?:sum|total|combined)\b.*\bof\b", after, re.IGNORECASE):
        return after[match.end() :]
    found = [match for match in _SUM.finditer(before) if match.group() != "加上"]
    if not found:
        return before
    left, right = before[: found[0].start()], before[found[0].end() :]
    return left if _AND.search(left) else right
