"""Times in a text: years, quarters, halves, months and days, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from quelea_fintext.dates import find_dates
from quelea_fintext.numerals import chinese
from quelea_fintext.period_words import HAN_MONTH, MONTHS_LONG, QUARTERS, YEAR
from quelea_fintext.text import lower

from quelea_checker.model import Period

_THINGS = (
    r"employees|people|persons|staff|workers|associates|colleagues|nurses|physicians|doctors|engineers|scientists"
    r"|teachers|drivers|agents|advisers|advisors|stores|shops|restaurants|branches|outlets|offices|locations|sites"
    r"|hotels|rooms|beds|clinics|hospitals|schools|centers|centres|dealers|dealerships|stations|warehouses|plants"
    r"|factories|facilities|customers|clients|members|subscribers|users|accounts|suppliers|vendors|partners|patents"
    r"|trademarks|vehicles|cars|trucks|buses|aircraft|ships|vessels|homes|houses|apartments|lots|units|shares|stocks"
    r"|properties|wells|towers|machines|devices|terminals|ATMs|kiosks|holders|shareholders|stockholders|students"
    r"|patients|jobs|positions|orders|contracts|tonnes|tons|barrels|miles|kilometers|kilometres|acres|hectares"
)
_COUNTED = re.compile(rf"\s(?:[a-z][a-z-]+ ){{0,2}}?(?P<what>{_THINGS})\b")
_BETWEEN = re.compile(r"\b(?:and|or|the|of|in|for|to|than|with|were|was|had|has|its|our|by)\b", re.IGNORECASE)
_TIMELY = re.compile(
    r"\b(?:in|during|since|until|by|fiscal|year|FY|end of|ended|ending|through|early|late|mid|calendar|of|for|from|to"
    r"|the|its|our|and|between|January|February|March|April|May|June|July|August|September|October|November|December"
    r"|first|second|third|fourth|quarter|half|spring|summer|autumn|winter)[\s'-]*$|[\d,/-]\s*$",
    re.IGNORECASE,
)
_AT_ONCE = re.compile(r"\b(?:in|during|since|until|fiscal|year|FY|calendar|early|late|mid)[\s-]*$", re.IGNORECASE)
_LABEL = re.compile(
    rf"(?:\b(?:{_THINGS}|headcount|workforce|store count|number of [a-z -]{{3,40}})\s*[:=]\s*"
    r"|\b(?:headcount|workforce|store count|number of [a-z -]{3,40}?)\s+(?:of|was|is|were|are|reached|totall?ed"
    r"|stood at|(?:rose|fell|grew|increased|decreased|declined|dropped) to)\s+(?:about |approximately |some )?"
    r"|(?:员工|职工|雇员|人员|门店|店铺|网点|分支机构|客户|用户|专利|床位)(?:总?人?数量?|总量)?\s*"
    r"(?:[:：]|为|是|达到?|共计?|增至|减至|合计)\s*)$",
    re.IGNORECASE,
)
_LABEL_ENDS = (
    ":", "=", "：", "of", "was", "is", "were", "are", "reached", "totaled", "totalled", "at", "to", "about",
    "approximately", "some", *"为是达到共计至合",
)  # fmt: skip
"""What such a label ends with: a cheap look."""
_HAD = re.compile(
    r"\b(?:had|has|have|having|own(?:s|ed|ing)?|operat(?:es?|ed|ing)|employ(?:s|ed|ing)?|r[ua]ns?|maintain(?:s|ed)?"
    r"|sold|ships?|shipped|deliver(?:s|ed)|built|bought|hired|opened|closed|added|leas(?:es?|ed)|there (?:were|are))\s"
    r"(?:about |approximately |around |some |nearly |almost |over |only |just |more than )?$",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\s(?:[a-z][a-z-]+ ){0,2}?(?!(?:sales|revenues|results|earnings|losses|profits|figures|expenses|costs|its|was"
    r"|levels|numbers|prices|guidelines|terms|plans|models|notes|bonds|goals|targets|is|has)\b)[a-z]{3,}s\b"
)
""" "Had 1962 locomotives", whatever they are: more than one of something that is no amount of a year."""
_UNIT = re.compile(r"\s?(?:名|位|户|间|辆|台|件|项|个(?!季)|座|套|处|吨|张床|艘|架|幢|栋|口井|所|支|款|份)(?!\d)")


def is_count(text: str, start: int, end: int) -> bool:
    """Whether the bare four digits text[start:end] count what is named behind them or before.

    "2019 results" and "in 2019 stores closed" name a year; "1987 stores" and "had 1987 exam rooms" do not.
    """
    if _UNIT.match(text, end):
        return True
    before = text[max(0, start - 60) : start]
    if before.rstrip().endswith(_LABEL_ENDS) and _LABEL.search(before):
        return True
    if _HAD.search(before) and (many := _MANY.match(text, end)) and not _BETWEEN.search(many.group()):
        return True
    match = _COUNTED.match(text, end)
    if match is None or _BETWEEN.search(text[end : match.start("what")]) or _AT_ONCE.search(before):
        return False
    return match.start("what") == end + 1 or not _TIMELY.search(before)


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_ORDINAL = r"(?:first|second|third|fourth|1st|2nd|3rd|4th)"
LENGTH = r"(?:three|six|nine|twelve|12|[369])"
_FY = r"(?:fiscal(?:[ -]years?)?|FYE?|F[. ]?Y[. ]?|F(?=20\d\d)|CY(?=\s?'?\d)|财年|calendar(?: year)?)"

FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "month_days",
            rf"(?<![A-Za-z])(?P<m>(?-i:{_MONTH}))\s{{1,8}}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
            r"(?![\d%]|\.\d|,\d{3}|\s?(?:percent|million|billion))",
        ),
        ("month_days", rf"(?<![\d.,$])(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?P<m>(?-i:{_MONTH}))(?![A-Za-z])"),
        (
            "zh_span",
            rf"截至?(?:(?P<y>{YEAR})年)?(?P<m>\d{{1,2}})月(?:(?P<d>\d{{1,2}})日|[底末]|份)?[止的]的?"
            r"(?P<n>三|六|九|十二|3|6|9|12)个月(?:期间)?"
            rf"(?:[ ;]{{0,3}}(?P<y2>{YEAR})年?(?![\d.,%]))?",
        ),
        (
            "zh_span",
            rf"截至?(?:(?P<y>{YEAR})年)?(?P<m>\d{{1,2}})月(?P<d>\d{{1,2}})日止年度"
            rf"(?:[ ;]{{0,3}}(?P<y2>{YEAR})年?(?![\d.,%]))?",
        ),
        ("zh_month_days", r"(?<!年)(?<!\d)(?P<m>\d{1,2})月(?P<d>\d{1,2})日"),
        (
            "month_span",
            rf"(?<![A-Za-z])(?:(?P<n>{LENGTH})[- ]months|(?P<quarter>quarter)|(?P<whole>year)) "
            rf"(?:to|through|until|ended|ending)(?: in)? (?P<m>(?-i:{_MONTH})),? (?P<y>{YEAR})(?!\d)",
        ),
        (
            "month_span",
            rf"(?<![A-Za-z])(?:(?<!between )(?P<first>(?-i:{_MONTH}))(?: to | through |\s?[-–]\s?)"
            rf"|(?<=between )(?P<first2>(?-i:{_MONTH})) and )(?P<m>(?-i:{_MONTH})),? (?:of )?(?P<y>{YEAR})(?!\d)",
        ),
        ("month", rf"(?<![A-Za-z])(?P<m>{_MONTH})(?:,?\s{{1,8}}(?:of )?|\s?-\s?)(?P<y>{YEAR})(?!\d)"),
        (
            "quarter",
            r"(?<![A-Za-z\d])(?:Q(?P<q>[1-4])|(?P<q2>[1-4])Q"
            rf"|(?P<o>{_ORDINAL})[- ](?:fiscal )?quarters?)\s{{0,8}}+[,'/-]?\s{{0,8}}+(?:of |in "
            rf"|for )?(?:the )?(?P<f>{_FY})?\s{{0,8}}+'?(?P<y>{YEAR}|\d\d)(?![\d%]|,\d|\.\d)",
        ),
        (
            "quarter",
            rf"(?<![A-Za-z\d])(?P<f>{_FY})?\s{{0,8}}+(?P<y>{YEAR}"
            r"|(?<=FY)\d\d)\s{0,8}+(?:年)?[, /-]*(?:Q(?P<q>[1-4])|(?P<q2>[1-4])Q)(?![A-Za-z\d])",
        ),
        (
            "quarter",
            rf"(?<![A-Za-z\d])(?:the )?(?P<f>{_FY})\s{{0,8}}+(?P<y>{YEAR})(?:'s)?,?\s{{1,8}}"
            rf"(?P<o>{_ORDINAL})[- ](?:fiscal )?quarters?",
        ),
        ("quarter", rf"(?P<y>{YEAR})(?P<f>财)?年度?(?:的)?第?(?P<z>[一二三四1-4])季度?"),
        (
            "half",
            r"(?<![A-Za-z\d])(?:H(?P<h>[12])|(?P<h2>[12])H|(?P<o>first|second) half)\s{0,8}+(?:of "
            rf"|in )?(?:the )?(?P<f>{_FY})?\s{{0,8}}+'?(?P<y>{YEAR}|\d\d)(?!\d|%)",
        ),
        ("half", rf"(?<!\d)(?P<y>{YEAR})(?P<f>财)?年度?(?P<zh>上半年|下半年|半年度?|中期)"),
        ("first_months", rf"\bfirst (?P<n>{LENGTH}) months of (?:the )?(?P<f>{_FY})?\s{{0,8}}+(?P<y>{YEAR})"),
        (
            "zh_months",
            rf"(?<!\d)(?P<y>{YEAR})年(?P<m>\d{{1,2}}|{HAN_MONTH})月?份?[-~–—至到](?P<n>\d{{1,2}}|{HAN_MONTH})月份?"
            rf"|(?<!\d)(?P<y2>{YEAR})年前(?P<n2>三)季度",
        ),
        ("zh_month", rf"(?<!\d)(?P<y>{YEAR})年(?P<m>\d{{1,2}})月末?"),
        ("years", rf"(?<![\d.,$€£¥])(?P<f>{_FY})?\s{{0,8}}+(?P<y0>{YEAR})\s?/\s?(?P<y>{YEAR}|\d\d)(?![\d%/]|\.\d)"),
        ("fiscal", r"(?<![A-Za-z\d])(?:FYE?|CY|fiscal(?: year)?(?= '))\s?'?(?P<y>\d\d)(?!\d|%)"),
        ("fiscal", rf"(?<![A-Za-z\d]){_FY}[ -]*'?(?P<y>{YEAR})(?![\d%]|\.\d)"),
        ("fiscal", rf"(?<!\d)(?P<y>{YEAR})财年"),
        ("zh_year", rf"(?<![\d.,])(?P<y>{YEAR})\s?年(?P<whole>度|全年)?"),
        ("zh_words", r"(?P<w>[一二][〇零一二三四五六七八九]{3})年(?:第?(?P<z>[一二三四])季度|(?P<zh>上半年|下半年))?"),
        ("whole_year", rf"\b(?:full[- ]year|year ended|year ending|years ended)\s{{1,8}}(?P<y>{YEAR})(?!\d)"),
        (
            "year",
            rf"(?<![\d.,$€£¥#A-Za-z_-])(?P<y>{YEAR})(?![\d%_]|(?![AEFPR]\b)[A-Za-z]|,\d|\.\d|\s?(?:%|percent|million"
            r"|billion|thousand|[十百千]|万|亿|元|美元|港元|欧元|英镑|日元|股|家|人|名|basis|bps)"
            r"|-(?:year|day|month))",
        ),
        ("year", rf"(?<=\d\d\d\d[-–~])(?P<y>{YEAR})(?![\d%A-Za-z_]|,\d|\.\d)"),
        ("year_to", rf"(?<=(?P<y0>{YEAR}))[-–](?P<y>\d\d)(?![\d%A-Za-z–-]|[.,/]\d|年)"),
        ("bare_first", r"前(?P<n>[二两三])个?季度?|\bfirst (?P<n2>two|three) quarters\b"),
        (
            "bare_quarter",
            r"(?<![A-Za-z\d])(?:Q(?P<q>[1-4])(?![A-Za-z\d])"
            rf"|(?P<o>{_ORDINAL})[- ](?:fiscal )?quarters?)|第?(?P<z>[一二三四1-4])季度",
        ),
        ("bare_half", r"\b(?P<o>first|second) half\b|(?P<zh>上半年|下半年)"),
        ("bare_months", rf"\b(?P<n>{LENGTH})[- ]months? (?:periods? )?(?:ended|ending)\b"),
    )
)


ANY = re.compile(
    rf"{YEAR}|q[1-4]|[1-4]q|[12]h\d|fy|cy\d|\d[/.]\d{{1,2}}[/.]\d\d|[a-z]{{3}}\.?(?:-|\s?')\d\d\b"
    r"|quarter|half|季|半年|month|月"
    rf"|[一二][〇零一二三四五六七八九]{{3}}|{_MONTH.lower()}\s+\d|\d {_MONTH.lower()}"
)
"""A cheap look at a text in lower case."""
_NAMED_MONTH = re.compile(rf"(?<![a-z]){_MONTH.lower()}(?![a-z])")
NUMERIC_DATE = re.compile(r"(?:19|20)\d\d[-/.]\d")
_QUARTERS = re.compile("q[1-4]|[1-4]q|quarter|季")
_HALVES = re.compile("h[12]|[12]h|half|半|中期")
_YEARS = re.compile(YEAR)


def find_candidate_forms(text: str, low: str, *, monthly: bool) -> set[str]:
    """The forms that a text may hold, by a cheap look: most texts have few of them."""
    found = {"zh_span"} if "日止" in text or "个月" in text else set()
    if monthly:
        found |= {"month_days", "month_span", "month"}
    if "日" in text:
        found.add("zh_month_days")
    if "年" in text:
        found |= {"zh_months", "zh_year", "zh_words"}
    if "月" in text:
        found.add("zh_month")
    if "month" in low:
        found |= {"first_months", "bare_months"}
    if "year" in low:
        found.add("whole_year")
    if "first" in low or "前" in text:
        found.add("bare_first")
    if any(word in low for word in ("fiscal", "fy", "f.y", "f y", "财", "calendar", "cy", "f20")):
        found.add("fiscal")
    if _QUARTERS.search(low):
        found |= {"quarter", "bare_quarter"}
    if _HALVES.search(low):
        found |= {"half", "bare_half"}
    if _YEARS.search(text):
        found |= {"year", "years", "year_to"} if "/" in text else {"year", "year_to"}
    return found


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)"
)
_END = r"(?![\w%]|[.,]\d|\s?[-/]\s?\d|\s+(?:million|billion|thousand|percent))"
_FORM = re.compile(
    rf"(?<![\w/.,-])(?P<a>\d{{1,2}})(?P<mark>[/.])(?P<b>\d{{1,2}})(?P=mark)(?P<y>(?:19|20)\d\d|\d\d){_END}"
    rf"|(?<![A-Za-z])(?P<m>{_NAME})\.? ?(?P<d>\d{{1,2}}) ?,(?P<y2>(?:19|20)\d\d){_END}"
    rf"|(?<![A-Za-z])(?P<m3>{_NAME})(?P<d3>\d{{1,2}}), ?(?P<y3>(?:19|20)\d\d){_END}"
    rf"|(?<![\w.,$])(?P<d4>\d{{1,2}})[- ](?P<m4>{_NAME})\.?[- ]'?(?P<y4>(?:19|20)\d\d|\d\d){_END}"
    rf"|(?<![\w])(?P<m5>{_NAME})\.?(?:-|\s?')(?P<y5>\d\d){_END}"
)
MAY_HOLD = re.compile(
    r"\d[/.]\d{1,2}[/.]\d\d|[A-Za-z]\.? ?\d{1,2} ?,\d{4}|[a-z]\d{1,2}, ?\d{4}|[A-Za-z]\.?(?:-|\s?')\d\d\b"
    r"|\d[- ][A-Z][A-Za-z]{2,8}\.?[- ]'?\d\d"
)
"""A cheap look."""


@dataclass(frozen=True, slots=True)
class ShortDate:
    """text[start:end]; month and day are 0 where they are not told."""

    start: int
    end: int
    year: int
    month: int
    day: int


def short_dates(text: str) -> Iterator[ShortDate]:
    """Every such date, in order. Of 5/6/2019 only the year is told: the one may be the day or the month."""
    for match in _FORM.finditer(text):
        got = {name[0]: value for name, value in match.groupdict().items() if value}
        year = int(got["y"]) if len(got["y"]) == 4 else 2000 + int(got["y"])
        if "a" in got:
            month, day = sorted((int(got["a"]), int(got["b"])))
            if got["a"] != got["b"] and day <= 12:
                if len(got["y"]) == 4 and match["mark"] == "/":
                    yield ShortDate(*match.span(), year, 0, 0)
                continue
            if not (1 <= month <= 12 and 1 <= day <= 31) or year > 2059:
                continue
        else:
            month, day = _MONTHS.index(got["m"][:3].lower()) + 1, int(got.get("d", 0))
            if day > 31 or year > 2059:
                continue
        yield ShortDate(*match.span(), year, month, day)


_SPAN_BEFORE = re.compile(
    rf"(?:(?P<n>{LENGTH})[- ]months?(?:[- ]periods?)?|(?P<year>(?:fiscal |calendar )?years?)"
    r"|(?P<quarter>(?:fiscal )?quarters?"
    rf"(?:ly periods?)?)|(?P<half>half[- ]years?))(?: periods?)?,? (?:then )?(?:ended|ending)(?: on)?\s*(?:as of )?$",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|,? and|,? or|、|和|及|与)\s*", re.IGNORECASE)
_TO = re.compile(r"\s*(?:-|–|—|~|to|through|and|至|到)\s*(?:fiscal )?", re.IGNORECASE)
_MORE_YEARS = re.compile(rf"\s*(?:,? and|,|&|or|和|及|、)\s*(?P<y>{YEAR})(?![\d%]|,\d|\.\d|年)", re.IGNORECASE)

_SINCE = re.compile(
    r"(?:[较比]|compared (?:to|with)|\bfrom|\bover|\bversus|\bvs\.?|\bthan(?: in)?)\s*(?:the )?$", re.IGNORECASE
)
_LINE = re.compile(r"[。!?！？\n]|\.\s")
_BESIDE = 80
"""Characters between a time and the one that it is compared with."""
_DOCUMENT = re.compile(
    r"(?:'s)?[\s,]{0,2}(?:quarterly |annual |earnings )?(?:Form )?(?:10-[KQ]|report|filing|release"
    r"|document|年报|季报|半年报|报告)",
    re.IGNORECASE,
)


def names_document(text: str, period: Period) -> bool:
    """The time is a document's, "the 2023 annual report", and says nothing of when a figure is from."""
    return bool(_DOCUMENT.match(text, period.end))


