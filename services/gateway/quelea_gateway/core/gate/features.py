"""What the gate looks at: how well the passages found cover what the question asks for, in a few plain numbers."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from quelea_fintext.dates import parse_iso
from quelea_fintext.glossary import gloss_phrases
from quelea_fintext.text import CJK, STOP_WORDS, language_of, normalise, stem, terms, words

from quelea_gateway.core.model import Passage, Reading, Retrieved

BEST = 5
"""Passages that coverage, names and dates are read from: what a reader mostly answers from."""

FEATURES = {
    "cosine": "best cosine of all that was searched; of best passages in another language with the encoder's gap added",
    "cosine_margin": "best cosine less the mean of the other passages'",
    "score": "fused score of the best passage",
    "score_margin": "fused score of the best passage less the mean of the next ones'",
    "sparse": "log(1 + best sparse (BM25) score)",
    "sparse_per_term": "best sparse score by the number of the question's words",
    "words_best": "share of all words of the question, names and numbers too, in the one passage that has most of them",
    "terms_covered": "share of the key terms that the best passages have, longer terms weighing more",
    "terms_best": "the same for the one passage that has most of them",
    "pairs_covered": "share of the pairs of neighbouring key terms that stand side by side in a best passage",
    "names_missing": "share of the names (companies, people, products, tickers) that no best passage has",
    "years_missing": "share of the years that no best passage has or is dated by",
    "numbers_missing": "share of the other numbers that no best passage has",
    "company_found": "1 when the question names a company that documents are stored of",
    "company_missing": "1 when it names one of which none is",
    "period_missing": "1 when it names a period that no document of its companies covers",
    "period_newer": "1 when that period ends after all that is stored",
    "latest_age": "log(1 + days since the newest of the best passages) when the question asks for the latest, else 0",
    "concentration": "share of the best passages that are of one document",
}
"""Name -> what it is. A calibration may weigh any of these."""

_NO_DATE_DAYS = 3 * 365
_ASKING = frozenset(
    stem(word)
    for word in """much many compare compared explain describe discuss change changed give show tell list state find
    value amount number figure percentage percent following year quarter month fiscal report reported according
    company latest recent recently newest current currently today now question answer information data include
    介绍 分析 说明 情况 公司 年度 季度 报告 最新 最近 近期 目前 当前 今天 今年 年 月 日 同比 分别 主要
    具体 哪家 为何 为什么""".split()
)
"""Words about how to answer, or about when: not what the answer is about."""
_OPENERS = frozenset(
    """what which who whose whom how when where why did does do has have had is are was were can could would should will
    in on at for from by with of and or the a an as if to compare list give show tell summarize summarise explain
    describe discuss please according during between after before find provide state name identify based
    january february march april may june july august september october november december
    eps ebitda gaap r&d usd rmb cny ceo cfo ipo roe roa yoy qoq q1 q2 q3 q4 fy""".split()
)
_NAME_WORD = r"(?:[A-Z][A-Za-z0-9&\-]*|[a-z]{1,2}[A-Z][A-Za-z]+)"
_NAME = re.compile(rf"\b{_NAME_WORD}(?:(?:\s+(?:of|and|&)(?=\s+[A-Z]))?\s+{_NAME_WORD})*")
_PERIOD_WORD = re.compile(r"^(?:FY\d*|Q[1-4]|10-?[KQ]|[A-Z])$")
_ZH_NAME = re.compile(
    r"[\u4e00-\u9fff]{2,8}?(?:股份有限公司|有限责任公司|有限公司|股份|集团|科技|银行|证券|药业|能源|电子|汽车|保险|基金)"
)
_YEAR = re.compile(r"^(?:19|20)\d\d$")
_SENTENCE_START = re.compile(r"(?:^|[.?!\n]\s*)$")


@dataclass(frozen=True)
class Measured:
    """The features, and what they were made of, for the reasons."""

    features: dict[str, float]
    wanted: tuple[str, ...]
    """Key terms of the question, as written (lower case)."""
    missing_terms: tuple[str, ...]
    missing_names: tuple[str, ...]
    missing_years: tuple[str, ...]
    missing_numbers: tuple[str, ...]
    newest: date | None
    """The last day that one of the best passages speaks from."""
    age_days: int | None


@dataclass(frozen=True)
class _Text:
    """A passage as it is compared: its terms in order, and everything that is said of it."""

    sequence: tuple[str, ...]
    terms: frozenset[str]
    flat: str


def features(question: str, retrieved: Retrieved, as_of: str) -> dict[str, float]:
    """The features of FEATURES, by name; `as_of` is the day of the question, YYYY-MM-DD."""
    return measure(question, retrieved, as_of).features


def measure(question: str, retrieved: Retrieved, as_of: str, foreign_gap: float = 0.0) -> Measured:
    """The features and what they were made of.

    Args:
        question: As it stands alone.
        retrieved: The passages, best first.
        as_of: The day of the question, YYYY-MM-DD.
        foreign_gap: How much lower the encoder puts a text in another language than the question's.
    """
    passages, reading = retrieved.passages, retrieved.reading
    language = language_of(question)
    best = [_read(*_said(passage, language)) for passage in passages[:BEST]]
    every = _weights(terms(question))
    names = _names(question)
    wanted, order, numbers = _key_terms(question, names)
    weighed = _weights(wanted)
    there = frozenset().union(*(text.terms for text in best))
    missing = [term for term in wanted if term not in there]
    missing_names = _missing_names(names, best, reading, question)
    years = [number for number in numbers if _YEAR.match(number)]
    others = [number for number in numbers if number not in years]
    lost_years = [year for year in years if not any(year in text.flat for text in best)]
    lost_numbers = [number for number in others if not any(number in text.terms for text in best)]
    newest = newest_day(passages[:BEST])
    today = parse_iso(as_of)
    age = max(0, (today - newest).days) if newest and today else None
    found = {
        **_scores(retrieved, language, foreign_gap),
        "sparse_per_term": max([0.0, *(passage.sparse for passage in passages)]) / max(1, len(every)),
        "words_best": _words_best(every, best, passages[BEST:], language),
        "terms_covered": _share(weighed, there),
        "terms_best": max((_share(weighed, text.terms) for text in best), default=0.0),
        "pairs_covered": _pairs(order, best),
        "names_missing": len(missing_names) / len(names) if names else 0.0,
        "years_missing": len(lost_years) / len(years) if years else 0.0,
        "numbers_missing": len(lost_numbers) / len(others) if others else 0.0,
        "company_found": float(bool(reading.companies) and not reading.company_missing),
        "company_missing": float(reading.company_missing),
        "period_missing": float(reading.period_missing),
        "period_newer": float(reading.period_newer),
        "latest_age": math.log1p(_NO_DATE_DAYS if age is None else age) if reading.asks_latest else 0.0,
        "concentration": _concentration(passages[:BEST]),
    }
    return Measured(
        features={name: round(found[name], 4) for name in FEATURES},
        wanted=tuple(wanted.values()),
        missing_terms=tuple(wanted[term] for term in sorted(missing, key=lambda term: -_weight(term))),
        missing_names=missing_names,
        missing_years=tuple(lost_years),
        missing_numbers=tuple(lost_numbers),
        newest=newest,
        age_days=age,
    )


def newest_day(passages: Iterable[Passage]) -> date | None:
    """The last day that one of the passages speaks from: published, end of its period, or, of a web page, fetched."""
    days = (parse_iso(day) for passage in passages for day in days_of(passage))
    return max((day for day in days if day), default=None)


def days_of(passage: Passage) -> tuple[str, str, str]:
    """(published, end of period, fetched); a file fetched from its owner's disk says nothing about its age."""
    return passage.published, passage.period_end, passage.fetched[:10] if passage.from_web else ""


