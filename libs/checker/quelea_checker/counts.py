"""Four digits that look like a year and count things: "1987 stores", "employees: 1987", 员工总数2013."""

from __future__ import annotations

import re

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
