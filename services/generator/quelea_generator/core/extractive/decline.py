"""Whether the evidence carries an answer at all: when the extractive reader declines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from quelea_fintext.asked_lines import without_periods
from quelea_fintext.company_names import known_companies
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.numerals import CARDINAL_WORD, HAN_NUMERAL
from quelea_fintext.text import CJK, normalise, stem, terms, words
from quelea_fintext.times.no_such_periods import find_no_such_periods

from quelea_generator.core.extractive.glosses import has_expression, is_foreign, place_terms
from quelea_generator.core.extractive.matching import meets, qualifiers
from quelea_generator.core.extractive.opinions import Opinion
from quelea_generator.core.extractive.question import Facet, Query
from quelea_generator.core.extractive.scoring import REACHED, Candidate, has_figure
from quelea_generator.core.extractive.subjects import speaks_of_company
from quelea_generator.core.extractive.vocabulary import QUESTION_WORDS
from quelea_generator.core.model import Decline, Evidence, Task

ENOUGH = 0.5
"""Part of the question that the chosen quotes must meet together."""
ENOUGH_WITH_ITEM = 0.3
"""The same when one quote is about a financial item that the question asks for."""
ENOUGH_OF_LONG = 0.42
"""The same for a long question, of at least _LONG things, of which the quotes meet _MANY: nobody repeats it all."""
_LONG, _MANY = 8, 4
ENOUGH_INCOMPLETE = 0.75
"""The same when the caller says that a company or period of the question is not in the knowledge base."""
_MET = 0.8
_ITEM, _NAME, _WORD, _SOFT = 1.0, 1.0, 0.5, 0.2
"""Weight of a financial item, a name, any other word, a word that only helps."""
_SEVERAL = 2
_TOUCHED = 0.3
"""Least that one thing of the question besides its names must be met."""
_GENERAL = frozenset(map(stem, LANGUAGES.words("questions.general")))
"""Words before an item that make it no other one."""
_FIGURE = re.compile(rf"\d|{HAN_NUMERAL}(?:[成倍万亿元个家人]|分之)|\b(?!one\b){CARDINAL_WORD}\b", re.IGNORECASE)
_SAID_IN_WORDS = LANGUAGES.pattern("questions.figure_in_words")
"""A figure without digits ("half", "doubled"), or that there is none ("have never paid any")."""
_YEAR = re.compile(r"(?<![\d.,$])((?:19|20)\d\d)(?!\d)")
_NUMBERED_NAME = re.compile(r"(?<=[a-z,;(] )[A-Z]\w{1,30} \d{1,4}\b(?![\d.,%])")
"""A name with its number, inside a sentence: "our Microsoft 365 applications"."""
_UNKNOWN = 0.5
"""What is left of the weight of a word that has no gloss, where all quotes are in the other language."""


def find_decline(task: Task, query: Query, chosen: Sequence[Candidate], opinion: Opinion = "") -> Decline | None:
    """Why an answer made of these quotes would not answer the question; None when it would."""
    if not _asks_something(query):
        return Decline("not_a_question", "No word of the text says what it asks for.")
    found = _decline(task, query, chosen)
    if found is None:
        return None
    if unknown := find_no_such_periods(task.question, bare=True):
        return Decline("no_such_period", f"There is no such period: {unknown[0].words}.")
    if opinion:
        what = "advice" if opinion == "advice" else "a forecast"
        return Decline("asks_for_advice", f"The question asks for {what}, and no passage states what it is about.")
    return found


def _decline(task: Task, query: Query, chosen: Sequence[Candidate]) -> Decline | None:
    """The same by the quotes alone."""
    if not chosen:
        return _no_evidence("No passage has anything that the question asks for.")
    if unsaid := _unsaid_qualifier(task, query):
        return _no_evidence(f"No passage says {unsaid!r}.")
    met = [max(candidate.reached[i] for candidate in chosen) for i in range(len(query.facets))]
    abroad = all(is_foreign(query.language, candidate.evidence) for candidate in chosen)
    weights = [_weight(query, facet) * (_UNKNOWN if abroad and _unknown(query, facet) else 1) for facet in query.facets]
    share = sum(w * m for w, m in zip(weights, met, strict=True)) / sum(weights)
    if task.evidence_incomplete:
        if share < ENOUGH_INCOMPLETE:
            return _too_little(share, ENOUGH_INCOMPLETE)
        return _whom_or_when(task.question, query, chosen[0])
    if not _names_known(task, query):
        return _no_evidence(f"The question names {', '.join(sorted(query.names))}; not every name is in the passages.")
    if abroad and not _names_quoted(query, [candidate.evidence for candidate in chosen]):
        return _no_evidence("The best passages are in another language and lack a name of the question.")
    if _only_names(query, chosen):
        return _no_evidence("No passage has both what the question asks for and the name that it asks about.")
    if lacking := _other_kind(query, chosen):
        return lacking
    if share >= ENOUGH:
        return None
    hard = [m for m, facet in zip(met, query.facets, strict=True) if facet.weight == 1]
    if len(hard) >= _LONG and sum(m >= _MET for m in hard) >= _MANY and share >= ENOUGH_OF_LONG:
        return None
    item = (
        _counts_named(query, chosen[0])
        or _is_row_of_place(query, chosen[0])
        or any(
            facet.others and candidate.matched[i] >= _MET
            for candidate in chosen
            for i, facet in enumerate(query.facets)
        )
    )
    return None if item and share >= ENOUGH_WITH_ITEM else _too_little(share, ENOUGH_WITH_ITEM if item else ENOUGH)


def _other_kind(query: Query, chosen: Sequence[Candidate]) -> Decline | None:
    """The quotes have not the kind of thing that is asked for: a figure, a number of that, one of that time."""
    if not any(_has_asked_figure(query, one) for one in chosen):
        return _no_evidence("No passage that speaks of it has a figure, which is what the question asks for.")
    if not _has_counted(query, chosen):
        return _no_evidence("No passage speaks of what the question wants the number of.")
    if _of_other_years(query, chosen):
        return Decline("no_such_period", "The passages are of other years than the one that the question names.")
    return None


def _has_asked_figure(query: Query, one: Candidate) -> bool:
    """The quote has a figure, where nothing but one is the answer; the number of a name ("Microsoft 365") is none."""
    if not query.counted or one.span.row is not None or one.span.rows:
        return True
    if _SAID_IN_WORDS.search(one.text):
        return True
    if query.count:
        return has_figure(query, one)
    return _FIGURE.search(without_periods(_NUMBERED_NAME.sub(" ", one.text))) is not None


def _has_counted(query: Query, chosen: Sequence[Candidate]) -> bool:
    """A quote has, in any words, what the question wants the number of; or nothing tells, as in another language."""
    if not query.counts or any(is_foreign(query.language, one.evidence) for one in chosen):
        return True
    return any(one.reached[at] >= _TOUCHED for one in chosen for at in query.counts)


def _of_other_years(query: Query, chosen: Sequence[Candidate]) -> bool:
    """Everything quoted is of other years than those of the question, as far as one can see."""
    if not query.years or not query.counted:
        return False
    for one in chosen:
        item = one.evidence
        said = f"{item.header} {item.period_label} {item.period_end} {item.published} {item.table_head} {item.text}"
        years = {int(year) for year in _YEAR.findall(said)}
        if not years or any(abs(year - asked) <= 1 for year in years for asked in query.years):
            return False
    return True


def _no_evidence(detail: str) -> Decline:
    return Decline("no_evidence", detail)


def _too_little(share: float, least: float) -> Decline:
    return _no_evidence(f"The best quotes meet {share:.0%} of the question; {least:.0%} is the least.")


def _asks_something(query: Query) -> bool:
    """There is a word to go by: letters alone ("x", "a b") ask for nothing."""
    return any(facet.others or any(len(word) > 1 or CJK.search(word) for word in facet.own) for facet in query.facets)


def _unsaid_qualifier(task: Task, query: Query) -> str:
    """The word of the question that says of what the item is and that no passage in its language has: the item alone,
    which is the whole company's, would be no answer. Empty where there is none."""
    own = [item for item in task.evidence if not is_foreign(query.language, item)]
    told = [at for at in qualifiers(query) if not _GENERAL.intersection(query.facets[at].own)]
    told = [at for at in told if not query.names.intersection(query.facets[at].own) and _stands_before(task, query, at)]
    if not told or len(own) < len(task.evidence):
        return ""
    text = "\n".join(f"{item.header}\n{item.table_head}\n{item.text}" for item in own)
    line, bare = f" {' '.join(terms(text))} ", normalise(text)
    unsaid = (" ".join(query.facets[at].own) for at in told if not meets(query.facets[at], line, False))
    return next((said for said in unsaid if said.replace(" ", "") not in bare), "")


