"""What a question asks: its units of meaning, the kind of answer it wants, the period it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, lru_cache
from itertools import pairwise, product

from quelea_fintext.abbreviations import find_abbreviations, is_made_of, meanings
from quelea_fintext.asked_lines import read_asked_lines, without_periods
from quelea_fintext.dates import MONTHS, find_dates
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.line_items import Expression, LineItem, line_items
from quelea_fintext.metrics import metrics
from quelea_fintext.nouns import in_nouns
from quelea_fintext.text import language_of, normalise, stem, terms, words
from quelea_fintext.times.period_words import QUARTERS, months_asked, normalise_periods

from quelea_generator.core.extractive.glosses import find_glosses, is_foreign, names_company
from quelea_generator.core.extractive.vocabulary import QUESTION_WORDS, WEAK_WORDS
from quelea_generator.core.model import Evidence, Task

_SOFT_WEIGHT = 0.35
_MOST_FACETS = 40
"""A longer question is read by its first forty things: work grows with facets times spans."""

_OTHER = LANGUAGES.pattern("questions.other", ignore_case=False)
_MOVE = LANGUAGES.pattern("questions.move", ignore_case=False)
_REASON = LANGUAGES.pattern("questions.why", ignore_case=False)
_FORESEES = LANGUAGES.pattern("questions.foresees")
_PERCENT = LANGUAGES.pattern("questions.percent", r"<>|%", ignore_case=False)
_COUNT = LANGUAGES.pattern("questions.count", ignore_case=False)
_AMOUNT = LANGUAGES.pattern("questions.figure", ignore_case=False)
_MONEY = LANGUAGES.pattern("questions.money", ignore_case=False)
_OPINION = LANGUAGES.pattern("questions.opinion", ignore_case=False)
_COMPARE = LANGUAGES.pattern("questions.compare", ignore_case=False)
_BREAKDOWN = LANGUAGES.pattern("questions.breakdown", ignore_case=False)
_WHEN = LANGUAGES.pattern("questions.when", ignore_case=False)
_TO_REVENUE = LANGUAGES.pattern("questions.to_revenue", ignore_case=False)
_FORM = re.compile(r"\b(?:form )?(?:10-[KQ]|20-F|6-K|8-K)s?\b", re.IGNORECASE)
_HOW_MUCH = re.compile("(?<=[\u4e00-\u9fff])(?=(?:分别)?[是为有]多少)")
"""Where a Chinese question's matter ends: 净营收是多少 would be cut as 净营 · 收是 · 多少."""
_YES_NO = LANGUAGES.pattern("questions.yes_no", ignore_case=False)
_LATEST = LANGUAGES.pattern("questions.latest", ignore_case=False)
_RELATIVE = LANGUAGES.pattern("questions.relative", ignore_case=False)
_YEAR = re.compile(r"(?<![\d.,$])((?:19|20)\d\d)(?![\d]|[.,]\d)|(?<!\d)((?:19|20)\d\d)(?=年)")
_FISCAL = LANGUAGES.pattern("questions.fiscal", ignore_case=False)
_QUARTER = re.compile(
    r"(?<![a-z])q([1-4])(?=\b|20\d\d|fy)|\b(first|second|third|fourth)[ -](?:fiscal )?quarter|\b([1-4])q(?=\b|\d\d)"
    r"|([一二三四1-4])\s*(?:季[度报]|财季)|第([一二三四])季"
)
_KINDS = frozenset(LANGUAGES.words("questions.kinds"))
_MONTHS = frozenset(map(stem, MONTHS))
_TIMES = frozenset(
    stem(word) for word in (*MONTHS, *"one two four five seven eight ten eleven 一 二 四 五 七 八 十 十一".split())
)
"""Words of dates, which the other language writes in figures: where they count, only passages of the question's own
language have them, whatever those are about."""
Glosses = list[tuple[Expression, ...]]


