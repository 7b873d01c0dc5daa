"""What a question speaks of: companies, items of a report, periods, and where it says so. By rules, no catalogue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from quelea_fintext.company_names import EVERYDAY, known_companies
from quelea_fintext.line_items import line_items
from quelea_fintext.text import CJK, STOP_WORDS, language_of, words

from quelea_generator.core.dialogue.periods import FoundPeriod, Shift, find_periods, find_shift


@dataclass(frozen=True, slots=True)
class Part:
    """Words of the question and where they stand, in code points."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Parts:
    """A question in parts, each in the order of the text."""

    text: str
    language: str
    companies: tuple[Part, ...]
    """Those of the catalogue where the text names one, else what looks like a name."""
    items: tuple[Part, ...]
    periods: tuple[FoundPeriod, ...]
    shift: Shift | None
    topics: tuple[Part, ...] = ()
    """Beside a catalogue: other names, of products, segments and places perhaps, and of companies that nobody knows."""
    sure: bool = False
    """The companies are the catalogue's."""


_NO_NAMES = frozenset(
    """what how why when where which who whose did does do is are was were will would can could should has have had
    compared comparing
    tell show give list compare explain describe summarize summarise please and but or so then now ok okay thanks thank
    in for of on at by with from to the a an i we you it its they their that this those these also only both each any
    much many same as than between during since about versus vs if whether there
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday fiscal year quarter quarters half full fy
    eps gaap non-gaap ebitda ebit roe roa roi r&d sg&a capex opex ceo cfo coo esg ai ipo etf gdp cpi fed sec usd rmb cny
    eur yoy qoq ytd ttm form item note notes total net gross operating revenue sales income profit
    10-k 10-q 8-k 20-f 6-k inc corp ltd
    us usa uk eu europe european america americas american asia pacific apac emea china greater japan india germany
    france korea taiwan africa canada mexico brazil north south latin east middle western eastern international
    domestic global worldwide united states kingdom""".split()
)
"""Capitalised words that name no company."""
_NAME = re.compile(
    r"(?<![A-Za-z0-9&.])[A-Z][A-Za-z0-9&.\-]*(?<![.\-])(?:(?:\s+(?:of|and|&)\s+|\s+)[A-Z][A-Za-z0-9&.\-]*(?<![.\-]))*"
)
_NUMBERED = re.compile(r"(?<![\w$€£¥.,\-])(?![2-6][GD]\b|10[KQ]\b|[1-4][QH]\b)\d{1,3}[A-Z][A-Za-z]*(?![\w%])")
"""A name that begins with a digit: 3M."""
_CAMEL = re.compile(r"(?<![A-Za-z0-9])[a-z]{1,2}[A-Z][A-Za-z]+(?![A-Za-z0-9])")
_COMMON = frozenset(
    """today yesterday tomorrow company firm group bank management last next current prior previous latest earlier later
    abroad overseas home elsewhere online offline retail wholesale services products hardware software cloud segment
    segments region regions country countries customers suppliers employees shares stock debt cash dividend dividends
    tax taxes guidance outlook risk risks strategy month months week weeks day days annual reasons reason details detail
    examples example sources source again more less else everything nothing something anything yes sure exactly summary
    competitors peers rivals others everyone both neither percent percentage world market industry sector""".split()
)
_PERIODISH = re.compile(r"(?:Q[1-4]|[1-4]Q|H[12]|FY)(?:FY)?'?\d*", re.IGNORECASE)

