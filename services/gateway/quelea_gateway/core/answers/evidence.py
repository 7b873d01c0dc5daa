"""Which passages the reader sees: the best J within a token budget; the others are further reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from quelea_checker import CheckPassage

from quelea_gateway.core.model import AnswerFigure, AnswerOperand, Citation, Figure, Operand, Passage, Shown

LINE_TOKENS = 12
"""What the prompt adds to a passage: its number and its date."""

_EXCERPT = 320
_STOPS, _STOPS_BEFORE_SPACE = "。！？；\n", ".!?;"


def choose(
    passages: tuple[Passage, ...], *, j: int, budget: int, count: Callable[[str], int]
) -> tuple[tuple[Passage, ...], tuple[Passage, ...]]:
    """(evidence, rest), both in the order given.

    Best first; a passage that does not fit any more is left out and a shorter one after it may still come in. The best
    passage is always evidence, for a reader must see something.
    """
    evidence: list[Passage] = []
    rest: list[Passage] = []
    left = budget
    around: dict[str, int] = {}
    for position, passage in enumerate(passages):
        if len(evidence) == j:
            rest += passages[position:]
            break
        for text in (passage.header, passage.table_head):  # passages of one filing have the same
            if text not in around:
                around[text] = count(text)
        cost = around[passage.header] + around[passage.table_head] + count(passage.text) + LINE_TOKENS
        if cost <= left or not evidence:
            evidence.append(passage)
            left -= cost
        else:
            rest.append(passage)
    return tuple(evidence), tuple(rest)


def put_first(passages: tuple[Passage, ...], stating: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages that print what is asked for, then the others in their order; each once."""
    places = {(one.document_id, one.page, one.start) for one in stating}
    rest = (one for one in passages if (one.document_id, one.page, one.start) not in places)
    return (*dict.fromkeys(stating), *rest)


def cite(passage: Passage, number: int, start: int = 0, end: int | None = None) -> Citation:
    """The citation of passage.text[start:end]."""
    end = len(passage.text) if end is None else end
    return Citation(
        number=number,
        document_id=passage.document_id,
        title=passage.title,
        uri=passage.uri,
        page=passage.page,
        published=passage.published,
        quote=passage.text[start:end],
        score=passage.score,
        start=passage.start + start,
        end=passage.start + end,
        company=passage.company,
        period=passage.period,
        source=passage.source,
        fetched=passage.fetched or None,
        from_web=passage.from_web,
        scanned=passage.scanned,
    )


def excerpt(passage: Passage, number: int) -> Citation:
    """A citation of the passage's beginning, up to the last sentence or row that ends within about 320 characters."""
    text = passage.text
    start = len(text) - len(text.lstrip())
    if len(text) - start <= _EXCERPT:
        return cite(passage, number, start, max(start, len(text.rstrip())))
    last = _last_stop(text, start, start + _EXCERPT)
    end = last if last - start > _EXCERPT // 4 else start + _EXCERPT
    while end > start and text[end - 1].isspace():
        end -= 1
    return cite(passage, number, start, end)


def _last_stop(text: str, start: int, end: int) -> int:
    """The end of the last sentence or row of text[start:end]; 0: none ends there."""
    last = max(text.rfind(stop, start, end) for stop in _STOPS)
    for stop in _STOPS_BEFORE_SPACE:
        at = text.rfind(stop, max(start, last), end)
        while at > last and at + 1 < end and not text[at + 1].isspace():
            at = text.rfind(stop, max(start, last), at)
        last = max(last, at)
    return last + 1


def listing(passages: tuple[Passage, ...], first: int) -> tuple[Citation, ...]:
    """Passages as excerpts, numbered from `first`."""
    return tuple(excerpt(passage, number) for number, passage in enumerate(passages, start=first))


def figures_of(figures: Sequence[Figure], evidence: Sequence[Passage]) -> tuple[AnswerFigure, ...]:
    """Figures with the numbers of their passages, which are all among the evidence."""
    return tuple(
        AnswerFigure(
            company=one.company,
            metric=one.metric,
            value=one.value,
            unit=one.unit,
            period_start=one.period_start,
            period_end=one.period_end,
            formula=_formula_of(one),
            growth=one.growth,
            fiscal_year=one.fiscal_year,
            absent=one.absent,
            operands=tuple(answer_operand(operand, evidence.index(operand.passage) + 1) for operand in one.operands),
        )
        for one in figures
    )


def _formula_of(figure: Figure) -> str:
    """Over all operands; of a change, that of the later value less that of the earlier one."""
    if figure.metric != "change" or not figure.formula_before:
        return figure.formula
    formulas = (figure.formula, figure.formula_before)
    later, earlier = (f"({one})" if " + " in one or " − " in one else one for one in formulas)
    return f"{later} − {earlier}"


def answer_operand(operand: Operand, number: int) -> AnswerOperand:
    """A fact with the number of its passage."""
    fact = operand.fact
    return AnswerOperand(
        label=f"{fact.label} {fact.column}".strip(),
        concept=fact.concept,
        value=fact.value,
        unit=fact.unit,
        period_start=fact.period_start,
        period_end=fact.period_end,
        source=fact.source,
        number=number,
        document_id=operand.passage.document_id,
        page=operand.passage.page,
        start=fact.start,
        end=fact.end,
        printed=fact.printed,
    )


def to_check(passage: Passage) -> CheckPassage:
    """A passage with what stands around it; the header names its filing also where the retriever's does not."""
    more = (passage.title, passage.company, passage.period, passage.period_end)
    header = " · ".join([passage.header] * bool(passage.header) + [p for p in more if p and p not in passage.header])
    return CheckPassage(passage.text, passage.table_head, header, passage.published, passage.document_id)


def record(evidence: Sequence[Passage]) -> tuple[Shown, ...]:
    """What the reader was shown, numbered from 1: kept with every answer, to tell months later what it rested on."""
    return tuple(
        Shown(number, p.document_id, p.title, p.uri, p.page, p.start, p.end, p.published, p.source)
        for number, p in enumerate(evidence, start=1)
    )