@dataclass(frozen=True, slots=True)
class Facet:
    """One thing the question is about.

    Attributes:
        own: The words of the question.
        others: Expressions of the same meaning.
        weight: 1 for a word that must be met, less for one that only helps.
        blockers: Expressions that hold one of these and mean something else.
        gloss: What it is called in the other language, for evidence in that one.
        long: What an abbreviation stands for, in the evidence's own words.
    """

    own: Expression
    others: tuple[Expression, ...] = ()
    weight: float = 1.0
    blockers: tuple[Expression, ...] = ()
    gloss: tuple[Expression, ...] = ()
    long: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question, read."""

    language: str
    facets: tuple[Facet, ...]
    words: frozenset[str] = frozenset()
    """Every term of the question, asking words too."""
    pairs: frozenset[tuple[str, str]] = frozenset()
    """Neighbouring words of the question: a passage that has both side by side means the same thing by them."""
    names: frozenset[str] = frozenset()
    """Lower-case words of names in the question (proper nouns, tickers)."""
    spelled_out: frozenset[str] = frozenset()
    """Abbreviations of it that the evidence spells out: they are met by that, and are no names that must be said."""
    topic: str = ""
    """The word that a Chinese question begins with, where it is no item, no company of the evidence and no word of
    asking: in Chinese what is spoken of comes first, and no capital says that it is a name."""
    known: frozenset[str] = frozenset()
    """Those of them that name a company which the evidence is about."""
    percent: bool = False
    count: bool = False
    counts: tuple[int, ...] = ()
    """The facets whose number is asked for: the stores of "how many stores"."""
    amount: bool = False
    reason: bool = False
    foresees: bool = False
    """It asks for what is still to come."""
    other: bool = False
    """It asks for other things of a kind: a row of "other" items may be meant."""
    moves: bool = False
    """How something changed is asked for."""
    compares: bool = False
    breakdown: bool = False
    """Several items of one table are asked for: by segment, by product."""
    when: bool = False
    """A time is asked for: the head of a table may be the answer."""
    causes: tuple[Facet, ...] = ()
    """Where a reason is asked for: the items that move the one that is asked about."""
    latest: bool = False
    relative: bool = False
    """A period is named relative to the day of the question: last quarter."""
    yes_no: bool = False
    fiscal: bool = False
    """Its periods are said to be of the filer's calendar."""
    years: frozenset[int] = frozenset()
    quarter: int = 0
    months: int = 0
    days: tuple[date, ...] = field(default=())

    @property
    def wants_figure(self) -> bool:
        """A figure is likely to be the answer."""
        return self.percent or self.count or self.amount

    @property
    def counted(self) -> bool:
        """Nothing but a figure is the answer: no reason, account or yes is asked for."""
        return self.wants_figure and not (self.reason or self.yes_no or self.when)


def read_question(task: Task) -> Query:
    """Read a question against the evidence that came with it (whose companies are context, not content)."""
    question = _HOW_MUCH.sub(" ", _FORM.sub(" ", in_nouns(normalise_periods(task.question))))
    text = normalise(question)
    known = company_words(task)
    found = terms(_MONEY.sub(" ", without_periods(text)))
    kept = [word for word in found if not (word in known or word in _MONTHS or re.fullmatch(r"[\d.]+", word))]
    kept = _without_kinds(kept)
    quarter = _QUARTER.search(text)
    opinion = bool(_OPINION.search(text))
    reason = bool(_REASON.search(text))
    amount = bool(_AMOUNT.search(text)) and not opinion
    rate = amount and not reason and _names_rate(task.question)
    language = language_of(task.question)
    named = _names(question)
    meant = frozenset(name for name in named if stem(name) in known)
    called: Glosses = [() for _ in kept]
    abroad = [item for item in task.evidence if is_foreign(language, item)]
    if abroad:
        kept = [word for word in kept if word not in _TIMES]
        called = find_glosses(kept)
        companies = [item.company for item in abroad if item.company]
        ours = {word for word, gloss in zip(kept, called, strict=True) if names_company(gloss, companies)}
        meant |= frozenset(name for name in named if stem(name) in ours)
        pieces = [(word, gloss) for word, gloss in zip(kept, called, strict=True) if word not in ours]
        kept, called = [word for word, _ in pieces], [gloss for _, gloss in pieces]
    long = expand_abbreviations(question, task.evidence)
    facets = tuple(replace(facet, long=long.get(facet.own[0], ())) for facet in _facets(kept, called))
    spelled_out = frozenset(name for name in named if stem(name) in long)
    return Query(
        language=language,
        facets=facets,
        words=frozenset(kept),
        pairs=frozenset(pair for pair in pairwise(kept) if not QUESTION_WORDS.issuperset(pair)),
        names=named - spelled_out,
        spelled_out=spelled_out,
        topic=_topic(found, facets) if language == "zh" else "",
        known=meant,
        percent=bool(_PERCENT.search(text) or _TO_REVENUE.search(text)) or rate,
        count=bool(_COUNT.search(text)),
        counts=_counted(text, facets),
        amount=amount and not rate,
        reason=reason,
        foresees=bool(_FORESEES.search(text)),
        other=bool(_OTHER.search(text)),
        moves=bool(_MOVE.search(text)),
        compares=bool(_COMPARE.search(text)),
        when=bool(_WHEN.search(text)),
        breakdown=bool(_BREAKDOWN.search(text)),
        causes=_causes(kept) if reason else (),
        yes_no=bool(_YES_NO.search(text)),
        fiscal=bool(_FISCAL.search(text)),
        latest=bool(_LATEST.search(text)),
        relative=bool(_RELATIVE.search(text)),
        years=frozenset(int(m[1] or m[2]) for m in _YEAR.finditer(text)),
        quarter=_quarter(quarter) if quarter else 0,
        months=months_asked(text),
        days=tuple(found_date.day for found_date in find_dates(task.question)),
    )


