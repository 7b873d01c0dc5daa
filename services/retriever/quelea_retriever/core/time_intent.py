"""How a question speaks of time besides the periods that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LATEST = re.compile(
    r"\b(?:latest|most[\s-]recent(?:ly)?|newest|last reported|last quarter|(?:current|this) quarter"
    r"|current (?:fiscal )?year)\b"
    r"|最新|最近一个?(?:[期季年]|财季|财年|报告期)|最近的?(?:季报|财报|年报|报告|季度)|上个?季度|本季度|本期",
    re.IGNORECASE,
)
NEWEST_OF_EACH = re.compile(
    r"\b(?:latest|most[\s-]recent|newest)\s+(?:(?:reported|fiscal|respective)\s+)*(?:quarters|periods|years|filings|reports|10-?[qk]s)\b",
    re.IGNORECASE,
)
"""Of several companies: one each."""
_NOW = re.compile(
    r"\b(?:now|today|currently|recent(?:ly)?|this week|so far this year)\b|近期|最近|目前|当前|今天|今日|如今|现在",
    re.IGNORECASE,
)
_PREVIOUS = re.compile(
    r"\b(?:previous|prior|preceding)\s+quarter\b(?!s)|\bquarter before(?: last)?\b|上一季度?|前一季度?|上一期|环比",
    re.IGNORECASE,
)
_PERIODS = (
    r"(?:quarters|periods|reports|filings|10-?[qk]s|10-?[qk] (?:reports|filings)|years|ones|timeframe"
    r"|quarterly reports|quarterly filings|annual reports)"
)
_MULTI = re.compile(
    rf"\b(?:these|those|past|previous|prior|last|recent|historical|reported|reporting|all|several|multiple"
    rf"|across|each|every|both|over"
    rf"|throughout|between|few|two|three|four|five|eight|\d)\s{{1,8}}(?:the\s{{1,8}})?(?:(?:its|their|reported|reporting"
    rf"|historical|past|recent|last|"
    rf"available|quarterly|annual|fiscal|different|various|several|few|two|three|four|five|eight"
    rf"|\d{{1,4}})\s{{1,8}}){{0,6}}{_PERIODS}\b"
    r"|\b(?:each|every|per)\s{1,8}(?:(?:reported|reporting|fiscal)\s{1,8})?(?:quarter|period|year|filing|report)\b"
    r"|\b10-?[qk]s\b"
    r"|\bacross quarters\b|\bquarterly (?:reports|filings)\b|\bannual reports\b|\bover time\b|\btime series\b"
    r"|\byear[- ]by[- ]year\b"
    r"|\bquarter[- ](?:to|by|over|on)[- ]quarter\b|\bperiod[- ](?:to|by)[- ]period\b|\breporting (?:period"
    r"|timeframe)s?\b"
    r"|\b(?:trend(?:s|ed|ing)?|evol(?:ved?|ution|ves|ving)|fluctuate[ds]?)\b"
    r"|历年|历季|各季度|各个季度|每个?季度|逐季|各年|每年|多年|趋势|近[几两三四五]年|近[几两三四五]个?季度|过去[几两三四五]|各期|变化情况如何",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"\b(?:compar(?:e[ds]?|ing|ison)|versus|vs\.?|against|than|differ(?:s|ence)?)\b|对比|相比|比较|孰|谁更",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"\b10-?([qk])s?\b|\bannual reports?\b|\bquarterly (?:reports?|filings?)\b"
    r"|年度?报告?|季度?报告?|半年报|财报|\bfilings?\b",
    re.IGNORECASE,
)
_ANNUAL = re.compile(
    r"\b10-?k\b|\bannual(?:ly)?\b|\bfull[- ]year\b|\b(?:fiscal )?year ended\b|(?<!半)年报|(?<!半)年度报告|全年",
    re.IGNORECASE,
)
_QUARTERLY = re.compile(r"\b10-?qs?\b|\bquarter(?:s|ly)?\b|季", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimeIntent:
    """How a question speaks of time besides the periods it names."""

    latest: bool
    """Narrow to the newest filing."""
    now: bool
    """Wants the newest information, of whatever kind."""
    previous: bool
    multi: bool
    """Several periods, none of them named."""
    compare: bool
    form: bool
    """Speaks of filings."""
    annual: bool
    quarterly: bool


def read_time_intent(query: str) -> TimeIntent:
    """Read them."""
    latest = bool(_LATEST.search(query))
    return TimeIntent(
        latest=latest,
        now=latest or bool(_NOW.search(query)),
        previous=bool(_PREVIOUS.search(query)),
        multi=bool(_MULTI.search(query)),
        compare=bool(_COMPARE.search(query)),
        form=bool(_FORM.search(query)),
        annual=bool(_ANNUAL.search(query)),
        quarterly=bool(_QUARTERLY.search(query)),
    )
