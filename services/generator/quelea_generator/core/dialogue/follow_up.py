"""A follow-up made to stand alone by rules: what it says replaces its like in the former question, the rest stays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.times.period_words import normalise_periods

from quelea_generator.core.dialogue.parts import (
    Part,
    Parts,
    end_of_modifiers,
    is_plain_name,
    is_segment,
    read_parts,
    topic_of,
)
from quelea_generator.core.dialogue.periods import FoundPeriod, NamedPeriod, period_of_day
from quelea_generator.core.dialogue.phrases import (
    add_to_question,
    compose_question,
    insert_before_end,
    join_names,
    phrase,
    phrase_period,
    subject_of,
)
from quelea_generator.core.model import Turn

MOST_TURNS = 8
"""Questions of the user that are looked back at."""
_LONGEST = 300
"""Characters of a question that may lean on others; a longer one says what it means."""

_CONNECTIVE = LANGUAGES.pattern("dialogue.connectives", r"^\s*(?:<>(?:\b|(?<=[\u4e00-\u9fff]))[\s,，]*)+")
_TAIL = LANGUAGES.pattern("dialogue.tails", r"(?:<>|[\s,，?？。.!！]){1,40}+$")
_HOW_IS = LANGUAGES.pattern("dialogue.how_is", r"<>\W*$", ignore_case=False)
_COMPARES = LANGUAGES.pattern("dialogue.compares")
_COMPARES_WITH = LANGUAGES.pattern("dialogue.compares_with")
_WHY = LANGUAGES.pattern("dialogue.why", r"^\W*<>\W*$")
_SENTENCE = LANGUAGES.pattern("dialogue.sentence")
_SUBJECT = LANGUAGES.pattern("dialogue.subject")
_POSSESSIVE = LANGUAGES.pattern("dialogue.possessives")
_PRONOUN = LANGUAGES.pattern("dialogue.pronouns")
_IT = LANGUAGES.pattern("dialogue.it")
"""May mean what was asked about, and not the company."""
_CHANGES = LANGUAGES.pattern("dialogue.changes")
"""What a figure does; paying, selling and buying is what a company does."""
_HELD_AGAINST = LANGUAGES.pattern("dialogue.held_against")
_GROWS = LANGUAGES.pattern("dialogue.grows", r"^<>", ignore_case=False)
_POINTS = LANGUAGES.pattern("dialogue.points")
_DEFINES = LANGUAGES.pattern("dialogue.defines")
_NOW = LANGUAGES.pattern("dialogue.now")
_GOES_ON = LANGUAGES.pattern("dialogue.goes_on", "<>$")
_SAME = LANGUAGES.pattern("dialogue.same")
_WHOLE = LANGUAGES.pattern("dialogue.whole", ignore_case=False)
_FIGURE = LANGUAGES.pattern("dialogue.figures", ".+?(?P<item><>)")
_SHARES = {language: tuple(said) for language, said in LANGUAGES.of("asked.share").items()}
"""What begins a question for a part: "as a share of revenue?"."""
_WHOLE_FIGURES = LANGUAGES.words("dialogue.whole_figures")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question as it stands alone; leans: whether it had to be made so."""

    text: str
    leans: bool


def stand_alone(question: str, history: tuple[Turn, ...], as_of: date, companies: tuple[str, ...] = ()) -> FollowUp:
    """The question with what it takes from the user's earlier ones; unchanged when it leans on none.

    Args:
        question: The user's newest.
        history: The conversation before it.
        as_of: The day of the question: relative periods count from it when no earlier question has a period.
        companies: Names of companies by a catalogue, as question and history write them; without any, and where a text
            has none of them, names are guessed.
    """
    earlier = [turn.text.strip() for turn in history if turn.role == "user" and turn.text.strip()][-MOST_TURNS:]
    if not earlier:
        return FollowUp(question, leans=False)
    first = earlier[0] if _COMPARES.search(earlier[0]) else _CONNECTIVE.sub("", earlier[0])
    # The turns before "And Intel's revenue?" may be gone.
    found = FollowUp(normalise_periods(first or earlier[0]), leans=False)
    part = ""  # of what the whole was asked for: "And Services?" after it is another part
    for turn in map(normalise_periods, [*earlier[1:], question.strip()]):
        if len(turn) > _LONGEST:
            found, part = FollowUp(turn, leans=False), ""
            continue
        base, other = found.text, read_parts(turn, companies)
        found = _merge(part if part and other.topics and not other.sure else base, turn, as_of, companies)
        part = base if _is_total(turn) else ""
    return found if found.leans else FollowUp(question.strip(), leans=False)


