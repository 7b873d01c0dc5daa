"""What stands between braces in a draft: `81,797 [1]`, or `(81,797 [1] - 82,959 [1]) / 82,959 [1] = %`.

    group    = sum ["=" unit]
    sum      = product {("+" | "-") product}
    product  = power {("*" | "/") power}
    power    = factor ["^" power]
    factor   = "-" factor | "(" sum ")" | figure
    figure   = {word} number {word} [n]      the figure as passage n prints it
             | number                        a constant

Words around a figure are no part of it: its unit and scale are the passage's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from quelea_fintext.quantities import CURRENCIES, SCALES


class Malformed(ValueError):
    """An expression that is none: unbalanced, without a passage, with something missing."""


@dataclass(frozen=True)
class Pointer:
    """A figure of the evidence.

    Attributes:
        number: As it is printed, without sign and scale.
        passages: Numbers of the passages that it may stand in, from 1.
        signed: It was written with a minus, or in parentheses.
        rate: "percent" or "points" where it was written as one.
    """

    number: Decimal
    passages: tuple[int, ...]
    signed: bool = False
    rate: str = ""


@dataclass(frozen=True)
class Constant:
    """A number of the formula itself, such as the 2 of an average."""

    number: Decimal


@dataclass(frozen=True)
class Operation:
    """Two expressions and what is done with them: "+", "-", "*", "/" or "^"."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Negated:
    """Less an expression."""

    inner: Expression


Expression = Pointer | Constant | Operation | Negated


@dataclass(frozen=True)
class Group:
    """What was written between two braces.

    Attributes:
        unit: In which a ratio is wanted: "percent", "points", "times", "days"; empty where nothing is said.
        labelled: Other words than those of amounts stand in it.
    """

    expression: Expression
    unit: str = ""
    labelled: bool = False

    @property
    def pointer(self) -> Pointer | None:
        """The figure, where it is nothing but one."""
        return self.expression if isinstance(self.expression, Pointer) else None


_MOST_TOKENS = 120
"""Bounds the parser's descent; a formula of twenty figures has some 100."""
_NUMBER = r"\d{1,3}(?:[,，]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_OPEN, _CLOSE = r"\[［【", r"\]］】"
_TOKEN = re.compile(
    rf"\s*(?:(?P<marker>[{_OPEN}]\s*\d{{1,3}}(?:\s*[,，、]\s*\d{{1,3}})*\s*[{_CLOSE}])"
    rf"|(?P<negative>[(（]\s*[$€£¥]?\s*(?:{_NUMBER})\s*%?\s*[)）](?=\s*[{_OPEN}]))"
    rf"|(?P<number>{_NUMBER})|(?P<sign>[-+−–*×/÷^])|(?P<open>[(（])|(?P<close>[)）])"
    r"|(?P<word>[A-Za-z\u4e00-\u9fff]+(?:[-'’&][A-Za-z]+)*|[%％$€£¥,，.;&]))"
)
_SIGNS = {"−": "-", "–": "-", "×": "*", "÷": "/"}
_UNITS = (
    ("points", re.compile(r"\bpp\b|points?\b|百分点", re.IGNORECASE)),
    ("percent", re.compile(r"[%％]|per ?cent", re.IGNORECASE)),
    ("times", re.compile(r"(?<![A-Za-z])x\b|\btimes\b|倍", re.IGNORECASE)),
    ("days", re.compile(r"\bdays?\b|天", re.IGNORECASE)),
)
_RATES = frozenset({"percent", "points"})
_UNIT_ALONE = re.compile(r"\s*=(?:\s*(?:[%％x倍天]|pp\b|days\b))?")
_OF_AMOUNTS = frozenset({"%", "％", ",", "，", ".", ";", "percent", "per", "cent", "股", "shares", "倍", "个百分点"})
CALCULATES = re.compile(r"[-+−–*×/÷^(（]")
"""Something is done with a figure."""
MARKED = re.compile(rf"[{_OPEN}]\s*\d{{1,3}}")
"""A marker begins."""


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


