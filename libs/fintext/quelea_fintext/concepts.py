"""Concepts of financial statements: what filers print, readers say and the us-gaap taxonomy calls one thing."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from quelea_fintext.languages import LANGUAGES

_FILE = Path(__file__).parent / "concepts.toml"
_NOTE = re.compile(r"\((?:note|notes|附注|注)[^()]{0,40}\)|（(?:附注|注)[^（）]{0,40}）|\[[a-z0-9]\]", re.IGNORECASE)
_MARK = re.compile(r"(?<=[a-z\u4e00-\u9fff）)])\s{0,4}+\(?\d{1,2}\)?$", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:[一二三四五六七八九十\d]{1,3}(?:、|[.．](?!\d))|（[一二三四五六七八九十\d]{1,3}）|\([一二三四五六七八九十\d]{1,3}\))+"
)
_INNER = re.compile(r"(?<=[\u4e00-\u9fff])\d{1,2}(?:、|[.．](?!\d))")
"""A number between two headings that a page's text has run together."""
_SIGN_HINT = re.compile(r"（[^（）]{0,30}[-－“”\"][^（）]{0,30}）|^(?:其中|加|减)[:：]")
_BEFORE_SHARES = re.compile(
    r",?\s{0,4}+(?:par value|\$[\d.]{1,12}+ par|without par|at cost|less allowances?|net of allowances?)", re.IGNORECASE
)
OPEN_END = "…"
"""Ends a name that a label may go on from: "net income attributable to …"."""
_BRACKETED = re.compile(r"\([^()]{0,120}\)|（[^（）]{0,120}）")
_LESS = re.compile(r"^less[:：]?\s+", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Concept:
    """A line of a financial statement, whoever prints it."""

    id: str
    """Its key in the data: "operating_income"."""
    statement: str
    """ "balance", "income", "comprehensive_income" or "cash_flow"."""
    us_gaap: tuple[str, ...]
    """Names in the us-gaap taxonomy, the usual one first."""
    names: tuple[str, ...]
    """What filers and readers call it, in every language, the usual one of each first."""
    paid: bool = False
    """Printed as a deduction and meant as a positive amount."""
    unit: str = ""
    """ "per_share", "shares", or empty for money."""
    instead: str = ""
    """Id of the concept that answers where this one is not stated: a company without minorities has one net income."""


@cache
def concepts() -> dict[str, Concept]:
    """Every concept by its id, in the order of the statements."""
    names: dict[str, list[str]] = defaultdict(list)
    for table in LANGUAGES.of("concepts").values():
        for key, said in table.items():
            names[key] += said
    data = tomllib.loads(_FILE.read_text("utf-8"))
    return {
        key: Concept(
            key,
            one["statement"],
            tuple(one.get("us_gaap", "").split()),
            tuple(names[key]),
            one.get("paid", False),
            one.get("unit", ""),
            one.get("instead", ""),
        )
        for key, one in data.items()
    }


@cache
def _by_label() -> dict[str, tuple[Concept, ...]]:
    found: dict[str, list[Concept]] = defaultdict(list)
    for concept in concepts().values():
        for name in concept.names:
            if not name.endswith(OPEN_END):
                found[label_key(name)].append(concept)
    return {key: tuple(some) for key, some in found.items()}


@cache
def _by_beginning() -> tuple[tuple[str, Concept], ...]:
    """Beginnings of labels, the longest first."""
    found = [(label_key(name), one) for one in concepts().values() for name in one.names if name.endswith(OPEN_END)]
    return tuple(sorted(found, key=lambda pair: -len(pair[0])))


@cache
def _by_tag() -> dict[str, Concept]:
    return {tag: concept for concept in concepts().values() for tag in concept.us_gaap}


def label_key(label: str) -> str:
    """A label without notes, footnote marks, numbering, case and punctuation: labels of one key are one label."""
    said = _LEAD.sub("", _SIGN_HINT.sub("", _NOTE.sub("", label.strip())).strip())
    cut = _BEFORE_SHARES.search(said)
    said = said[: cut.start()] if cut and cut.start() else said
    said = _MARK.sub("", said.rstrip(" :："))
    return _NOT_LETTERS.sub("", said.lower().replace("&", "and"))


def said_label(label: str) -> str:
    """A printed label as a sentence says it: "五、净利润（净亏损以“－”号填列）" as "净利润".

    Without notes, numbering, what leads in (其中：), and hints at signs; of headings that a page's text has run
    together the last. A label that is nothing else stays as it is.
    """
    said = _INNER.split(_NOTE.sub("", " ".join(label.split())))[-1]
    said = _SIGN_HINT.sub("", _LEAD.sub("", _SIGN_HINT.sub("", said))).strip(" :：")
    return said or label


def concept_of_label(label: str, statement: str = "", unit: str = "") -> Concept | None:
    """The concept that a printed label names.

    Args:
        label: As printed, footnote marks included.
        statement: In which it stands; empty where unknown. A label that another statement uses is not taken for it.
        unit: As Concept.unit, by which "Basic" is earnings or shares.
    """
    some = _by_label().get(label_key(label)) or _by_label().get(label_key(_INNER.split(label)[-1]), ())
    if not some:
        plain = _LESS.sub("", _BRACKETED.sub(" ", label).strip())
        key = label_key(plain).removesuffix("net")
        some = _by_label().get(label_key(plain)) or _by_label().get(key, ())
        some = some or next(((one,) for begins, one in _by_beginning() if key.startswith(begins)), ())
    fitting = [one for one in some if one.unit == unit and statement in ("", one.statement)]
    return fitting[0] if fitting else None


def goes_on(label: str) -> bool:
    """The label is a name that goes on ("net income attributable to Kestrel"): it says more than the bare name."""
    key = label_key(label)
    return key not in _by_label() and any(key.startswith(begins) for begins, _ in _by_beginning())


def concept_of_tag(tag: str) -> Concept | None:
    """The concept of a name of the us-gaap taxonomy, without its prefix."""
    return _by_tag().get(tag)


def concepts_of_words(words: str) -> tuple[Concept, ...]:
    """The concepts that a reader may mean: an id, a us-gaap name, or what filers and readers call it."""
    said = words.strip()
    by_id = concepts().get(said.lower().replace(" ", "_").replace("-", "_"))
    by_tag = concept_of_tag(said.rpartition(":")[2])
    return tuple(dict.fromkeys(one for one in (by_id, by_tag, *_by_label().get(label_key(said), ())) if one))