_ZH_NOISE = frozenset(
    """请问 请 告诉 我 我想 想 知道 帮 帮我 查 一下 那么 那 还有 另外 以及 然后 接下来 而且 但 但是 所以 多少 什么
    哪些 哪个 哪家 哪 几个 如何 怎么样 怎样 怎么 为何 为什么 原因 吗 呢 啊 吧 的话 的 是否 有没有 有无 了 在 于
    自 从 到 至 和 与 跟 同 同比 环比 增长率 增长 增速 增加 增幅 上升 下降 减少 下滑 变化 变动 情况 分别 各自
    实现 达到 相比 比较 对比 相较 比 占 介绍 分析 说明 简述 主要 总共 一共 共 公司 该公司 该 这家 上述 其中 其
    它 它的 他们 此 是 有 为 会 能 高 低 多 少 大 小 更 最 最新 目前 现在 当前 今天 截至 末 底 初 期间 期 年报
    季报 半年报 财报 报告期 报告 显示 披露 提到 以来 期末 期初 亿元 万元 元 对 把 被 由 用 让 都 也 还 又 再 来
    去 上 下 内 中 后 前 不 换成 改成 如果 呢的 里 个 家 及 或 并 且 就 才 能否 可以 请给 给 出 说 讲 看 是什么
    年 月 日 季度 年度 全年 整年 同期 相同 一样 继续 谢谢 好 好的""".split()
)
_ZH_ITEM = re.compile(
    r"[\u4e00-\u9fff]{0,8}?(?:业务收入|业务|收入|营收|利润率|利润|毛利率|净利率|利率|周转率|占比|比率|增速|率|成本|费用|支出|投入|资产"
    r"|负债|现金流|分红|股息|产能|产量|销量|出货量|销售额|订单|市值|股价|价格|员工人?数|人数|客户|分部|板块|地区|产品|风险|策略|战略"
    r"|子公司|分公司|上市公司|高管|董事会?|业绩|竞争|对手|行业|市场|供应商|存货|库存|商誉|股东|持股|薪酬|研发|门店数?|用户数?)$"
)
_MODIFIER_STOP = (
    STOP_WORDS
    | _NO_NAMES - {"total", "net", "gross", "operating"}
    | frozenset(
        "report reported reports amount value level grow grew growth change changed increase increased drop its".split()
    )
)
_EXTRA_ITEMS = (
    "R&D expenses|R&D spending|R&D|SG&A|EBITDA|adjusted EBITDA|EPS|diluted EPS|net margin|operating margin"
    "|profit margin|profit|income|margin|expenses|costs|guidance|outlook|backlog|order book|cash flow|earnings"
    "|growth|headcount|accounts receivable|accounts payable|receivables|payables"
    "|inventory|tax rate|deferred revenue|working capital"
    "|净销售额|净营收|净收入|净利率|营业利润率|研发费用率|销售费用率|现金流|利润|成本|费用|股价|产能|销量|增速"
)


@cache
def _items() -> re.Pattern[str]:
    names = {name for item in line_items() for name in item.names} | set(_EXTRA_ITEMS.split("|"))
    english, chinese = [], []
    for name in names:
        if re.search(r"[\u4e00-\u9fff]", name):
            chinese.append(re.escape(name))
        elif name not in ("r d", "sg a", "acquired", "complaint", "claims", "assets of"):
            pieces = [re.escape(word) for word in name.split()]
            pieces[-1] += r"(?:s|es)?"
            english.append(r"[\s\-]+".join(pieces))
    by_length = sorted(english, key=len, reverse=True)
    return re.compile(
        rf"(?<![A-Za-z])(?:{'|'.join(by_length)})(?![A-Za-z])|{'|'.join(sorted(chinese, key=len, reverse=True))}",
        re.IGNORECASE,
    )


def read_parts(text: str, known: Sequence[str] = ()) -> Parts:
    """The parts of a question, or of a piece of one; `known` are names of companies by a catalogue."""
    periods = tuple(find_periods(text))
    shift = find_shift(text)
    taken = [(one.start, one.end) for one in periods] + ([(shift.start, shift.end)] if shift else [])
    named = _known_names(text, known)
    taken += [(one.start, one.end) for one in named]
    camels = _camel_names(text, taken) if known else []
    items = tuple(_widen(text, match, taken) for match in _items().finditer(text) if _free(match.span(), taken))
    taken += [(one.start, one.end) for one in items]
    language = language_of(text)
    companies = _latin_names(text, taken)
    if language == "zh":
        rest = _chinese_rest(text, [*taken, *((one.start, one.end) for one in companies)])
        items = tuple(sorted((*items, *(one for one in rest if chinese_item(one.text))), key=lambda one: one.start))
        companies = companies or [one for one in rest if not chinese_item(one.text)][:1]
    topics = sorted([*companies, *camels], key=lambda one: one.start) if known else []
    return Parts(
        text, language, tuple(named or companies), items, periods, shift, topics=tuple(topics), sure=bool(named)
    )


def _known_names(text: str, known: Sequence[str]) -> list[Part]:
    """Where the text writes one of these names, the longest first, none over another."""
    found: list[Part] = []
    for name in sorted({name for name in known if name}, key=len, reverse=True):
        edges = (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])") if name.isascii() else ("", "")
        for match in re.finditer(f"{edges[0]}{re.escape(name)}{edges[1]}", text):
            if _free(match.span(), [(one.start, one.end) for one in found]):
                found.append(Part(*match.span(), match.group()))
    return sorted(found, key=lambda one: one.start)


def _camel_names(text: str, taken: list[tuple[int, int]]) -> list[Part]:
    """iPhone, eBay."""
    return [Part(*m.span(), m.group()) for m in _CAMEL.finditer(text) if _free(m.span(), taken)]


