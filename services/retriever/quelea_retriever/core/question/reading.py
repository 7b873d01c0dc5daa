"""Reading a question: which company and which fiscal period it asks about, so which filings to search.

A wrong filter is worse than none: wherever the question leaves a doubt, the wider set is searched, and a note
says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from quelea_fintext.company_names import clean
from quelea_fintext.notices import Note, NoteReason
from quelea_fintext.text import CJK, language_of

from quelea_retriever.core.header import long_date
from quelea_retriever.core.model import Candidate, DocumentFacts, Reading
from quelea_retriever.core.question.catalogue import Catalogue, speaks_of
from quelea_retriever.core.question.companies import Mention
from quelea_retriever.core.question.comparatives import filings_with_comparatives
from quelea_retriever.core.question.dated_papers import published_on
from quelea_retriever.core.question.filings import (
    covering,
    is_by_readers,
    is_released,
    newest_first,
    overdue,
    period_text,
)
from quelea_retriever.core.question.horizon import Horizon, first_day, names_newer_period
from quelea_retriever.core.question.periods import Ask
from quelea_retriever.core.question.relative_periods import Periods
from quelea_retriever.core.question.time_intent import NEWEST_OF_EACH, TimeIntent, read_time_intent
from quelea_retriever.core.question.unknown_companies import may_speak_of, new_names, strange_names, unknown_names

MAX_GROUPS = 12
"""At most so many filings are retrieved one by one; a longer history is searched from its newest part."""


def read_query(query: str, catalogue: Catalogue, as_of: date) -> Reading:
    """What the question asks about; `as_of` is the day of the question: nothing ended later is "latest"."""
    text = clean(query[:4000])
    intent = read_time_intent(text)
    periods = Periods.read(text, as_of)
    asks = periods.of()
    if any(ask.said for ask in asks):
        # "last quarter" is a period here, whatever is newest, and "two quarters ago" is one.
        intent = replace(intent, latest=False, previous=False, multi=read_time_intent(periods.without(text)).multi)
    named = catalogue.book.find(text)
    called = tuple((catalogue.book.display[one.key], catalogue.book.called(one, text)) for one in named)
    keys = [mention.key for mention in named]
    present = [key for key in keys if catalogue.by_company.get(key) or catalogue.about(key)]
    missing = [key for key in keys if key not in present]
    if not keys:
        strangers = unknown_names(text)
        if not strangers and (read := _of_day(text, catalogue, (), as_of)):
            return replace(read, asks_latest=intent.now)
        if strangers:
            return _company_missing(strangers, strangers, asks, intent)
        if not catalogue.unowned and len(catalogue.by_company) == 1 and (asks or intent.latest or intent.multi):
            present = list(catalogue.by_company)  # one company is all there is, and the question speaks of its periods
        else:
            newer = names_newer_period(text, asks, catalogue.documents, catalogue.horizon, as_of, annual=intent.annual)
            return replace(_without_company(catalogue, asks, intent), period_newer=newer)
    if present and (read := _of_day(text, catalogue, present, as_of)):
        mentions = tuple(text[mention.start : mention.end] for mention in named)
        return replace(read, mentions=mentions, asks_latest=intent.now)
    if not present:
        names = tuple(name for key in missing for name in catalogue.book.names_of(key))
        shown = [catalogue.book.display[key] for key in missing]
        text = ", ".join(dict.fromkeys(name for _, name in called))
        return replace(_company_missing(shown, names, asks, intent), called=called, text=text).noting()
    if len(present) > 1 and NEWEST_OF_EACH.search(text):
        intent = replace(intent, multi=False)
    reading = _of_companies(
        catalogue, present, missing, periods, intent, language_of(query), _asked_of_each(named, periods)
    )
    return replace(
        reading,
        mentions=tuple(text[mention.start : mention.end] for mention in named),
        called=called,
        period_newer=all(_period_newer(text, periods, catalogue, key, intent) for key in present),
    ).noting()


def _of_day(text: str, catalogue: Catalogue, keys: Sequence[str], as_of: date) -> Reading | None:
    """The documents that the question calls by the day they came out; of these companies, or of any."""
    own = [one for key in keys for one in (*catalogue.by_company.get(key, ()), *catalogue.about(key))]
    found = published_on(text, own if keys else catalogue.documents, as_of)
    if not found:
        return None
    companies = tuple(catalogue.book.display[key] for key in keys)
    shown = ", ".join(dict.fromkeys(one.title or one.document_type for one in found[:MAX_GROUPS]))
    return Reading(
        companies=companies,
        groups=(_ids(found),),
        text=f"{long_date(found[0].published)} · {shown}",
        is_comparison=len(companies) > 1,
    )


def _period_newer(text: str, periods: Periods, catalogue: Catalogue, key: str, intent: TimeIntent) -> bool:
    asks = periods.of(catalogue.by_company.get(key, ()))
    own = (*catalogue.by_company.get(key, ()), *catalogue.about(key))
    return names_newer_period(text, asks, own, Horizon.of(own), periods.as_of, annual=intent.annual)


def settle_subject(
    query: str, reading: Reading, candidates: Sequence[Candidate]
) -> tuple[Reading, Sequence[Candidate]]:
    """Whom a question is about that names somebody without documents of his own; and the candidates that are, too.

    Another company's figures answer nothing that is asked of this one. So `company_missing` is taken back when what was
    found speaks of the company, and with it go the passages that do not: a document of no company (news) that names it
    is about it as far as anyone can tell, and a name that only looks like a company's (its missing_names are written as
    in the question) may be a product or segment of a stored one. A word that is merely written as a name is somebody's
    when documents of no company name it and no company's do, or when a stored company's name begins with it. Chinese
    has no capitals: there a word of no dictionary is a name, and nobody's here that nothing found holds, where all
    companies' documents that were found are Chinese.

    To be called with the candidates of the search, before the reading is answered.
    """
    if not reading.mentions and not reading.company_missing and (strangers := new_names(clean(query[:4000]))):
        return _of_new_names(reading, strangers, candidates)
    if not reading.companies:
        return reading, _without_others(strange_names(query), candidates)
    if not reading.company_missing:
        return reading, candidates
    names = reading.missing_names
    guessed = any(name != name.lower() or CJK.search(name) for name in names) and set(names) == set(reading.companies)
    naming = [one for one in candidates if _names_one_of(names, one) and (guessed or not one.facts.company)]
    if not naming:
        return reading, candidates
    own, loose = {one.passage.id for one in naming}, {one.facts.id for one in naming if not one.facts.company}
    language = language_of(query)
    kept = [
        one
        for one in candidates
        if one.passage.id in own
        or one.facts.id in loose
        or (not one.facts.company and one.facts.language not in ("", language))  # which writes the name otherwise
    ]
    return replace(reading, company_missing=False, notes=()), kept


def settle_period(
    query: str, asked: Reading, settled: Reading, candidates: Sequence[Candidate], catalogue: Catalogue, as_of: date
) -> Reading:
    """Whether the documents cover the period, of a name that turned out to be a product or segment of one company.

    Args:
        query: The question.
        asked: Its reading before `settle_subject`.
        settled: After it.
        candidates: Those that it kept.
        catalogue: The documents that may be searched.
        as_of: The day of the question.
    """
    owners = {one.facts.company for one in candidates}
    if not asked.company_missing or settled.company_missing or len(owners) != 1 or owners == {""}:
        return settled
    (owner,) = owners
    for name in asked.missing_names:
        query = query.replace(name, owner)
    of_owner = read_query(query, catalogue, as_of)
    return replace(settled, period_missing=True, notes=of_owner.notes) if of_owner.period_missing else settled


def _without_others(names: Sequence[str], candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    naming = [one for one in candidates if _names_one_of(names, one)]
    called = {one.facts.company for one in naming if _is_called(names, one.facts)}
    if called:
        return [one for one in candidates if one.facts.company in called]
    if not naming or any(one.facts.company for one in naming):
        return candidates
    return [one for one in candidates if not one.facts.company]


def _names_one_of(names: Sequence[str], candidate: Candidate) -> bool:
    said = _said_of(candidate) if names else ""
    return any(speaks_of(said, name) for name in names)


def _is_called(names: Sequence[str], facts: DocumentFacts) -> bool:
    own = (facts.company, *facts.company_aliases)
    return any(one[: len(name)] == name and not one[len(name) :][:1].isalnum() for name in names for one in own)


def _said_of(candidate: Candidate) -> str:
    facts, passage = candidate.facts, candidate.passage
    about = (facts.title, facts.company, *facts.company_aliases, passage.section, passage.table_head)
    return "\n".join((*about, passage.text))


def _labels(asks: Sequence[Ask]) -> tuple[str, ...]:
    return tuple(ask.label for ask in asks if ask.label and not ask.weak)


def _company_missing(shown: Sequence[str], names: Sequence[str], asks: Sequence[Ask], intent: TimeIntent) -> Reading:
    return Reading(
        companies=tuple(shown),
        periods=_labels(asks),
        text=", ".join(shown),
        notes=(Note(NoteReason.COMPANY_NOT_STORED, companies=tuple(shown)),),
        company_missing=True,
        is_comparison=len(shown) > 1 or intent.multi,
        asks_latest=intent.now,
        missing_names=tuple(names),
    )


def _of_new_names(
    reading: Reading, names: Sequence[str], candidates: Sequence[Candidate]
) -> tuple[Reading, Sequence[Candidate]]:
    companies = [one.facts.language for one in candidates if one.facts.company]
    if any(one not in ("", "zh") for one in companies) or not any(one.facts.language == "zh" for one in candidates):
        return reading, candidates  # other languages write the names otherwise
    naming = [one for one in candidates if any(may_speak_of(_said_of(one), name) for name in names)]
    if any(one.facts.company for one in naming):
        return reading, candidates
    if naming:
        return reading, [one for one in candidates if not one.facts.company]
    missing = replace(
        reading,
        companies=tuple(names),
        groups=(),
        text=", ".join(names),
        notes=(Note(NoteReason.COMPANY_NOT_STORED, companies=tuple(names)),),
        company_missing=True,
        period_missing=False,
        period_newer=False,
        missing_names=tuple(names),
    )
    return missing, candidates


def _without_company(catalogue: Catalogue, asks: Sequence[Ask], intent: TimeIntent) -> Reading:
    """No company is named: an exact quarter narrows to the filings of that quarter and to what is no filing.

    A period read from a document whose company is not known is too little to leave that document out.
    """
    exact = [ask for ask in asks if ask.kind != "year" and ask.year and not ask.weak]
    timed = [document for document in catalogue.documents if document.period and document.company]
    plain = Reading(periods=_labels(asks), is_comparison=intent.multi, asks_latest=intent.now)
    if not exact or not timed:
        return plain
    fitting = list(dict.fromkeys(document for ask in exact for document in covering(ask, timed, annual=False)))
    if not fitting:
        nothing_else = len(timed) == len(catalogue.documents)
        note = Note(NoteReason.PERIOD_NOT_STORED, periods=_labels(exact))
        return replace(plain, notes=(note,), period_missing=nothing_else)
    others = (d for d in catalogue.documents if not (d.period and d.company))
    kept = [*newest_first(fitting), *others]
    said = ", ".join(f"{ask.said} = {ask.label}" if ask.said else ask.label for ask in exact)
    return replace(plain, groups=(tuple(document.id for document in kept),), text=said)


def _of_companies(
    catalogue: Catalogue,
    present: Sequence[str],
    missing: Sequence[str],
    periods: Periods,
    intent: TimeIntent,
    language: str,
    asked: Mapping[str, frozenset[str]],
) -> Reading:
    reads = [_of_company(catalogue, key, periods, intent, language) for key in present]
    if asked:
        reads = [_without_others_periods(read, asked[key]) for key, read in zip(present, reads, strict=True)]
    groups: list[tuple[str, ...]] = []
    for turn in range(max(len(read.groups) for read in reads)):
        groups.extend(read.groups[turn] for read in reads if turn < len(read.groups))
    notes = [note for read in reads for note in read.notes]
    if missing:
        notes.append(Note(NoteReason.COMPANY_LEFT_OUT, tuple(catalogue.book.display[key] for key in missing)))
    return Reading(
        companies=tuple(catalogue.book.display[key] for key in (*present, *missing)),
        periods=tuple(dict.fromkeys(label for read in reads for label in read.periods)),
        groups=tuple(dict.fromkeys(groups)),
        text="; ".join(read.text for read in reads),
        notes=tuple(notes),
        period_missing=all(read.period_missing for read in reads),
        is_comparison=intent.multi or len(present) > 1 or len(groups) > 1,
        asks_latest=intent.now,
    )


def _asked_of_each(named: Sequence[Mention], periods: Periods) -> dict[str, frozenset[str]]:
    """The labels of the periods that are asked of each company, where each is named before its own: "Merlin's first
    quarter against Kestrel's fiscal 2024". Empty where all are asked of all, as far as anyone can tell."""
    found: dict[str, set[str]] = {mention.key: set() for mention in named}
    for ask in periods.named:
        before = [mention for mention in named if mention.end <= ask.start]
        if not before:
            return {}
        found[before[-1].key].add(ask.label)
    if len(found) < 2 or periods.relative or not all(found.values()):
        return {}
    return {key: frozenset(labels) for key, labels in found.items()}


