"""GeneratorService: wire <-> core."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Iterator
from importlib.metadata import version
from typing import Any

import grpc
from prometheus_client import Counter, Gauge, Histogram
from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_kit.errors import Conflict, Overloaded
from quelea_kit.logging import get_logger
from quelea_kit.metrics import LATENCY_BUCKETS
from quelea_kit.text_batching import batch_text

from quelea_generator.adapters.reading_pool import ReadingPool
from quelea_generator.core.chat.completion import Completer
from quelea_generator.core.chat.prompt_files import prompt_files
from quelea_generator.core.dialogue.rewriter import Rewriter
from quelea_generator.core.model import Delta, Event, Finished, Quote
from quelea_generator.core.reader import Reader
from quelea_generator.settings import GeneratorSettings
from quelea_generator.wire import (
    check_tenant,
    to_calls,
    to_completion,
    to_day,
    to_decline,
    to_edits,
    to_gather,
    to_names,
    to_question,
    to_quote,
    to_task,
    to_turns,
)

log = get_logger(__name__)

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
REWRITES = Counter("quelea_generator_rewrites_total", "Follow-ups by what made them stand alone.", ["by"])
MARKERS_REMOVED = Counter(
    "quelea_generator_removed_markers_total", "Citations of evidence that does not exist, removed from answers."
)
IN_FLIGHT = Gauge("quelea_generator_in_flight", "Answers being written.")
REFUSED = Counter("quelea_generator_refused_total", "Requests refused because too many answers were being written.")


class GeneratorService(pb_grpc.GeneratorServiceServicer):
    """The rpcs, over whichever reader the settings chose.

    Args:
        reader: Writes answers from evidence.
        settings: Bounds.
        completer: Plain completions; None: the reader is no language model.
        rewriter: Makes follow-ups stand alone; None: by the rules.
        reading: The processes that reader and rewriter work in, to start and end with the service.
    """

    def __init__(
        self,
        reader: Reader,
        settings: GeneratorSettings,
        completer: Completer | None = None,
        rewriter: Rewriter | None = None,
        reading: ReadingPool | None = None,
    ) -> None:
        self._reading = reading
        self._warming: asyncio.Task[None] | None = None
        self._rewriter = rewriter or Rewriter()
        self.reader = reader
        self._completer = completer
        self._settings = settings
        self._in_flight = 0

    async def ready(self) -> None:
        """Raises while the reader cannot answer.

        Whoever asks may have less time than the processes need to start, so starting them outlives the question.
        """
        if self._reading and (self._warming is None or _has_failed(self._warming)):
            self._warming = asyncio.create_task(self._reading.warm())
        await self.reader.ready()
        if self._warming:
            await asyncio.shield(self._warming)

    async def close(self) -> None:
        """Give back what reader and processes hold."""
        if self._warming:
            self._warming.cancel()
        await self.reader.close()
        if self._reading:
            await self._reading.close()

    async def Generate(  # noqa: N802  # the name of the rpc
        self,
        request: pb.GenerateRequest,
        context: grpc.aio.ServicerContext[pb.GenerateRequest, pb.GenerateResponse],
    ) -> AsyncGenerator[pb.GenerateResponse, None]:
        """Text as it comes, then quotes, then Finished. A caller that leaves ends the work behind it."""
        task, gather = to_task(request, self._settings), to_gather(request)
        reader = self.reader.name
        clock = _Clock(reader)
        with self._slot():
            async with contextlib.aclosing(batch_text(self.reader.read(task), gather, _text, Delta)) as batches:
                async for events in batches:
                    replies = [self._reply(event, reader, clock) for event in events]
                    if request.joined:
                        replies[0].more.extend(replies[1:])
                        del replies[1:]
                    for reply in replies:
                        yield reply

    def _reply(self, event: Event, reader: str, clock: _Clock) -> pb.GenerateResponse:
        """An event as the wire has it, counted."""
        if isinstance(event, Delta):
            clock.first_token()
            return pb.GenerateResponse(delta=pb.TextDelta(text=event.text))
        if isinstance(event, Quote):
            return pb.GenerateResponse(quote=to_quote(event))
        self._count(event)
        finished = pb.Finished(
            reason=event.reason,
            reader=event.reader or reader,
            model=event.model,
            prompt_version=event.prompt_version,
            prompt_tokens=event.prompt_tokens,
            completion_tokens=event.completion_tokens,
            **clock.milliseconds(),
            **to_decline(event.decline),
        )
        return pb.GenerateResponse(finished=finished)

    async def Complete(  # noqa: N802  # the name of the rpc
        self,
        request: pb.CompleteRequest,
        context: grpc.aio.ServicerContext[pb.CompleteRequest, pb.CompleteResponse],
    ) -> AsyncGenerator[pb.CompleteResponse, None]:
        """Text as it comes, then Completed. A caller that leaves ends the work behind it."""
        clock = _Clock("completion")
        if self._completer is None:
            raise Conflict(
                "No language model is configured. Set QUELEA_GENERATOR_ENDPOINT.",
                details={"reader": self.reader.name},
            )
        wanted = to_completion(request, self._settings)
        with self._slot():
            async with contextlib.aclosing(self._completer.complete(wanted)) as events:
                async for event in events:
                    if isinstance(event, Delta):
                        clock.first_token()
                        yield pb.CompleteResponse(delta=pb.TextDelta(text=event.text))
                        continue
                    COMPLETIONS.labels(event.reason).inc()
                    TOKENS.labels("completion", "prompt").inc(event.prompt_tokens)
                    TOKENS.labels("completion", "completion").inc(event.completion_tokens)
                    log.info(
                        "completed",
                        reason=event.reason,
                        with_schema=wanted.schema is not None,
                        functions=len(wanted.functions),
                        calls=len(event.calls),
                    )
                    yield pb.CompleteResponse(
                        completed=pb.Completed(
                            reason=event.reason,
                            model=event.model,
                            prompt_tokens=event.prompt_tokens,
                            completion_tokens=event.completion_tokens,
                            calls=to_calls(event.calls),
                            **clock.milliseconds(),
                        )
                    )

    async def Rewrite(  # noqa: N802  # the name of the rpc
        self,
        request: pb.RewriteRequest,
        context: grpc.aio.ServicerContext[pb.RewriteRequest, pb.RewriteResponse],
    ) -> pb.RewriteResponse:
        """The question as it stands alone."""
        question = to_question(request.question, self._settings)
        check_tenant(request.tenant)
        history = to_turns(request.history, self._settings)
        edits = to_edits(request.prompts)
        with self._slot():
            made = await self._rewriter.rewrite(
                question,
                history,
                to_day(request.as_of),
                companies=to_names(request.companies),
                model=request.model,
                tenant=request.tenant,
                edits=edits,
            )
        REWRITES.labels(made.by or "none").inc()
        return pb.RewriteResponse(question=made.question, by=made.by, prompt_version=made.prompt_version)

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
            adapters=self.reader.adapters,
        )

    @contextlib.contextmanager
    def _slot(self) -> Iterator[None]:
        """A slot for one answer. Raises Overloaded when all are taken."""
        if self._in_flight >= self._settings.most_in_flight:
            REFUSED.inc()
            raise Overloaded(
                f"{self._settings.most_in_flight} answers are already being written. Try again in a second.",
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
        reader = event.reader or self.reader.name
        ANSWERS.labels(reader, event.reason).inc()
        why = event.decline.reason if event.decline else ""
        TOKENS.labels(reader, "prompt").inc(event.prompt_tokens)
        TOKENS.labels(reader, "completion").inc(event.completion_tokens)
        MARKERS_REMOVED.inc(event.removed_markers)
        log.info("answered", reader=reader, reason=event.reason, decline=why, removed_markers=event.removed_markers)


class _Clock:
    """Times one request: from now to its first text, and to its end."""

    def __init__(self, reader: str) -> None:
        self._reader = reader
        self._started = time.perf_counter()
        self._first = 0.0

    def first_token(self) -> None:
        """Text has come; only the first call counts."""
        if not self._first:
            self._first = time.perf_counter() - self._started
            FIRST_TOKEN.labels(self._reader).observe(self._first)

    def milliseconds(self) -> dict[str, Any]:
        """The fields of the last message; first_token_ms is 0 where no text came."""
        return {"first_token_ms": 1000 * self._first, "total_ms": 1000 * (time.perf_counter() - self._started)}


def _has_failed(task: asyncio.Task[None]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _text(event: Event) -> str | None:
    return event.text if isinstance(event, Delta) else None