@lru_cache(maxsize=256)
def _names_rate(question: str) -> bool:
    """A metric is asked for that is a percentage: a margin, a tax rate."""
    lines = read_asked_lines(question).lines
    return any(line.kind == "metric" and metrics()[line.id].unit == "percent" for line in lines)


def _counted(text: str, facets: Sequence[Facet]) -> tuple[int, ...]:
    """Where the words behind "how many" stand, up to one that names nothing ("how many paying customers did …"); none
    in Chinese, where nothing marks their end."""
    asked = _COUNT.search(text)
    if asked is None or language_of(text) == "zh":
        return ()
    places: list[int] = []
    for word in words(text[asked.end() :]):
        own = terms(word)
        found = next((at for at, facet in enumerate(facets) if facet.weight == 1 and {*own} & {*facet.own}), None)
        if found is not None:
            places.append(found)
        elif places:
            break
    return tuple(places)


def _topic(found: Sequence[str], facets: Sequence[Facet]) -> str:
    first = facets[0] if facets else None
    plain = first is not None and not first.others and first.weight == 1 and first.own == tuple(found[:1])
    return found[0] if plain and len(found[0]) > 1 else ""


def _facets(kept: list[str], called: Glosses) -> tuple[Facet, ...]:
    """Line items where the words make one, single words for the rest, each thing once."""
    facets: dict[LineItem | str, Facet] = {}
    at = 0
    while at < len(kept) and len(facets) < _MOST_FACETS:
        item, own = _line_item_at(kept, at)
        if item:
            before = facets.get(item)
            if before is None or len(own) > len(before.own):
                gloss = tuple(dict.fromkeys(one for these in called[at : at + len(own)] for one in these))
                facets[item] = replace(_facet(item, own), gloss=gloss)
            at += len(own)
            continue
        word = kept[at]
        at += 1
        if word not in QUESTION_WORDS:
            weight = _SOFT_WEIGHT if word in WEAK_WORDS else 1.0
            facets.setdefault(word, Facet((word,), (), weight, gloss=called[at - 1]))
    return tuple(facets.values())


def _without_kinds(kept: list[str]) -> list[str]:
    """Without the words that say what kind of thing stands before an item: the "segment" of "DCAI segment revenue"."""
    return [
        word
        for at, word in enumerate(kept)
        if not (at > 0 and word in _KINDS and kept[at - 1] not in QUESTION_WORDS and _line_item_at(kept, at + 1)[1])
    ]


def _causes(kept: list[str]) -> tuple[Facet, ...]:
    """What moves the line items of the question."""
    items = (item for at in range(len(kept)) if (item := _line_item_at(kept, at)[0]))
    parts = dict.fromkeys(key for item in items for key in item.made_of)
    by_key = {item.key: item for item in line_items()}
    return tuple(_facet(by_key[key], by_key[key].expressions[0]) for key in parts)


def _facet(item: LineItem, own: Expression) -> Facet:
    return Facet(own, tuple(one for one in item.expressions if one != own), blockers=_blockers(item))