def _without_others_periods(read: Reading, labels: frozenset[str]) -> Reading:
    """Without saying that there is no filing for a period that is asked of another company."""
    notes = []
    for note in read.notes:
        own = tuple(label for label in note.periods if label in labels)
        if note.reason != NoteReason.FILING_LEFT_OUT:
            notes.append(note)
        elif own:
            notes.append(replace(note, periods=own))
    return replace(read, notes=tuple(notes))


def _of_company(catalogue: Catalogue, key: str, periods: Periods, intent: TimeIntent, language: str) -> Reading:
    """One company's share of the reading."""
    as_of = periods.as_of
    name = catalogue.book.display[key]
    own = catalogue.by_company.get(key, ())
    about = catalogue.about(key)
    filings = [document for document in own if document.period]
    everything = Reading(
        groups=(_ids(_unsure(catalogue, own, about, intent, language)),), text=f"{name} · all documents"
    )
    if not filings:
        return everything
    known = [document for document in filings if is_released(document, as_of)] or filings
    asks = periods.of(known)
    chosen, unmatched = _by_period(asks, known, intent)
    if chosen:
        if periods.counted:  # a filing that was found prints the year before beside its own
            unmatched = [ask for ask in unmatched if not filings_with_comparatives([ask], chosen, intent.annual)]
        lost = _labels(unmatched)
        left_out = (Note(NoteReason.FILING_LEFT_OUT, (name,), lost),) if lost else ()
        notes = (*left_out, *_other_name(asks, chosen, intent))
        if len(chosen) == 1 and (intent.multi or intent.previous):
            chosen = _with_earlier(chosen, known, intent)
        loose = [document for document in (*own, *about) if not document.period] if _loosely_timed(asks) else []
        if periods.of_markets and not intent.form:
            loose += [document for document in (*about, *catalogue.unowned) if document not in loose]
        read = _reading_of(name, chosen, notes, loose)
        said = _relative_text(asks, known, intent)
        return replace(read, text=f"{name} · {said}") if said else read
    if _labels(asks):
        labels = _labels(asks)
        out = [document for document in filings if is_released(document, as_of)]
        if periods.counted and (
            later := filings_with_comparatives([ask for ask in asks if not ask.weak], out, intent.annual)
        ):
            shown = tuple(period_text(document, full=False) for document in later)
            note = Note(NoteReason.SHOWN_FOR_COMPARISON, (name,), labels, shown)
            return replace(_reading_of(name, later, (note,), []), periods=labels)
        relative = any(ask.said for ask in asks)
        kept = _unsure(catalogue, own, about, intent, language) if relative else [*own, *about]
        return Reading(
            groups=(_ids(kept),),
            periods=labels,
            text=f"{name} · {_relative_text(asks, [], intent) or ', '.join(labels)}",
            notes=(Note(NoteReason.FILING_NOT_STORED, (name,), labels),),
            period_missing=not relative or intent.form or not _news_since(asks, kept),
        )
    fitting = _of_form(known, intent)
    late = overdue(fitting, catalogue.not_of(key), as_of) if intent.latest else ()
    if intent.multi or (intent.latest and intent.previous):
        return replace(_reading_of(name, fitting, late, []), period_missing=bool(late))
    if intent.previous and len(fitting) > 1:
        return _reading_of(name, fitting[1:2], (), [])
    if intent.latest:
        return replace(_reading_of(name, fitting[:1], late, []), period_missing=bool(late))
    return everything


