"""GeneratorService: wire <-> core."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, date, datetime
from importlib.metadata import version

import grpc
from prometheus_client import Counter, Gauge, Histogram
from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_kit.dates import parse_iso
from quelea_kit.errors import Conflict, InvalidInput, Overloaded, TooLarge
from quelea_kit.logging import get_logger
from quelea_kit.metrics import LATENCY_BUCKETS

from quelea_generator.adapters.json_schema import read_schema
from quelea_generator.core.completing import Completer, Wanted
from quelea_generator.core.model import Delta, Evidence, Finished, Quote, Task, Turn
from quelea_generator.core.prompt import Message
from quelea_generator.core.prompt_files import prompt_files
from quelea_generator.core.reader import Reader
from quelea_generator.settings import GeneratorSettings

log = get_logger(__name__)

_LONGEST_TENANT = 200
_ROLES = ("system", "user", "assistant")

NAME = pb.DESCRIPTOR.services_by_name["GeneratorService"].full_name

FIRST_TOKEN = Histogram(
    "quelea_generator_first_token_seconds",
    "From the request to the first text of its answer.",
    ["reader"],
    buckets=LATENCY_BUCKETS,
)
TOKENS = Counter("quelea_generator_tokens_total", "Tokens, as the model's endpoint counts them.", ["reader", "kind"])
ANSWERS = Counter("quelea_generator_answers_total", "Answers by how they ended.", ["reader", "reason"])
COMPLETIONS = Counter("quelea_generator_completions_total", "Plain completions by how they ended.", ["reason"])
MARKERS_REMOVED = Counter(
    "quelea_generator_removed_markers_total", "Citations of evidence that does not exist, removed from answers."
)
IN_FLIGHT = Gauge("quelea_generator_in_flight", "Answers in the making.")
REFUSED = Counter("quelea_generator_refused_total", "Requests refused because too many were in the making.")


class GeneratorService(pb_grpc.GeneratorServiceServicer):
    """The rpcs, over whichever reader the settings chose.

    Args:
        reader: Writes answers from evidence.
        settings: Bounds.
        completer: Plain completions; None: the reader is no language model.
    """

    def __init__(self, reader: Reader, settings: GeneratorSettings, completer: Completer | None = None) -> None:
        self.reader = reader
        self._completer = completer
        self._settings = settings
        self._in_flight = 0

    async def Generate(  # noqa: N802  # the name of the rpc
        self,
        request: pb.GenerateRequest,
        context: grpc.aio.ServicerContext[pb.GenerateRequest, pb.GenerateResponse],
    ) -> AsyncGenerator[pb.GenerateResponse, None]:
        """Text as it comes, then quotes, then Finished. A caller that leaves ends the work behind it."""
        started = time.perf_counter()
        task = to_task(request, self._settings)
        reader = self.reader.name
        first_token: float | None = None
        with self._place():
            async with contextlib.aclosing(self.reader.read(task)) as events:
                async for event in events:
                    if isinstance(event, Delta):
                        if first_token is None:
                            first_token = time.perf_counter() - started
                            FIRST_TOKEN.labels(reader).observe(first_token)
                        yield pb.GenerateResponse(delta=pb.TextDelta(text=event.text))
                    elif isinstance(event, Quote):
                        yield pb.GenerateResponse(quote=to_quote(event))
                    else:
                        self._count(event)
                        yield pb.GenerateResponse(
                            finished=pb.Finished(
                                reason=event.reason,
                                reader=reader,
                                model=event.model,
                                prompt_version=event.prompt_version,
                                prompt_tokens=event.prompt_tokens,
                                completion_tokens=event.completion_tokens,
                                first_token_ms=1000 * (first_token or 0.0),
                                total_ms=1000 * (time.perf_counter() - started),
                            )
                        )

    async def Complete(  # noqa: N802  # the name of the rpc
        self,
        request: pb.CompleteRequest,
        context: grpc.aio.ServicerContext[pb.CompleteRequest, pb.CompleteResponse],
    ) -> AsyncGenerator[pb.CompleteResponse, None]:
        """Text as it comes, then Completed. A caller that leaves ends the work behind it."""
        started = time.perf_counter()
        if self._completer is None:
            raise Conflict(
                "This generator has no language model: its reader is extractive. Set QUELEA_GENERATOR_ENDPOINT.",
                details={"reader": self.reader.name},
            )
        wanted = to_wanted(request, self._settings)
        first_token: float | None = None
        with self._place():
            async with contextlib.aclosing(self._completer.complete(wanted)) as events:
                async for event in events:
                    if isinstance(event, Delta):
                        if first_token is None:
                            first_token = time.perf_counter() - started
                            FIRST_TOKEN.labels("completion").observe(first_token)
                        yield pb.CompleteResponse(delta=pb.TextDelta(text=event.text))
                        continue
                    COMPLETIONS.labels(event.reason).inc()
                    TOKENS.labels("completion", "prompt").inc(event.prompt_tokens)
                    TOKENS.labels("completion", "completion").inc(event.completion_tokens)
                    log.info("completed", reason=event.reason, with_schema=wanted.schema is not None)
                    yield pb.CompleteResponse(
                        completed=pb.Completed(
                            reason=event.reason,
                            model=event.model,
                            prompt_tokens=event.prompt_tokens,
                            completion_tokens=event.completion_tokens,
                            first_token_ms=1000 * (first_token or 0.0),
                            total_ms=1000 * (time.perf_counter() - started),
                        )
                    )

    async def ListPrompts(  # noqa: N802  # the name of the rpc
        self,
        request: pb.ListPromptsRequest,
        context: grpc.aio.ServicerContext[pb.ListPromptsRequest, pb.ListPromptsResponse],
    ) -> pb.ListPromptsResponse:
        """Every prompt template with its version."""
        return pb.ListPromptsResponse(
            prompts=[
                pb.Prompt(name=one.name, language=one.language, version=one.version, text=one.text)
                for one in prompt_files()
            ]
        )

    async def GetInfo(  # noqa: N802  # the name of the rpc
        self,
        request: pb.GetInfoRequest,
        context: grpc.aio.ServicerContext[pb.GetInfoRequest, pb.GetInfoResponse],
    ) -> pb.GetInfoResponse:
        """Which reader answers, and how much evidence it can use."""
        return pb.GetInfoResponse(
            version=version("quelea-generator"),
            reader=self.reader.name,
            model=self.reader.model,
            evidence_tokens=self._settings.evidence_tokens,
            prompt_version=self.reader.prompt_version,
            context_tokens=self.reader.context_tokens,
        )

    @contextlib.contextmanager
    def _place(self) -> Iterator[None]:
        """One of the places that the settings have for answers in the making, or Overloaded."""
        if self._in_flight >= self._settings.most_in_flight:
            REFUSED.inc()
            raise Overloaded(
                f"{self._settings.most_in_flight} answers are already in the making; try again in a second.",
                retry_after=1.0,
            )
        self._in_flight += 1
        IN_FLIGHT.set(self._in_flight)
        try:
            yield
        finally:
            self._in_flight -= 1
            IN_FLIGHT.set(self._in_flight)

    def _count(self, event: Finished) -> None:
        reader = self.reader.name
        ANSWERS.labels(reader, event.reason).inc()
        TOKENS.labels(reader, "prompt").inc(event.prompt_tokens)
        TOKENS.labels(reader, "completion").inc(event.completion_tokens)
        MARKERS_REMOVED.inc(event.removed_markers)
        log.info("answered", reader=reader, reason=event.reason, removed_markers=event.removed_markers)


def to_task(request: pb.GenerateRequest, settings: GeneratorSettings) -> Task:
    """The request as the core has it.

    Raises:
        InvalidInput: No question, a tenant's name of more than 200 characters, a passage number that is 0 or comes
            twice, a date that is none, a temperature outside 0 to 2.
        TooLarge: The question, the number of passages or their length is over its limit.
    """
    question = request.question.strip()
    if not question:
        raise InvalidInput("The question is empty.")
    _check_tenant(request.tenant)
    if len(question) > settings.max_question_chars:
        raise TooLarge(f"The question is longer than {settings.max_question_chars} characters.")
    if len(request.evidence) > settings.max_evidence:
        raise TooLarge(f"More than {settings.max_evidence} passages of evidence.")
    if sum(len(item.text) for item in request.evidence) > settings.max_evidence_chars:
        raise TooLarge(f"More than {settings.max_evidence_chars} characters of evidence.")
    numbers = [item.number for item in request.evidence]
    if 0 in numbers or len(set(numbers)) < len(numbers):
        raise InvalidInput("Every passage of evidence needs a number of its own, from 1.")
    return Task(
        question=question,
        evidence=tuple(_to_evidence(item) for item in request.evidence),
        as_of=_to_day(request.as_of),
        history=tuple(Turn(turn.role, turn.text) for turn in request.history),
        model=request.model,
        max_tokens=request.max_tokens,
        temperature=_temperature(request),
        evidence_incomplete=request.evidence_incomplete,
        tenant=request.tenant,
    )


def to_wanted(request: pb.CompleteRequest, settings: GeneratorSettings) -> Wanted:
    """The request as the core has it.

    Raises:
        InvalidInput: No messages, one without text or of another role than system, user and assistant, a schema that
            is none, a tenant's name of more than 200 characters, a temperature outside 0 to 2.
        TooLarge: The messages are too many or too long, or the schema is.
    """
    if not request.messages:
        raise InvalidInput("There are no messages.")
    if len(request.messages) > settings.max_messages:
        raise TooLarge(f"More than {settings.max_messages} messages.")
    if sum(len(message.text) for message in request.messages) > settings.max_prompt_chars:
        raise TooLarge(f"More than {settings.max_prompt_chars} characters of messages.")
    for message in request.messages:
        if message.role not in _ROLES:
            raise InvalidInput(f"A message's role is one of {', '.join(_ROLES)}.")
        if not message.text.strip():
            raise InvalidInput("A message has no text.")
    _check_tenant(request.tenant)
    return Wanted(
        messages=tuple(Message(message.role, message.text) for message in request.messages),
        schema=read_schema(request.json_schema) if request.json_schema else None,
        model=request.model,
        max_tokens=request.max_tokens,
        temperature=_temperature(request),
        tenant=request.tenant,
    )


def _check_tenant(tenant: str) -> None:
    if len(tenant) > _LONGEST_TENANT:
        raise InvalidInput(f"The tenant's name is longer than {_LONGEST_TENANT} characters.")


def _temperature(request: pb.GenerateRequest | pb.CompleteRequest) -> float | None:
    temperature = request.temperature if request.HasField("temperature") else None
    if temperature is not None and not 0 <= temperature <= 2:
        raise InvalidInput("The temperature must be from 0 to 2.")
    return temperature


def to_quote(quote: Quote) -> pb.Quote:
    """The quote as the wire has it."""
    return pb.Quote(number=quote.number, start=quote.start, end=quote.end, text=quote.text, score=quote.score)


def _to_day(text: str) -> date:
    if not text:
        return datetime.now(UTC).date()
    day = parse_iso(text)
    if day is None:
        raise InvalidInput("as_of must be a date, YYYY-MM-DD.")
    return day


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
