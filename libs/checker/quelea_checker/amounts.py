"""Numbers of a text with their sign, currency, scale and unit, in English and Chinese."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from quelea_fintext.text import CJK

from quelea_checker.fractions import fractions
from quelea_checker.model import ONE, Figure
from quelea_checker.normal import plain
from quelea_checker.not_figures import hidden
from quelea_checker.periods import find_periods
from quelea_checker.spelled import CURRENCIES, SCALES, counted, spelled, unit_kind

_BEFORE = (
    r"US\$|HK\$|NT\$|AU?\$|CA?\$|S\$|R\$|\$|€|£|¥|₹|₩|(?:USD|EUR|GBP|CNY|RMB|JPY|HKD|CHF|CAD|AUD|INR"
    r"|KRW|Rs)\b\.?|(?:USD|EUR|GBP|CNY|RMB|JPY|HKD|CHF)(?=\d)|人民币|美元|港元"
)
_AFTER = (
    r"(?:US |U\.S\. )?dollars?\b|euros?\b|pounds\b|yuan\b|yen\b|renminbi\b|(?:USD|EUR|GBP|CNY|RMB|JPY"
    r"|HKD|CHF)\b|美元|港元|港币|欧元|英镑|日元|人民币|元"
)
_SCALE = (
    r"(?:thousand|million|billion|trillion)s?\b|hundred\b|(?:mn|mm|mln|bn|tn|trn)\b|[kKmMbBtT](?![A-Za-z0-9])"
    r"|万亿|千亿|百亿|十亿|亿|千万|百万|十万|万(?!一)|千(?![克瓦米卡])"
)
_UNIT = (
    r"%|per ?cent(?:age points?)?\b|percentage[- ]points?\b|(?:pct|ppts?|pps?|pts?|bps?)(?![A-Za-z])|basis[- ]points?\b"
    r"|个?百分点|个?基点|倍|x(?![A-Za-z0-9])|times\b|成(?![为本立功交员果长熟人就绩分])|‰"
)
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?![\d])|\d+)(?:\.\d+)?|\.\d+"
_AMOUNT = re.compile(
    rf"(?P<open>\()?\s?(?P<sign>[-–+△▲])?\s?(?P<cur>{_BEFORE})?[ ]{{0,3}}(?P<open2>\()?\s?(?P<sign2>[-–])?"
    rf"\s?(?P<cur2>[$€£¥])?(?P<num>{_NUMBER})(?P<close>\s?\))?"
    rf"(?:[ -]?(?P<scale>{_SCALE}))?(?:\s?(?P<after>{_AFTER}))?(?:[ -]?(?P<unit>{_UNIT}))?(?P<close2>\s?\))?",
)
_CELL = re.compile(rf"(?P<cur>[$€£])? {{0,3}}(?:(?P<num>{_NUMBER})|\((?P<num2>{_NUMBER})\))")
_SOME = re.compile(
    r"\d|[零一二三四五六七八九十百千万亿两半翻斩]|percent|points?\b|illion|thousand|per cent|times|fold\b|[ubtp]led\b"
    r"|\bhal(?:f|ved)|\b(?:third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth)",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:\b(?:about|approximately|approx\.?|around|roughly|some|circa|close to"
    r"|(?P<most>nearly|almost|(?:less|fewer) than|(?:just )?(?:below|under|short of)|at most|up to)"
    r"|(?P<least>over|more than|at least|in excess of|exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|above"
    r"|topp?(?:s|ed)))\s*"
    r"|(?P<zh_most>近|将近|不足|不到|低于|接近)|(?P<zh_least>[逾超]|超过|超出|突破|高于|多于)|大?约|高达"
    r"|(?P<gt>>)|(?P<lt><)|[~≈])\s*(?P<cur>[$€£¥])?\s*$",
    re.IGNORECASE,
)
_ABOUT_AFTER = re.compile(r"\s?(?:(?P<least>多|余|以上)|左右|or so\b|(?P<most>以下|以内))")
_NAMED = re.compile(
    r"[BKMT] (?!(?:in|to|of|from|for|and|or|at|by|on|as|than|with|per|was|were|is|are)\b)[a-z]+ ?[a-z]*s\b"
)
"""A capital letter before things that are counted is of their name: "12 T lines", "23 K local shops"."""
_POINTS = re.compile(r"[ -]points?\b")
_RANGE = re.compile(r"\s?(?:-|–|—|~|至|到|\bto\b|and)\s?[$€£¥]?\s?", re.IGNORECASE)
_LIST = re.compile(r"\s?(?:,? and|,? or|,|、|和|及|与|或)\s?[$€£¥]?\s?", re.IGNORECASE)


def parse_amounts(text: str, *, cell: bool = False, words: bool = False) -> list[Figure]:
    """Figures without times, in order; spans are those of the given text.

    Args:
        text: As written; full-width characters are understood.
        cell: It is a table's cell: parentheses make negative.
        words: Also number words that count things ("five days"): of evidence, so that "5 days" is found there.
    """
    if cell and (plainly := _CELL.fullmatch(text)):
        return [_of_cell(plainly)]
    if not _SOME.search(text) and not (words and counted(text)):
        return []
    flat = plain(text)
    mask = bytearray(len(flat)) if cell else hidden(flat)
    for period in [] if cell else find_periods(flat):
        mask[period.start : period.end] = b"\1" * (period.end - period.start)
    found: list[Figure] = []
    for figure in [] if cell else fractions(flat):
        _add(found, mask, figure)
    for figure in spelled(flat):
        _add(found, mask, _bounded(figure, _about(flat, figure.start, figure.end)[1]))
    for match in _AMOUNT.finditer(flat):
        if not any(mask[match.start("num") : match.end("num")]):
            _add(found, mask, _amount(flat, match, cell=cell))
    for figure in counted(flat) if words else ():
        _add(found, mask, figure)
    found.sort(key=lambda figure: figure.start)
    found = _compounds(flat, found)
    return [replace(f, text=text[f.start : f.end]) for f in _shared(flat, found)]


def _bounded(figure: Figure, bound: int) -> Figure:
    """A number in words that is called the least, or the most: "nearly four times" goes down to three and a half."""
    if bound and figure.kind == "multiple":
        return replace(figure, bound=bound, step=Decimal(2 if bound > 0 else 1))
    return replace(figure, bound=bound)


def _of_cell(match: re.Match[str]) -> Figure:
    """What most cells hold: a number, a dollar sign, a bookkeeper's parentheses."""
    number = match["num"] or match["num2"]
    return Figure(
        text=match.group(), start=0, end=match.end(), kind="number", number=Decimal(number.replace(",", "")),
        step=_step(number), negative=bool(match["num2"]), currency=CURRENCIES.get(match["cur"] or "", ""),
    )  # fmt: skip