def _unsure(
    catalogue: Catalogue,
    own: Sequence[DocumentFacts],
    about: Sequence[DocumentFacts],
    intent: TimeIntent,
    language: str,
) -> list[DocumentFacts]:
    """All that may be meant. News in the question's language counts when the company's own papers are in another."""
    kept = [*own, *about]
    if not intent.form and not any(document.language in ("", language) for document in own):
        kept += [d for d in catalogue.unowned if d.language in ("", language) and d not in about]
    return kept


def _by_period(
    asks: Sequence[Ask], filings: Sequence[DocumentFacts], intent: TimeIntent
) -> tuple[list[DocumentFacts], list[Ask]]:
    """(filings of the periods asked for, newest first; the periods that no filing covers)."""
    chosen: list[DocumentFacts] = []
    unmatched: list[Ask] = []
    for ask in asks:
        fitting = covering(ask, filings, annual=intent.annual)
        chosen.extend(fitting)
        if not fitting:
            unmatched.append(ask)
    return list(newest_first(dict.fromkeys(chosen))), unmatched


def _other_name(asks: Sequence[Ask], chosen: Sequence[DocumentFacts], intent: TimeIntent) -> tuple[Note, ...]:
    """Which year was taken, where the question calls it by its end and the company otherwise."""
    for ask in asks:
        found = covering(ask, chosen, annual=intent.annual)
        if found and all(is_by_readers(document, ask) for document in found):
            year, end = period_text(found[0], full=False), found[0].period.end_date
            return (Note(NoteReason.YEAR_BY_ITS_END, periods=(ask.label,), filings=(year,), end=end),)
    return ()


