"""A question as the second stage sees it: its content, whether it wants an amount, where the answer stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_fintext.periods import period_reader

from .passage_view import YEAR
from .sparse_vectors import tokens_of

_AMOUNT = re.compile(
    r"\bhow (?:much|many|large|big)\b|\b(?:what|which) (?:was|were|is|are|percentage|proportion|portion|share"
    r"|amount|years?|periods?)\b"
    r"|\b(?:amounts?|figures?|total|percent(?:age)?|rate|ratio|average|sum|difference|change[ds]?|increase[ds]?"
    r"|decrease[ds]?|levels?"
    r"|margin|revenues?|sales|expenses?|expenditures?|costs?|cash flows?|income|earnings|spend(?:ing)?|invested"
    r"|breakdown|scale|magnitude"
    r"|extent|value|values|highest|lowest|largest|higher|lower|greater|exceed(?:ed)?|fluctuat\w+|trend\w*)\b"
    r"|多少|几|金额|比例|比率|增长率|率是|率为|占比|总额|合计|数据|分别|同比|环比",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"^\s*(?:why|explain|describe|discuss|summari[sz]e|outline)\b|\b(?:risk factors?|legal|litigation"
    r"|accounting polic\w+|reasons?)\b"
    r"|为什么|原因|如何|分析|介绍|情况",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"\b(?:in|on|from|for|as|according to|based on)?\s{0,8}+(?:the|its|their|these|this|your)?\s{0,8}+(?:latest"
    r"|most recent|newest|current|reported|recent)?\s{0,8}+"
    r"(?:10-?[qk]s?|quarterly|annual)?\s{0,8}+(?:reports?|filings?|10-?[qk]s?|quarters?|periods?|timeframe)\b"
    r"|\b(?:analy[sz]e|examine|assess|evaluate|correlat\w+|relat(?:e|es|ed|ionship)|align\w*|compar(?:e|es|ed"
    r"|ing|ison)|connection|connect"
    r"|correspond\w*|discuss(?:ed|ion|es)?|disclosed?|reported|stated|mentioned|detailed|outlined|provided?"
    r"|section|insights?|information"
    r"|details?|respective|respectively|significant|substantial|notable|major|specific|specifically|particularly"
    r"|any|over time|please"
    r"|list|separately|across|throughout|evol\w+|chang(?:ed|es)|latest|most recent|recent|previous|prior|company"
    r"|company's)\b"
    r"|请问|请提供|请做|简要|介绍一下|根据|能否|是多少|是什么|保留.{1,3}位小数|详细数据",
    re.IGNORECASE,
)
SCAFFOLD = frozenset(
    tokens_of(
        "average percentage percent change difference respective respectively value values year years compare"
        " compared between"
        " amount total sum ratio increase decrease proportion company fiscal end ended table reported higher"
        " lower highest lowest"
        " largest greater exceed million thousand question according"
    )
)
_ROUTES: tuple[tuple[str, str], ...] = (
    (r"cash flows?|operating activities|investing activities|financing activities|现金流", r"cash flows?|现金流量"),
    (r"revenues?|sales|net income|gross margin|gross profit|operating income|operating expen\w+|earnings|cost of"
     r"|营业收入|净利润|毛利",
     r"statements? of (?:operations|income|earnings)|income statements?|利润表|主要会计数据|主要财务指标"),
    (r"inventor|assets|liabilities|debt|receivable|payable|equity|存货|资产|负债"
     r"|货币资金", r"balance sheets?|financial position|资产负债表"),
    (r"gross margin|gross profit", r"gross margin|gross profit"),
    (r"segments?|products?|services?|business|cloud|geograph\w+"
     r"|international", r"segment|disaggregat|net sales by|revenue by|geographic"),
    (r"tax", r"income tax|taxes"),
    (r"repurchas|buy-?back", r"repurchase|purchases of equity|shareholders.? equity|stockholders.? equity"),
    (r"research|r&d", r"research and development|operating expenses"),
    (r"operating expen|operational|opex", r"operating expenses|expenses"),
    (r"debt|borrowing|interest|notes", r"\bdebt|borrowings|notes|liquidity|interest"),
    (r"legal|litigation|contingenc", r"legal|contingenc|litigation"),
    (r"exchange|currenc", r"foreign|currency|exchange|market risk"),
    (r"acqui|divest|merger", r"acqui|business combination|divest|goodwill"),
    (r"accounting polic|accounting practice|pronouncement", r"accounting"),
    (r"liquidity|capital resources", r"liquidity"),
    (r"inventor", r"inventor|supply|balance sheet (?:components|details)"),
    (r"risk", r"risk"),
    (r"compensation|benefits|employees?", r"compensation|employee|stock plan"),
    (r"capital expenditure|capex", r"capital|liquidity|property"),
    (r"研发", r"研发"),
    (r"员工|人员", r"员工|人员"),
    (r"审计", r"审计"),
    (r"社会责任", r"社会责任"),
    (r"环境|环保", r"环境|环保"),
    (r"行业", r"行业"),
    (r"法定代表|信箱|地址|名称|联系", r"公司信息|基本情况|联系|简介"),
    (r"风险", r"风险"),
    (r"分红|股利", r"利润分配|分红"),
)  # fmt: skip
_COMPILED_ROUTES = tuple((re.compile(asked, re.IGNORECASE), re.compile(found)) for asked, found in _ROUTES)


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question, read once per search."""

    text: str
    weights: dict[str, float]
    """Content terms, each with its share: 1, or less for words that frame a calculation."""
    years: frozenset[str]
    asks_amount: bool
    routes: tuple[re.Pattern[str], ...]
    """Where in a filing the answer stands: patterns for headings."""


def question_view(query: str, names: tuple[str, ...] = ()) -> QuestionView:
    """Read the question. `names` (of the companies it names) are no content."""
    content = content_of(query, names)
    tokens = [token for token in tokens_of(content) if not token[0].isdigit()]
    return QuestionView(
        text=query,
        weights={token: 0.3 if token in SCAFFOLD else 1.0 for token in tokens},
        years=frozenset(YEAR.findall(query)),
        asks_amount=bool(_AMOUNT.search(query)) and not _REASON.search(query),
        routes=tuple(found for asked, found in _COMPILED_ROUTES if asked.search(content)),
    )


def join_gloss(query: str, gloss: Sequence[str]) -> str:
    """The question with its gloss behind it, as text whose phrases do not run together."""
    return " , ".join((query, *gloss))


def content_of(query: str, names: tuple[str, ...] = ()) -> str:
    """The question without company names."""
    for name in names:
        query = re.sub(
            rf"(?<!\w){re.escape(name)}(?:'s"
            rf"|’s)?(?!\w)"
            if name.isascii()
            else re.escape(name),
            " ",
            query,
            flags=re.IGNORECASE,
        )
    return query


def clean(query: str, names: tuple[str, ...] = ()) -> str:
    """What is left to look for once the filing is chosen: without company, period and framing words."""
    left = _FRAME.sub(" ", period_reader().mention.sub(" ", content_of(query, names)))
    return left if tokens_of(left) else content_of(query, names)
