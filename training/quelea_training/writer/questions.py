"""The product's own tasks: a question, the evidence that was shown, and the answer in the draft notation.

A figure is written `{81,797 [1]}`, a computed one `{(81,797 [1] - 82,959 [1]) / 82,959 [1] = %}`, what has no figure
ends with `[1]`; the generator's prompt teaches the same. Sentences restate the question, or are the passage's own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from quelea_fintext.languages import REFUSALS
from quelea_fintext.text import language_of

from quelea_training.pairs.model import Pair, Pairs, Passage, Split, fingerprint
from quelea_training.writer.drafts import NUMBER, NotComputed, compute, is_figure
from quelea_training.writer.model import Sample, Shown, Task

_ASKS = re.compile(
    r"(?:What|How much|How many)\s+(?P<verb>is|was|are|were)\s+(?P<rest>.{3,160}?)\s*\?\s*", re.IGNORECASE
)
_ASKS_ZH = re.compile(r"(?P<rest>.{2,120}?)(?:是|为|有)多少[？?]\s*")
_LONGEST_SENTENCE = 320
_SENTENCE = re.compile(r"[^.!?\n]{1,400}(?:[.!?](?=\s|\Z)|\n|\Z|\.(?=\d)[^.!?\n]{1,400})+")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class Answered:
    """A question with its answer as a set gives it."""

    question: str
    document: str
    """Hash of its bytes, as everywhere."""
    answers: tuple[str, ...]
    """As printed; one figure where it is computed."""
    derivation: str
    """"(1,234 - 1,100) / 1,100"; empty where it is printed."""
    is_percent: bool
    """The answer is a percentage."""
    begins: str = ""
    """How the answer begins where the question asks for more than it answers; else the question is restated."""
    lacks: str = ""
    """The sentence that names what the evidence does not give."""
    absent: str = ""
    """The figure that would answer the rest, as printed: no evidence has it."""


@dataclass(frozen=True)
class Shape:
    """How evidence is laid out."""

    passages: int = 4
    """At most, right ones among them."""
    seed: int = 0


def samples_of(answered: Mapping[tuple[str, str], Answered], pairs: Pairs, shape: Shape) -> Iterator[Sample]:
    """Two samples of each question that can be answered in the notation: with its evidence, and with that taken away.

    What is shown instead are first the pair's negatives, which nearly answer: the same line of another company or
    period; then another passage of the same document, which has the company and the period and not the figure.

    Args:
        answered: By (document, question).
        pairs: Whose queries these are; evidence is their passages, and what the product found for them beside.
        shape: Of the evidence.
    """
    places: dict[str, list[Passage]] = {}
    for one in pairs.passages.values():
        places.setdefault(one.document, []).append(one)
    splits: dict[Split, list[str]] = {}
    for pair in pairs.pairs:
        splits.setdefault(pair.split, []).append(pair.passage)
    of_split = {pair.document: pair.split for pair in pairs.pairs}
    for pair in pairs.pairs:
        asked = answered.get((pair.document, pair.query))
        if asked is None:
            continue
        chance = random.Random(f"{shape.seed} {pair.id}")  # noqa: S311  # lays out evidence, guards nothing
        others = [name for name in pair.negatives if of_split.get(pairs.passages[name].document) == pair.split]
        others += chance.sample(splits[pair.split], min(3 * shape.passages, len(splits[pair.split])))
        distractors = [
            pairs.passages[name] for name in dict.fromkeys(others) if pairs.passages[name].document != pair.document
        ]
        if asked.absent:
            distractors = [one for one in distractors if not prints(one, asked.absent)]
        evidence = [pairs.passages[pair.passage], *distractors[: shape.passages - 1]]
        chance.shuffle(evidence)
        written = write_answer(asked, evidence, pair.document)
        if written is None:
            continue
        yield _sample(written.task, pair, evidence, written)
        without = [*_beside(pair, asked, places[pair.document], chance), *distractors][: shape.passages]
        chance.shuffle(without)
        if len(without) > 1:
            refusal = Written("declined", REFUSALS[pair.language], (), "")
            yield _sample("declined", pair, without, refusal)


def _beside(pair: Pair, asked: Answered, places: Sequence[Passage], chance: random.Random) -> list[Passage]:
    """A passage of the same document that prints no figure of the answer, of its derivation, or of what it lacks, where
    there is one.

    Where the answer is in words none is told from a passage that gives it, too.
    """
    figures = [match[0] for match in NUMBER.finditer(" ".join((*asked.answers, asked.derivation, asked.absent)))]
    others = [
        one
        for one in places
        if one.id != pair.passage and one.id not in pair.also and not any(prints(one, each) for each in figures)
    ]
    return [chance.choice(others)] if figures and others else []


def prints(passage: Passage, number: str) -> bool:
    """Whether the passage prints a number, with or without its commas."""
    wanted = number.replace(",", "")
    return any(match[0].replace(",", "") == wanted for match in NUMBER.finditer(passage.text))


@dataclass(frozen=True)
class Written:
    """An answer in the notation."""

    task: Task
    text: str
    right: tuple[int, ...]
    figure: str


def write_answer(asked: Answered, evidence: Sequence[Passage], document: str) -> Written | None:
    """The answer in the notation; None where the evidence does not print what it rests on."""
    if asked.derivation:
        return _computed(asked, evidence, document)
    if len(asked.answers) == 1 and NUMBER.fullmatch(_digits(asked.answers[0])):
        return _printed(asked, evidence, document)
    return _quoted(asked, evidence, document)


def _computed(asked: Answered, evidence: Sequence[Passage], document: str) -> Written | None:
    restated = _restate(asked.question)
    if restated is None or any(character.isalpha() for character in asked.derivation):
        return None
    used: list[int] = []

    def point(match: re.Match[str]) -> str:
        at = _place_of(match[0], evidence, document)
        if not at:
            return match[0] if len(match[0]) <= 2 else "?"  # the 2 of an average is the formula's own
        used.append(at)
        return f"{match[0]} [{at}]"

    formula = asked.derivation.replace("[", "(").replace("]", ")").replace("%", "").replace("$", "")
    formula = re.sub(r"\s*([-+*/])\s*", r" \1 ", formula).strip()
    formula = re.sub(r"(?:(?<=\()|(?<=[-+*/] )|(?<=\A)) ?- (?=\d)", "-", formula)  # of a number, not between two
    pointed = NUMBER.sub(point, formula)
    if "?" in pointed or not used:
        return None
    unit = ""
    if asked.is_percent:
        unit = " = %" if "/" in formula else " = pp"
    elif "/" in formula and "ratio" in asked.question.casefold():
        unit = " = x"
    figure = asked.answers[0].replace(",", "")
    try:
        value = compute(f"{pointed}{unit}")
    except NotComputed:
        return None
    if not is_figure(value, Decimal(figure)):
        return None
    text = _say(asked.question, restated, f"{pointed}{unit}")
    return Written("computed", text, tuple(sorted(set(used))), figure)


def _printed(asked: Answered, evidence: Sequence[Passage], document: str) -> Written | None:
    restated = asked.begins or _restate(asked.question)
    number = _digits(asked.answers[0])
    at = _place_of(number, evidence, document)
    if restated is None or not at:
        return None
    sign = "-" if re.match(r"\s*[$€£¥]?\s*[-−(]", asked.answers[0]) else ""
    figure = sign + number.replace(",", "")
    text = _say(asked.question, restated, f"{number} [{at}]")
    if asked.lacks:
        text = f"{text}{'' if text.endswith('。') else ' '}{asked.lacks}"
    return Written("cited", text, (at,), figure)


def _say(question: str, restated: str, group: str) -> str:
    return f"{restated}{{{group}}}。" if language_of(question) == "zh" else f"{restated} {{{group}}}."


def _quoted(asked: Answered, evidence: Sequence[Passage], document: str) -> Written | None:
    """The passage's own sentence that has the answer's words; its figures in the notation."""
    if len(asked.answers) != 1:
        return None
    said = " ".join(asked.answers[0].split())
    for at, passage in enumerate(evidence, 1):
        if passage.document != document or len(said) < 3:
            continue
        sentence = next(
            (one for one in _sentences(passage.text) if said.casefold() in one.casefold() and "\t" not in one), ""
        )
        if not sentence or len(sentence) > _LONGEST_SENTENCE:
            continue
        return Written("cited", _mark(sentence, at), (at,), "")
    return None


def _mark(sentence: str, at: int) -> str:
    """Figures in braces, with their passage; a sentence without any ends with the marker."""
    marked = NUMBER.sub(lambda m: m[0] if _is_date_like(sentence, m) else f"{{{m[0]} [{at}]}}", sentence)
    if marked != sentence:
        return marked
    return f"{sentence.rstrip('.')} [{at}]."


def _is_date_like(sentence: str, match: re.Match[str]) -> bool:
    """Years, days and the numbers of notes are written as usual."""
    after = sentence[match.end() : match.end() + 2]
    before = sentence[max(match.start() - 1, 0) : match.start()]
    small = match[0].isdecimal() and len(match[0]) <= 2 and "%" not in after
    return bool(_YEAR.fullmatch(match[0])) or small or before.isalpha() or after[:1].isalpha()


def _sentences(text: str) -> list[str]:
    return [" ".join(match[0].split()) for match in _SENTENCE.finditer(text)]


def _restate(question: str) -> str | None:
    """ "What was the revenue in 2019?" begins its answer "The revenue in 2019 was"; None of other questions."""
    if chinese := _ASKS_ZH.fullmatch(question.strip()):
        return f"{chinese['rest']}为"
    match = _ASKS.fullmatch(question.strip())
    if match is None:
        return None
    rest = re.sub(r",?\s*respectively$", "", match["rest"])
    return f"{rest[:1].upper()}{rest[1:]} {match['verb'].lower()}"


def _place_of(number: str, evidence: Sequence[Passage], document: str) -> int:
    """Number of the right document's passage that prints it; 0 where none does."""
    places = enumerate(evidence, 1)
    return next((at for at, passage in places if passage.document == document and prints(passage, number)), 0)


def _digits(text: str) -> str:
    return text.strip().strip("$€£¥%() ").strip()


def _sample(task: Task, pair: Pair, evidence: Sequence[Passage], written: Written) -> Sample:
    shown = tuple(_show(one) for one in evidence)
    mine = [evidence[at - 1] for at in written.right]
    return Sample(
        id=Sample.name(task, pair.source, pair.id),
        task=task,
        messages=(),
        output=written.text,
        language=pair.language,
        source=pair.source,
        licence=pair.licence,
        split=pair.split,
        documents=(pair.document,),
        texts=tuple(sorted({fingerprint(one.text) for one in mine})),
        question=pair.query,
        evidence=shown,
        right=written.right,
        figure=written.figure,
    )


def _show(passage: Passage) -> Shown:
    header, _, table_head = passage.head.partition("\n")
    return Shown(passage.id, passage.text, header, table_head, passage.is_table)
