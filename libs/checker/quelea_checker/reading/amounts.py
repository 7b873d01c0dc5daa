"""Amounts in a text: numbers with currency, scale and sign, in digits, words and fractions."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from quelea_fintext.numerals import chinese, english
from quelea_fintext.quantities import CURRENCIES, SCALES
from quelea_fintext.text import CJK, lower

from quelea_checker.model import ONE, Figure, Kind
from quelea_checker.reading.periods import find_periods
from quelea_checker.reading.sentences import plain

MARKER = re.compile(r"\[(?P<n>\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\]")
"""[2], and [1, 3] as language models write it."""

_NAMES = (
    r"Windows|Office|Microsoft|Model|Series|Galaxy|Pixel|Watch|Version|Phase|Tier|Level|Class|Boeing|Airbus|Gen|"
    r"Generation|Route|Form|Forms|Item|Items|Part|Note|Notes|Exhibit|Section|Sections|Topic|Subtopic|Rule|Rules|Table|"
    r"Figure|Page|Pages|Step|Chapter|Article|Schedule|Appendix|Annex|Regulation|Title|Chart|Question|Answer|Tab|Volume|"
    r"ASC|ASU|IFRS|IAS|SFAS|FAS|FASB|SAB|ISO|Basel|RTX|GTX|MI|GPT|Llama|Fortune|Nasdaq|NASDAQ|Russell|Stoxx|CSI|"
    r"Nikkei|FTSE|CAC|DAX|Euro|S&P|Passage|Source|Document|Doc|Evidence|Footnote|Pillar|Stage|Scope|Category|Type"
)
_NO_BEGINNING = r"(?m)(?![a-gi-z](?<=\w\w))"
"""Within a word begins at most an address: most places of a text need not be looked at."""
_BEFORE_FILE = (
    r""
    r"(?P<marker>\[\d{1,3}(?:\s*[,，、]\s*\d{1,3})*\])"
    r"|(?P<list>^[ \t>#*_-]*(?:\(?\d{1,2}[.)、)](?=\s|\*|[^\d\s.,%])|\(\d{1,2}\)\s))"
    r"|(?P<section>^[ \t#*]*\d{1,2}(?:\.\d{1,2}){1,3}[ \t]+(?=[A-Z\u4e00-\u9fff]))"
    r"|(?P<form>\b(?:10-[KQ]s?|8-K|20-F|6-K|40-F|11-K|S-[1-8]|F-[1-4]|13[FDG]|424B\d?|N-1A|10-[KQ]/A)\b)"
    r"|(?P<named>\b(?:" + _NAMES + r")s?[ -]?(?:No\. ?)?\d+(?:[.-]\d+)*[A-Za-z]?\b(?!\s?(?:%|million|billion|thousand))"
    r"(?:(?:\s?(?:,|and|&|through|to|-)\s?)\d{1,2}(?![\d.,]*\d|\s?%)\b)?)"
    r"|(?P<inner>\b[a-z]+[A-Z]\w*\s(?:\d{1,2}|X|SE)(?:\.\d)?(?![\d,.%]*\d|\s?(?:%|million|billion)))"
)
_FILE = r"|(?P<file>[\"“(]?[\w .&-]{1,60}\.(?:pdf|docx?|xlsx?|html?|txt|csv|pptx?)\b)"
_BEHIND_FILE = (
    r"|(?P<url>https?://\S+|\bwww\.\S+)"
    r"|(?P<ordinal>\b\d+(?:st|nd|rd|th)\b)"
    r"|(?P<stretch>\b\d{1,2}[- ](?:years?|quarters?|months?) (?:period|span|from)\b|\b(?:all|both"
    r"|across|over) (?:the )?(?:last |past )?\d (?:years|quarters|months)\b)"
    r"|(?P<number_sign>(?:\bNos?\.\s?|#)\d+)"
    r"|(?P<clock>\b\d{1,2}:\d\d(?::\d\d)?\s?(?:[ap]\.?m\.?)?\b|\b24/7\b)"
    r"|(?P<code>\b(?:COVID|SARS|GPT|Web|Level|Tier|MI|RTX)-\d+\b|\b401\(k\)|\b403\(b\))"
    r"|(?P<zh>第\s?[\d一二三四五六七八九十百]+\s?[章节条款项部分页号期批次名位届轮代]"
    r"|附注[\s\d一二三四五六七八九十、]+|表\s?\d+|图\s?\d+"
    r"|注释?\s?\d+|(?<!\d)\d+(?:号|楼|室)(?!\w))"
)
_PLAIN = re.compile(f"{_NO_BEGINNING}(?:{_BEFORE_FILE}{_BEHIND_FILE})")
_WITH_FILES = re.compile(f"(?m){_BEFORE_FILE}{_FILE}{_BEHIND_FILE}")
_ENDING = re.compile(r"\.(?:pdf|docx?|xlsx?|html?|txt|csv|pptx?)\b")
"""Names of files take long to look for: only where one ends."""


@lru_cache(maxsize=64)
def mask_non_figures(text: str) -> bytes:
    """One byte for each code point of a plain() text: 1 where no figure can be."""
    mask = bytearray(len(text))
    for match in (_WITH_FILES if _ENDING.search(text) else _PLAIN).finditer(text):
        if match.lastgroup == "file" and not re.search(r"\d", match.group()):
            continue
        mask[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return bytes(mask)


_ZH = re.compile(
    r"(?P<sign>负)?(?:(?P<of>百分之|千分之)(?P<num>[零〇一二三四五六七八九十百点两]{1,24}|\d+(?:\.\d+)?)"
    r"|(?P<cheng>[一二两三四五六七八九](?![个十百千万亿]))成(?P<more>[一二三四五六七八九半])?(?![为本立功交员果长熟人就绩分])"
    r"|(?<![\d.])(?P<num2>[零〇一二两三四五六七八九十百千万亿点]{1,24})(?P<unit>个?百分点|个?基点|倍|美元|港元"
    r"|欧元|英镑|日元|元|股|家|名|人|户)(?P<half>(?<=倍)半)?)"
)
_EN = re.compile(
    r"\b(?P<num>(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three"
    r"|four|five|six|seven|eight|nine))?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|half an?)(?P<more> and a half)?"
    r"[ -](?P<unit>percent\b|per cent\b|percentage points?\b|basis points?\b|(?:thousand|million|billion|trillion)\b"
    r"|times(?= (?:that|the|its|as|higher|larger|more|what|bigger|greater)\b)|fold\b)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\b(?P<num>two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty)\b"
    r"|(?<![第\d.,零〇一二两三四五六七八九十百千万])(?P<zh>[二两三四五六七八九])(?=[家座名位艘项款间处台辆架套笔起件种所栋])"
)
_MAY_SPELL = re.compile(r"[a-z][ -](?:per ?cent|basis|thousand|million|billion|trillion|times|fold)")
_MAY_SPELL_ZH = re.compile("[零〇一二两三四五六七八九十百千万亿点]")
"""Cheap looks."""

_LOOSELY = Decimal("0.2")
"""The step of "three times", "two and a half billion"."""


def unit_kind(unit: str) -> tuple[Kind, Decimal]:
    """What a unit makes of a number, and what it multiplies by: a basis point is .01, 成 10 percent."""
    low = unit.lower().replace("-", " ")
    if not low or low in CURRENCIES or low in "股家名人户":
        return "number", ONE
    if "basis" in low or low.startswith("bp") or "基点" in low:
        return "points", Decimal("0.01")
    if "point" in low or low.startswith(("pp", "pt")) or "百分点" in low:
        return "points", ONE
    if low in {"倍", "x", "times"}:
        return "multiple", ONE
    if low == "成":
        return "percent", Decimal(10)
    return "percent", Decimal("0.1") if low == "‰" else ONE


def _parse_chinese(match: re.Match[str]) -> Figure | None:
    start, end = match.span()
    if match["of"]:
        value = chinese(match["num"]) if not match["num"][0].isdigit() else Decimal(match["num"])
        if value is None:
            return None
        times = ONE if match["of"] == "百分之" else Decimal("0.1")
        step = ONE.scaleb(-len(match["num"].replace(".", "点").partition("点")[2]))
        return Figure("", start, end, "percent", value * times, step * times, negative=bool(match["sign"]))
    if match["cheng"]:
        more = match["more"]
        tens = chinese(match["cheng"]) or ONE
        ones = Decimal(5) if more == "半" else (chinese(more) or ONE) if more else Decimal(0)
        return Figure("", start, end, "percent", tens * 10 + ones, ONE if more else Decimal(10))
    said = match["num2"]
    value = chinese(said)
    if value is None or (len(said) < 2 and match["unit"] not in {"倍", "元"} and not match["unit"].startswith("个")):
        return None
    kind, times = unit_kind(match["unit"])
    if match["half"]:
        value, times = value + Decimal("0.5"), ONE
    currency = CURRENCIES.get(match["unit"], "")
    return Figure("", start, end, kind, value * times, _find_chinese_step(said) * times, currency=currency,
                  negative=bool(match["sign"]))  # fmt: skip


def _find_chinese_step(said: str) -> Decimal:
    """三千五百万 is exact to the hundred of 万: its last place that was said."""
    if "点" in said:
        rest = said.partition("点")[2]
        return ONE.scaleb(-len(rest))
    step = 1
    for c in reversed(said):
        if c not in SCALES:
            break
        step *= SCALES[c]
    return Decimal(step)


def _parse_english(match: re.Match[str]) -> Figure | None:
    half = match["num"].lower().startswith("half")
    said = Decimal(0) if half else english(match["num"])
    if said is None:
        return None
    value = said + Decimal("0.5") if half or match["more"] else Decimal(said)
    unit = match["unit"].lower()
    if unit in {"times", "fold"}:
        return None if half else Figure("", *match.span(), "multiple", value, _LOOSELY)
    step = Decimal("0.1") if half else _LOOSELY if match["more"] else ONE
    if unit in SCALES:
        return Figure("", *match.span(), "number", value, step, scale=Decimal(SCALES[unit]))
    kind, times = unit_kind(unit)
    return Figure("", *match.span(), kind, value * times, step * times)


def parse_counts(text: str) -> list[Figure]:
    """Number words without a unit, as evidence has them: "five days", 五家. In an answer they are no figures."""
    return [
        Figure("", *match.span(), "number", Decimal(value))
        for match in _COUNTED.finditer(lower(text))
        if (value := english(match["num"]) if match["num"] else chinese(match["zh"])) is not None
    ]


def parse_spelled_numbers(text: str) -> list[Figure]:
    """The figures of a plain() text whose number is a word; texts are left empty."""
    found: list[Figure | None] = []
    if _MAY_SPELL.search(lower(text)):
        found += map(_parse_english, _EN.finditer(text))
    if _MAY_SPELL_ZH.search(text):
        found += map(_parse_chinese, _ZH.finditer(text))
    return [figure for figure in found if figure is not None]


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
    rf"(?=\s{{0,12}}+[-–+△▲($€£¥₹₩\d.UHNACSREGJIK人美港])"
    rf"(?P<open>\()?\s?(?P<sign>[-–+△▲])?\s?(?P<cur>{_BEFORE})?[ ]{{0,3}}(?P<open2>\()?\s?(?P<sign2>[-–])?"
    rf"\s?(?P<cur2>[$€£¥])?(?P<num>{_NUMBER})(?P<close>\s?\))?"
    rf"(?:[ -]?(?P<scale>{_SCALE}))?(?:\s?(?P<after>{_AFTER}))?(?:[ -]?(?P<unit>{_UNIT}))?(?P<close2>\s?\))?",
)
_CELL = re.compile(rf"(?P<cur>[$€£])? {{0,3}}(?:(?P<num>{_NUMBER})|\((?P<num2>{_NUMBER})\))")
_SOME = re.compile(
    r"\d|[零一二三四五六七八九十百千万亿两半]|percent|points?\b|illion|thousand|per cent|times|fold\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:\b(?:about|approximately|approx\.?|around|roughly|some|circa|close to"
    r"|(?P<most>nearly|almost|(?:less|fewer) than|(?:just )?(?:below|under|short of)|at most|up to)"
    r"|(?P<least>over|more than|at least|in excess of|exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|above"
    r"|topp?(?:s|ed)))\s{0,8}+"
    r"|(?P<zh_most>近|将近|不足|不到|低于|接近)|(?P<zh_least>[逾超]|超过|超出|突破|高于|多于)|大?约|高达"
    r"|(?P<gt>>)|(?P<lt><)|[~≈])\s{0,8}+(?P<cur>[$€£¥])?\s{0,8}+$",
    re.IGNORECASE,
)
_ABOUT_AFTER = re.compile(r"\s?(?:(?P<least>多|余|以上)|左右|or so\b|(?P<most>以下|以内))")
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
        return [_parse_cell(plainly)]
    if not _SOME.search(text) and not (words and parse_counts(text)):
        return []
    flat = plain(text)
    mask = bytearray(len(flat)) if cell else bytearray(mask_non_figures(flat))
    for period in [] if cell else find_periods(flat):
        mask[period.start : period.end] = b"\1" * (period.end - period.start)
    found: list[Figure] = []
    for figure in parse_spelled_numbers(flat):
        _add(found, mask, replace(figure, bound=_find_approximation(flat, figure.start, figure.end)[1]))
    for match in _AMOUNT.finditer(flat):
        if not any(mask[match.start("num") : match.end("num")]):
            _add(found, mask, _parse_amount(flat, match, cell=cell))
    for figure in parse_counts(flat) if words else ():
        _add(found, mask, figure)
    found.sort(key=lambda figure: figure.start)
    return [replace(f, text=text[f.start : f.end]) for f in _share_units(flat, found)]


def _parse_cell(match: re.Match[str]) -> Figure:
    """What most cells hold: a number, a dollar sign, a bookkeeper's parentheses."""
    number = match["num"] or match["num2"]
    return Figure(
        text=match.group(), start=0, end=match.end(), kind="number", number=Decimal(number.replace(",", "")),
        step=_find_step(number), negative=bool(match["num2"]), currency=CURRENCIES.get(match["cur"] or "", ""),
    )  # fmt: skip