def _add(found: list[Figure], mask: bytearray, figure: Figure | None) -> None:
    if figure is not None and not any(mask[figure.start : figure.end]):
        mask[figure.start : figure.end] = b"\1" * (figure.end - figure.start)
        found.append(figure)


def _step(number: str) -> Decimal:
    _, point, part = number.partition(".")
    return ONE.scaleb(-len(part)) if point else ONE


def _amount(text: str, match: re.Match[str], *, cell: bool) -> Figure | None:
    start = match.start("num")
    before = text[start - 1] if start else ""
    if before == "." and start > 1 and text[start - 2].isdigit():
        return None
    written = _is_chinese(match["scale"]) or _is_chinese(match["after"])
    if before.isascii() and before.isalpha() and not written and not (match["cur"] and match.end("cur") == start):
        return None  # a code: A100, but GMV6143亿元 is an amount
    if before == "," and start > 1 and text[start - 2].isdigit() and match["num"][0].isdigit():
        return None  # the rest of a number that is not well formed
    if before in "-_" and start > 1 and text[start - 2].isascii() and text[start - 2].isalpha() and not match["cur"]:
        return None  # COVID-19
    last = max(match.end(name) for name in ("num", "scale", "after", "unit"))
    following = text[last] if last < len(text) else ""
    if following.isascii() and (following.isalpha() or following == "_"):
        return None  # 5G, 3rd
    sign, sign_at = (match["sign"], match.start("sign")) if match["sign"] else (match["sign2"], match.start("sign2"))
    bullet = not cell and bool(sign) and text[sign_at + 1].isspace()
    negative = bool(sign) and sign not in "+▲" and not bullet and not _joins(text, sign_at)
    opened = [at for at in (match.start("open"), match.start("open2")) if at >= 0]
    closed = [at for at in (match.end("close"), match.end("close2")) if at >= 0]
    loose = False
    begin = min(at for at in (start, match.start("cur"), match.start("cur2"), sign_at if negative else -1) if at >= 0)
    if opened and closed:
        begin = min(begin, opened[0])
        money_first = match["open2"] is not None and match["cur"] is not None  # $(95)
        stands = money_first or bool(match["close"] and match["unit"]) or not text[:begin].strip()
        loose = not cell and not stands
        negative, last = True, max(last, closed[-1])
    kind, times = unit_kind(match["unit"] or "")
    if match["unit"] == "pct" and CJK.search(text):
        kind = "points"  # Chinese reports write % for percent, and pct for 个百分点
    if not match["unit"] and "." in match["num"] and (behind := _POINTS.match(text, last)):
        kind, last = "points", behind.end()  # "16.6 points": no index has so few
    word = (match["scale"] or "").lower()
    scale = SCALES.get(word) or SCALES.get(word.rstrip("s"))
    if word in {"b", "t", "k", "m"} and match["scale"] and text[match.start("scale") - 1] in " -":
        if (
            match["cur"]
            or match["cur2"]
            or match["after"]
            or match["unit"]
            or not _NAMED.match(text, match.start("scale"))
        ):
            return None  # "5 k": nobody writes a scale so, "10 b" is a paragraph
        scale, last = None, match.end("num")  # "12 T lines": a name's letter
    money = (match["cur"] or match["cur2"] or match["after"] or "").lower().rstrip(".")
    number = match["num"].replace(",", "")
    about, bound = _about(text, begin, last)
    return Figure(
        text="",
        start=begin,
        end=last,
        kind=kind,
        number=Decimal(number) * times,
        step=_step(number) * times,
        scale=Decimal(scale) if scale else None,
        negative=negative,
        loose=loose,
        currency=CURRENCIES.get(money, ""),
        about=about,
        bound=bound,
    )


