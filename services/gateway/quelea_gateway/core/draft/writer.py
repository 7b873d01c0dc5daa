"""The text of a draft with its figures in place, as it streams, and a record of each.

What comes out depends on the whole draft alone, never on where the stream cut it: text is held back from an opening
brace to a little behind its end, and no further than a group may be long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext

from quelea_checker.reading.facts import Fact
from quelea_checker.reading.wording import find_direction, find_level_sign, is_negative
from quelea_fintext.amount_format import SCALE_WORDS, write_amount
from quelea_fintext.quantities import SCALES

from quelea_gateway.core.draft.arithmetic import Amount, Calculation, Unresolved
from quelea_gateway.core.draft.notation import (
    CALCULATES,
    Constant,
    Expression,
    Group,
    Malformed,
    Operation,
    Pointer,
    expression_before_words,
    parse_group,
)
from quelea_gateway.core.draft.sources import Source, Sources
from quelea_gateway.core.model import AnswerFigure, Quote

CALCULATION = "calculation"
"""The metric of a figure that a model computed."""
LONGEST_GROUP = 300
"""Characters between two braces; what goes on longer was never closed."""
_BEHIND = 48
"""Characters behind a group that are waited for: its unit in words, and a marker that repeats its own."""
_SIGNIFICANT = 15
_KEPT = 240
"""Characters of what was written that are looked back on."""
_DIGIT = re.compile(r"\d")
_LATEX = re.compile(r"(?:\\[A-Za-z]{1,20}|[\^_}])\Z")
_STRAY = re.compile(r"(?<=\])\}")
_CURRENCY_BEFORE = re.compile(r"(?:US|HK)?[$€£¥]\Z")
_SIGN = re.compile(r"(−?)[$€£¥]")
_SENTENCE_END = re.compile(r"[.!?]\s|[。！？\n]")
_SCALE_WORD = "|".join(
    sorted((re.escape(word) for word in SCALES if len(word) > 1 or not word.isascii()), key=len)[::-1]
)
_AMOUNT_BEHIND = re.compile(
    rf"(?:[ -]?(?:{_SCALE_WORD})(?![A-Za-z]))?(?:\s?(?:(?:US )?dollars|USD|RMB|CNY|yuan|美元|人民币|元)(?![A-Za-z]))?",
    re.IGNORECASE,
)
_POINTS = r"(?:percentage )?points\b|pp\b|个?百分点"
_UNIT_WORDS = {
    "percent": r"[%％]|per ?cent(?!age)\b",
    "points": rf"{_POINTS}|[%％]",
    "days": r"days\b|天",
    "times": r"times\b|x(?![A-Za-z])|倍",
}
_UNIT_BEHIND = {unit: re.compile(rf"(?:\s?(?:{words}))?", re.IGNORECASE) for unit, words in _UNIT_WORDS.items()}
_ANY_BEHIND = re.compile(rf"(?:\s?(?:{'|'.join(_UNIT_WORDS.values())}))?{_AMOUNT_BEHIND.pattern}", re.IGNORECASE)
_RATE_BEHIND = {
    unit: re.compile(rf"\s?(?:{words})", re.IGNORECASE)
    for unit, words in (("points", _POINTS), ("percent", _UNIT_WORDS["percent"]))
}
_MEASURE_WORD = re.compile(
    r"\s?(?:人次|人(?!民币|均)|个(?![月季]|工作|交易|百分|小时|基点)|部(?![门分])|条(?!件)|项(?!目)|股(?![份东权])"
    r"|[名家户位台辆套件只座次笔架艘吨])"
)
"""Between a number and what is counted, in Chinese: no marker parts them."""
_CHANGED_BY = re.compile(r"(?:\bby|[降减少跌落缩滑亏]了?)\s*\Z")
"""The figure behind it is a change, whatever the row is of."""
_COST = re.compile(r"\bcosts? \Z")
_WHICH = re.compile(r",? (?:which|that|it) [^,;]*\Z")
"""A clause about what stands before it: "the net loss, which widened from"."""
_SHARE_BEHIND = re.compile(r"(?:\s?per share\b)?", re.IGNORECASE)
_MARKER_AT_END = re.compile(r"\[\d[^\[\]]{0,40}\]\Z")
_MARKERS_BEHIND = re.compile(r"(?:\s?\[\d{1,3}\]){1,3}")
_UNTRACED = {"en": "(figure not traced)", "zh": "（数字未能溯源）"}


@dataclass(frozen=True)
class DraftFigure:
    """A figure that a draft pointed at or computed: text[start:end], its markers behind it up to `behind`.

    Attributes:
        figure: As an answer carries it; None: it came to nothing, and the text says so.
        formula: "= (81,797 − 82,959) / 82,959"; empty of what is printed so.
        quotes: Of the operands, one for each marker.
        moved: 1 of a change upwards, -1 of one downwards, of a column of changes; else 0.
        cells: Of each operand the cells that it may be.
        is_change: It is the difference of two figures, or their growth.
    """

    said: str
    start: int
    end: int
    behind: int
    figure: AnswerFigure | None = None
    formula: str = ""
    quotes: tuple[Quote, ...] = ()
    moved: int = 0
    cells: tuple[tuple[Fact, ...], ...] = ()
    is_change: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of its passages."""
        return tuple(quote.number for quote in self.quotes)