def _add(found: list[Figure], mask: bytearray, figure: Figure | None) -> None:
    if figure is not None and not any(mask[figure.start : figure.end]):
        mask[figure.start : figure.end] = b"\1" * (figure.end - figure.start)
        found.append(figure)


def _find_step(number: str) -> Decimal:
    _, point, part = number.partition(".")
    return ONE.scaleb(-len(part)) if point else ONE


def _parse_amount(text: str, match: re.Match[str], *, cell: bool) -> Figure | None:
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
    negative = bool(sign) and sign not in "+▲" and not bullet and not _is_joining_dash(text, sign_at)
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
    word = (match["scale"] or "").lower()
    scale = SCALES.get(word) or SCALES.get(word.rstrip("s"))
    if word in {"b", "t", "k", "m"} and match["scale"] and text[match.start("scale") - 1] in " -":
        return None  # "5 k": nobody writes a scale so, "10 b" is a paragraph
    money = (match["cur"] or match["cur2"] or match["after"] or "").lower().rstrip(".")
    number = match["num"].replace(",", "")
    about, bound = _find_approximation(text, begin, last)
    return Figure(
        text="",
        start=begin,
        end=last,
        kind=kind,
        number=Decimal(number) * times,
        step=_find_step(number) * times,
        scale=Decimal(scale) if scale else None,
        negative=negative,
        loose=loose,
        currency=CURRENCIES.get(money, ""),
        about=about,
        bound=bound,
    )


def _find_approximation(text: str, start: int, end: int) -> tuple[bool, int]:
    """Whether the words about text[start:end] call it approximate; 1: it is the least that it may be, -1: the most."""
    before, behind = _ABOUT.search(text[max(0, start - 18) : start]), _ABOUT_AFTER.match(text, end)
    said = {name for match in (before, behind) if match for name, value in match.groupdict().items() if value}
    least, most = said & {"least", "zh_least", "gt"}, said & {"most", "zh_most", "lt"}
    return bool(before or behind), 1 if least and not most else -1 if most and not least else 0


def _is_chinese(word: str | None) -> bool:
    return bool(word and CJK.search(word))


def _is_joining_dash(text: str, at: int) -> bool:
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


def _share_units(text: str, found: list[Figure]) -> list[Figure]:
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
        for p in find_periods(_blank_non_figures(text))
    ]
    return sorted([*parse_amounts(text), *times], key=lambda figure: figure.start)


def _blank_non_figures(text: str) -> str:
    """The plain text, what can be no figure blanked: a file's name names no period of the answer."""
    flat = plain(text)
    return "".join(" " if skip else c for c, skip in zip(flat, mask_non_figures(flat), strict=True))
