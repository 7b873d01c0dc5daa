"""Which row of a table the words name: a figure is not that of another row than the one that they name."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence

from quelea_fintext.glossary import gloss_phrases

from quelea_checker.binding.exchanges import words_before, words_behind
from quelea_checker.matching.claims import Claim
from quelea_checker.matching.profiles import RESPECTIVELY
from quelea_checker.model import Figure, Period
from quelea_checker.reading.evidence import Evidence
from quelea_checker.reading.facts import Fact, Group, content_terms
from quelea_checker.reading.periods import find_periods
from quelea_checker.reading.wording import ends_with, strip_direction

Terms = frozenset[str]
_LEAST = 3
"""Digits of a figure whose row is no luck."""
_BETWEEN_ROWS = re.compile(
    r"\b(?:excluding|except|other than|apart from|besides|remain\w*|rest|less|minus|net of|differ\w*|gap|exceed\w*)\b"
    r"|扣除|除|其余|剩余|差|超过",
    re.IGNORECASE,
)
_BETWEEN_TIMES = re.compile(
    r"\b(?:chang\w*|up|down|higher|lower|fewer|more|less|differ\w*|\w*creas\w*|rose|fell|grew|grow\w*|declin\w*"
    r"|by)\b|差|多|少|减|增|升|降|比|较|变",
    re.IGNORECASE,
)
_THAN = re.compile(r"\s?(?:more|less|fewer|higher|lower|above|below)\b", re.IGNORECASE)
_BY = re.compile(r"(?:\bby|[多少高低])\s?(?:about |approximately )?$", re.IGNORECASE)
_SUMMED = re.compile(
    r"\b(?:totall?(?:ed|ing)|sum|combined|together|altogether|aggregate|overall|both|in all)\b"
    r"|(?:[和与及、两三四者项][^，。；]{0,12})[合总]计|总和|总共|共计|一共|累计|之和",
    re.IGNORECASE,
)
_AND = re.compile(r"\b(?:and|plus|while|whereas|but)\b|[和与及而]|加上", re.IGNORECASE)
_CANDIDATES = 60
_MOST = 60
"""Figures of a sentence whose words are told apart."""
_TIMES = content_terms("quarter quarterly annual fiscal year month half period")


def split_surrounding_words(
    sentence: str, question: str, amounts: Sequence[Figure], figure: Figure
) -> tuple[str, str, str]:
    """The words before a figure, behind it, and all but those before other figures; empty where figures are listed.

    "Before" is behind the figure before it, "behind" before the next one, both within the clause.
    """
    if len(amounts) > _MOST or RESPECTIVELY.search(sentence):
        return "", "", ""
    rest, at = [], 0
    for other in amounts if len(amounts) > 1 else ():
        if other is not figure:
            rest.append(sentence[at : other.start - len(words_before(sentence, other, amounts))])
            at = other.end
    apart = f"{' '.join(rest)} {sentence[at:]} {question}" if rest else ""
    after = _AND.split(words_behind(sentence, figure, amounts))[0]
    return strip_direction(words_before(sentence, figure, amounts)), after, apart


def is_of_other_row(fact: Fact, claim: Claim, evidence: Evidence, but: Container[int] = ()) -> bool:
    """The words name another row of its table, wholly, and its own less: Europe's sales are not Asia's.

    Those of the whole sentence and the question count, but not what they say of other figures; and those that stand
    before the figure, unless those behind it name its row.

    Args:
        but: Rows that are no others: they are parts of the same computation.
    """
    if fact.table < 0:
        return False
    said, after, apart = claim.surrounding_words()
    subject = claim.terms_of(said) if said else frozenset()
    if _names_other_row(fact, claim.terms, evidence, but) and (
        not subject or not apart or _names_other_row(fact, claim.terms_of(apart), evidence, but)
    ):
        return True
    if not subject:
        return False
    own = evidence.groups[fact.group]
    if own.section and _is_of_other_section(fact, own, subject, evidence.rows[fact.table], but):
        return True
    if not _names_other_row(fact, subject, evidence, but):
        if but or own.core & claim.terms:
            return False
        words = _translate_words(said) if claim.is_cross_language else ()
        return any(
            all(not w or w & row.core for w in words) for row in _find_rows_elsewhere(fact, own, subject, evidence)
        )
    return not (after and own.name & claim.terms_of(after) - subject)


def _translate_words(text: str) -> list[Terms]:
    """What each word is called in the other language, times left out."""
    for period in reversed(find_periods(text)):
        text = f"{text[: period.start]} {text[period.end :]}"
    return [content_terms(" ; ".join(gloss_phrases(word))) - _TIMES for word in content_terms(text)]


def _find_rows_elsewhere(fact: Fact, own: Group, subject: Terms, evidence: Evidence) -> Iterator[Group]:
    """Rows of other tables, of the same document and time, that are named wholly, where no word is of the fact's."""
    if not fact.periods:
        return
    for term in sorted(subject):
        for row in evidence.by_term.get(term, ())[:_CANDIDATES]:
            if row.table in (-1, fact.table) or not row.core or not row.core <= subject or row.label == own.label:
                continue
            if not evidence.is_one_document(fact.passage, row.passage):
                continue
            if any(_is_of_its_time(fact, f) and f.value != fact.value for f in row.facts):
                yield row


