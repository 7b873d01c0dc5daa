"""Names that a question treats as a company's although no list and no stored document has them."""

from __future__ import annotations

import re

from quelea_fintext.company_names import UNSPACED_LEGAL_FORM
from quelea_fintext.languages import LANGUAGES

_NAME = r"[A-Z][A-Za-z0-9&\-]+(?:\s+(?:&\s+)?[A-Z][A-Za-z0-9&\-]+){0,3}"
_LEGAL = re.compile(
    rf"\b(?P<name>{_NAME}),?\s+(?:Inc|Corp|Corporation|Ltd|Limited|PLC|plc|LLC|N\.V|S\.A|AG|SE|Holdings|Bancorp)\b"
)
_MEASURE = rf"(?:{LANGUAGES.alternatives('companies.measures', words_apart=True)})"
_POSSESSIVE = re.compile(rf"\b(?P<name>{_NAME})(?:'s|(?<=s)')\s+(?={_MEASURE}\b)")
_SUBJECT = re.compile(
    rf"\b(?:did|does|has|have|had|was|is)\s+(?P<name>{_NAME})\s+(?:report|record|earn|disclose|announce|generate"
    rf"|spend|invest|pay|repurchase"
    r"|post|recognize|recognise)(?:ed|d)?\b"
)
_OPENERS = frozenset(LANGUAGES.words("companies.openers"))
_NO_COMPANY = frozenset(LANGUAGES.words("companies.not_names"))
_ZH_LEGAL = re.compile(r"(?P<name>[\u4e00-\u9fffA-Za-z0-9（）()]{2,24}?(?:" + UNSPACED_LEGAL_FORM + "))")
_ZH_METRIC = rf"(?:{LANGUAGES.alternatives('companies.measures', words_apart=False)})"
_ZH_PLAIN = re.compile(
    rf"(?:19|20)\d\d年(?:度|第?[一二三四]季度|上半年)?[，,、]?(?P<a>[\u4e00-\u9fff]{{2,8}}?)(?:公司)?的?{_ZH_METRIC}"
    rf"|(?:^|[，,。？?])(?P<b>[\u4e00-\u9fff]{{2,8}}?)(?:公司)?(?:在)?(?:19|20)\d\d年(?:度|第?[一二三四]季度|上半年)?的?{_ZH_METRIC}"
    rf"|(?:^|[，,。？?])(?P<c>[\u4e00-\u9fff]{{1,6}}(?:股份|集团|科技|银行|证券|药业|电子|汽车|能源))的?{_ZH_METRIC}"
)
_ZH_NO_COMPANY = re.compile(
    r"公司|我国|中国|全国|国内|全球|美国|世界|该|本|其|上半|下半|季度|月|年|度|末|底|初|期|行业|企业|市场|银行业|上市|回购|持有|转让|增持|减持"
    r"|发行|流通|限售|购买|出售|收购|认购|质押|请|提供|根据|哪|什么|如何|多少|总|各|主要|以及|央行|政府|地方|居民"
)
_ZH_LEAD = re.compile(
    r"^(?:请问|请提供|请|根据|关于|能否|我想知道|想知道|在|从|对|查询|介绍|简要|分析|提供|的时候|的|，)+"
)


def unknown_names(query: str) -> list[str]:
    """Names in the question that must be companies by the way they are used; empty when there is a doubt.

    Only for a question in which no known company was found. "Zyxel's revenue", "Zyxel Corp", "did Zyxel report",
    "某某股份有限公司", "某某股份2020年营业收入".
    """
    found: list[str] = []
    for pattern in (_LEGAL, _POSSESSIVE, _SUBJECT):
        for match in pattern.finditer(query):
            name = _trim(match["name"])
            if name and not any(word.lower() in _NO_COMPANY or word.isdigit() for word in name.split()):
                found.append(name)
    found += [_ZH_LEAD.sub("", _after_year(match["name"])) for match in _ZH_LEGAL.finditer(query)]
    if not found:
        for match in _ZH_PLAIN.finditer(query):
            name = _ZH_LEAD.sub("", next(part for part in match.groups() if part))
            if len(name) >= 3 and not _ZH_NO_COMPANY.search(name):
                found.append(name)
    return [name for name in dict.fromkeys(found) if len(name) > 2]


def strange_names(query: str) -> list[str]:
    """Words of a question that are written as names, wherever they stand: "the revenue of Zyxel", "did Zyxel grow".

    Most are no company's (a month, a segment, the title of a table), so what was found has to say what they are.
    """
    found = (_trim(match.group()) for match in re.finditer(_NAME, query))
    return [
        name
        for name in dict.fromkeys(found)
        if any(letter.islower() for letter in name)
        and not any(word.lower() in _NO_COMPANY or word.isdigit() for word in name.split())
    ]


def _trim(name: str) -> str:
    words = name.split()
    while words and words[0] in _OPENERS:
        words.pop(0)
    return " ".join(words)


def _after_year(name: str) -> str:
    return re.split(r"年度?(?:的)?", name)[-1]