def _news_since(asks: Sequence[Ask], documents: Sequence[DocumentFacts]) -> bool:
    """Something that reports no period, such as news, came out since one of the periods began: it may speak of it."""
    first = min(first_day(ask) for ask in asks).isoformat()
    return any(document.published >= first for document in documents if not document.period)


def _relative_text(asks: Sequence[Ask], filings: Sequence[DocumentFacts], intent: TimeIntent) -> str:
    """ "last quarter = 2023 Q3 (quarter ended September 30, 2023)"; empty where nothing is named relatively."""
    parts = []
    for ask in asks:
        fitting = newest_first(covering(ask, filings, annual=intent.annual))
        shown = ", ".join(period_text(document, full=len(fitting) == 1) for document in fitting[:MAX_GROUPS])
        parts.append(f"{ask.said} = {shown or (f'quarter ended {ask.label}' if ask.end else ask.label)}")
    return "; ".join(parts) if any(ask.said for ask in asks) else ""


def _with_earlier(
    chosen: list[DocumentFacts], filings: Sequence[DocumentFacts], intent: TimeIntent
) -> list[DocumentFacts]:
    """A named period and those before it: one for "the previous quarter", all for "previous quarters"."""
    first = chosen[0]
    earlier = [d for d in filings if d.period.end_date < first.period.end_date and _same_kind(d, first)]
    return [first, *(earlier if intent.multi else earlier[:1])]