def _is_of_its_time(one: Fact, other: Fact) -> bool:
    alike = one.figure.kind == other.figure.kind and one.unit.scales == other.unit.scales
    return alike and not other.change and {_time(p) for p in one.periods} == {_time(p) for p in other.periods}


def _time(period: Period) -> tuple[int, ...]:
    return period.year, period.quarter, period.half, period.month, period.day, period.months


def _names_other_row(fact: Fact, terms: Terms, evidence: Evidence, but: Container[int]) -> bool:
    group = evidence.groups[fact.group]
    rows = evidence.named(fact.table, terms)
    if rows and not (group.name <= terms and group.core <= terms):
        for own, core in ((group.name, False), (group.core, True)):
            if not own or own <= terms:
                continue
            shared = own & terms
            for row in rows:
                name = row.core if core else row.name
                if row is group or not name <= terms or not shared < name or name <= own or row.facts[0].group in but:
                    continue
                if _differs(fact, row):
                    return True
                break
    return False


def _is_of_other_section(fact: Fact, group: Group, terms: Terms, rows: Sequence[Group], but: Container[int]) -> bool:
    """ "Net sales" under "Europe:", where the words name the section of another row of this label."""
    own = content_terms(group.section)
    if own <= terms:
        return False
    for row in rows:
        if row.label != group.label or row.section == group.section or row.facts[0].group in but:
            continue
        section = content_terms(row.section)
        if section - own and section <= terms and not (own - section) & terms and _differs(fact, row):
            return True
    return False


def _differs(fact: Fact, row: Group) -> bool:
    return any(f.column == fact.column and f.value != fact.value for f in row.facts)


def is_printed(claim: Claim, operands: Sequence[Fact], form: str, facts: Iterable[Fact]) -> bool:
    """The figure is that of another row, so that a sum or a difference that no word asks for is not what it is said of.

    Args:
        facts: Those that have the figure's size.
    """
    figure, sentence = claim.figure, claim.sentence
    if form not in {"difference", "sum", "steps"} or figure.digits < _LEAST or figure.kind in {"points", "multiple"}:
        return False
    rows = {fact.group for fact in operands}
    if form == "sum":
        asked = bool(_SUMMED.search(sentence) or _AND.search(claim.surrounding_words()[0]))
    elif len(rows) == 1:
        asked = bool(_BETWEEN_TIMES.search(sentence))
    else:
        asked = bool(
            _BETWEEN_ROWS.search(sentence)
            or _THAN.match(sentence, figure.end)
            or ends_with(_BY, sentence, figure.start)
        )
    return not asked and any(f.table >= 0 and not f.change and f.group not in rows for f in facts)