def lacks_qualifier(query: Query, chosen: Sequence[Candidate]) -> bool:
    """All quotes are of the other language and none has the word of the question that says of what its item is, where
    its gloss is known: the revenue of the whole company is no answer to what its cars brought in."""
    told = [
        at
        for at in qualifiers(query)
        if any(not QUESTION_WORDS.issuperset(one) for one in query.facets[at].gloss)
        and not (_GENERAL | query.names).intersection(query.facets[at].own)
    ]
    abroad = all(is_foreign(query.language, one.evidence) for one in chosen)
    return abroad and bool(told) and not any(_has_all(one, told) for one in chosen)


def _has_all(one: Candidate, wanted: Sequence[int]) -> bool:
    """The quote, or what stands above it, has all of these facets."""
    return all(one.reached[at] >= REACHED for at in wanted)


def _stands_before(task: Task, query: Query, at: int) -> bool:
    """The question has the word in front of the next one as a noun has another: "its vaccine revenue", 疫苗销售收入."""
    text = normalise(task.question)
    word, following = query.facets[at].own[-1], query.facets[at + 1].own[0]
    if CJK.search(word):
        return re.search(rf"{re.escape(word)}(?:业务|板块|分部|部门)?的?{re.escape(following)}", text) is not None
    before, after = re.escape(word[:-1]), re.escape(following[:-1])
    return re.search(rf"(?:['’]s?|\b(?:the|its|their))\s+(?:[\w-]+\s+)?{before}\w*\s+{after}", text) is not None


