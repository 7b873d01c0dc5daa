"""Names of companies: well-known ones, legal forms, and which names are words of the language too."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import CJK

LEGAL_FORM = LANGUAGES.alternatives("companies.legal_forms")
"""Pattern of what a legal name ends with, without a last full stop: Inc, Corporation, S.A, 股份有限公司."""
UNSPACED_LEGAL_FORM = LANGUAGES.alternatives("companies.legal_forms", words_apart=False)
"""The same, only of languages that put no space before it: 股份有限公司."""
GROUP_FORM = LANGUAGES.alternatives("companies.group_forms")
"""Pattern of what may stand there too and may be a part of the name that people use: Group, Holdings, 集团."""
NOT_TICKERS = frozenset(LANGUAGES.words("companies.not_tickers"))
"""Upper-case words that are tickers somewhere and mean something else in a finance question."""
EVERYDAY = frozenset(LANGUAGES.words("companies.everyday"))
"""Names that are everyday words, lower case: a company's only with a capital inside a sentence, 's or a legal form."""
EVERYDAY_TICKERS = frozenset(LANGUAGES.words("companies.everyday_tickers"))
"""Tickers that are everyday words in lower case."""
HOMONYMS: dict[str, str] = LANGUAGES.table("companies.homonyms")
"""Short names that are parts of other words as well (完美的, 苹果汁) to patterns of where they are the company's."""

_ENDS = re.compile(
    rf"(?:[,.]?\s{{1,8}}(?:{LEGAL_FORM}|{GROUP_FORM}|platforms|the|class [a-c])\.?|\.com"
    rf"|\s{{0,8}}+&\s{{0,8}}+co\.?){{1,6}}$",
    re.IGNORECASE,
)
_ENDS_WITHOUT_SPACE = re.compile(rf"(?:股份|集团|控股|责任){{0,6}}(?:{LEGAL_FORM})$|(?:{GROUP_FORM})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KnownCompany:
    """A company that a question may name whether documents of it are stored or not."""

    name: str
    """As shown."""
    ticker: str
    names: dict[str, tuple[str, ...]]
    """Language -> its names there, the usual one first; in English the shown one is among them."""


@cache
def known_companies() -> tuple[KnownCompany, ...]:
    """Those of every language's companies.txt."""
    found: dict[str, KnownCompany] = {}
    for code, (name, ticker, others) in LANGUAGES.rows("companies.txt"):
        one = found.setdefault(name, KnownCompany(name, ticker, {"en": (name,)}))
        listed = tuple(other.strip() for other in others.split(",") if other.strip())
        one.names[code] = (*one.names.get(code, ()), *listed)
    return tuple(found.values())


@cache
def listed_names() -> dict[str, str]:
    """Short names, lower case, of the companies of whole exchanges, to codes: every language's listed_companies.txt."""
    return {name.lower(): code for _, (code, name) in LANGUAGES.rows("listed_companies.txt")}


@cache
def listed_codes() -> dict[str, str]:
    """The same by code."""
    return {code: name for name, code in listed_names().items()}


def clean(text: str) -> str:
    """NFKC with straight quotes; the case is kept, for capitals tell names from words."""
    return unicodedata.normalize("NFKC", text).replace("’", "'")


def short_forms(name: str) -> list[str]:
    """The name in lower case, with and without its legal form: "Amazon.com, Inc." gives "amazon.com" and "amazon"."""
    full = clean(name).lower().strip(" .,")
    forms = [full]
    bare = full.removeprefix("the ")
    while True:
        shorter = (_ENDS_WITHOUT_SPACE if CJK.search(bare) else _ENDS).sub("", bare).strip(" .,")
        if len(shorter) < 2 or shorter == bare:
            break
        bare = shorter
        forms.append(bare)
    if bare != full:
        forms.append(bare)
    return list(dict.fromkeys(forms))