def _free(span: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    return all(span[1] <= start or span[0] >= end for start, end in taken)


_WORD_BEFORE = re.compile(r"(?<![\w\-])([A-Za-z][\w\-]*)\s+$")
_WORD_REACH = 80
"""Characters before an item in which the word before it stands."""


def _widen(text: str, match: re.Match[str], taken: list[tuple[int, int]]) -> Part:
    """The item with up to two words that say more about it: data center revenue."""
    start = match.start()
    for _ in range(2):
        before = _WORD_BEFORE.search(text, max(0, start - _WORD_REACH), start)
        if not before or before[1].lower() in _MODIFIER_STOP or not before[1][0].islower():
            break
        if not _free((before.start(), start), taken):
            break
        start = before.start()
    return Part(start, match.end(), text[start : match.end()])


def _latin_names(text: str, taken: list[tuple[int, int]]) -> list[Part]:
    found: list[Part] = []
    for match in _NAME.finditer(text):
        pieces = [(word.start() + match.start(), word.group()) for word in re.finditer(r"\S+", match.group())]
        while pieces and (_no_name(pieces[0][1]) or not _free((pieces[0][0], pieces[0][0] + 1), taken)):
            pieces.pop(0)
        while pieces and (_no_name(pieces[-1][1]) or not _free((pieces[-1][0], pieces[-1][0] + 1), taken)):
            pieces.pop()
        if pieces:
            start, end = pieces[0][0], pieces[-1][0] + len(pieces[-1][1])
            found.append(Part(start, end, text[start:end]))
    found.extend(
        Part(match.start("name"), match.end("name"), match["name"])
        for match in re.finditer(r"(?<![\w.])(?P<name>[a-z][a-z&\-]{2,})['’]s(?=\s)", text)
        if not is_common(match["name"]) and _free(match.span("name"), taken)
    )
    found.extend(
        Part(*match.span(), match.group())
        for match in _NUMBERED.finditer(text)
        if _free(match.span(), [*taken, *((one.start, one.end) for one in found)])
    )
    found.extend(
        Part(*match.span(), match.group())
        for match in re.finditer(r"(?<![\w.])[a-z][a-z&\-]{3,}(?!\w)", text)
        if match.group() in _small_names() and _free(match.span(), [*taken, *((one.start, one.end) for one in found)])
    )
    return sorted(found, key=lambda one: one.start)


@cache
def _small_names() -> frozenset[str]:
    """Well-known companies as one word in lower case: "and nvidia?"."""
    names = {name.lower() for company in known_companies() for name in company.names.get("en", ())}
    return frozenset(names - EVERYDAY)


def topic_of(said: Parts, base: Parts) -> Part | None:
    """A name that the catalogue does not know, after a company that it knows: a product or a segment of it.

    Only where the former question has such a name to put it for, or it says more about an item ("Data Center revenue");
    else it may be a company that nobody knows.
    """
    if said.sure or not base.sure or not said.topics:
        return None
    one = said.topics[-1]
    of_item = bool(said.items) and said.text[one.end : said.items[0].start].isspace()
    return one if base.topics or of_item else None


def end_of_modifiers(item: Part) -> int:
    """Where the words end that say more about an item (data center revenue), in code points; 0: there are none."""
    match = next((match for match in _items().finditer(item.text) if match.end() == len(item.text)), None)
    return item.start + len(item.text[: match.start()].rstrip()) if match and match.start() else 0


def is_segment(item: str) -> bool:
    """A part of a company, and no figure of it."""
    return item.endswith(("业务", "板块", "分部"))


def is_common(word: str) -> bool:
    """A small word that names no company: asking, time, place, manner, a word of reports."""
    low = word.lower()
    return low in _NO_NAMES or low in STOP_WORDS or low in _COMMON or low.endswith(("ly", "wide", "wards"))


def is_plain_name(fragment: str) -> bool:
    """One or two small words that are no words of asking: "and penrose?"."""
    words = fragment.split()
    return 0 < len(words) < 3 and all(
        re.fullmatch(r"[a-z][a-z&\-]{2,}", word) and not is_common(word) for word in words
    )


def _no_name(word: str) -> bool:
    return word.lower().rstrip(".,") in _NO_NAMES or bool(_PERIODISH.fullmatch(word)) or len(word) < 2


def _chinese_rest(text: str, taken: list[tuple[int, int]]) -> list[Part]:
    """What is left of a Chinese question without its items, periods and words of asking: the pieces of it."""
    pieces: list[list[int]] = []
    at = 0
    for word in words(text):
        start = text.find(word, at)
        if start < 0:  # written differently: full-width letters
            continue
        at = start + len(word)
        if word in _ZH_NOISE or not CJK.search(word) or not _free((start, at), taken):
            continue
        if pieces and pieces[-1][1] == start:
            pieces[-1][1] = at
        else:
            pieces.append([start, at])
    return [Part(start, end, text[start:end]) for start, end in pieces if 2 <= end - start <= 16]


def chinese_item(text: str) -> bool:
    """A Chinese noun that names an item of a report rather than a company: 海外业务, 毛利率."""
    return bool(_ZH_ITEM.fullmatch(text))