def _scores(retrieved: Retrieved, language: str, foreign_gap: float) -> dict[str, float]:
    abroad = [p.cosine + foreign_gap for p in retrieved.passages[:BEST] if p.language not in ("", language)]
    cosines = [passage.cosine for passage in retrieved.passages]
    scores = [passage.score for passage in retrieved.passages]
    best = max([retrieved.best_cosine, *cosines])
    others = sorted(cosines)[:-1]
    return {
        "cosine": max([best, *abroad]),
        "cosine_margin": best - sum(others) / len(others) if others else 0.0,
        "score": scores[0] if scores else 0.0,
        "score_margin": scores[0] - sum(scores[1:BEST]) / len(scores[1:BEST]) if len(scores) > 1 else 0.0,
        "sparse": math.log1p(max([0.0, *(passage.sparse for passage in retrieved.passages)])),
    }


def _said(passage: Passage, language: str) -> tuple[str, str, bool]:
    """What is said of a passage, what it says, and whether that is in another language than the question."""
    about = (passage.header, passage.title, passage.company, passage.ticker, passage.period, passage.period_end)
    beside = "\n".join((*about, passage.published, passage.table_head))
    return beside, f"{passage.table_head}\n{passage.text}", passage.language not in ("", language)


def _words_best(every: Mapping[str, float], best: Sequence[_Text], others: Sequence[Passage], language: str) -> float:
    """The largest share of the terms in one passage; one of the others is cut into words only where it has the
    beginnings of more terms than any passage so far has terms."""
    most = max((_share(every, text.terms) for text in best), default=0.0)
    weighed = [(_beginning(term), weight) for term, weight in every.items()]
    whole = sum(weight for _, weight in weighed)
    for passage in others:
        beside, text, foreign = _said(passage, language)
        if not foreign and whole:
            flat = normalise(f"{beside}\n{text}").replace(",", "")
            if sum([weight for beginning, weight in weighed if beginning in flat]) / whole <= most:
                continue
        most = max(most, _share(every, _read(beside, text, foreign).terms))
    return most


