"""A question as the second stage sees it: its content, whether it wants an amount, where the answer stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.periods import period_reader

from .passage_view import YEAR
from .sparse_vectors import tokens_of

_AMOUNT = LANGUAGES.pattern("questions.amount")
_REASON = LANGUAGES.pattern("questions.prose")
_FRAME = LANGUAGES.pattern("questions.frame")
SCAFFOLD = frozenset(tokens_of(" ".join(LANGUAGES.words("questions.scaffold"))))
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