def _same_kind(left: DocumentFacts, right: DocumentFacts) -> bool:
    return bool(left.period.fiscal_quarter) == bool(right.period.fiscal_quarter)


def _loosely_timed(asks: Sequence[Ask]) -> bool:
    """Years and single months: what reports no period may say as much of them."""
    return all(ask.kind == "year" or ask.alone for ask in asks)


def _of_form(filings: Sequence[DocumentFacts], intent: TimeIntent) -> list[DocumentFacts]:
    """Annual or quarterly filings where the question says which and there are such."""
    if intent.annual != intent.quarterly:
        fitting = [d for d in filings if (d.period.fiscal_quarter == 0) == intent.annual]
        if fitting:
            return fitting
    return list(filings)


def _ids(documents: Sequence[DocumentFacts]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(document.id for document in documents))


def _reading_of(
    name: str, filings: Sequence[DocumentFacts], notes: tuple[Note, ...], loose: Sequence[DocumentFacts]
) -> Reading:
    """A group for each filing, newest first; what has no period comes last, in a group of its own."""
    if len(filings) > MAX_GROUPS:
        notes += (Note(NoteReason.NEWEST_ONLY, count=MAX_GROUPS, total=len(filings)),)
        filings = filings[:MAX_GROUPS]
    groups: list[tuple[str, ...]] = [(document.id,) for document in filings]
    if loose:
        groups = [(*(document.id for document in filings), *_ids(loose))]
    return Reading(
        groups=tuple(groups),
        periods=tuple(document.period.label or document.period.file_label for document in filings),
        text=f"{name} · " + ", ".join(period_text(document, full=len(filings) == 1) for document in filings),
        notes=notes,
    )