def find_periods(text: str) -> list[Period]:
    """Every time that the text names, in order. The text has been through plain(), or has ordinary digits."""
    return list(_find_cached(text))


@lru_cache(maxsize=16384)
def _find_cached(text: str) -> tuple[Period, ...]:
    low = lower(text)
    if not ANY.search(low):
        return ()
    found: list[Period] = []
    taken = bytearray(len(text))

    def take(period: Period) -> None:
        if not any(taken[period.start : period.end]):
            taken[period.start : period.end] = b"\1" * (period.end - period.start)
            found.append(period)

    monthly = _NAMED_MONTH.search(low) is not None
    forms = find_candidate_forms(text, low, monthly=monthly)
    if "zh_span" in forms:  # 截至2025年6月30日止六个月: a day and a length of time
        for match in (m for name, form in FORMS if name == "zh_span" for m in form.finditer(text)):
            take(_zh_span(match))
    for whole in _find_dates(text, monthly=monthly):
        before = _SPAN_BEFORE.search(text[max(0, whole.start - 45) : whole.start])
        if before:
            start = max(0, whole.start - 45) + before.start()
            whole = replace(whole, start=start, months=_read_length(before))  # noqa: PLW2901  # the same date, its length known
        elif found and _AND.fullmatch(text[found[-1].end : whole.start]):
            whole = replace(whole, months=found[-1].months)  # noqa: PLW2901  # "the three months ended July 1, 2023 and June 25, 2022"
        take(whole)
        _take_more(text, whole, take)
    for name, form in FORMS:
        if name == "year":
            _take_listed_years(text, found, take)
        if name not in forms or name == "zh_span":
            continue
        for match in form.finditer(text):
            period = _read(name, match)
            if period is None or (name == "year" and is_count(text, *match.span("y"))):
                continue
            take(period)
            if name in {"month", "quarter"}:
                _take_more(text, period, take)
    found.sort(key=lambda period: period.start)
    for at in range(1, len(found)):  # "fiscal years 2017-2019"
        one, other = found[at - 1], found[at]
        if one.fiscal and not one.quarter and _is_year(other) and _TO.fullmatch(text[one.end : other.start]):
            found[at] = replace(other, fiscal=True)
        if one.year == 0 and other.year and _is_year_after(text, one, other):
            found[at - 1] = replace(one, year=other.year + 1)
    return tuple(found)


