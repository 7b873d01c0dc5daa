"""Words put together into a question: a company, an item, a period, and what is added to a former question."""

from __future__ import annotations

import re
from collections.abc import Iterable

from quelea_fintext.languages import LANGUAGES

from quelea_generator.core.dialogue.parts import Parts
from quelea_generator.core.dialogue.periods import NamedPeriod

_PHRASES: dict[str, dict[str, str]] = LANGUAGES.of("dialogue.phrases")


def phrase(key: str, language: str, **parts: str) -> str:
    """A phrase of a language with its parts put in."""
    return _PHRASES[language][key].format(**parts)


def join_names(names: Iterable[str], language: str) -> str:
    """ "Intel and Apple", "英特尔和苹果"."""
    return _PHRASES[language]["and"].join(names)


def add_to_question(text: str, added: list[str], language: str) -> str:
    """A question that says these things more, at its end; in Chinese at its beginning."""
    for one in added:
        end = text.rstrip(" ?？.。")
        if language == "zh":
            text = f"{one}：{end}？" if not re.match(r"\d", one) else f"{one}{end}？"
        else:
            period = bool(re.match(r"(?:the |fiscal |[QH]\d|\d{4}|[A-Z][a-z]+ \d)", one))
            led = re.match(r"(?:in|for|on|at|of|by|during|from|since|over|under|with|without|to)\s", one, re.IGNORECASE)
            text = f"{end} {'' if led else 'in ' if period else 'for '}{one}?"
    return text


def compose_question(base: Parts, company: str, item: str, period: NamedPeriod | None, chinese: bool) -> str:
    """In the language of the follow-up, which is another one than the former question's."""
    language = "zh" if chinese else "en"
    company = company or (base.companies[0].text if base.companies else "")
    item = item or base.items[0].text
    when = period or (base.periods[0].period if base.periods else None)
    time = when.phrase(language) if when else ""
    if chinese:
        return f"{company}{' ' if company.isascii() and time else ''}{time}的{item}是多少？"
    return f"What was the {item}{f' of {company}' if company else ''}{f' in {time}' if time else ''}?"


def phrase_period(before: str, period: NamedPeriod, chinese: bool) -> str:
    """A period as it stands after these words."""
    if chinese:
        return period.text("zh")
    leads = re.search(r"\b(?:in|for|of|with|to|than|from|versus|during)\s*$", before, re.IGNORECASE)
    return period.text("en") if leads else f"in {period.text('en')}"


def insert_before_end(text: str, added: str) -> str:
    """The same question with words more before its mark."""
    end = text.rstrip(" ?.!")
    return f"{end} {added}{text.rstrip()[len(end) :].strip() or '?'}"


def subject_of(base: Parts, company: str, chinese: bool) -> str:
    """What the former question was about, as a noun."""
    item = base.items[0].text
    time = base.periods[0].period.text("zh" if chinese else "en") if base.periods else ""
    if chinese:
        return f"{company}{time}的{item}"
    return f"{company}'s {item}{f' in {time}' if time else ''}"