def parse_group(text: str) -> Group | None:
    """The group, or None for braces that are not of this notation.

    Raises:
        Malformed: It is meant as one, and is none.
    """
    said, _, unit = text.partition("=")
    if MARKED.search(unit) and not MARKED.search(said):  # "margin = 5 [1] / 10 [1]"
        said, unit = unit, ""
    tokens = _tokens(said)
    if tokens is None or not any(token.kind in ("number", "negative") for token in tokens):
        return None
    signs = any(token.kind == "sign" for token in tokens)
    marked = any(token.kind == "marker" for token in tokens)
    if not marked and len(tokens) > 1 and (not signs or any(token.kind == "word" for token in tokens)):
        return None
    if len(tokens) > _MOST_TOKENS:
        raise Malformed("it is too long")
    parser = _Parser(tokens)
    return Group(parser.parse(), _unit(unit), parser.labelled)


def expression_before_words(text: str) -> int:
    """How much of a group that was never closed is an expression: what cannot be shown as it stands. 0: nothing."""
    at, kinds = 0, []
    while (match := _TOKEN.match(text, at)) and match.lastgroup != "word":
        kinds.append(match.lastgroup)
        at = match.end()
    if unit := _UNIT_ALONE.match(text, at):
        at = unit.end()
    return at if "open" in kinds or ("marker" in kinds and "sign" in kinds) else 0


def _tokens(text: str) -> list[_Token] | None:
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            return None
        found.append(_Token(match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


def _unit(text: str) -> str:
    return next((name for name, pattern in _UNITS if pattern.search(text)), "")


class _Parser:
    """Recursive descent over the tokens; a group is short, so is the descent."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self.labelled = False

    def parse(self) -> Expression:
        found = self._sum()
        if self._next is not None:
            raise Malformed(f"unexpected {self._next.text!r}")
        return found

    @property
    def _next(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, kind: str, signs: str = "") -> _Token | None:
        token = self._next
        if token is None or token.kind != kind or (signs and _SIGNS.get(token.text, token.text) not in signs):
            return None
        self._at += 1
        return token

    def _operators(self, signs: str) -> Iterator[str]:
        while token := self._take("sign", signs):
            yield _SIGNS.get(token.text, token.text)

    def _sum(self) -> Expression:
        left = self._product()
        for sign in self._operators("+-"):
            left = Operation(sign, left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._power()
        for sign in self._operators("*/"):
            left = Operation(sign, left, self._power())
        return left

    def _power(self) -> Expression:
        base = self._factor()
        return Operation("^", base, self._power()) if self._take("sign", "^") else base

    def _factor(self) -> Expression:
        if self._take("sign", "-"):
            inner = self._factor()
            if isinstance(inner, Pointer) and not inner.signed:
                return replace(inner, signed=True)
            return Negated(inner)
        if self._take("open"):
            inner = self._sum()
            if not self._take("close"):
                raise Malformed("a parenthesis is not closed")
            return inner
        return self._figure()

    def _figure(self) -> Expression:
        number: _Token | None = None
        behind: list[str] = []
        while True:
            if token := self._take("word"):
                behind.append(token.text)
                self.labelled |= token.text.lower() not in _OF_AMOUNTS and not _is_of_amounts(token.text)
            elif token := self._take("number") or self._take("negative"):
                if number:  # the one before was of the words: "2023 sales 81,797 [1]"
                    self.labelled = True
                number, behind = token, []
            else:
                break
        if number is None:
            raise Malformed("a figure is missing")
        value = Decimal(re.sub(r"[^\d.]", "", number.text))
        marker = self._take("marker")
        if marker is None:
            return Constant(value)
        passages = tuple(int(digits) for digits in re.findall(r"\d+", marker.text))
        rate = "percent" if "%" in number.text else _unit(" ".join(behind))
        return Pointer(value, passages, signed=number.kind == "negative", rate=rate if rate in _RATES else "")


def _is_of_amounts(word: str) -> bool:
    low = word.lower()
    return low in SCALES or low in CURRENCIES
