"""What a question asks: its units of meaning, the kind of answer it wants, the period it means."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise

from quelea_kit.dates import find_dates
from quelea_kit.text import language_of, normalise, stem, terms, words

from quelea_generator.core.finance_terms import Expression, blockers, concepts, made_of
from quelea_generator.core.glosses import glosses, is_foreign, names_company
from quelea_generator.core.known_names import known_names
from quelea_generator.core.model import Task

_ASKING = frozenset(
    stem(word)
    for word in """report reported reports disclose disclosed state stated mention mentioned announce announced provide
    provided reveal revealed show shown detail details detailed specific specifically significant significantly major
    main primary chief principal key important recent recently newest latest current currently previous last prior
    compare compared comparison relate relation measure suggest insight insights reflect indicate identify
    identified outline outlined highlight highlighted describe described explain discuss discussed information
    according based document filing form statement statements financial company corporation inc much many number
    amount figure figures value values total
    generate generated contribute contributed attribute attributed spend spent allocate allocated invest invested
    make made get give given tell find anything something particularly especially term terms activity activities
    across might per section area observe observed notable notably substantial substantially connection
    regard regarding respect analysis 10 q k quarter quarterly year annual annually fiscal month period
    three six nine twelve end ended first second third fourth q1 q2 q3 q4 h1 h2
    分析 公司 报告 报告期 报告期内 年报 季报 半年报 年度 季度 年 月 日 上半年 下半年
    一季度 二季度 三季度 四季度 第一季度 第二季度 第三季度 第四季度 近期 最近 最新 目前 当前 情况 信息
    说明 介绍 具体 主要 相关 有关 内容 披露 数据 金额 数值 期末 期初 请 告诉
    元 万元 亿元 为 时 股份有限公司 有限公司 同比 原因 影响 可能 方面 认为 看 应该 对于 给 其 之间 以来
    是不是 他们 她们 它们 我们 你们 因 使 使得 里面 或者 还是 以及 及其 来 应 会 又 如 更 很 非 这些 那些 其他 类似 尤其
    似乎 提到 意味着 同时 能够 能否 可以 带给 对此 那么 这样 这种 一些 不断 进行 有关于 呢 吗""".split()
)
"""Words of asking, of filings and of time: what a passage need not repeat to be the answer."""

_SOFT = frozenset(
    stem(word)
    for word in """change changes changed increase decrease growth trend effect affect impact influence influencing
    driver factor reason cause risk level levels performance focus strategy strategic potential liability
    percentage percent proportion share rate ratio breakdown various other difference average
    fluctuate fluctuated shift movement status position new newly emerging historical market
    demand 变化 增长 下降 趋势 占比 比例 比重 因素 措施 策略 前景
    不 新 重要 至关重要 需要 产生 直接 间接 开始 反映 改变 采取 得到 确保 行业 市场 产业 企业 未来 长期 短期 快速
    作用 意义 关键 机会 挑战 发展 投资者 标准 水平 综合 能力 表现""".split()
)
"""Words that help but do not decide."""

_SOFT_WEIGHT = 0.35
_MOST_UNITS = 40
"""A longer question is read by its first forty things: work grows with units times spans."""

_REASON = re.compile(
    r"\b(?:why|driver|drivers|driven|factors?|reasons?|causes?|influenc\w+|contribut(?:ors|ed to)|affect\w*"
    r"|impact\w*)\b|为什么|为何|原因|因素|影响|驱动"
)
_PERCENT = re.compile(
    r"\b(?:percent(?:age)?|proportion|ratio|rates?|margin %|growth rate|yield)\b|%|率|占比|比例|比重|幅度|百分"
)
_COUNT = re.compile(r"\bhow many\b|\bnumber of\b|人数|家数|数量|多少(?:家|人|名|只|个|项|股)")
_AMOUNT = re.compile(
    r"\bhow (?:much|large|big|high|low)\b|\b(?:amount|figures?|total|value|sum|costs?|expenditures?|spent|revenues?"
    r"|sales|margin|income|profit|earnings|cash flows?|expenses?|inventor(?:y|ies)|balance|levels?|price"
    r"|scale|extent|magnitude)\b"
    r"|多少|金额|几(?:亿|万)|总额|规模|收入|利润|成本|费用|资产|负债|现金流|市值|价格|收益|营收"
)
_OPINION = re.compile(
    r"\b(?:policy|policies|strategy|strategic|risk factors?|legal|describe|explain|accounting"
    r"|what (?:does|do|is|are|was|were)\b.{0,80}\b(?:include|includes|included|refer|refers|mean|means|consist)"
    r"|how (?:is|are|was|were)\b.{0,120}\b(?:determined|calculated|defined|measured|presented|recorded"
    r"|classified))\b|如何|怎么|怎样|介绍|分析"
)
_COMPARE = re.compile(
    r"\b(?:compare[ds]?|comparison|versus|vs|relative to|against|than|over time|trends?|across"
    r"|between|both|each|quarters|periods)\b"
    r"|对比|比较|相比|分别|历年|变化趋势|各|和.{1,12}哪"
)
_BREAKDOWN = re.compile(
    r"\bbreak(?:down|s? down|ing down)\b|\b(?:by|across|each|all|various|different|among) (?:\S+ ){0,4}?(?:segments?"
    r"|products?|categor(?:y|ies)|regions?|geograph\w+|offerings|services|lines|units|divisions|sources)\b|\b(?:composition|mix)\b"
    r"|构成|明细|分(?:产品|行业|地区|业务|部|季度)|各(?:个)?(?:业务|产品|地区|板块|分部|项)"
)
_WHEN = re.compile(
    r"\bwhen\b|\b(?:which|what) (?:\w+ ){0,2}(?:years?|dates?|periods?|quarters?)\b|哪一?年|何时|什么时候"
)
_TO_REVENUE = re.compile(
    r"\b(?:compared?|relative|proportion|percentage|share|ratio)\b.{0,20}\b(?:to|of|with|against)\b.{0,20}\b(?:revenues?|sales)\b"
)
_FORM = re.compile(r"\b(?:form )?(?:10-[KQ]|20-F|6-K|8-K)s?\b", re.IGNORECASE)
_YES_NO = re.compile(
    r"(?:^|[,.:;] ?)(?:did|do|does|has|have|had|is|are|was|were|will|can)\b(?! much| many)|是否|有没有|有无|吗[?？]?$"
)
_LATEST = re.compile(r"\b(?:latest|most recent|newest|current|last reported)\b|最新|最近|近期|目前")
_RELATIVE = re.compile(
    r"\b(?:(?:last|this)\s+(?:(?:fiscal|financial)\s+)?(?:month|quarter|year)|before\s+last|ago|year[\s-]to[\s-]date|ytd)\b"
    r"|上(?:一?个)?(?:季度|季|月|财年)|去年|前年|今年|年初至今|(?:月|季度|年)以?前"
)
_YEAR = re.compile(r"(?<![\d.,$])((?:19|20)\d\d)(?![\d]|[.,]\d)|(?<!\d)((?:19|20)\d\d)(?=年)")
_QUARTER = re.compile(
    r"\bq([1-4])\b|\b(first|second|third|fourth)[ -]quarter|\b([1-4])q\b|([一二三四1-4])\s*季度|第([一二三四])季"
)
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "一": 1, "二": 2, "三": 3, "四": 4}
_MONTHS = re.compile(
    r"\b(three|six|nine|twelve|3|6|9|12)[ -]months?\b|(上半年|半年度|\bfirst half\b|\bhalf[ -]year\b|\bh1\b)"
    r"|(前三季度|\bfirst three quarters\b)|\b(year to date|ytd)\b"
)
_SPANS = {"three": 3, "six": 6, "nine": 9, "twelve": 12, "3": 3, "6": 6, "9": 9, "12": 12}


TO_DATE = -1
"""Months of a question for the year to date: the longest span that a table has."""

Glosses = list[tuple[Expression, ...]]


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing the question is about.

    Attributes:
        own: The words of the question.
        others: Expressions of the same meaning.
        weight: 1 for a word that must be met, less for one that only helps.
        blockers: Expressions that hold one of these and mean something else.
        gloss: What it is called in the other language, for evidence in that one.
    """

    own: Expression
    others: tuple[Expression, ...] = ()
    weight: float = 1.0
    blockers: tuple[Expression, ...] = ()
    gloss: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read."""

    language: str
    units: tuple[Unit, ...]
    words: frozenset[str] = frozenset()
    """Every term of the question, asking words too."""
    pairs: frozenset[tuple[str, str]] = frozenset()
    """Neighbouring words of the question: a passage that has both side by side means the same thing by them."""
    names: frozenset[str] = frozenset()
    """Lower-case words of names in the question (proper nouns, tickers)."""
    known: frozenset[str] = frozenset()
    """Those of them that name a company which the evidence is about."""
    percent: bool = False
    count: bool = False
    amount: bool = False
    reason: bool = False
    compares: bool = False
    breakdown: bool = False
    """Several items of one table are asked for: by segment, by product."""
    when: bool = False
    """A time is asked for: the head of a table may be the answer."""
    causes: tuple[Unit, ...] = ()
    """Where a reason is asked for: the items that move the one that is asked about."""
    latest: bool = False
    relative: bool = False
    """A period is named relative to the day of the question: last quarter."""
    yes_no: bool = False
    years: frozenset[int] = frozenset()
    quarter: int = 0
    months: int = 0
    days: tuple[date, ...] = field(default=())

    @property
    def wants_figure(self) -> bool:
        """A figure is likely to be the answer."""
        return self.percent or self.count or self.amount


def read_question(task: Task) -> Asked:
    """Read a question against the evidence that came with it (whose companies are context, not content)."""
    question = _FORM.sub(" ", task.question)
    text = normalise(question)
    known = known_names(task)
    found = terms(text)
    kept = [word for word in found if word not in known and not re.fullmatch(r"[\d.]+", word)]
    quarter = _QUARTER.search(text)
    months = _MONTHS.search(text)
    opinion = bool(_OPINION.search(text))
    language = language_of(task.question)
    named = _names(question)
    meant = frozenset(name for name in named if stem(name) in known)
    called: Glosses = [() for _ in kept]
    abroad = [item for item in task.evidence if is_foreign(language, item)]
    if abroad:
        called = glosses(kept)
        companies = [item.company for item in abroad if item.company]
        ours = {word for word, gloss in zip(kept, called, strict=True) if names_company(gloss, companies)}
        meant |= frozenset(name for name in named if stem(name) in ours)
        pieces = [(word, gloss) for word, gloss in zip(kept, called, strict=True) if word not in ours]
        kept, called = [word for word, _ in pieces], [gloss for _, gloss in pieces]
    units = _units(kept, called)
    return Asked(
        language=language,
        units=units,
        words=frozenset(kept),
        pairs=frozenset(pair for pair in pairwise(kept) if not _ASKING.issuperset(pair)),
        names=named,
        known=meant,
        percent=bool(_PERCENT.search(text) or _TO_REVENUE.search(text)),
        count=bool(_COUNT.search(text)),
        amount=bool(_AMOUNT.search(text)) and not opinion,
        reason=bool(_REASON.search(text)),
        compares=bool(_COMPARE.search(text)),
        when=bool(_WHEN.search(text)),
        breakdown=bool(_BREAKDOWN.search(text)),
        causes=_causes(kept) if _REASON.search(text) else (),
        yes_no=bool(_YES_NO.search(text)),
        latest=bool(_LATEST.search(text)),
        relative=bool(_RELATIVE.search(text)),
        years=frozenset(int(m[1] or m[2]) for m in _YEAR.finditer(text)),
        quarter=_quarter(quarter) if quarter else 0,
        months=_months(months) if months else 0,
        days=tuple(found_date.day for found_date in find_dates(task.question)),
    )


def _units(kept: list[str], called: Glosses) -> tuple[Unit, ...]:
    """Concepts where the words make one, single words for the rest, each thing once."""
    units: dict[int | str, Unit] = {}
    at = 0
    while at < len(kept) and len(units) < _MOST_UNITS:
        key, own = _concept_at(kept, at)
        if own:
            others = tuple(e for e in concepts()[key] if e != own)
            before = units.get(key)
            if before is None or len(own) > len(before.own):
                gloss = tuple(dict.fromkeys(one for these in called[at : at + len(own)] for one in these))
                units[key] = Unit(own, others, blockers=blockers(key), gloss=gloss)
            at += len(own)
            continue
        word = kept[at]
        at += 1
        if word not in _ASKING:
            weight = _SOFT_WEIGHT if word in _SOFT else 1.0
            units.setdefault(word, Unit((word,), (), weight, gloss=called[at - 1]))
    return tuple(units.values())


def _causes(kept: list[str]) -> tuple[Unit, ...]:
    found: dict[int, Unit] = {}
    for at in range(len(kept)):
        key, own = _concept_at(kept, at)
        for part in made_of(key) if own else ():
            first, *others = concepts()[part]
            found.setdefault(part, Unit(first, tuple(others), blockers=blockers(part)))
    return tuple(found.values())


def _concept_at(kept: list[str], at: int) -> tuple[int, Expression]:
    """The longest expression of any concept that begins here, and which concept it is."""
    best: Expression = ()
    which = -1
    for index, concept in enumerate(concepts()):
        for expression in concept:
            if len(expression) > len(best) and tuple(kept[at : at + len(expression)]) == expression:
                best, which = expression, index
    return which, best


def _names(question: str) -> frozenset[str]:
    """Words written like names: capitals inside a sentence, tickers. Chinese has no such sign."""
    found: set[str] = set()
    for match in re.finditer(r"(?<![A-Za-z])[A-Z][A-Za-z&.]*[A-Za-z]", question):
        word = match.group()
        first = match.start() == 0 or question[: match.start()].rstrip().endswith((".", "?", "!", ":"))
        if (not first or word.isupper()) and stem(word.lower()) not in _ASKING:
            found.update(part for part in words(word) if len(part) > 1)
    return frozenset(found)


def _quarter(match: re.Match[str]) -> int:
    said = next(group for group in match.groups() if group)
    return _QUARTERS.get(said) or int(said)


def _months(match: re.Match[str]) -> int:
    if match[1]:
        return _SPANS[match[1]]
    return 6 if match[2] else 9 if match[3] else TO_DATE