def _is_year_after(text: str, one: Period, other: Period) -> bool:
    """ "The first quarter, up 5% from the first quarter of 2022", 同比2022年一季度: it is the next year's."""
    if not (one.quarter or one.half) or (one.quarter, one.half) != (other.quarter, other.half):
        return False
    between = text[one.end : other.start]
    return len(between) <= _BESIDE and not _LINE.search(between) and bool(_SINCE.search(between))


def _find_dates(text: str, *, monthly: bool) -> list[Period]:
    """Days, as prose and as tables write them."""
    found = []
    if monthly or "年" in text or NUMERIC_DATE.search(text):
        found = [Period(d.start, d.end, d.day.year, month=d.day.month, day=d.day.day) for d in find_dates(text)]
    if MAY_HOLD.search(text):
        short = [Period(d.start, d.end, d.year, month=d.month, day=d.day) for d in short_dates(text)]
        found += [p for p in short if not any(p.start < o.end and o.start < p.end for o in found)]
        found.sort(key=lambda period: period.start)
    return found


def _zh_span(match: re.Match[str]) -> Period:
    got = match.groupdict()
    said = got.get("n") or "12"
    months = int(said) if said.isdigit() else int(chinese(said) or 0)
    return Period(
        *match.span(), int(got["y"] or got["y2"] or 0), month=int(got["m"]), day=int(got.get("d") or 0), months=months
    )