def _line_item_at(kept: list[str], at: int) -> tuple[LineItem | None, Expression]:
    """The line item with the longest expression that begins here, and that expression."""
    known = _known_expressions()
    for length in range(min(max(map(len, known)), len(kept) - at), 0, -1):
        own = tuple(kept[at : at + length])
        if own in known:
            return known[own], own
    return None, ()


@cache
def _known_expressions() -> dict[Expression, LineItem]:
    found: dict[Expression, LineItem] = {}
    for item in line_items():
        for expression in item.expressions:
            found.setdefault(expression, item)
    return found


@cache
def _blockers(item: LineItem) -> tuple[Expression, ...]:
    """Expressions of other items that hold one of this item's: "cost of sales" is no "sales"."""
    mine = [f" {' '.join(one)} " for one in item.expressions]
    others = {one for other in line_items() if other is not item for one in other.expressions} - set(item.expressions)
    found = [one for one in others if any(line in f" {' '.join(one)} " for line in mine)]
    return tuple(sorted(found, key=lambda one: (-len(one), one)))


def _names(question: str) -> frozenset[str]:
    """Words written like names: capitals inside a sentence, tickers. Chinese has no such sign."""
    found: set[str] = set()
    for match in re.finditer(r"(?<![A-Za-z])[A-Z][A-Za-z&.]*[A-Za-z]", question):
        word = match.group()
        first = match.start() == 0 or question[: match.start()].rstrip().endswith((".", "?", "!", ":"))
        if word.lower().rstrip(".") in MONTHS:
            continue  # a time, which no passage in the other language has by that name
        if (not first or word.isupper()) and stem(word.lower()) not in QUESTION_WORDS:
            found.update(part for part in words(word) if len(part) > 1)
    return frozenset(found)


def _quarter(match: re.Match[str]) -> int:
    said = next(group for group in match.groups() if group)
    return QUARTERS[said]


_FULL_NAME = re.compile(r"[\u3400-\u9fff（）()]{2,40}?(?:股份有限公司|有限责任公司|有限公司|集团公司)")


def company_words(task: Task) -> frozenset[str]:
    """Words of the companies that the evidence is about.

    A full Chinese name is one of them when the short one is its characters in order: 平安银行 of 平安银行股份有限公司.
    """
    known: set[str] = set()
    short = {item.company for item in task.evidence if item.company}
    for full in _FULL_NAME.findall(task.question):
        if any(_in_order(name, full) for name in short):
            known.update(terms(full))
    for item in task.evidence:
        known.update(terms(item.company))
        known.update(terms(item.header.split("·")[0]) if item.company and "·" in item.header else ())
        known.update(_written_together(item.company))
    return frozenset(known)


def _written_together(company: str) -> Iterator[str]:
    """Two or three words of a name on end as one, as many write them: ExxonMobil of Exxon Mobil Corporation."""
    split = [word for word in words(company) if word.isascii() and word.isalpha()]
    for at, count in product(range(len(split)), (2, 3)):
        if len(split[at : at + count]) == count:
            yield stem("".join(split[at : at + count]))


def _in_order(name: str, full: str) -> bool:
    rest = iter(full)
    return len(name) > 1 and all(letter in rest for letter in name)


_LABEL = re.compile(r"^[A-Z][A-Za-z&, -]{3,60}(?=\t| [$(]?\d)", re.MULTILINE)
_LINKS = frozenset("and of the for in to &".split())


def expand_abbreviations(question: str, evidence: Sequence[Evidence]) -> dict[str, tuple[Expression, ...]]:
    """Stemmed abbreviation -> what it stands for, as terms: by the evidence's definitions, else by the labels of its
    tables that are made of its letters.

    What is an item of finance anyway (EPS, R&D) is left to the line items.
    """
    known = {word for expression in _known_expressions() for word in expression}
    unknown = [one for one in find_abbreviations(question) if stem(one.lower()) not in known]
    if not unknown:
        return {}
    found = {short: set(longs) for short, longs in meanings(unknown, (item.text for item in evidence)).items()}
    labels = {match.group() for item in evidence if item.is_table for match in _LABEL.finditer(item.text)}
    for label in labels:
        words = [word.strip(",") for word in label.split() if word.lower() not in _LINKS]
        for short in unknown:
            if short not in found and is_made_of(short, words):
                found[short] = {label}
    return {
        stem(short.lower()): tuple(sorted({expression for long in longs if (expression := tuple(terms(long)))}))
        for short, longs in found.items()
    }