def _merge(base_text: str, question: str, as_of: date, known: tuple[str, ...]) -> FollowUp:
    if len(base_text) > 2 * _LONGEST:
        return FollowUp(question, leans=False)
    said, base = read_parts(question, known), read_parts(base_text, known)
    if not _leans(question, said, base):
        return FollowUp(question, leans=False)
    chinese = said.language == "zh" or (not re.search("[A-Za-z]", question) and base.language == "zh")
    language = "zh" if chinese else "en"
    if _WHY.match(question):
        end = base_text.rstrip(" ?？.。")
        return FollowUp(phrase("why", language, question=end), leans=True)
    if (
        said.companies
        and not (said.items or said.periods or said.shift)
        and _COMPARES_WITH.search(question)
        and base.items
    ):
        others = join_names((part.text for part in said.companies), language)
        end = base_text.rstrip(" ?？.。")
        return FollowUp(phrase("compared", language, question=end, other=others), leans=True)
    fragment = _TAIL.sub("", _CONNECTIVE.sub("", question))
    if (
        said.items and base.items and fragment.lower().startswith(_SHARES[language])
    ):  # what was asked for, as a part of another item
        end = base_text.rstrip(" ?？.。")
        return FollowUp(phrase("share", language, question=end, whole=fragment), leans=True)
    if _SENTENCE.search(fragment) and not _SUBJECT.match(fragment):
        return FollowUp(_sentence(read_parts(_CONNECTIVE.sub("", question), known), base, as_of, chinese), leans=True)
    if _is_total(question) and base.items:
        return FollowUp(ask_for_total(base, chinese=base.language == "zh"), leans=True)
    compares = bool(_COMPARES.search(question))
    piece = read_parts(_SUBJECT.sub("", fragment), known)
    return FollowUp(_fragment(piece, base, as_of, compares, chinese, question), leans=True)


def _is_total(question: str) -> bool:
    return TOTAL.fullmatch(_TAIL.sub("", _CONNECTIVE.sub("", question)).strip()) is not None


def _leans(question: str, said: Parts, base: Parts) -> bool:
    names_both = bool(said.companies and said.items)
    if _HOW_IS.search(question) and not (said.sure or said.items or said.periods or said.shift):
        return bool(_CONNECTIVE.match(question) or _PRONOUN.search(question))
    if said.companies and not said.items and base.items and _COMPARES_WITH.search(question) and base.companies:
        return True
    if _WHY.match(question):
        return True
    fragment = _TAIL.sub("", _CONNECTIVE.sub("", question))
    starts = bool(_CONNECTIVE.match(question)) or bool(_GOES_ON.search(question.rstrip(" ?？")))
    if names_both and _SENTENCE.search(fragment):
        return starts and not said.periods and not said.shift and bool(base.periods) and not _NOW.search(question)
    if starts or not _SENTENCE.search(fragment):
        return not names_both or starts
    if said.companies:
        return not said.items and bool(base.items) and _compares_it(question)
    if _POSSESSIVE.search(question) or _PRONOUN.search(question) or _POINTS.search(question):
        return True
    if not base.companies or _DEFINES.search(question):
        return False
    return bool(said.items or said.periods or said.shift) or len(fragment) <= 60


def _compares_it(question: str) -> bool:
    """It is held against another company's: "Was it higher than Intel's?"."""
    return _HELD_AGAINST.search(question) is not None


# A piece of a question: "and the year before?", "and Microsoft?", "毛利率呢"