class DraftWriter:
    """Feed it the pieces of a draft; it returns the pieces to show.

    Args:
        sources: What the draft points at.
        language: In which amounts are written.

    Attributes:
        figures: Those that were written so far, with their places in all that was returned.
    """

    def __init__(self, sources: Sources, language: str) -> None:
        self._sources = sources
        self._language = language
        self._held = ""
        self._tail = ""
        self._length = 0
        self._unsigned = -1
        self.figures: list[DraftFigure] = []

    def feed(self, text: str) -> str:
        """The text that is certain now."""
        self._held += text
        return self._go(whole=False)

    def finish(self) -> str:
        """What was held back, at the end of the draft."""
        return self._go(whole=True)

    def _go(self, *, whole: bool) -> str:
        shown: list[str] = []
        while self._held:
            at = self._held.find("{")
            if at:
                self._pass(self._take(at if at > 0 else len(self._held)), shown)
                continue
            if _LATEX.search(self._tail):
                self._pass(self._take(1), shown)
                continue
            end = next((i for i, c in enumerate(self._held[1:], 1) if c in "}{\n"), -1)
            if end < 0 and len(self._held) <= LONGEST_GROUP:
                if not whole:
                    break
                end = len(self._held)
            if self._held[1:2] == "{":  # braces doubled
                self._take(1)
            elif 0 < end < len(self._held) and self._held[end] == "}" and end <= LONGEST_GROUP:
                if len(self._held) <= end + _BEHIND and not whole:
                    break
                self._closed(self._take(end + 1)[1:-1], shown)
            else:
                self._open(self._take(min(end, LONGEST_GROUP) if end > 0 else LONGEST_GROUP)[1:], shown)
        return "".join(shown)

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    def _pass(self, text: str, shown: list[str]) -> None:
        """Text as it is, but for a closing brace that closes nothing."""
        before = self._tail[-1:]
        self._show(_STRAY.sub("", before + text)[len(before) :], shown)

    def _show(self, text: str, shown: list[str]) -> None:
        shown.append(text)
        self._tail = (self._tail + text)[-_KEPT:]
        self._length += len(text)

    def _closed(self, inner: str, shown: list[str]) -> None:
        try:
            group = parse_group(inner)
        except Malformed:
            return self._untraced(shown) if CALCULATES.search(inner) else self._show(inner.strip(), shown)
        if group is None:
            return self._show(f"{{{inner}}}", shown)
        if isinstance(group.expression, Constant) or (group.pointer and group.labelled):
            return self._plain(inner, shown)
        return self._figure(group, inner, shown)

    def _plain(self, inner: str, shown: list[str]) -> None:
        """A figure as it was written, its marker behind its unit: it is checked as any other."""
        said = inner.strip()
        marker = _MARKER_AT_END.search(said)
        if marker is None:
            return self._show(said, shown)
        figure = said[: marker.start()].rstrip()
        unit = self._swallow(_ANY_BEHIND) or self._measure_word()
        written = said[len(figure) :] if self._language == "en" else said[len(figure) :].lstrip()
        return self._show(f"{figure}{unit}{written}", shown)

    def _open(self, inner: str, shown: list[str]) -> None:
        """A group that was never closed."""
        cut = expression_before_words(inner)
        if cut:
            self._untraced(shown)
            self._pass(inner[cut:], shown)
        else:
            self._pass(inner if _DIGIT.search(inner) else f"{{{inner}", shown)

    def _untraced(self, shown: list[str]) -> None:
        said = _UNTRACED[self._language]
        end = self._length + len(said)
        self.figures.append(DraftFigure(said, self._length, end, end))
        self._show(said, shown)

    def _figure(self, group: Group, inner: str, shown: list[str]) -> None:
        context = self._sentence()
        rate = self._rate_behind() if group.pointer else ""
        calculation = Calculation(lambda pointer: self._sources.find(pointer, context, rate or pointer.rate))
        try:
            amount = calculation.compute(group.expression, group.unit)
        except Unresolved:
            return self._plain(inner, shown) if group.pointer else self._untraced(shown)
        pointer, sources = group.pointer, calculation.sources
        if pointer and not sources[0].scaled:
            return self._plain(inner, shown)
        said, amount = self._say(amount, sources, pointer)
        formula = "" if pointer else calculation.formula(group.expression, lambda _, at: f"{{{at}}}")
        printed = "" if pointer else calculation.formula(group.expression, lambda one, _: one.operand.printed)
        swallowed = self._swallow(_behind(amount.unit))
        said += swallowed if amount.unit == "times" else self._counted(sources) or self._counted_by(amount.unit)
        quotes = tuple({source.quote.number: source.quote for source in reversed(sources)}.values())[::-1]
        self._swallow_markers({quote.number for quote in quotes})
        space = " " if self._language == "en" else ""
        start = self._length
        markers = "".join(f"[{quote.number}]" for quote in quotes)
        self.figures.append(
            DraftFigure(
                said=said,
                start=start,
                end=start + len(said),
                behind=start + len(said) + len(space) + len(markers),
                figure=self._record(amount, formula, sources),
                formula=f"= {printed}" if printed else "",
                quotes=quotes,
                moved=_moved(group, sources),
                cells=tuple(one.facts for one in sources),
                is_change=_is_change(group.expression),
            )
        )
        self._show(f"{said}{space}{markers}", shown)
        return None

    def _say(self, amount: Amount, sources: Sequence[Source], pointer: Pointer | None) -> tuple[str, Amount]:
        """The amount in words: without its minus where the words before it say that, or where none was pointed at."""
        value = amount.value
        if (
            value < 0
            and not (pointer and pointer.signed)
            and self._says_minus(level=bool(pointer) and amount.unit not in _UNIT_BEHIND)
        ):
            value = -value
            self._unsigned = self._length
        like = next((one for one in sources if one.unit == amount.unit), None)
        if pointer and amount.unit in ("percent", "points", "times"):
            said = _printed_rate(sources[0], value, self._language)
        elif like is None and amount.unit == "points" and all(one.unit in _UNIT_BEHIND for one in sources):
            widest = max(sources, key=lambda one: one.decimals)
            said = _printed_rate(replace(widest, unit="points"), value, self._language)
        elif like is None:
            said = write_amount(value, amount.unit, self._language)
        else:
            scale, decimals = _scale(like, self._language, value)
            said = write_amount(value, amount.unit, self._language, scale=scale, decimals=decimals)
        if _CURRENCY_BEFORE.search(self._tail):
            said = _SIGN.sub(r"\1", said, count=1)
        return said, amount

    def _record(self, amount: Amount, formula: str, sources: Sequence[Source]) -> AnswerFigure:
        first = sources[0].operand
        return AnswerFigure(
            company=self._sources.company(first.number),
            metric=CALCULATION if formula else "",
            value=f"{_significant(amount.value):f}",
            unit=amount.unit,
            period_start=first.period_start,
            period_end=first.period_end,
            formula=formula,
            growth="",
            fiscal_year=0,
            absent=(),
            operands=tuple(source.operand for source in sources),
        )

    def _says_minus(self, *, level: bool) -> bool:
        """The words before it say that it is negative: a loss; of what is no level also a fall."""
        said = self._sentence()
        if find_level_sign(said) < 0 or find_level_sign(_WHICH.sub("", said)) < 0 or _COST.search(said):
            return True
        since = said[max(0, self._unsigned - (self._length - len(said))) :]
        if self._length - len(said) <= self._unsigned and find_direction(f"{since}0", len(since), len(since) + 1) <= 0:
            return True  # one more of a list
        return not (level and not _CHANGED_BY.search(said)) and find_direction(f"{said}0", len(said), len(said) + 1) < 0

    def _sentence(self) -> str:
        """What was written of this sentence."""
        return _SENTENCE_END.split(self._tail)[-1]

    def _swallow(self, pattern: re.Pattern[str]) -> str:
        """Take away what says once more what was written: "million" behind an amount in millions."""
        self._held = self._held.removeprefix("}")
        match = pattern.match(self._held)
        return self._take(match.end()) if match else ""

    def _counted(self, sources: Sequence[Source]) -> str:
        """What is counted, where the draft says it behind the figure as the evidence does: 部 of 5740万部."""
        word = sources[0].counted
        if not word or len(sources) > 1 or not self._held.startswith(word):
            return ""
        behind = self._held[len(word) : len(word) + 1]
        return "" if word.isascii() and behind.isalpha() else self._take(len(word))

    def _counted_by(self, unit: str) -> str:
        """The measure word of what is counted, of what has no other unit."""
        return "" if unit else self._measure_word()

    def _measure_word(self) -> str:
        return self._swallow(_MEASURE_WORD) if self._language == "zh" and _MEASURE_WORD.match(self._held) else ""

    def _rate_behind(self) -> str:
        """What the draft says that the figure is, right behind it: "percent", "points" or neither."""
        held = self._held.removeprefix("}")
        return next((unit for unit, pattern in _RATE_BEHIND.items() if pattern.match(held)), "")

    def _swallow_markers(self, numbers: set[int]) -> None:
        match = _MARKERS_BEHIND.match(self._held)
        if match and {int(digits) for digits in re.findall(r"\d+", match[0])} <= numbers:
            self._held = self._held[match.end() :]


