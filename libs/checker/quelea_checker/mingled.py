"""One thing in the place of another: what two clauses of the evidence say of two things, mixed up in a sentence.

A clause of the sentence is laid beside each clause of the evidence, word by word. Where they differ in one place only,
and the evidence speaks of the sentence's thing elsewhere, the sentence says of it what is said of the other one.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from quelea_fintext.text import CJK, STOP_WORDS, stem, tagged

from quelea_checker.clauses import GENERIC
from quelea_checker.invented import is_same
from quelea_checker.opposites import plainly, signs

_CLAUSE = re.compile(
    r"[;；。，:：]|,(?!\d)|\.(?=\s|$)|\b(?:and|but|while|whereas|although)\b|但|而(?!且)|并(?!购)", re.IGNORECASE
)
_WORD = re.compile(r"[A-Z][\w&-]*(?: [A-Z][\w&-]*)+|[A-Za-z][\w'’&-]*|\d[\d.,]*\d|\d|[\u3400-\u9fff]+")
_FORM = re.compile(r".*(?:ed|ing|ly)$")
_AGAIN = frozenset("the this that these those such its their said".split()) | set("该此这其")
"""Before a thing that was spoken of before, perhaps by another name."""
_PRONOUN = re.compile(r"\s*(?:It|They|He|She|This|These)\b|\s*[其它该]")
_LEAST = 2
"""Words of a clause that can be laid beside another."""
_ALIKE = 2
"""Words that two clauses share at least: with one alone, "services moved", nothing says that they tell the same."""
_MOST = 4
"""Words of a thing."""
_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, or a name of several.

    Attributes:
        thing: It may be called so.
        name: It is one's name.
        again: It was spoken of before, perhaps by another name.
        own: As a clause's first word, it is its subject.
    """

    term: str
    thing: bool
    name: bool
    again: bool
    own: bool


_Clause = tuple[_Token, ...]


def is_mingled(sentence: str, evidence: Sequence[str], known: Container[str]) -> bool:
    """Whether a clause has a thing in the place where the evidence's only has another.

    Args:
        sentence: Without markers.
        evidence: Sentences of prose, in their order.
        known: Terms of every passage and of the question.
    """
    said = [clause for clause in _clauses(sentence) if len(clause) >= _LEAST]
    if not said:
        return False
    told = list(_every(evidence))
    return any(_is_mixed(clause, told, known) for clause in said)


def _every(evidence: Sequence[str]) -> Iterator[tuple[int, _Clause]]:
    """(number of its sentence, clause) with the subject that a clause has from the one before it."""
    subject: _Clause = ()
    for at, text in enumerate(evidence):
        for place, clause in enumerate(_clauses(text)):
            if (place and not clause[0].own) or _PRONOUN.match(text):
                yield at, (*subject, *clause)
            else:
                subject = subject if place else clause[:1] if clause[0].thing else ()
                yield at, clause


def _is_mixed(said: _Clause, told: Sequence[tuple[int, _Clause]], known: Container[str]) -> bool:
    terms = {token.term for token in said}
    shares = [len(terms & {t.term for t in clause}) / len(terms) for _, clause in told]
    best = max(shares, default=0.0)
    if best == 1.0 or best < _SHARE:
        return False
    found = False
    for (at, clause), share in zip(told, shares, strict=True):
        if share < best:
            continue
        place = _differing(said, clause)
        if place is None:
            continue
        new, old = place
        if not _are_apart(new, old, at, told, known):
            continue
        own = {token.term for token in new}
        rest = terms - own
        here = len(rest & {t.term for t in clause})
        if here < _ALIKE:
            continue
        if any(own <= (all_ := {t.term for t in other}) and len(rest & all_) > here for _, other in told):
            return False
        found = True
    return found


def _differing(said: _Clause, told: _Clause) -> tuple[_Clause, _Clause] | None:
    """The words of the one place where the two differ, those of each that the other lacks."""
    one, other = [t.term for t in said], [t.term for t in told]
    if any(term[0].isdigit() and term not in other for term in one):
        return None  # it is of another figure
    blocks = [b for b in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks() if b.size]
    lacking = [at for at, term in enumerate(one) if term not in other]
    if not blocks or not lacking or lacking[-1] - lacking[0] >= _MOST:
        return None
    start, end = 0, len(other)
    for block in blocks:
        if block.a + block.size <= lacking[0]:
            start = max(start, block.b + block.size)
        elif block.a > lacking[-1]:
            end = min(end, block.b)
    new = tuple(said[at] for at in lacking)
    old = tuple(t for t in told[start:end] if t.term not in one)
    return (new, old) if old and len(old) <= _MOST else None


def _are_apart(new: _Clause, old: _Clause, at: int, told: Sequence[tuple[int, _Clause]], known: Container[str]) -> bool:
    """The two are different things, and not one by two names."""
    if not (any(t.thing for t in new) and any(t.thing for t in old)):
        return False
    names = any(t.name for t in new) and any(t.name for t in old)
    if _are_one(new, old) if names else any(is_same(one.term, other.term) for one in new for other in old):
        return False
    if names and not any(t.term in known for t in new):
        return all(t.name for t in (*new, *old))
    own = {t.term for t in new}
    homes = [(place, clause) for place, clause in told if own <= {t.term for t in clause}]
    return any(names or place == at or not any(t.again for t in clause if t.term in own) for place, clause in homes)


def _are_one(new: _Clause, old: _Clause) -> bool:
    """A name and its short form: 招行 of 招商银行."""
    short, long = sorted(("".join(t.term for t in new), "".join(t.term for t in old)), key=len)
    rest = iter(long)
    return all(c in rest for c in short)


@lru_cache(maxsize=4096)
def _clauses(text: str) -> tuple[_Clause, ...]:
    found: list[_Clause] = []
    first = 0
    for cut in [*(match.span() for match in _CLAUSE.finditer(text)), (len(text), len(text))]:
        clause = tuple(_tokens(text[first : cut[0]], opening=first == 0))
        if len(clause) < 2 and found:
            found[-1] = (*found[-1], *clause)
        elif clause:
            found.append(clause)
        first = cut[1]
    return tuple(found)


def _tokens(text: str, *, opening: bool) -> Iterator[_Token]:
    plain = plainly(text)
    axes = {(s.start, s.end): f"{s.axis}{s.end_of:+d}" for s in signs(plain)}
    before = ""
    for match in _WORD.finditer(plain):
        word = match.group()
        if CJK.match(word):
            for part, kind in tagged(word):
                if part not in STOP_WORDS and part not in GENERIC:
                    sign = next((f"{s.axis}{s.end_of:+d}" for s in signs(part)), "")
                    thing = not sign and (kind[0] == "n" or kind in {"j", "x", "s"})
                    yield _Token(sign or part, thing, kind in {"ns", "nt", "nr", "nz"}, before in _AGAIN, thing)
                before = part
            continue
        first, *more = (part.lower().removesuffix("'s").removesuffix("’s") for part in word.split())
        sign = "" if more else axes.get(match.span(), "")
        term = sign or " ".join((stem(first), *map(stem, more)))
        if more or (first not in STOP_WORDS and term not in GENERIC):
            name = bool(more) or (word[0].isupper() and not (opening and not plain[: match.start()].strip()))
            thing = not sign and not first[0].isdigit() and len(first) > 2 and (name or not _FORM.match(first))
            yield _Token(term, thing, name, before in _AGAIN, name or before in _AGAIN | {"a", "an"})
        before = first