def _is_year(period: Period) -> bool:
    return bool(period.year) and not (period.quarter or period.half or period.month or period.months)


def find_years_between(text: str, periods: Sequence[Period]) -> list[Period]:
    """The years between those of a range: 2018 of "from 2017 to 2019"."""
    found = []
    for one, other in pairwise(periods):
        if _is_year(one) and _is_year(other) and _TO.fullmatch(text[one.end : other.start]):
            low, high = sorted((one.year, other.year))
            found += [replace(one, year=year) for year in range(low + 1, min(high, low + 12))]
    return found


def _take_more(text: str, first: Period, take) -> None:  # type: ignore[no-untyped-def]  # a closure of find_periods
    """ "December 31, 2019 and 2018": the second year has the first one's day."""
    at = first.end
    while match := _MORE_YEARS.match(text, at):
        take(replace(first, start=match.start("y"), end=match.end(), year=int(match["y"])))
        at = match.end()


def _take_listed_years(text: str, found: list[Period], take) -> None:  # type: ignore[no-untyped-def]  # a closure of find_periods
    for period in list(found):
        if period.fiscal and not period.month:
            _take_more(text, period, take)


def _read_length(match: re.Match[str]) -> int:
    if match["n"]:
        return MONTHS_LONG[match["n"].lower()]
    return 12 if match["year"] else 3 if match["quarter"] else 6


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text)