def write_draft(text: str, sources: Sources, language: str) -> tuple[str, tuple[DraftFigure, ...]]:
    """A whole draft as it is shown, and its figures."""
    writer = DraftWriter(sources, language)
    shown = writer.feed(text) + writer.finish()
    return shown, tuple(writer.figures)


def _moved(group: Group, sources: Sequence[Source]) -> int:
    """Which way a figure of a column of changes went."""
    one = sources[0]
    if not group.pointer or not one.change or is_negative(one.operand.label):
        return 0
    return int(one.value.compare(Decimal(0))) * (-1 if one.falls else 1)


def _is_change(expression: Expression) -> bool:
    """A difference, alone or divided."""
    if not isinstance(expression, Operation):
        return False
    if expression.sign == "/":
        return _is_change(expression.left)
    return expression.sign == "-" and isinstance(expression.left, Pointer) and isinstance(expression.right, Pointer)


def _significant(value: Decimal) -> Decimal:
    """With as many digits as say anything, and no noughts behind the point."""
    with localcontext() as context:
        context.prec = _SIGNIFICANT
        return value.normalize()


def _behind(unit: str) -> re.Pattern[str]:
    if unit.endswith("/share"):
        return _SHARE_BEHIND
    return _UNIT_BEHIND.get(unit, _AMOUNT_BEHIND)


def _printed_rate(source: Source, value: Decimal, language: str) -> str:
    """A rate with the decimals that it is printed with."""
    number = f"{'−' if value < 0 else ''}{abs(value):,.{source.decimals}f}"
    if source.unit == "percent":
        return f"{number}%"
    if source.unit == "points":
        return f"{number}个百分点" if language == "zh" else f"{number} percentage points"
    return number


def _scale(source: Source, language: str, value: Decimal) -> tuple[int, int]:
    """(scale, decimals) in which a figure is written: as printed where the language has a word for it."""
    scale = source.scale
    if scale in SCALE_WORDS[language] or not scale:
        return scale, source.decimals
    usual = (12, 9, 6) if language == "en" else (8, 4)
    nearest = next((one for one in usual if abs(value) >= Decimal(1).scaleb(one)), 0)
    return nearest, max(0, source.decimals + nearest - scale)
