"""Names that a question treats as a company's although no list and no stored document has them."""

from __future__ import annotations

import re

_NAME = r"[A-Z][A-Za-z0-9&\-]+(?:\s+(?:&\s+)?[A-Z][A-Za-z0-9&\-]+){0,3}"
_LEGAL = re.compile(
    rf"\b(?P<name>{_NAME}),?\s+(?:Inc|Corp|Corporation|Ltd|Limited|PLC|plc|LLC|N\.V|S\.A|AG|SE|Holdings|Bancorp)\b"
)
_MEASURE = (
    r"(?:revenues?|net|sales|income|earnings|profits?|gross|operating|operations?|margins?|cash|debt|balance"
    r"|total|cost|costs"
    r"|expenses?|r&d|research|capital|capex|dividends?|shares?|stock|share|inventory|inventories|assets"
    r"|liabilities|equity"
    r"|tax|effective|eps|ebitda|free|10-[qk]|annual|quarterly|filings?|guidance|financial|results|segment|risk"
    r"|legal|q[1-4]"
    r"|fy\d*|fiscal|latest|most|20\d\d|first|second|third|fourth)"
)
_POSSESSIVE = re.compile(rf"\b(?P<name>{_NAME})(?:'s|(?<=s)')\s+(?={_MEASURE}\b)")
_SUBJECT = re.compile(
    rf"\b(?:did|does|has|have|had|was|is)\s+(?P<name>{_NAME})\s+(?:report|record|earn|disclose|announce|generate"
    rf"|spend|invest|pay|repurchase"
    r"|post|recognize|recognise)(?:ed|d)?\b"
)
_OPENERS = frozenset(
    """What Which Who How When Where Why Did Does Do Has Have Had Is Are Was Were In On At For From By With Of And
    Or The A An Compare List Give Show Tell Summarize Summarise Explain Describe Discuss Analyze Analyse
    Calculate Please Can Could Would Should Will Based According During Between After Before As If To Find
    Provide State Name Identify Examine Evaluate Outline""".split()
)
_NO_COMPANY = frozenset(
    """company companies group bank management board firm registrant issuer corporation fund fed federal reserve
    government congress treasury sec fomc committee china japan india us usa america uk britain europe germany
    france russia korea canada brazil australia hong kong singapore world country economy market industry sector
    today yesterday year quarter january february march april may june july august september october november
    december monday tuesday wednesday thursday friday services products data center cloud iphone ipad mac aws
    azure windows q1 q2 q3 q4 fy customer customers client investor shareholder ceo cfo chairman president note
    item part table exhibit hkma imf ecb eu un opec it he she they who she segment division state city bureau
    ministry department commission authority""".split()
)
_ZH_LEGAL = re.compile(r"(?P<name>[\u4e00-\u9fffA-Za-z0-9（）()]{2,24}?(?:股份有限公司|有限责任公司|有限公司))")
_ZH_METRIC = (
    r"(?:营业|净利|利润|毛利|收入|成本|费用|研发|资产|负债|现金|货币资金|存货|应收|应付|股东|法定代表人|电子信箱|办公地址|注册地址|企业名称|"
    r"证券代码|证券简称|每股|年报|年度报告|季报|财报|员工|职工|董事|审计|分红|股利|商誉|固定资产|无形资产|管理费|销售费|财务费)"
)
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


def _trim(name: str) -> str:
    words = name.split()
    while words and words[0] in _OPENERS:
        words.pop(0)
    return " ".join(words)


def _after_year(name: str) -> str:
    return re.split(r"年度?(?:的)?", name)[-1]
