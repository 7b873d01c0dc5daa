"""The forms in which texts name times, and a cheap look at which of them a text may hold."""

from __future__ import annotations

import re

from quelea_fintext.period_words import HAN_MONTH, YEAR

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
            rf"(?<![A-Za-z])(?P<m>(?-i:{_MONTH}))\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
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
        ("month", rf"(?<![A-Za-z])(?P<m>{_MONTH})(?:,?\s+(?:of )?|\s?-\s?)(?P<y>{YEAR})(?!\d)"),
        (
            "quarter",
            r"(?<![A-Za-z\d])(?:Q(?P<q>[1-4])|(?P<q2>[1-4])Q"
            rf"|(?P<o>{_ORDINAL})[- ](?:fiscal )?quarters?)\s*[,'/-]?\s*(?:of |in "
            rf"|for )?(?:the )?(?P<f>{_FY})?\s*'?(?P<y>{YEAR}|\d\d)(?![\d%]|,\d|\.\d)",
        ),
        (
            "quarter",
            rf"(?<![A-Za-z\d])(?P<f>{_FY})?\s*(?P<y>{YEAR}"
            r"|(?<=FY)\d\d)\s*(?:年)?[, /-]*(?:Q(?P<q>[1-4])|(?P<q2>[1-4])Q)(?![A-Za-z\d])",
        ),
        (
            "quarter",
            rf"(?<![A-Za-z\d])(?:the )?(?P<f>{_FY})\s*(?P<y>{YEAR})(?:'s)?,?\s+"
            rf"(?P<o>{_ORDINAL})[- ](?:fiscal )?quarters?",
        ),
        ("quarter", rf"(?P<y>{YEAR})(?P<f>财)?年度?(?:的)?第?(?P<z>[一二三四1-4])季度?"),
        (
            "half",
            r"(?<![A-Za-z\d])(?:H(?P<h>[12])|(?P<h2>[12])H|(?P<o>first|second) half)\s*(?:of "
            rf"|in )?(?:the )?(?P<f>{_FY})?\s*'?(?P<y>{YEAR}|\d\d)(?!\d|%)",
        ),
        ("half", rf"(?<!\d)(?P<y>{YEAR})(?P<f>财)?年度?(?P<zh>上半年|下半年|半年度?|中期)"),
        ("first_months", rf"\bfirst (?P<n>{LENGTH}) months of (?:the )?(?P<f>{_FY})?\s*(?P<y>{YEAR})"),
        (
            "zh_months",
            rf"(?<!\d)(?P<y>{YEAR})年(?P<m>\d{{1,2}}|{HAN_MONTH})月?份?[-~–—至到](?P<n>\d{{1,2}}|{HAN_MONTH})月份?"
            rf"|(?<!\d)(?P<y2>{YEAR})年前(?P<n2>三)季度",
        ),
        ("zh_month", rf"(?<!\d)(?P<y>{YEAR})年(?P<m>\d{{1,2}})月末?"),
        ("years", rf"(?<![\d.,$€£¥])(?P<f>{_FY})?\s*(?P<y0>{YEAR})\s?/\s?(?P<y>{YEAR}|\d\d)(?![\d%/]|\.\d)"),
        ("fiscal", r"(?<![A-Za-z\d])(?:FYE?|CY|fiscal(?: year)?(?= '))\s?'?(?P<y>\d\d)(?!\d|%)"),
        ("fiscal", rf"(?<![A-Za-z\d]){_FY}[ -]*'?(?P<y>{YEAR})(?![\d%]|\.\d)"),
        ("fiscal", rf"(?<!\d)(?P<y>{YEAR})财年"),
        ("zh_year", rf"(?<![\d.,])(?P<y>{YEAR})\s?年(?P<whole>度|全年)?"),
        ("zh_words", r"(?P<w>[一二][〇零一二三四五六七八九]{3})年(?:第?(?P<z>[一二三四])季度|(?P<zh>上半年|下半年))?"),
        ("whole_year", rf"\b(?:full[- ]year|year ended|year ending|years ended)\s+(?P<y>{YEAR})(?!\d)"),
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
    rf"{YEAR}|[Qq][1-4]|[1-4][Qq]|[12][Hh]\d|FY|CY\d|\d[/.]\d{{1,2}}[/.]\d\d|[a-z]{{3}}\.?(?:-|\s?')\d\d\b"
    r"|quarter|half|季|半年|month|月"
    rf"|[一二][〇零一二三四五六七八九]{{3}}|{_MONTH}\s+\d|\d {_MONTH}",
    re.IGNORECASE,
)
NUMERIC_DATE = re.compile(r"(?:19|20)\d\d[-/.]\d")
_QUARTERS = re.compile("q[1-4]|[1-4]q|quarter|季")
_HALVES = re.compile("h[12]|[12]h|half|半|中期")
_YEARS = re.compile(YEAR)


def likely(text: str, low: str, *, monthly: bool) -> set[str]:
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