def _about(text: str, start: int, end: int) -> tuple[bool, int]:
    """Whether the words about text[start:end] call it approximate; 1: it is the least that it may be, -1: the most."""
    before, behind = _ABOUT.search(text[max(0, start - 18) : start]), _ABOUT_AFTER.match(text, end)
    said = {name for match in (before, behind) if match for name, value in match.groupdict().items() if value}
    least, most = said & {"least", "zh_least", "gt"}, said & {"most", "zh_most", "lt"}
    return bool(before or behind), 1 if least and not most else -1 if most and not least else 0


def _is_chinese(word: str | None) -> bool:
    return bool(word and CJK.search(word))


def _joins(text: str, at: int) -> bool:
    """A dash that joins two things rather than making negative: 10-15, 2018 – 2019, non-3."""
    before = text[:at].rstrip()
    if not before:
        return False
    spaced = at > 0 and text[at - 1].isspace()
    if spaced and at + 1 < len(text) and not text[at + 1].isspace():
        return False  # "of -5": a space before and none behind
    if "\u3400" <= before[-1] <= "\u9fff" and before[-1] not in "年月日季度万亿千百元股倍点成":
        return False  # 为-5
    return before[-1].isalnum() or before[-1] in "%)$"


def _compounds(text: str, found: list[Figure]) -> list[Figure]:
    """1亿2000万 is one figure."""
    joined: list[Figure] = []
    for figure in found:
        last = joined[-1] if joined else None
        if (
            last
            and last.end == figure.start
            and last.scale
            and last.scale >= 10**4
            and last.kind == figure.kind == "number"
        ):
            smaller = figure.scale or ONE
            if smaller < last.scale and text[last.end - 1] in "亿万" and figure.size < last.scale:
                unit = smaller
                number = (last.size + figure.size) / unit
                joined[-1] = replace(
                    last, end=figure.end, number=number, step=figure.step,
                    scale=unit if figure.scale else None, currency=last.currency or figure.currency,
                )  # fmt: skip
                continue
        joined.append(figure)
    return joined


def _shared(text: str, found: list[Figure]) -> list[Figure]:
    """What stands once for several: "10-15%", "$2 to $3 billion", "$5.1, $4.2 and $3.3 million"."""
    result = list(found)
    for at in range(len(result) - 2, -1, -1):
        one, other = result[at], result[at + 1]
        between = text[one.end : other.start]
        bare = one.kind == "number" and one.scale is None
        if not bare or not (other.scale or other.kind != "number"):
            continue
        ranged = _RANGE.fullmatch(between)
        if "and" in between.lower():
            ranged = ranged if re.search(r"\bbetween\b[^.;]{0,12}$", text[: one.start], re.IGNORECASE) else None
        behind = bool(other.currency) and text[other.start].isdigit()  # 11.34、9.61亿元: said once, behind the last
        listed = _LIST.fullmatch(between) and (
            one.currency == other.currency or not other.currency or (behind and not one.currency)
        ) and (one.currency or "." in text[one.start : one.end])  # fmt: skip
        if ranged or listed:
            times = _times(text, other)
            result[at] = replace(
                one, kind=other.kind, scale=other.scale, currency=one.currency or other.currency,
                number=one.number * times, step=one.step * times,
            )  # fmt: skip
    return result


def _times(text: str, figure: Figure) -> Decimal:
    unit = re.search(rf"(?:{_UNIT})\s?\)?$", text[figure.start : figure.end])
    return unit_kind(unit.group().rstrip(") "))[1] if unit else ONE


def parse(text: str) -> list[Figure]:
    """Every figure of a text, amounts and times, in order."""
    times = [
        Figure(text[p.start : p.end], p.start, p.end, "period", Decimal(0), period=p)
        for p in find_periods(_masked(text))
    ]
    return sorted([*parse_amounts(text), *times], key=lambda figure: figure.start)


def _masked(text: str) -> str:
    """The plain text, what can be no figure blanked: a file's name names no period of the answer."""
    flat = plain(text)
    return "".join(" " if skip else c for c, skip in zip(flat, hidden(flat), strict=True))