def _fragment(said: Parts, base: Parts, as_of: date, compares: bool, chinese: bool, question: str) -> str:
    fragment, language = said.text, "zh" if chinese else "en"
    period = resolve_period(said, base, as_of)
    if said.shift and said.shift.same and (base.periods or compares):
        compares = compares or not base.periods or not _SAME.search(fragment)
    if compares and not said.companies and not said.items:
        other = period.text(language) if period else fragment
        end = base.text.rstrip(" ?？.。")
        return phrase("compared", language, question=end, other=other)
    item = said.items[0].text if said.items else ""
    topic = topic_of(said, base)
    if topic and item and fragment[topic.end : said.items[0].start].isspace():
        item = fragment[topic.start : said.items[0].end]
    companies = () if topic else said.companies
    company = join_names((part.text for part in companies), language)
    bare = not (topic or company or item or period)
    if bare and is_plain_name(fragment) and base.companies and base.companies[0].text.islower():
        company = fragment  # who writes one name small writes the other so
    rest = "" if item or company or period or topic else fragment
    if said.language != base.language and base.items and not rest and not topic:
        return compose_question(base, company, item, period, chinese)
    found = _replace_parts(said, base, company, item, topic, period, rest)
    if found is None:
        return phrase("about", language, question=question.rstrip("?？") if chinese else question, other=base.text)
    return found


def _replace_parts(
    said: Parts, base: Parts, company: str, item: str, topic: Part | None, period: NamedPeriod | None, rest: str
) -> str | None:
    """The former question with these words in place of its own, those that it has no place for added; None: nothing
    could be replaced or added."""
    edits: list[tuple[int, int, str]] = []
    if company and base.companies:
        edits.append((base.companies[0].start, base.companies[-1].end, company))
    if topic and base.topics and not item:
        edits.append((base.topics[0].start, base.topics[0].end, topic.text))
    if item and base.items:
        edits.append((*_item_span(base, item, with_topic=topic is not None), item))
    elif is_plain_name(rest) and base.items and (modified := end_of_modifiers(base.items[0])):
        edits.append((base.items[0].start, modified, rest))  # "for gaming?" after data center revenue
        rest = ""
    span = find_period_span(base)
    if period and span and base.periods:
        edits.append((*span, phrase_periods(said, base, period)))
    elif period and span:
        edits.append((*span, phrase_period(base.text[: span[0]], period, chinese=base.language == "zh")))
    text = base.text
    for first, last, new in sorted(edits, reverse=True):
        text = text[:first] + new + text[last:]
    added = [one for one, place in ((company, base.companies), (item, base.items)) if one and not place]
    if period and not span:
        added.append(period.text(base.language))
    if rest:
        added.append(rest)
    return add_to_question(text, added, base.language) if edits or added else None


def _item_span(base: Parts, item: str, *, with_topic: bool) -> tuple[int, int]:
    """Where the former question has the item that this one replaces, with the product before it where that goes too."""
    old = base.items[0]
    before = [one for one in base.topics if not base.text[one.end : old.start].strip()]
    if before and is_segment(item) and not is_segment(old.text):
        return before[-1].start, before[-1].end
    return before[-1].start if with_topic and before else old.start, old.end


# A whole sentence that points back: "What was its gross margin?", "它的净利润是多少？"