def _beginning(term: str) -> str:
    """What stands in a normalised text, without commas, in which the term is found.

    A stem's last two letters may not be the word's (hope of hoping, die of dying); an apostrophe may be another one.
    """
    return term.partition("'")[0][:-2] if term[0].isascii() and term[0].isalpha() else term


@lru_cache(maxsize=2000)
def _read(beside: str, text: str, foreign: bool) -> _Text:
    """Passages come again and again, and cutting them into words is what takes the gate's time.

    One in another language than the question counts as saying what it speaks of in the question's words, too.
    """
    if foreign:
        beside = "\n".join((beside, *gloss_phrases(f"{beside}\n{text}")))
    sequence = tuple(terms(text))
    return _Text(sequence, _terms_beside(beside).union(sequence), normalise(f"{beside}\n{text}"))


@lru_cache(maxsize=2000)
def _terms_beside(beside: str) -> frozenset[str]:
    """Passages of one filing, or of one table, have the same said of them."""
    return frozenset(terms(beside))


def _key_terms(question: str, names: Sequence[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """(term -> word, the terms in order, the numbers); the words of names are not among the terms."""
    of_names = {stem(word) for name in names for word in words(name)}
    wanted: dict[str, str] = {}
    order: list[str] = []
    numbers: list[str] = []
    for word in words(question):
        term = stem(word)
        if word[0].isdigit():
            if len(word) > 2:
                numbers.append(word)
        elif not (word in STOP_WORDS or term in _ASKING or term in of_names or (len(word) == 1 and word.isascii())):
            wanted.setdefault(term, word)
            order.append(term)
    return wanted, order, list(dict.fromkeys(numbers))


def _names(question: str) -> tuple[str, ...]:
    """Runs of capitalised words that are no opening of a sentence, and what is named like a Chinese company."""
    found: list[str] = []
    for match in _NAME.finditer(question):
        run = match.group().split()
        while run and (run[0].lower() in _OPENERS or _PERIOD_WORD.match(run[0])):
            run.pop(0)
        while run and (run[-1].lower() in _OPENERS or _PERIOD_WORD.match(run[-1])):
            run.pop()
        opens = _SENTENCE_START.search(question[: match.start()]) and len(run) == len(match.group().split())
        possessive = question[match.end() : match.end() + 2] in ("'s", "’s")
        if run and not (opens and len(run) == 1 and not possessive and not run[0].isupper()):
            found.append(" ".join(run))
    found.extend(match.group() for match in _ZH_NAME.finditer(question))
    return tuple(dict.fromkeys(found))


def _missing_names(names: Sequence[str], best: Sequence[_Text], reading: Reading, question: str) -> tuple[str, ...]:
    missing = [name for name in names if not any(_has_name(text, name) for text in best)]
    # A company that was recognised by another name than its documents have (AMEX) is no missing name.
    flat = normalise(question)
    aliases = 0 if reading.company_missing else sum(normalise(company) not in flat for company in reading.companies)
    return tuple(missing[aliases:])


def _has_name(text: _Text, name: str) -> bool:
    if CJK.search(name):
        # The cut at the left is a guess: the last four characters are enough.
        return normalise(name) in text.flat or normalise(name[-4:]) in text.flat
    return normalise(name) in text.flat or all(term in text.terms for term in terms(name))


def _weight(term: str) -> float:
    """Longer words are rarer."""
    return min(2.0, max(0.5, len(term) / (6.0 if term.isascii() else 2.0)))


def _weights(wanted: Iterable[str]) -> dict[str, float]:
    """Of each term once."""
    return {term: _weight(term) for term in wanted}


def _share(weights: Mapping[str, float], there: frozenset[str]) -> float:
    whole = sum(weights.values())
    return sum([weight for term, weight in weights.items() if term in there]) / whole if whole else 1.0


def _pairs(order: Sequence[str], best: Sequence[_Text]) -> float:
    asked = set(itertools.pairwise(order))
    said = (asked.intersection(itertools.pairwise(text.sequence)) for text in best)
    return len(set().union(*said)) / len(asked) if asked else 0.0


def _concentration(passages: Sequence[Passage]) -> float:
    ids = [passage.document_id for passage in passages]
    return max((ids.count(one) for one in ids), default=0) / len(ids) if ids else 0.0