def _weight(query: Query, facet: Facet) -> float:
    if facet.others:
        return _ITEM
    if query.names.intersection(facet.own):
        return _NAME
    return _SOFT if facet.weight < 1 else _WORD


def _only_names(query: Query, chosen: Sequence[Candidate]) -> bool:
    """No quote meets both what the question asks and, in its passage, whom or what it asks it about.

    Of two quotes one may have the name and the other the rest, and they have nothing to do with one another.
    """
    named = [bool(query.names.intersection(facet.own)) for facet in query.facets]
    content = [at for at, facet in enumerate(query.facets) if facet.weight == 1 and not named[at]]
    if not content:
        return False
    touching = [
        one for one in chosen if max(one.reached[at] for at in content) >= _TOUCHED or _counts_named(query, one)
    ]
    return not any(not any(named) or _has_name(query, one.evidence) for one in touching)


def _counts_named(query: Query, one: Candidate) -> bool:
    """A figure is asked for of what is named ("the BodyArmor brand"), and the quote has a figure beside that name: what
    happened to it is called otherwise. A company or a place is named all over its papers."""
    named = {stem(name) for name in query.names - query.known} - place_terms()
    own = [at for at, facet in enumerate(query.facets) if named.intersection(facet.own)]
    return query.counted and bool(one.features.get("figure")) and any(one.matched[at] >= _MET for at in own)


def _is_row_of_place(query: Query, one: Candidate) -> bool:
    """An amount or a share is asked for of a place, and the label of the row is that place and nothing more: tables by
    country say in their title, or not at all, what their figures are of."""
    row = one.span.row
    if row is None or query.count or not query.wants_figure or not place_terms().issuperset(terms(row.label)):
        return False
    return any(m >= _MET and place_terms().issuperset(f.own) for m, f in zip(one.matched, query.facets, strict=True))