def _sentence(said: Parts, base: Parts, as_of: date, chinese: bool) -> str:
    question = said.text
    company = base.companies[0].text if base.companies else ""
    period = resolve_period(said, base, as_of)
    text = question
    replaced = False
    if said.shift and period and not said.periods:
        text = (
            text[: said.shift.start] + phrase_period(text[: said.shift.start], period, chinese) + text[said.shift.end :]
        )
        replaced = True
    elif said.periods and period and said.periods[0].period.year == 0:
        one = said.periods[0]
        text = text[: one.start] + period.text("zh" if chinese else "en") + text[one.end :]
    if company and said.companies and _compares_it(text):
        return _capital(_HELD_AGAINST.sub(subject_of(base, company, chinese), text, count=1))
    if company and not said.companies:
        subject = subject_of(base, company, chinese) if not said.items and base.items else ""
        text, owns = _POSSESSIVE.subn(phrase("possessive", "zh" if chinese else "en", company=company), text)
        it = _IT.search(text) if subject and _CHANGES.search(text) else None
        text, times = (_IT if it else _PRONOUN).subn(subject if it else company, text, count=1)
        replaced = replaced or bool(it)
        if not owns and not times and subject and chinese and _GROWS.match(text):
            return subject + text
        if not owns and not times:
            text = f"{company}{text}" if chinese else insert_before_end(text, f"at {company}")
    if not said.periods and not said.shift and not replaced and base.periods and not _NOW.search(question):
        time = base.periods[0].period.phrase("zh" if chinese else "en")
        at = text.find(company) + len(company) if company and company in text else 0
        text = text[:at] + time + text[at:] if chinese else insert_before_end(text, f"in {time}")
    return _capital(text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_FULL_YEAR = LANGUAGES.pattern("dialogue.full_year")
_JOIN = LANGUAGES.pattern("dialogue.between_periods", r"[\s,，、]*+(?:<>|、|-|–)*+[\s,，、]*", ignore_case=False)


def resolve_period(said: Parts, base: Parts, as_of: date) -> NamedPeriod | None:
    """The period that the follow-up names, counted from the former question's."""
    before = [found.period for found in base.periods]
    if not before and base.shift and not base.shift.same:
        counted = _shift_period(period_of_day(as_of, base.shift.kind), base)
        before = [counted] if counted else []
    if before and not said.periods and _FULL_YEAR.fullmatch(said.text.strip()):
        year = before[0].year or (before[0].day.year if before[0].day else as_of.year)
        return NamedPeriod("year", year, fiscal=before[0].fiscal)
    if said.periods:
        own = said.periods[0].period
        if before:
            return before[0].joined(own)
        return own if own.year else NamedPeriod(own.kind, as_of.year, own.part, own.fiscal)
    if said.shift is None:
        return None
    if said.shift.this:
        return period_of_day(
            as_of, said.shift.kind if "quarter" not in said.text and "季" not in said.text else "quarter"
        )
    if not before:
        return _shift_period(period_of_day(as_of, said.shift.kind), said)
    backwards = said.shift.years + said.shift.quarters + said.shift.months < 0
    counted = _shift_period((min if backwards else max)(before, key=lambda one: one.order), said)
    return counted or _shift_period(period_of_day(as_of, said.shift.kind), said)


def phrase_periods(said: Parts, base: Parts, period: NamedPeriod) -> str:
    """Every period that the follow-up names, in words for the former question; `period` where it names but one."""
    if len(said.periods) < 2:
        return period.text(base.language)
    year = next((one.period for one in said.periods if one.period.year), None)
    named = []
    for one in said.periods:
        begun = year.joined(one.period) if year else one.period
        named.append((base.periods[0].period.joined(begun) if base.periods else begun).text(base.language))
    return join_names(dict.fromkeys(named), base.language)


def _shift_period(start: NamedPeriod, parts: Parts) -> NamedPeriod | None:
    shift = parts.shift
    return start.moved(shift.years, shift.quarters, shift.months) if shift else None


def find_period_span(base: Parts) -> tuple[int, int] | tuple[()]:
    """Where the former question names its period; of several that follow one another all of them."""
    spans: list[FoundPeriod | Part] = list(base.periods)
    if not spans and base.shift and not base.shift.same:
        return base.shift.start, base.shift.end
    if not spans:
        return ()
    start, end = spans[0].start, spans[0].end
    for one in spans[1:]:
        if not _JOIN.fullmatch(base.text[end : one.start]):
            break
        end = one.end
    return start, end


TOTAL = LANGUAGES.pattern("dialogue.total")
"""Of the whole company, where a part of it was asked about."""


def ask_for_total(base: Parts, *, chinese: bool) -> str:
    """The former question without the product or segment that it was about; it may have named none."""
    text, item = base.text, base.items[0]
    word = item.text.lower()
    for topic in reversed([one for one in base.topics if one.end <= item.start]):
        end = topic.end + len(text[topic.end :]) - len(text[topic.end :].lstrip())
        text = text[: topic.start] + text[end:]
        item = Part(item.start - (end - topic.start), item.end - (end - topic.start), item.text)
    if _WHOLE.match(word):
        return text
    if chinese:
        part = _FIGURE.fullmatch(item.text)
        of = part["item"] if part and part["item"] in _WHOLE_FIGURES else item.text
        return f"{text[: item.start]}总{of}{text[item.end :]}"
    of = re.search(r"(?:(?:net|operating|gross)\s+)?\S+$", item.text)
    return f"{text[: item.start]}total {of.group() if of else item.text}{text[item.end :]}"
