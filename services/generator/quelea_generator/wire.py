"""Requests and answers as the core has them and as the wire has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from quelea.generator.v1 import generator_pb2 as pb
from quelea_fintext.facts import FIGURE_FIELDS
from quelea_kit.errors import InvalidInput, TooLarge
from quelea_kit.json_schema import read_schema
from quelea_kit.prompt_text import MOST_CHARS
from quelea_kit.text_fields import check_day, check_length

from quelea_generator.core.chat.chat_model import Function, FunctionCall
from quelea_generator.core.chat.completion import CompletionRequest
from quelea_generator.core.chat.prompt import Message
from quelea_generator.core.model import Decline, Evidence, Figure, Operand, PromptEdit, Quote, Sampling, Task, Turn
from quelea_generator.settings import GeneratorSettings

_OPERAND_FIELDS = tuple(one.name for one in fields(Operand) if one.name != "number")
_SLOT = re.compile(r"\{(\d{1,3})\}")
_LONGEST_TENANT = 200
_MAX_NAMES, _MAX_NAME_CHARS = 200, 300
_MOST_STOPS = 4
_MOST_EDITS = 8
_ROLES = ("system", "user", "assistant")
_FUNCTION_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST_FUNCTIONS, _FUNCTION_CHARS = 64, 4000
GATHER_SECONDS = 0.02
"""Text that comes within this time of the last piece goes out in one message: no eye reads faster."""
_MOST_GATHER_SECONDS = 0.1


def to_task(request: pb.GenerateRequest, settings: GeneratorSettings) -> Task:
    """The request as the core has it.

    Raises:
        InvalidInput: No question, a tenant's name of more than 200 characters, a passage number that is 0 or repeated,
            an invalid date, a temperature outside 0 to 2, a top_p outside 0 to 1, more than four stops or an empty one.
        TooLarge: The question, the number of passages or their length, or the prompts are over their limit.
    """
    question = to_question(request.question, settings)
    check_tenant(request.tenant)
    if len(request.evidence) > settings.max_evidence:
        raise TooLarge(f"evidence has more than {settings.max_evidence} passages; send fewer.")
    check_length(
        [part for item in request.evidence for part in (item.text, item.header, item.table_head)],
        "evidence",
        settings.max_evidence_chars,
    )
    history = to_turns(request.history, settings)
    numbers = [item.number for item in request.evidence]
    if 0 in numbers or len(set(numbers)) < len(numbers):
        raise InvalidInput("Every passage of evidence needs a unique number, 1 or greater.")
    return Task(
        question=question,
        evidence=tuple(_to_evidence(item) for item in request.evidence),
        figures=_to_figures(request),
        as_of=to_day(request.as_of),
        history=history,
        model=request.model,
        max_tokens=request.max_tokens,
        temperature=_temperature(request),
        evidence_incomplete=request.evidence_incomplete,
        tenant=request.tenant,
        sampling=_sampling(request),
        edits=to_edits(request.prompts),
    )


def to_edits(prompts: Sequence[pb.Prompt]) -> tuple[PromptEdit, ...]:
    """Wordings of templates. Raises TooLarge."""
    check_length([one.text for one in prompts], "prompts", _MOST_EDITS * MOST_CHARS)
    return tuple(PromptEdit(one.name, one.language, one.text) for one in prompts)


def _to_figures(request: pb.GenerateRequest) -> tuple[Figure, ...]:
    """The figures. Raises InvalidInput for one whose operands the evidence does not print."""
    texts = {item.number: item.text for item in request.evidence}
    found = []
    for one in request.figures:
        operands = tuple(
            Operand(number=it.passage, **{name: getattr(it.fact, name) for name in _OPERAND_FIELDS})
            for it in one.operands
        )
        numbers = [one.value, one.growth, one.later, one.earlier, *(it.value for it in operands)]
        slots = {int(slot) for slot in _SLOT.findall(f"{one.formula} {one.formula_before}")}
        if (
            not operands
            or any(texts.get(it.number, "")[it.start : it.end] != it.printed for it in operands)
            or not all(_is_decimal(number) for number in numbers if number)
            or any(slot >= len(operands) for slot in slots)
        ):
            raise InvalidInput("A figure has no operands, no value, or one that its evidence does not print.")
        said = {name: getattr(one, name) for name in FIGURE_FIELDS}
        found.append(Figure(**said, operands=operands, absent=tuple(one.absent)))
    return tuple(found)


def _is_decimal(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def to_gather(request: pb.GenerateRequest) -> float:
    """Seconds within which text goes out in one message: what the caller asks for, within bounds."""
    return min(request.gather_ms / 1000 or GATHER_SECONDS, _MOST_GATHER_SECONDS)


def to_completion(request: pb.CompleteRequest, settings: GeneratorSettings) -> CompletionRequest:
    """The request as the core has it.

    Raises:
        InvalidInput: No messages, one without text or with an unknown role, an invalid schema, functions without a
            proper name or beside a schema, a tenant's name of more than 200 characters, a temperature outside 0 to 2.
        TooLarge: The messages are too many or too long, or the schema is, or the functions are.
    """
    if not request.messages:
        raise InvalidInput("messages must not be empty.")
    if len(request.messages) > settings.max_messages:
        raise TooLarge(f"There are more than {settings.max_messages} messages; send fewer.")
    check_length([message.text for message in request.messages], "messages", settings.max_prompt_chars)
    for message in request.messages:
        if message.role not in _ROLES:
            raise InvalidInput(f"role must be one of {', '.join(_ROLES)}, got {message.role[:20]!r}.")
        if not message.text.strip():
            raise InvalidInput("A message must have text.")
    check_tenant(request.tenant)
    return CompletionRequest(
        messages=tuple(Message(message.role, message.text) for message in request.messages),
        schema=read_schema(request.json_schema) if request.json_schema else None,
        model=request.model,
        max_tokens=request.max_tokens,
        temperature=_temperature(request),
        tenant=request.tenant,
        functions=_to_functions(request),
    )


def _to_functions(request: pb.CompleteRequest) -> tuple[Function, ...]:
    given = request.functions
    if given and request.json_schema:
        raise InvalidInput("Send functions or json_schema, not both.", details={"field": "functions"})
    if len(given) > _MOST_FUNCTIONS:
        raise TooLarge(f"There are more than {_MOST_FUNCTIONS} functions; send fewer.", details={"field": "functions"})
    for one in given:
        if not _FUNCTION_NAME.fullmatch(one.name):
            raise InvalidInput(
                f'A function must be named by 1 to 64 letters, digits, "_" and "-", got {one.name[:80]!r}.',
                details={"field": "functions"},
            )
        check_length([one.description], "functions", _FUNCTION_CHARS)
    if len({one.name for one in given}) < len(given):
        raise InvalidInput("Two functions have the same name.", details={"field": "functions"})
    return tuple(Function(one.name, one.description, read_schema(one.parameters, "functions")) for one in given)


def to_calls(calls: Sequence[FunctionCall]) -> list[pb.FunctionCall]:
    """Calls of functions as the wire has them."""
    return [pb.FunctionCall(name=one.name, arguments=one.arguments) for one in calls]


def to_question(text: str, settings: GeneratorSettings) -> str:
    """The question. Raises InvalidInput when empty, TooLarge when too long."""
    question = text.strip()
    if not question:
        raise InvalidInput("The question is empty.")
    check_length(question, "question", settings.max_question_chars)
    return question


def to_turns(turns: Sequence[pb.Turn], settings: GeneratorSettings) -> tuple[Turn, ...]:
    """The conversation so far. Raises TooLarge."""
    check_length([turn.text for turn in turns], "history", settings.max_prompt_chars)
    return tuple(Turn(turn.role, turn.text) for turn in turns)


def check_tenant(tenant: str) -> None:
    """Raises InvalidInput for a name of more than 200 characters."""
    if len(tenant) > _LONGEST_TENANT:
        raise InvalidInput(f"The tenant's name is longer than {_LONGEST_TENANT} characters.")


def _temperature(request: pb.GenerateRequest | pb.CompleteRequest) -> float | None:
    temperature = request.temperature if request.HasField("temperature") else None
    if temperature is not None and not 0 <= temperature <= 2:
        raise InvalidInput("temperature must be between 0 and 2.")
    return temperature


def _sampling(request: pb.GenerateRequest) -> Sampling:
    top_p = request.top_p if request.HasField("top_p") else None
    if top_p is not None and not 0 < top_p <= 1:
        raise InvalidInput("top_p must be greater than 0 and at most 1.")
    if len(request.stop) > _MOST_STOPS or not all(request.stop):
        raise InvalidInput(f"stop takes at most {_MOST_STOPS} texts, none of them empty.")
    return Sampling(tuple(request.stop), top_p, request.seed if request.HasField("seed") else None)


def to_quote(quote: Quote) -> pb.Quote:
    """The quote as the wire has it."""
    return pb.Quote(number=quote.number, start=quote.start, end=quote.end, text=quote.text, score=quote.score)


def to_decline(decline: Decline | None) -> dict[str, Any]:
    """The fields of Finished that say why there is no answer; none for an answer."""
    if decline is None:
        return {}
    reason = pb.DeclineReason.Value(f"DECLINE_REASON_{decline.reason.upper()}")
    return {"decline_reason": reason, "decline_detail": decline.detail}


def to_day(text: str) -> date:
    """A day, YYYY-MM-DD; today (UTC) when empty. Raises InvalidInput."""
    return check_day(text, "as_of") or datetime.now(UTC).date()


def to_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of companies. Raises TooLarge."""
    if len(names) > _MAX_NAMES or any(len(name) > _MAX_NAME_CHARS for name in names):
        raise TooLarge(f"companies takes at most {_MAX_NAMES} names of at most {_MAX_NAME_CHARS} characters.")
    return tuple(names)


def _to_evidence(item: pb.Evidence) -> Evidence:
    return Evidence(
        number=item.number,
        text=item.text,
        header=item.header,
        table_head=item.table_head,
        is_table=item.is_table,
        published=item.published,
        period_end=item.period_end,
        period_label=item.period_label,
        company=item.company,
        score=item.score,
        cosine=item.cosine,
        from_web=item.from_web,
        suspicious=item.suspicious,
    )
