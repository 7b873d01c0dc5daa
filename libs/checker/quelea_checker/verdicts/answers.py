"""The check of an answer: its figures, its sentences, its markers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from quelea_fintext.text import language_of

from quelea_checker.binding.cells import find_moves, moves_otherwise
from quelea_checker.binding.exchanges import find_exchanged
from quelea_checker.binding.scorer import Binder
from quelea_checker.binding.support import find_supporting_facts, is_contradicted
from quelea_checker.deriving.chance_test import find_unlikely_by_chance
from quelea_checker.deriving.computations import format_formula
from quelea_checker.deriving.derivation import Budget, derive
from quelea_checker.matching.claims import Claim
from quelea_checker.matching.profiles import WordZone, find_word_zones
from quelea_checker.model import CheckedFigure, CheckPassage, Near, Report
from quelea_checker.reading import sentences, wording
from quelea_checker.reading.amounts import MARKER, parse
from quelea_checker.reading.attachment import attach_lead_periods, attach_periods, is_of_other_time
from quelea_checker.reading.companies import Owners
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, content_terms, glossed_terms
from quelea_checker.reading.leads import Lead, Leads, with_said_scale
from quelea_checker.reading.markup import NormalizedAnswer
from quelea_checker.reading.periods import find_periods, names_document
from quelea_checker.reading.sentences import plain
from quelea_checker.reading.units import find_statements
from quelea_checker.verdicts import sentence_verdicts
from quelea_checker.verdicts.sentence_verdicts import AnswerSentence

_OTHERS = 32
"""Figures of its sentence that a figure is told apart from."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What a sentence is checked against.

    Attributes:
        question: What was asked, plain.
        evidence: The passages, read.
        binder: The words about each fact.
        owners: Whose passage each is.
        budget: Computations that are left for the answer.
    """

    question: str
    evidence: Evidence
    binder: Binder
    owners: Owners
    budget: Budget

    @classmethod
    def of(cls, passages: Sequence[CheckPassage], asked: str, evidence: Evidence | None = None) -> Sources:
        """Of passages, which `evidence` has read already."""
        evidence = evidence or Evidence(passages)
        binder = Binder(evidence.groups, evidence.by_term, evidence.titles)
        return cls(asked, evidence, binder, Owners(passages), Budget())


def check_answer(
    answer: str,
    passages: Sequence[CheckPassage],
    *,
    question: str = "",
    near: Mapping[str, Sequence[Near]] = MappingProxyType({}),
) -> Report:
    """The verdicts on an answer. Passages are numbered from 1 in the given order, as markers [n] count.

    Args:
        answer: Any text; may hold markers.
        passages: The evidence that the answer was written from.
        question: What was asked: it tells which computations are asked for, and of which times.
        near: What an encoder finds near to sentences in another language than the evidence's (cross_language.wanted).
    """
    shaped = NormalizedAnswer(answer)
    return shaped.restore(_check_plain(shaped.text, passages, plain(question), near))


def _check_plain(
    answer: str, passages: Sequence[CheckPassage], asked: str, near: Mapping[str, Sequence[Near]]
) -> Report:
    sources = Sources.of(passages, asked)
    evidence = sources.evidence
    every = read_sentences(answer)
    checked: list[CheckedFigure] = []
    by_sentence: list[list[CheckedFigure]] = []
    for said in every:
        own = _check_figures(said, sources)
        by_sentence.append(own)
        checked += own
    kinds = [[figure.kind for figure in said.figures] for said in every]
    verdicts, markers = sentence_verdicts.judge(answer, every, by_sentence, kinds, evidence, near)
    return Report(tuple(verdicts), tuple(checked), markers)


def read_sentences(answer: str) -> list[AnswerSentence]:
    """The sentences of a plain answer, with their figures."""
    leads = Leads(plain(answer))
    every: list[AnswerSentence] = []
    unit = ""
    for start, end in sentences.split_sentences(plain(answer)):
        every.append(_read_sentence(answer, start, end, leads.of(start), unit))
        if not every[-1].figures and any(find_statements(every[-1].text)):
            unit = every[-1].text  # "Amounts are in millions."
    return every


def _read_sentence(answer: str, start: int, end: int, lead: Lead, unit: str) -> AnswerSentence:
    text = answer[start:end]
    figures = tuple(
        with_said_scale(lead.with_unit(figure, start + figure.start), f"{unit} {text}") for figure in parse(text)
    )
    marks = tuple(
        (int(number), start + match.start(), start + match.end())
        for match in MARKER.finditer(text)
        for number in re.findall(r"\d+", match["n"])
    )
    return AnswerSentence(start, end, text, figures, marks, lead)


def _check_figures(said: AnswerSentence, sources: Sources) -> list[CheckedFigure]:
    """Its figures with their verdicts."""
    claims = read_claims(said, sources)
    cited = {number for number, _, _ in said.marks}
    matched_facts: dict[int, list[Fact]] = {}
    found = []
    for figure in said.figures:
        blank = CheckedFigure(figure.text, said.start + figure.start, said.start + figure.end, "not_found", None, "")
        if figure.period is not None:
            numbers = sources.evidence.calendar.passages(figure.period)
            found.append(
                replace(blank, verdict="supported", passage=numbers[0], passages=numbers) if numbers else blank
            )
            continue
        sources.budget.sought -= 1
        facts = matched_facts.setdefault(figure.start, [])
        claim = claims[figure.start]
        spent = sources.budget.sought < 0
        found.append(blank if spent else _check_amount(claim, blank, cited, sources, facts))
    found = [_check_by_chance(f, claims.get(f.start - said.start), matched_facts, sources) for f in found]
    swapped = set(find_exchanged(claims, matched_facts, sources.binder)) if len(matched_facts) > 1 else set()
    swapped |= set(find_moved_otherwise(said, claims, matched_facts, sources.evidence))
    found = [
        replace(f, verdict="not_found", passage=None, passages=(), formula="") if f.start - said.start in swapped else f
        for f in found
    ]
    sought = claims if sources.budget.sought >= 0 else {}
    return [
        _check_contradicted(f, sought.get(f.start - said.start), sources, swapped=f.start - said.start in swapped)
        for f in found
    ]


def find_moved_otherwise(
    said: AnswerSentence, claims: Mapping[int, Claim], cells: Mapping[int, Sequence[Fact]], evidence: Evidence
) -> Iterator[int]:
    """Starts of the later figure of each move, "rose to 5 from 4", that went the other way.

    Args:
        cells: By the start of a figure, the facts that it may be.
    """
    for new, old, way in find_moves(plain(said.text), [claim.figure for claim in claims.values()]):
        later, earlier = cells.get(new.start, ()), cells.get(old.start, ())
        pairs: list[tuple[Fact, Fact] | None] = [(a, b) for a in later for b in earlier if a.table == b.table]
        if all(moves_otherwise(claims[new.start], claims[old.start], pair, way, evidence) for pair in pairs or [None]):
            yield new.start


def _check_contradicted(
    checked: CheckedFigure, claim: Claim | None, sources: Sources, *, swapped: bool
) -> CheckedFigure:
    """A figure that was not found is contradicted where the evidence says otherwise."""
    if checked.verdict != "not_found":
        return checked
    otherwise = swapped or (claim is not None and is_contradicted(claim, sources.evidence, sources.binder))
    return replace(checked, verdict="contradicted") if otherwise else checked


def read_claims(said: AnswerSentence, sources: Sources) -> dict[int, Claim]:
    """By the start of each amount of a sentence, what is said of it."""
    sentence, question = plain(said.text), sources.question
    amounts = [figure for figure in said.figures if figure.period is None]
    periods = [f.period for f in said.figures if f.period is not None and not names_document(sentence, f.period)]
    asked = tuple(find_periods(question)) if not periods else ()
    across = sources.evidence.is_foreign(language_of(said.text))
    terms_of = glossed_terms if across else content_terms
    terms = terms_of(f"{MARKER.sub(' ', said.text)} {question}")
    zoned = find_word_zones(sentence, amounts)
    claims = {}
    for figure, own in zip(amounts, attach_periods(sentence, amounts, periods), strict=True):
        place = said.start + figure.start
        head, over = said.lead.head(place), said.lead.over(place)
        if own or not periods:
            over_it = said.lead.periods(place, own)
            own = over_it if own else attach_lead_periods(sentence, figure, over_it)  # noqa: PLW2901  # the same, completed
        every = own if any(period not in periods for period in own) else tuple(periods) or asked
        if not own and len(periods) == 1 and is_of_other_time(sentence, figure, periods[0]):
            every = ()
        context = f"{over} {question}".strip()
        claims[figure.start] = Claim(
            figure=figure,
            sentence=sentence,
            question=context,
            terms=terms | terms_of(over) if over else terms,
            periods=own,
            all_periods=every,
            direction=wording.find_direction(sentence, figure.start, figure.end),
            excluded_passages=sources.owners.excluded_passages(sentence, f"{over} {question}", figure.start),
            is_cross_language=across,
            zone=_with_column_head(head, zoned.get(figure.start)),
            other_figures=tuple(other for other in amounts if other is not figure)[:_OTHERS],
        )
    return claims


def _check_by_chance(
    checked: CheckedFigure,
    claim: Claim | None,
    matched_facts: Mapping[int, Sequence[Fact]],
    sources: Sources,
) -> CheckedFigure:
    """What no form of words asks for, but the rows that are named give by no luck."""
    if checked.verdict != "not_found" or claim is None or claim.is_compound or sources.budget.sought < 0:
        return checked
    others = [fact for start, facts in matched_facts.items() if start != claim.figure.start for fact in facts]
    one = find_unlikely_by_chance(claim, others, sources.evidence, sources.budget)
    if one is None:
        return checked
    numbers = tuple(sorted({fact.passage + 1 for fact in one.operands}))
    return replace(checked, verdict="derived", passage=numbers[0], formula=format_formula(one), passages=numbers)


def _with_column_head(head: str, zone: WordZone | None) -> WordZone | None:
    """The words about a figure with those of its column's head."""
    return replace(zone, before=f"{head} {zone.before}") if head and zone else zone


def _check_amount(
    claim: Claim,
    blank: CheckedFigure,
    cited: set[int],
    sources: Sources,
    matched_facts: list[Fact],
) -> CheckedFigure:
    """The verdict; `matched_facts` takes the facts that the figure is."""
    best: dict[int, int] = {}
    for fact in find_supporting_facts(claim, sources.evidence, sources.binder):
        matched_facts.append(fact)
        number = fact.passage + 1
        best[number] = max(best.get(number, -1), len(fact.terms & claim.terms))
    if best:
        order = sorted(best, key=lambda number: (number not in cited, -best[number], number))
        return replace(blank, verdict="supported", passage=order[0], passages=tuple(sorted(best)))
    derived = derive(claim, sources.evidence, sources.budget)
    if derived:
        numbers = tuple(sorted({fact.passage + 1 for fact in derived.operands}))
        first = derived.operands[0].passage + 1
        return replace(blank, verdict="derived", passage=first, formula=derived.formula, passages=numbers)
    return blank
