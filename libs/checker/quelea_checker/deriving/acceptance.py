"""Whether what a computation gives is what the figure says: its size, its unit and its sign."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quelea_checker.binding import rows
from quelea_checker.deriving.computations import HUNDRED, Try, months
from quelea_checker.matching.claims import Claim, is_bounded, near, same_currency, same_kind, sizes
from quelea_checker.reading import wording
from quelea_checker.reading.evidence import TOTAL, Evidence
from quelea_checker.reading.facts import Fact, content

_TELLING = 2
"""Digits of a figure from which a ratio is no luck."""
_BY_PERCENT = re.compile(
    r"\b(?:by|(?<!made )(?<!make )(?<!makes )(?<!making )up|down|rose|grew"
    r"|gained|fell|slipped|dropped|declined|decreased|increased|(?:decline|decrease|drop|fall"
    r"|increase|rise) of)\s*(?:about|approximately|nearly|some)?\s*$"
    r"|(?:提高|提升|上升|增长|增加|扩大|下降|降低|减少|下滑|收窄|回落)了?约?\s*$",
    re.IGNORECASE,
)
"""Before a percentage: it is of what there was, and no difference of two percentages."""
_COUNT_OF_PARTS = re.compile(
    r"(?:\b(?:the|all|these|its|'s)\s+(?P<en>two|three|four|five|six)\b"
    r"(?! (?:months?|quarters?|years?|weeks?|days?|largest))"
    r"|(?P<zh>[两二三四五六])(?:项|家|大|个(?!月|季)|类|种))",
    re.IGNORECASE,
)
_PARTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6}
_WHOLE = re.compile(
    r"\b(?:full|whole|entire|that|the|annual|total|fiscal)[ -]year\b|\bannual|\b(?:nine|six) months\b|\bhalf\b"
    r"|全年|年度|半年|[69]个月|前三季度",
    re.IGNORECASE,
)
_LEVEL = re.compile(r"(?:\bto|[至到])\s*(?:about|approximately|nearly|some|约)?\s*$", re.IGNORECASE)
"""Before a figure: it is what something came to."""
_LESS = re.compile(r"\bless\b(?! than)|\bminus\b|\bnet of\b|减去|扣除|减(?=资本|购|支)", re.IGNORECASE)
_OF = re.compile(
    r"\bdivided by\b|\bas (?:a|the) (?:percentage|percent|share|proportion|portion|part|fraction|multiple|%) of\b"
    r"|除以|占",
    re.IGNORECASE,
)
_EACH = re.compile(r"\beach\b|\bapiece\b|每", re.IGNORECASE)
_RATE_OF = re.compile(
    r"(?:毛利率|净利率|利润率|占比|比重|\bmargin|\bratio)\s*(?:was|is|of|at|stood at|约?为|达到?)?\s*约?$",
    re.IGNORECASE,
)
_MARGIN = re.compile(r"毛利率|净利率|利润率|\bmargins?\b", re.IGNORECASE)
_GROWING = re.compile(r"\bchang|\bgr[eo]w|\bincreas|\bdecreas|变动|变化|增|降|减|升", re.IGNORECASE)
_TO_RATIO = re.compile(r"(?P<part>\b\w+)(?: \w+)?[- ]to[- ](?P<whole>\w+) ratio\b", re.IGNORECASE)
_RATIO_OF = re.compile(r"\bratio of (?P<part>.{3,80}?) to (?P<whole>.{3,80})", re.IGNORECASE)
_GREW = re.compile(
    r"(?:增幅|降幅|增速|增长率|同比(?:增长|下降|增加|减少)?|\bgrowth (?:rate )?of"
    r"|(?<!made )(?<!make )(?<!makes )(?<!making )\bup|\b(?:rose|grew|increased|gained|fell"
    r"|declined|decreased|dropped)(?: by)?|\b(?:increase|decrease|decline|rise|growth) of)\s*(?:was|is|为|达到?)?\s*"
    r"(?:about|approximately|nearly|some|约)?\s*$",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"[;；。]|,? (?:while|whereas|but)\b|，而", re.IGNORECASE)
_HEAD = re.compile(r",|\(|\b(?:of|for|on|from|to|by|in)\b", re.IGNORECASE)
_ABSOLUTE = re.compile(r"\bdiffer\w*|\bgap\b|\bsw[iu]ng\b|差", re.IGNORECASE)


def follows(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    """Size, currency, unit and sign agree, and the figure does not stand there itself with something against it."""
    figure = claim.figure
    if claim.barred and any(fact.passage in claim.barred for fact in attempt.operands):
        return False
    size = abs(attempt.value)
    few = figure.digits < _TELLING or not figure.is_in_digits
    if few and _is_far_fetched(claim, attempt, evidence):
        return False
    if not _parts_fit(claim, attempt, evidence) or not _form_fits(claim, attempt, evidence):
        return False
    if attempt.percent:
        points = attempt.form == "difference" or (attempt.form == "steps" and ", ÷" not in attempt.shown)
        before = claim.sentence[: figure.start]
        if points and figure.kind == "percent" and not figure.is_in_digits:
            return False  # "half of" is no difference of two percentages
        if points and figure.kind == "percent" and (_BY_PERCENT.search(before) or _GREW.search(before)):
            return False
        if figure.kind not in {"percent", "points"} and (figure.currency or figure.scale or figure.kind == "multiple"):
            return False
        if abs(figure.size - size) > claim.tolerance or not (figure.is_in_digits or is_bounded(figure, size)):
            return False
    elif (
        not all(same_currency(figure, fact) for fact in attempt.operands)
        or sizes(claim, attempt.operands[0], size) is None
    ):
        return False
    if attempt.form in {"difference", "sum"} and any(sizes(claim, fact) is not None for fact in attempt.operands):
        return False  # the figure stands there itself, and something spoke against it
    alike = (f for f in near(claim, evidence) if same_kind(figure, f) and sizes(claim, f) is not None)
    if rows.is_printed(claim, attempt.operands, attempt.form, alike):
        return False
    return _sign_fits(claim, attempt, evidence)


def _form_fits(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    """The computation is the one that the words ask for: none of a change where they speak of a level, and so on."""
    facts, figure = attempt.operands, claim.figure
    before = claim.sentence[: figure.start]
    if attempt.form == "sum" and any(f.table < 0 for f in facts):
        return "sum" in wording.operations(f"{claim.sentence} {claim.question}")
    if attempt.form == "difference" and len(facts) == 2:
        one, other = facts
        if claim.direction and not attempt.percent and _LEVEL.search(before):
            return False  # "decreased to 5.7" is no change of 5.7
        apart = one.group != other.group and one.value * other.value < 0
        if apart and _LESS.search(claim.sentence) and abs(attempt.value) > max(abs(one.value), abs(other.value)):
            return False  # what is taken off stands in brackets already
    if (
        attempt.form == "growth"
        and _RATE_OF.search(before)
        and not _GROWING.search(f"{claim.sentence} {claim.question}")
    ):
        return False  # a margin is no growth
    if len(facts) != 2:
        return True
    if attempt.form == "growth" and all(f.figure.kind == "percent" and f.table < 0 for f in facts):
        return False  # how a share grew is told in points
    if attempt.form == "growth" and facts[0].group == facts[1].group and 0 != months(facts[0]) != months(facts[1]) != 0:
        return False  # from a half year to a quarter nothing grows
    if attempt.form != "ratio":
        return True
    part, whole = facts
    if attempt.percent and abs(attempt.value) > HUNDRED and _MARGIN.search(before):
        return False  # no margin is more than all that was sold
    if attempt.percent and any(f.table < 0 and f.figure.kind == "percent" for f in facts):
        return False  # a share is no share of a share
    lengths = {months(part), months(whole)}
    if part.group == whole.group and part.table >= 0 and len(lengths - {0}) > 1:
        return bool(_WHOLE.search(f"{claim.sentence} {claim.question}"))  # a quarter by a half year, unasked
    if attempt.percent and part.figure.kind == whole.figure.kind and _GREW.search(before) and not part.change:
        return False  # "up 18%" is no share
    return not _is_inverted(claim, evidence.groups[part.group].name, evidence.groups[whole.group].name)


def _is_inverted(claim: Claim, part: frozenset[str], whole: frozenset[str]) -> bool:
    """ "A divided by B" names what is the part before what is the whole, and the computation has them the other way."""
    if part == whole:
        return False
    for text in (claim.sentence, claim.question):
        if match := _TO_RATIO.search(text) or _RATIO_OF.search(text):
            first, second = match["part"], match["whole"]
        elif match := _OF.search(text):
            first, second = text[: match.start()], text[match.end() :]
        else:
            continue
        one, other = claim.heard(first), claim.heard(second)
        straight = len(part & one - whole) + len(whole & other - part)
        across = len(whole & one - part) + len(part & other - whole)
        return across > 0 and straight == 0
    return False


def _parts_fit(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    """The parts are those that the sentence names: as many as it counts, no row that it names left out for another."""
    facts = attempt.operands
    if attempt.form == "sum":
        match = _COUNT_OF_PARTS.search(claim.sentence)
        if match and len(facts) != _PARTS[(match["en"] or match["zh"]).lower()]:
            return False
        return not _left_out(claim, facts, evidence)
    if attempt.form == "difference" and len(facts) == 2 and {f.table for f in facts} == {-1}:
        amount, move = sorted(facts, key=lambda f: abs(f.direction))
        if (
            move.direction == -1
            and not amount.direction
            and amount.group == move.group
            and move.figure.kind == "number"
        ):
            return False  # "1,987, 46 fewer than the year before": 1,941 is neither
    if attempt.form == "ratio" and attempt.percent:
        parts = {fact.group for fact in facts}
        return not any(rows.is_other(f, claim, evidence, parts) for f in facts)
    if attempt.form == "growth" and len({fact.group for fact in facts}) == 1:
        return not rows.is_other(facts[0], claim, evidence)
    return True


def _left_out(claim: Claim, facts: Sequence[Fact], evidence: Evidence) -> bool:
    """A row of their table, which the sentence names, is not in the sum: "of A, B and C" is no A + B."""
    rows = {fact.group for fact in facts}
    tables = {fact.table for fact in facts}
    if len(facts) < 2 or len(rows) < len(facts) or len(tables) > 1 or -1 in tables:
        return False
    own = frozenset().union(*(evidence.groups[row].name for row in rows))
    if not all(evidence.groups[row].name & claim.terms for row in rows):
        return False
    column = facts[0].column
    said = content(_until_contrast(claim))
    for group in evidence.rows.get(facts[0].table, ()):
        first = content(_HEAD.split(group.label)[0])
        if not first or not first <= said or first & own or TOTAL.search(group.label):
            continue
        if any(f.column == column and f.figure.size and f.group not in rows for f in group.facts):
            return True
    return False


def _until_contrast(claim: Claim) -> str:
    """The sentence without what it sets against the figure: ", while the third lost 95"."""
    contrast = _CONTRAST.search(claim.sentence, claim.figure.end)
    return claim.sentence[: contrast.start()] if contrast else claim.sentence


def _is_far_fetched(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    """Few digits, which many a computation gives: "four times" of two figures that are of different things."""
    if attempt.form == "growth":  # "by half"
        names = [evidence.groups[f.group].name for f in attempt.operands]
        return any(len(name & claim.terms) * 2 < len(name) or not name for name in names)
    if attempt.form != "ratio":
        return False
    if len({fact.group for fact in attempt.operands}) == 1 and _EACH.search(claim.sentence):
        return False
    if _is_part_of_sentence(claim, attempt, evidence):
        return False
    if any(fact.table < 0 for fact in attempt.operands) or all(f.figure.kind == "percent" for f in attempt.operands):
        return True
    apart = len({fact.group for fact in attempt.operands}) > 1
    unnamed = any(not evidence.groups[f.group].name & claim.terms or f.table < 0 for f in attempt.operands)
    return claim.figure.kind == "multiple" and apart and unnamed


def _is_part_of_sentence(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    """ "Half of", of two amounts of one sentence, the whole being the most that it speaks of."""
    part, whole = attempt.operands[0], attempt.operands[-1]
    if part.table >= 0 or part.group != whole.group or claim.figure.is_in_digits:
        return False
    numbers = [f.value for f in evidence.groups[whole.group].facts if f.figure.kind == "number"]
    return bool(numbers) and whole.value == max(numbers)


def _sign_fits(claim: Claim, attempt: Try, evidence: Evidence) -> bool:
    figure = claim.figure
    negative = figure.negative and not figure.loose
    if attempt.ordered is None:
        return True
    if attempt.form == "ratio" and not negative:
        return True
    if not attempt.ordered:
        return (
            negative == (attempt.value < 0)
            or attempt.value == 0
            or (not negative and wording.is_negative(f"{claim.sentence} {claim.question}"))
        )
    if negative:
        return attempt.value <= 0
    if any(wording.DIRECTION.search(evidence.groups[fact.group].label) for fact in attempt.operands if fact.table >= 0):
        return True  # "Reductions": the word is the row's name
    direction = claim.direction or wording.leaning(claim.sentence) or wording.leaning(claim.question)
    if attempt.value < 0:
        return figure.negative or direction == -1 or bool(_ABSOLUTE.search(f"{claim.sentence} {claim.question}"))
    return direction != -1 or attempt.value == 0 or claim.direction == 0