def _month(said: str) -> int:
    """The number of a month, 0 of none."""
    if said.isdigit():
        return int(said)
    return MONTHS.index(said[:3].lower()) + 1 if said.isascii() else int(chinese(said) or 0)


def _read_month_span(start: int, end: int, year: int, first: int, last: int) -> Period | None:
    """From one month of a year to another; one that begins with the year is named by its length alone."""
    if not 1 <= first < last <= 12:
        return None
    return Period(start, end, year, month=0 if first == 1 else last, months=last - first + 1)


def _read(name: str, match: re.Match[str]) -> Period | None:
    start, end = match.span()
    got = {key: value for key, value in match.groupdict().items() if value}
    year = _year(got["y"]) if "y" in got else 0
    fiscal = bool(got.get("f")) and not got["f"].lower().startswith(("calendar", "cy"))
    quarter = int(got.get("q") or got.get("q2") or 0) or QUARTERS.get(got.get("o", "").lower(), 0)
    quarter = quarter or QUARTERS.get(got.get("z", ""), 0)
    half = int(got.get("h") or got.get("h2") or 0) or (1 if got.get("o", "").lower() == "first" else 2)
    if "zh" in got:
        half = 2 if got["zh"] == "下半年" else 1
    if name in {"quarter", "bare_quarter"}:
        return Period(start, end, year, quarter=quarter, months=3, fiscal=True, explicit=fiscal)
    if name in {"half", "bare_half"}:
        return Period(start, end, year, half=half, months=6, fiscal=fiscal)
    if name == "month":
        return Period(start, end, year, month=MONTHS.index(got["m"][:3].lower()) + 1)
    if name in {"month_days", "zh_month_days"}:
        month = int(got["m"]) if got["m"].isdigit() else MONTHS.index(got["m"][:3].lower()) + 1
        return Period(start, end, month=month, day=int(got["d"])) if 1 <= month <= 12 else None
    if name == "bare_first":
        return Period(start, end, months=9 if got.get("n") == "三" or got.get("n2", "").lower() == "three" else 6)
    if name == "first_months":
        return Period(start, end, year, months=MONTHS_LONG[got["n"].lower()], fiscal=fiscal)
    if name == "bare_months":
        return Period(start, end, months=MONTHS_LONG[got["n"].lower()])
    if name == "zh_months":
        if "y2" in got:
            return Period(start, end, int(got["y2"]), months=9)
        return _read_month_span(start, end, year, _month(got["m"]), _month(got["n"]))
    if name == "month_span":
        last = _month(got["m"])
        long = MONTHS_LONG[got["n"].lower()] if "n" in got else 3 if "quarter" in got else 12
        if "first" in got or "first2" in got:
            return _read_month_span(start, end, year, _month(got.get("first") or got["first2"]), last)
        return Period(start, end, year, month=last, months=long)
    if name == "zh_month":
        return Period(start, end, year, month=int(got["m"])) if 1 <= int(got["m"]) <= 12 else None
    if name == "years":
        second = _year(got["y"])
        return Period(start, end, second, fiscal=True) if second == int(got["y0"]) + 1 else None
    if name == "year_to":  # "2020-24" is a range
        first = int(got["y0"])
        last = first // 100 * 100 + int(got["y"])
        return Period(match.start("y"), end, last) if first < last <= first + 12 else None
    if name == "zh_words":
        value = int(chinese(got["w"]) or 0)
        if not 1900 <= value <= 2099:
            return None
        months = 3 if quarter else 6 if "zh" in got else 0
        return Period(start, end, value, quarter=quarter, half=half if "zh" in got else 0, months=months)
    if name in {"zh_year", "whole_year"}:
        return Period(start, end, year, months=12 if got.get("whole") == "全年" or name == "whole_year" else 0)
    return Period(start, end, year, fiscal=name == "fiscal" or fiscal)