def keep_named(query: Query, ranked: Sequence[Candidate]) -> list[Candidate]:
    """Without the quotes whose passage has not half of a name of several words, where another passage has all of it.

    Where quotes are in two languages a name of one word tells them apart as well: words in common do so less.
    """
    names = query.names - query.known
    mixed = len({is_foreign(query.language, one.evidence) for one in ranked}) > 1
    if len(names) < (1 if mixed else _SEVERAL):
        return list(ranked)
    had: dict[int, float] = {}
    for one in ranked:
        if one.evidence.number not in had:
            item = one.evidence
            said = set(words(f"{item.header} {item.company} {item.text}")) | _glossed_words([item], query)
            had[item.number] = sum(name in said or stem(name) in said or _alias_in(name, said) for name in names)
    if max(had.values(), default=0) < len(names):
        return list(ranked)
    return [one for one in ranked if had[one.evidence.number] >= len(names) / 2]


def _has_name(query: Query, item: Evidence) -> bool:
    said = set(words(f"{item.header} {item.company} {item.text}")) | _glossed_words([item], query)
    return any(name in said or stem(name) in said or _alias_in(name, said) for name in query.names)


def _unknown(query: Query, facet: Facet) -> bool:
    """Nobody knows what it is called in the other language; a name is looked for as it is."""
    return not facet.gloss and not facet.others and not query.names.intersection(facet.own)


def _names_known(task: Task, query: Query) -> bool:
    """The evidence is about a company that the question names, or every name of the question is somewhere in it.

    An abbreviation of a financial item is no name.
    """
    if query.known:
        return True
    said = set(words(" ".join(f"{item.header} {item.company} {item.text}" for item in task.evidence)))
    items = {word for facet in query.facets if facet.others for word in facet.own}
    if all(name in said or stem(name) in items or _alias_in(name, said) for name in query.names):
        return True
    called = _glossed_words(task.evidence, query)
    return all(
        name in said or stem(name) in items or stem(name) in called or _alias_in(name, said) for name in query.names
    )


def _names_quoted(query: Query, quoted: Sequence[Evidence]) -> bool:
    """The quoted passages of the other language have every name that has a gloss: too little else ties them to it."""
    if query.known:
        return True
    named = {
        word for facet in query.facets if facet.gloss and query.names.intersection(facet.own) for word in facet.own
    }
    said = set(words(" ".join(f"{item.header} {item.text}" for item in quoted)))
    return all(word in said for word in named - _glossed_words(quoted, query))


def _glossed_words(evidence: Sequence[Evidence], query: Query) -> set[str]:
    """Words of the question that evidence in the other language has by their gloss."""
    lines = []
    for item in evidence:
        if is_foreign(query.language, item):
            found = terms(f"{item.header} {item.company} {item.text}")
            lines.append((f" {' '.join(found)} ", "".join(found)))
    glossed = (
        facet for facet in query.facets if any(has_expression(one, *line) for one in facet.gloss for line in lines)
    )
    return {word for facet in glossed for word in facet.own}


def _alias_in(name: str, said: set[str]) -> bool:
    """A well-known company is called otherwise: GOOGL for Google."""
    return any(any(one <= said for one in names) for names in _known_names().get(name, ()))


@cache
def _known_names() -> dict[str, list[tuple[frozenset[str], ...]]]:
    """Each word of a well-known company's names and its ticker -> all its names, each as its words."""
    found: dict[str, list[tuple[frozenset[str], ...]]] = {}
    for company in known_companies():
        called = (*company.names.get("en", ()), company.ticker)
        names = tuple(frozenset(split) for one in called if (split := words(normalise(one))))
        for word in frozenset().union(*names):
            found.setdefault(word, []).append(names)
    return found


def _whom_or_when(question: str, query: Query, best: Candidate) -> Decline | None:
    """Which of the company and the period that the question names the best quote's passage does not name in the same
    words; None when it names both."""
    nobody = _no_evidence("The best passage does not name the company that the question names.")
    never = Decline("no_such_period", "The best passage is not of the period that the question names.")
    item = best.evidence
    text = normalise(f"{item.header} {item.company} {item.period_label} {item.table_head} {item.text}")
    if not query.names <= set(words(text)):
        return nobody
    if query.language == "zh" and not query.names and not (item.company or speaks_of_company(question, item)):
        return nobody
    if query.relative and not (query.years or query.days):
        return never  # the caller has read which period is meant, and it is not there
    label = normalise(f"{item.period_label} {item.header}")
    if query.quarter and not re.search(rf"\bq{query.quarter}\b", label):
        return never
    return None if all(str(year) in (label if query.quarter else text) for year in query.years) else never
