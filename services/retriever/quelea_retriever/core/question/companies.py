"""Finding companies in a question: names, tickers, Chinese names, and names that no stored document knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from quelea_fintext.company_names import (
    EVERYDAY,
    EVERYDAY_TICKERS,
    HOMONYMS,
    NOT_TICKERS,
    KnownCompany,
    clean,
    known_companies,
    listed_codes,
    short_forms,
)
from quelea_fintext.text import CJK, language_of, words

_MARKET_SUFFIX = re.compile(r"\.(?:SZ|SH|HK|SS|BJ|O|N|US)$", re.IGNORECASE)
_WORDS = re.compile(
    r"(?<![A-Za-z&.])[A-Za-z&.]{2,}+(?=(?:19|20)\d\d(?:[年财Qq]|$))|[A-Za-z0-9&$\u00c0-\u024f]+(?:[.'’\-/&][A-Za-z0-9\u00c0-\u024f]+)*"
)
_EXCHANGE = re.compile(r"\b(?:NYSE|NASDAQ|Nasdaq|LSE|HKEX|HKG|AMEX)\s*:\s*$")
_HOMONYMS = {name: re.compile(pattern) for name, pattern in HOMONYMS.items()}
_CODE = re.compile(r"(?<![\d.,])\d{6}(?![\d.,])")


@dataclass(frozen=True, slots=True)
class Mention:
    """A company in a question."""

    key: str
    """Its identity in the name book."""
    start: int
    end: int


@cache
def _known_names() -> dict[str, str]:
    names: dict[str, str] = {}
    for company in known_companies():
        for every in company.names.values():
            for form in (form for name in every for form in short_forms(name)):
                names.setdefault(form, company.name.lower())
    return names


@cache
def _known_by_key() -> dict[str, KnownCompany]:
    return {company.name.lower(): company for company in known_companies()}


@cache
def _known_tickers() -> dict[str, str]:
    return {company.ticker: company.name.lower() for company in known_companies() if company.ticker}


def bare_ticker(ticker: str) -> str:
    """ "600201.SH" as "600201", upper case."""
    return _MARKET_SUFFIX.sub("", ticker.strip()).upper()


class NameBook:
    """Every name by which a question may call a company: of the stored documents, and the well-known ones."""

    def __init__(self, companies: Iterable[tuple[str, tuple[str, ...], str]]) -> None:
        """From (display name, other names, ticker) of the stored documents, in any order, repeated as they come."""
        self._names: dict[str, str] = dict(_known_names())
        self._tickers: dict[str, str] = dict(_known_tickers())
        self.stored: set[str] = set()
        self.display: dict[str, str] = {company.name.lower(): company.name for company in known_companies()}
        for company, aliases, ticker in companies:
            self._add(company, aliases, bare_ticker(ticker))
        chinese = [name for name in self._names if CJK.search(name)]
        self._chinese = re.compile("|".join(re.escape(n) for n in sorted(chinese, key=len, reverse=True)))
        latin = [name for name in self._names if not CJK.search(name)]
        self._longest = max((len(_WORDS.findall(name)) for name in latin), default=1)
        self._latin = {tuple(_WORDS.findall(name)): self._names[name] for name in latin}

    def key_of(self, company: str, aliases: tuple[str, ...], ticker: str) -> str:
        """The identity of a stored document's company."""
        for name in (company, *aliases):
            for form in short_forms(name):
                if form in self._names:
                    return self._names[form]
        known = self._tickers.get(bare_ticker(ticker))
        return known or short_forms(company)[-1]

    def _add(self, company: str, aliases: tuple[str, ...], ticker: str) -> None:
        key = self.key_of(company, aliases, ticker)
        self.stored.add(key)
        self.display[key] = company
        for name in (company, *aliases):
            for form in short_forms(name):
                if len(form) >= 2:
                    self._names.setdefault(form, key)
        short = listed_codes().get(ticker)
        if short and any(_abbreviates(short, name) for name in (company, *aliases)):  # funds have the same codes
            self._names.setdefault(short, key)
        if ticker:
            self._tickers[ticker] = key

    def names_of(self, key: str) -> tuple[str, ...]:
        """Every form, lower case, by which the company is known."""
        return tuple(name for name, owner in self._names.items() if owner == key)

    def called(self, mention: Mention, query: str) -> str:
        """What to call the company of a mention to whoever asked.

        The name that is shown, where it is in the question's language; else the words of the question; of a ticker
        the usual name in that language.
        """
        shown, language = self.display[mention.key], language_of(query)
        written = query[mention.start : mention.end].removesuffix("'s").removesuffix("'")
        if language == language_of(shown) or written.lower() == shown.lower():
            return shown
        if self._tickers.get(bare_ticker(written.removeprefix("$"))) != mention.key:
            return written
        known = _known_by_key().get(mention.key)
        return next(iter(known.names.get(language, ())), shown) if known else shown

    def find(self, query: str) -> list[Mention]:
        """The companies that a question names, in order, each once. `query` must come from `clean`."""
        found = [*self._find_chinese(query), *self._find_latin(query), *self._find_codes(query)]
        found.sort(key=lambda mention: mention.start)
        first: dict[str, Mention] = {}
        for mention in found:
            first.setdefault(mention.key, mention)
        return list(first.values())

    def _find_chinese(self, query: str) -> Iterator[Mention]:
        edges = word_edges(query) if CJK.search(query) else frozenset()
        for match in self._chinese.finditer(query.lower()):
            start, end = match.span()
            if end - start < 4 and not (start in edges and end in edges):
                continue  # 高通 in 高通胀, 京东 in 北京东城
            if match.group() not in _HOMONYMS or _HOMONYMS[match.group()].match(query, start):
                yield Mention(self._names[match.group()], start, end)

    def _find_codes(self, query: str) -> Iterator[Mention]:
        for match in _CODE.finditer(query):
            if (key := self._tickers.get(match.group())) is not None:
                yield Mention(key, *match.span())

    def _find_latin(self, query: str) -> Iterator[Mention]:
        tokens = list(_WORDS.finditer(query))
        written = [token.group().removesuffix("'s").removesuffix("'") for token in tokens]
        at = 0
        while at < len(tokens):
            for length in range(min(self._longest, len(tokens) - at), 0, -1):
                key = self._read(query, tokens, written, at, length)
                if key is not None:
                    yield Mention(key, tokens[at].start(), tokens[at + length - 1].end())
                    at += length
                    break
            else:
                at += 1

    def _read(self, query: str, tokens: list[re.Match[str]], written: list[str], at: int, length: int) -> str | None:
        words = tuple(word.lower() for word in written[at : at + length])
        if length > 1 and not _is_joined(query, tokens, at, length):
            return None
        key = self._latin.get(words) or self._latin.get((tokens[at].group().lower(),) if length == 1 else words)
        if length > 1 or key is None:
            return key if length > 1 else self._ticker(query, tokens[at], written[at])
        word = written[at]
        if word.lower() in EVERYDAY and not self._surely_a_name(query, tokens, at, word):
            return None
        if len(word) <= 3 and not word.isupper() and word.islower():
            return None  # "gm", "ge": too short to be sure of in lower case
        if word.isupper() and word in NOT_TICKERS:
            return None
        return key

    def _surely_a_name(self, query: str, tokens: list[re.Match[str]], at: int, word: str) -> bool:
        if not word[0].isupper():
            return False
        start, token = tokens[at].start(), tokens[at].group()
        opens = not query[:start].strip() or query[:start].rstrip()[-1] in ".?!:。？！："
        following = tokens[at + 1].group().lower() if at + 1 < len(tokens) else ""
        return not opens or token.endswith("'s") or following in ("inc", "corp", "corporation", "motor", "plc")

    def _ticker(self, query: str, token: re.Match[str], word: str) -> str | None:
        listed = word.startswith("$") or _EXCHANGE.search(query[: token.start()]) is not None
        marked = listed or (query[: token.start()].endswith("(") and len(word) > 1)  # "(c)" is a paragraph
        word = word.removeprefix("$")
        key = self._tickers.get(bare_ticker(word)) if word.isupper() or listed else None
        if key is None and len(word) >= 4 and word.islower() and not word.isdigit():
            stored = self._tickers.get(word.upper())
            key = stored if stored in self.stored and word not in EVERYDAY_TICKERS else None
        if key is None or marked:
            return key
        if word in NOT_TICKERS or len(word) == 1 or (len(word) == 2 and key not in self.stored):
            return None
        return key if not word.isdigit() else None


def _abbreviates(short: str, name: str) -> bool:
    """Whether the name has the letters of its short form in order: 安靠智电, 江苏安靠智能输电工程科技股份有限公司."""
    letters = iter(clean(name).lower())
    return all(letter in letters for letter in short)


def word_edges(query: str) -> frozenset[int]:
    """The offsets at which a word may begin or end: names are in no dictionary, so 奈飞近 is no word."""
    lower, at, edges = query.lower(), 0, {0, len(query)}
    for word in words(query, new_words=False):
        start = lower.find(word, at)
        if start >= 0:
            at = start + len(word)
            edges |= {start, at}
    return frozenset(edges)


def _is_joined(query: str, tokens: list[re.Match[str]], at: int, length: int) -> bool:
    """Only spaces, full stops, ampersands and hyphens between the words of a name."""
    for left, right in zip(tokens[at : at + length - 1], tokens[at + 1 : at + length], strict=True):
        if query[left.end() : right.start()].strip(" .&-"):
            return False
    return True
