"""An answer as JSON of a caller's schema: made by the model from the checked answer alone, and checked against it.

The answer is written, cited and checked as ever; then the model puts its text into the schema. So what the checks say
of the text holds for the JSON too, but for what went wrong on the way, which is looked for: every figure of the JSON
must stand in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

from quelea_checker import UNSUPPORTED, CheckPassage
from quelea_fintext.languages import REFUSALS
from quelea_fintext.text import language_of
from quelea_kit.errors import QueleaError, Unavailable

from quelea_gateway.core.answers.numbers import find_numbers
from quelea_gateway.core.chat_prompts import ChatPrompt
from quelea_gateway.core.grounding.markers import MARKER
from quelea_gateway.core.model import Answer, CompletionEnd, Question
from quelea_gateway.core.ports import ChatModel, Checker
from quelea_gateway.core.prompts import NO_EDITS, PromptSet

PROMPT = ChatPrompt("structured")
_MOST_LEAVES = 400
"""Values of the JSON whose figures are looked for; what has more is a list, and its first ones speak for it."""
_MARKERS = re.compile(rf"[ \t]{{0,8}}+{MARKER.pattern}")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True)
class StructuredFigure:
    """A figure of the JSON.

    Attributes:
        path: Where it stands: "sales.by_segment.0".
        text: As it is written.
        verdict: "supported" or "derived" by the text of the answer, "contradicted" or "not_found".
    """

    path: str
    text: str
    verdict: str


@dataclass(frozen=True)
class Structured:
    """What the model made of an answer.

    Attributes:
        content: JSON that fits the schema, unless it was cut off ("length"); empty with a refusal.
        refusal: Why there is none: the answer's own refusal, or that of a strict caller's JSON; empty otherwise.
        figures: Of the JSON; None where they could not be looked for.
    """

    content: str
    refusal: str = ""
    finish_reason: Literal["stop", "length"] = "stop"
    figures: tuple[StructuredFigure, ...] | None = ()
    model: str = ""
    prompt_version: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


async def answer_as_json(
    answer: Answer,
    question: Question,
    schema: str,
    model: ChatModel,
    checker: Checker,
    *,
    max_tokens: int,
    prompts: PromptSet = NO_EDITS,
) -> Structured:
    """The answer as JSON.

    Args:
        answer: Checked.
        question: What it answers; of a strict one JSON with a figure that the text does not have is refused.
        schema: The JSON schema, as JSON.
        model: Writes it.
        checker: Looks for its figures.
        max_tokens: Longest JSON; 0: the generator's limit.
        prompts: The wordings in force.

    Raises:
        Unavailable: What the model wrote does not fit the schema.
        QueleaError: The model failed, is full, or cannot be told such a schema; or strict, and the check failed.
    """
    if answer.declined:
        return Structured("", answer.answer)
    text = _MARKERS.sub("", answer.answer).strip()
    language = language_of(question.text)
    template = PROMPT.template(language, prompts)
    pieces: list[str] = []
    done = CompletionEnd("length")
    async for event in model.complete(
        PROMPT.messages(template, schema=schema, question=question.asked, answer=text),
        json_schema=schema,
        model=question.model,
        max_tokens=max_tokens,
        temperature=question.temperature,
        tenant=question.tenant,
    ):
        if isinstance(event, CompletionEnd):
            done = event
        else:
            pieces.append(event)
    made = Structured(
        "".join(pieces),
        model=done.model,
        prompt_version=template.version,
        prompt_tokens=done.prompt_tokens,
        completion_tokens=done.completion_tokens,
    )
    if done.reason == "length":
        return replace(made, finish_reason="length")
    try:
        value = json.loads(made.content) if done.reason == "stop" else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict | list | str | int | float):  # the generator says "invalid", or it is null
        raise Unavailable(
            "The language model's JSON does not fit the schema of response_format; ask again, or for simpler JSON.",
            details={"field": "response_format", "dependency": "generator"},
        )
    try:
        found = await _figures(value, text, answer, checker, question.asked)
    except QueleaError:
        if question.strict:
            raise
        return replace(made, figures=None)
    if question.strict and any(figure.verdict in UNSUPPORTED for figure in found):
        return replace(made, content="", refusal=REFUSALS[language], figures=found)
    return replace(made, figures=found)


async def _figures(
    value: Any, text: str, answer: Answer, checker: Checker, question: str
) -> tuple[StructuredFigure, ...]:
    """The figures of a JSON value; not found where the text has none like it, doubted where the text's own is."""
    lines: list[str] = []
    paths: list[str] = []
    starts: list[int] = []
    at = 0
    for path, line in _lines(value):
        if len(lines) == _MOST_LEAVES:
            break
        lines.append(line)
        paths.append(path)
        starts.append(at)
        at += len(line) + 1
    if not any(character.isdigit() for line in lines for character in line):
        return ()
    report = await checker.check("\n".join(lines), [CheckPassage(text)], question=question)
    doubtful = {
        number: figure.verdict
        for figure in (answer.grounding.figures if answer.grounding else ())
        if figure.verdict in UNSUPPORTED
        for number in find_numbers(figure.text)
    }
    found = []
    for figure in report.figures:
        path = paths[max(index for index, start in enumerate(starts) if start <= figure.start)]
        doubted = next((doubtful[number] for number in find_numbers(figure.text) if number in doubtful), "")
        found.append(StructuredFigure(path, figure.text, doubted or figure.verdict))
    return tuple(found)


def _lines(value: Any) -> Iterator[tuple[str, str]]:
    """(where, "name of the field: value") of every text and number, in their order."""
    waiting: list[tuple[str, str, Any]] = [("", "", value)]
    while waiting:  # no recursion: how deep it goes is the model's choice
        path, name, one = waiting.pop()
        before = f"{path}." if path else ""
        if isinstance(one, dict):
            waiting += [(f"{before}{key}", key, inner) for key, inner in reversed(one.items())]
        elif isinstance(one, list):
            waiting += [(f"{before}{index}", name, inner) for index, inner in reversed([*enumerate(one)])]
        elif isinstance(one, str):
            yield path, f"{_spoken_name(name)}: {' '.join(one.split())}"
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield path, f"{_spoken_name(name)}: {Decimal(repr(one)):f}"


def _spoken_name(name: str) -> str:
    """net_sales and netSales as net sales."""
    return " ".join(word.lower() for word in _WORDS.findall(name)) or "value"
