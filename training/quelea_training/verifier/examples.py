"""What a verifier is trained on: sentences that passages support, contradict, or say nothing of.

True sentences are the passages' own, or templates over the facts of their tables; false ones are these with a figure,
a scale, a period, a row, a subject, a direction, a "not" or a cause changed. A passage "says nothing of" a true
sentence of another passage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from quelea_checker import CheckPassage
from quelea_checker.reading.evidence import Evidence
from quelea_evaluation.figures.binding_sentences import make_sentences
from quelea_evaluation.figures.corruption import corrupt
from quelea_evaluation.figures.items import Item
from quelea_evaluation.judging.figures import numbers_in
from quelea_fintext.sentences import sentence_spans
from quelea_fintext.text import terms

from quelea_training.pairs.filters import HeldTexts
from quelea_training.pairs.model import SPLITS, Pairs, Passage, Split
from quelea_training.verifier.edits import EDITS
from quelea_training.verifier.recipe import LABELS

SUPPORTED, UNSAID, FALSE = range(len(LABELS))
_SHORTEST, _LONGEST = 30, 320
_QUOTES, _TOLD = 6, 10
"""Sentences that a passage gives: quotes, and templates over its facts."""
_QUOTED = 400
"""Sentences whose causes others may be given."""
_TOKEN = {"zh": 1.5, "en": 4.0}
"""Characters of a token, about."""
_HEADS = 2
"""Lines of a table that say what its columns are."""


@dataclass(frozen=True)
class Example:
    """A passage and a sentence."""

    premise: str
    sentence: str
    label: int
    """Of LABELS."""
    kind: str
    """quote, cell, two, prose (supported); a kind of change (contradicted); elsewhere (neither)."""
    language: str


@dataclass(frozen=True)
class _Told:
    """A sentence about a passage, and ways to make it false."""

    text: str
    kind: str
    passage: Passage
    false: Mapping[str, str]
    """Kind of change -> the false sentence."""
    is_true: bool = True


def split_passages(pairs: Pairs, tested: Sequence[str]) -> dict[Split, list[Passage]]:
    """Passages by split; nothing that is tested with, or nearly, is trained on or chosen by.

    A company's documents are all of one split, as its pairs say; where no pair does, they are left out. So is a
    document that shares a passage with `tested`, whole or as a part of another, and a passage to train on or choose by
    that shares its words so with one of the test split.

    Args:
        pairs: Folders of pairs, joined.
        tested: Texts of the passages of public sets.
    """
    of_group: dict[str, set[Split]] = {}
    for pair in pairs.pairs:
        of_group.setdefault(pairs.passages[pair.passage].group, set()).add(pair.split)
    public = HeldTexts(tested)
    left_out = {one.document for one in pairs.passages.values() if public.meets(one.text)}
    found: dict[Split, list[Passage]] = {split: [] for split in SPLITS}
    for one in pairs.passages.values():
        splits = of_group.get(one.group, set())
        if splits and one.document not in left_out:
            found[max(splits, key=SPLITS.index)].append(one)  # held out by one folder is held out
    held = HeldTexts(one.text for one in found["test"])
    for split in ("train", "dev"):
        found[split] = [one for one in found[split] if not held.meets(one.text)]
    return found


def make(passages: Sequence[Passage], most: int, max_tokens: int, seed: int) -> list[Example]:
    """Examples of all three labels, the same for the same passages and seed; none where they give no sentence.

    Args:
        passages: To make them of.
        most: Examples, at most; the kinds of changes are as even as they can be.
        max_tokens: Of passage and sentence together, about; a longer passage is shortened to what is near the sentence.
        seed: Of all choices.
    """
    chance = Random(seed)  # noqa: S311  # a seeded choice, no secret
    by_document: dict[str, list[Passage]] = {}
    for one in passages:
        by_document.setdefault(one.document, []).append(one)
    quotes = [text for one in passages if not one.is_table for text in _sentences(one.text)]
    chance.shuffle(quotes)
    told: list[_Told] = []
    for passage in passages:
        told += _told_of(passage, quotes[:_QUOTED], Random(f"{seed} {passage.id}"))  # noqa: S311  # see above
    chance.shuffle(told)
    used: Counter[str] = Counter()
    found: list[Example] = []
    for number, each in enumerate(told):
        if len(found) >= most:
            break
        if each.is_true:
            found.append(_example(each.text, each, each.passage, SUPPORTED, each.kind, max_tokens))
        if each.false:
            kind = min(each.false, key=lambda name: (used[name], name))
            used[kind] += 1
            found.append(_example(each.false[kind], each, each.passage, FALSE, kind, max_tokens))
        if number % 2 == 0 and (other := _silent(each, by_document[each.passage.document], passages, chance)):
            found.append(_example(each.text, each, other, UNSAID, "elsewhere", max_tokens))
    found = found[:most]
    chance.shuffle(found)
    return found


def _example(sentence: str, of: _Told, passage: Passage, label: int, kind: str, max_tokens: int) -> Example:
    room = max_tokens * _TOKEN.get(passage.language, _TOKEN["en"]) - len(sentence)
    return Example(window(passage, of.text, int(room)), sentence, label, kind, passage.language)


def window(passage: Passage, sentence: str, most: int) -> str:
    """What of a passage is nearest to a sentence, as it stands there; the heads of a table stay.

    Args:
        passage: Whole.
        sentence: What it is read for.
        most: Characters, about; a passage that has no more is given whole.
    """
    if len(passage.encoded) <= most:
        return passage.encoded
    pieces = passage.text.splitlines() if passage.is_table else _pieces(passage.text)
    said = set(terms(sentence))
    best = max(range(len(pieces)), key=lambda at: (len(said & set(terms(pieces[at]))), -at))
    kept = {best, *(range(min(_HEADS, len(pieces))) if passage.is_table else ())}
    size = sum(len(pieces[at]) for at in kept)
    for step in range(1, len(pieces)):
        for at in (best - step, best + step):
            if 0 <= at < len(pieces) and at not in kept and size + len(pieces[at]) < most:
                kept.add(at)
                size += len(pieces[at])
        if size > most * 0.9:
            break
    head = passage.head if size + len(passage.head) <= most else ""
    return "\n".join(part for part in (head, *(pieces[at] for at in sorted(kept))) if part)


def _pieces(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text)] or [text]


def _sentences(text: str) -> Iterator[str]:
    for piece in _pieces(text):
        least = _SHORTEST if piece.isascii() else _SHORTEST // 2
        if least <= len(piece) <= _LONGEST and "\t" not in piece:
            yield " ".join(piece.split())


def _told_of(passage: Passage, others: Sequence[str], chance: Random) -> Iterator[_Told]:
    if not passage.is_table:
        quotes = list(_sentences(passage.text))
        chance.shuffle(quotes)
        for text in quotes[:_QUOTES]:
            false = {name: edit(text, others, chance) for name, edit in EDITS.items()}
            yield _Told(text, "quote", passage, {n: t for n, t in false.items() if t} | _changed(text, passage))
    heads = {"table_head": passage.head} if passage.is_table else {"header": passage.head}
    told = make_sentences(Evidence([CheckPassage(passage.text, document=passage.document, **heads)]), chance)
    for made in told[:_TOLD]:
        if made.wrong:
            yield _Told(made.text, made.kind, passage, {made.kind: made.text}, is_true=False)
        else:
            yield _Told(made.text, made.kind, passage, _changed(made.text, passage))


def _changed(text: str, passage: Passage) -> dict[str, str]:
    """Kind of change -> the sentence, false."""
    table = tuple(tuple(cell.strip() for cell in line.split("\t")) for line in passage.text.splitlines())
    item = Item(
        id=f"{passage.id} {text}",
        group="docugami",  # whose signs are those of words: "increased by 5%" is made "decreased by 5%"
        half="development",
        question="",
        answer=text,
        passages=({"text": passage.text, "header": passage.head},),
        table=table if passage.is_table else (),
    )
    return {one.corruption: one.answer for one in corrupt(item)}


def _silent(one: _Told, near: Sequence[Passage], far: Sequence[Passage], chance: Random) -> Passage | None:
    """A passage that looks like one that may say the sentence, and has not its figures, or few of its words."""
    said, figures = set(terms(one.text)), set(numbers_in(one.text))
    others = [p for p in (*near, *(chance.choice(far) for _ in range(8))) if p.id != one.passage.id]
    fitting = []
    for other in others:
        shared = said & set(terms(other.encoded))
        has_figures = bool(figures) and figures <= set(numbers_in(other.encoded))
        if not has_figures and len(shared) < 0.7 * len(said):
            fitting.append((len(shared), other.id, other))
    return max(fitting, default=(0, "", None))[2]


def counted(examples: Iterable[Example]) -> dict[str, dict[str, int]]:
    """Label -> kind -> how many."""
    found: dict[str, Counter[str]] = {name: Counter() for name in LABELS}
    for one in examples:
        found[LABELS[one.label]][one.kind] += 1
    return {name: dict(kinds.most_common()) for name, kinds in found.items()}
