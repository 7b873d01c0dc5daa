"""The generator service."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence

import grpc
from quelea.common.v1 import common_pb2
from quelea.generator.v1 import generator_pb2, generator_pb2_grpc
from quelea_fintext.facts import fact_fields
from quelea_kit.client import channel, stream, unary
from quelea_kit.errors import QueleaError, Unavailable

from quelea_gateway.adapters.services.downstream import Health, naming
from quelea_gateway.core.model import (
    CompletionEnd,
    Delta,
    Figure,
    Finished,
    Function,
    FunctionCall,
    Message,
    Passage,
    Question,
    Quote,
    ReaderInfo,
    Standalone,
)
from quelea_gateway.core.prompts import NO_EDITS, Prompts, PromptSet, PromptTemplate, built_in_only
from quelea_gateway.core.review.decline import DeclineReason

SERVICE = "quelea.generator.v1.GeneratorService"
_FRESH_SECONDS = 20.0
"""What is known of the reader is never older, while the generator answers; which hears of its engine within seconds, so
that a change there is known here within half a minute."""

_RENEW_SECONDS = 10.0
"""From this age on it is asked for beside the work, so that under load nobody waits for it."""

_INFO_SECONDS = 1.0
_AGAIN_SECONDS = 1.0
_PROMPTS_SECONDS = 5.0
_EDITABLE = ("answer", "short_answer", "rewrite")
"""Templates for which a request may bring another wording."""
_FINEST_MS, _COARSEST_MS, _STEP_MS = 20, 50, 10
_STREAMS_A_STEP = 3
_DECLINE_REASONS = {
    generator_pb2.DECLINE_REASON_NO_EVIDENCE: DeclineReason.NOT_IN_EVIDENCE,
    generator_pb2.DECLINE_REASON_NO_SUCH_PERIOD: DeclineReason.PERIOD_NOT_COVERED,
    generator_pb2.DECLINE_REASON_ASKS_FOR_ADVICE: DeclineReason.ADVICE_ASKED,
    generator_pb2.DECLINE_REASON_NOT_A_QUESTION: DeclineReason.NOT_A_QUESTION,
    generator_pb2.DECLINE_REASON_MODEL_REFUSED: DeclineReason.MODEL_REFUSED,
    generator_pb2.DECLINE_REASON_ENGINE_EMPTY: DeclineReason.EMPTY_ANSWER,
}
_REWRITE_SECONDS = 6.0
"""The generator gives its model less; this is for a generator that hangs."""


def gather_ms(streams: int) -> int:
    """Milliseconds of text in one message when so many answers are being written.

    A message costs .2 to .3 ms of the processor from here to the caller: so all of them take a tenth of one with up
    to 15 answers at once. Beyond that pieces wait for the processor anyhow, and the coarsest is still 20 a second.
    """
    return max(_FINEST_MS, min(_COARSEST_MS, _STEP_MS * (streams // _STREAMS_A_STEP)))


def request_of(
    question: Question,
    evidence: tuple[Passage, ...],
    *,
    evidence_incomplete: bool,
    figures: tuple[Figure, ...] = (),
    prompts: PromptSet = NO_EDITS,
) -> generator_pb2.GenerateRequest:
    """The wire's request; evidence is numbered from 1 in the given order."""
    return generator_pb2.GenerateRequest(
        question=question.asked,
        evidence=[
            generator_pb2.Evidence(
                number=number,
                text=passage.text,
                header=passage.header,
                table_head=passage.table_head,
                is_table=passage.is_table,
                published=passage.published,
                period_end=passage.period_end,
                company=passage.company,
                score=passage.score,
                cosine=passage.cosine,
                period_label=passage.period,
                from_web=passage.from_web,
                suspicious=passage.suspicious,
            )
            for number, passage in enumerate(evidence, start=1)
        ],
        as_of=question.as_of,
        history=[generator_pb2.Turn(role=turn.role, text=turn.text) for turn in question.history],
        model=question.model,
        max_tokens=question.max_tokens,
        temperature=question.temperature,
        stop=question.stop,
        top_p=question.top_p,
        seed=question.seed,
        evidence_incomplete=evidence_incomplete,
        tenant=question.tenant,
        figures=[_figure_to_wire(figure, evidence) for figure in figures],
        joined=True,
        prompts=[*_edits(prompts, "answer"), *_edits(prompts, "short_answer")],
    )


def _edits(prompts: PromptSet, name: str) -> list[generator_pb2.Prompt]:
    """The wordings of a template, in each language that has one of its own."""
    return [generator_pb2.Prompt(name=name, language=language, text=text) for _, language, text in prompts.of(name)]


def _figure_to_wire(figure: Figure, evidence: tuple[Passage, ...]) -> common_pb2.Figure:
    """A figure whose operands name their evidence by number, with spans of its text."""
    operands = []
    for one in figure.operands:
        fact, before = one.fact, one.passage.start
        said = fact_fields(fact) | {"start": fact.start - before, "end": fact.end - before}
        operands.append(common_pb2.Operand(fact=common_pb2.Fact(**said), passage=evidence.index(one.passage) + 1))
    return common_pb2.Figure(**{**vars(figure), "operands": operands})


def _event_from_wire(reply: generator_pb2.GenerateResponse) -> Delta | Quote | Finished | None:
    """None: of a kind that is not known here."""
    kind = reply.WhichOneof("event")
    if kind == "delta":
        return Delta(reply.delta.text)
    if kind == "quote":
        quote = reply.quote
        return Quote(quote.number, quote.start, quote.end, quote.text, quote.score)
    if kind != "finished":
        return None
    done = reply.finished
    return Finished(
        reason=done.reason,
        reader=done.reader,
        model=done.model,
        prompt_version=done.prompt_version,
        prompt_tokens=done.prompt_tokens,
        completion_tokens=done.completion_tokens,
        first_token_ms=done.first_token_ms,
        decline_reason=_DECLINE_REASONS.get(done.decline_reason),
        decline_detail=done.decline_detail,
    )


class GeneratorClient:
    """Client of the generator.

    Args:
        target: gRPC address.
        generate_seconds: Deadline of an answer.
        evidence_tokens: Budget while the generator has not told its own.
        prompts: Tells the wordings to use in the place of built-in ones; they go with each request.
        spent: Hears of the tokens of each text: a tenant, tokens_read, tokens_written.
    """

    def __init__(
        self,
        target: str,
        *,
        generate_seconds: float,
        evidence_tokens: int,
        prompts: Prompts = built_in_only,
        spent: Callable[..., None] = lambda _tenant, **_tokens: None,
    ) -> None:
        # A text may be written twice: one that has not begun where a generator went is begun at another.
        retried = ["GetInfo", "Generate", "Complete", "Rewrite", "ListPrompts"]
        self._channel: grpc.aio.Channel = channel(target, SERVICE, idempotent=retried)
        self._stub = generator_pb2_grpc.GeneratorServiceStub(self._channel)
        self._seconds = generate_seconds
        self._prompts = prompts
        self._spent = spent
        self._info = ReaderInfo(reader="", model="", evidence_tokens=evidence_tokens)
        self._known_at = -math.inf
        self._ask_from = -math.inf
        self._refresh: asyncio.Task[None] | None = None
        self._streams = 0
        self.health = Health(self._channel, SERVICE, "generator")

    async def info(self) -> ReaderInfo:
        """The reader in use, at most 20 seconds old; the last known one while the generator does not answer.

        A question waits for it only when what is known is older (the first, or the first after a pause), and then a
        second at most; under load it is renewed beside the questions' own work.
        """
        now = time.monotonic()
        age = now - self._known_at
        if age >= _RENEW_SECONDS and now >= self._ask_from and (self._refresh is None or self._refresh.done()):
            self._refresh = asyncio.create_task(self._ask())
        if age >= _FRESH_SECONDS and self._refresh is not None:
            await asyncio.shield(self._refresh)
        return self._info

    async def _ask(self) -> None:
        asked = time.monotonic()
        self._ask_from = math.inf
        try:
            reply = await unary(self._stub.GetInfo(generator_pb2.GetInfoRequest(), timeout=_INFO_SECONDS))
        except QueleaError:  # an old answer is better than none; the call itself will say who is away
            self._ask_from = time.monotonic() + _AGAIN_SECONDS
            return
        self._known_at, self._ask_from = asked, -math.inf
        self._info = ReaderInfo(
            reader=reply.reader,
            model=reply.model,
            evidence_tokens=reply.evidence_tokens or self._info.evidence_tokens,
            prompt_version=reply.prompt_version,
            context_tokens=reply.context_tokens,
            adapters=tuple(reply.adapters),
            version=reply.version,
        )

    async def generate(
        self,
        question: Question,
        evidence: tuple[Passage, ...],
        *,
        evidence_incomplete: bool,
        figures: tuple[Figure, ...] = (),
    ) -> AsyncGenerator[Delta | Quote | Finished, None]:
        """Deltas and quotes, then Finished; leaving early cancels the call at the generator."""
        prompts = question.prompts or await self._prompts()
        request = request_of(
            question, evidence, evidence_incomplete=evidence_incomplete, figures=figures, prompts=prompts
        )
        with naming("generator"), self._count_stream():
            request.gather_ms = gather_ms(self._streams)
            call = self._stub.Generate(request, timeout=self._seconds)
            async with contextlib.aclosing(stream(call)) as replies:
                async for reply in replies:
                    for one in (reply, *reply.more):
                        if event := _event_from_wire(one):
                            if isinstance(event, Finished):
                                self._count(question.tenant, event)
                            yield event

    @contextlib.contextmanager
    def _count_stream(self) -> Iterator[None]:
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1

    async def prompts(self) -> tuple[PromptTemplate, ...]:
        """Its templates. Raises QueleaError."""
        with naming("generator"):
            reply = await unary(self._stub.ListPrompts(generator_pb2.ListPromptsRequest(), timeout=_PROMPTS_SECONDS))
        return tuple(
            PromptTemplate(one.name, one.language, one.version, one.text, is_editable=one.name in _EDITABLE)
            for one in reply.prompts
        )

    async def rewrite(self, question: Question, companies: Sequence[str] = ()) -> Standalone | None:
        """What a question asks that leans on its history; None when it stands alone. Raises QueleaError.

        `companies` are known names of companies, as the question and the history write them.
        """
        request = generator_pb2.RewriteRequest(
            question=question.text,
            history=[generator_pb2.Turn(role=turn.role, text=turn.text) for turn in question.history],
            as_of=question.as_of,
            model=question.model,
            tenant=question.tenant,
            companies=companies,
            prompts=_edits(question.prompts or await self._prompts(), "rewrite"),
        )
        with naming("generator"):
            made = await unary(self._stub.Rewrite(request, timeout=_REWRITE_SECONDS))
        return Standalone(made.question, made.by) if made.by else None

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: str = "",
        model: str = "",
        max_tokens: int = 0,
        temperature: float | None = None,
        tenant: str = "",
        functions: Sequence[Function] = (),
    ) -> AsyncIterator[str | CompletionEnd]:
        """Text as it comes, then CompletionEnd; leaving early cancels the call at the generator.

        Raises:
            InvalidInput: The prompt is longer than the model's context, or the schema is none.
            Conflict: The generator has no language model.
            Overloaded: Too many wait for it.
            Unavailable: It does not answer, or broke off.
        """
        request = generator_pb2.CompleteRequest(
            messages=[generator_pb2.Message(role=one.role, text=one.text) for one in messages],
            json_schema=json_schema,
            model=model,
            max_tokens=max_tokens,
            temperature=temperature,
            tenant=tenant,
            functions=[
                generator_pb2.Function(name=one.name, description=one.description, parameters=one.parameters)
                for one in functions
            ],
        )
        ended = False
        with naming("generator"):
            call = self._stub.Complete(request, timeout=self._seconds)
            async with contextlib.aclosing(stream(call)) as replies:
                async for reply in replies:
                    if reply.HasField("delta"):
                        yield reply.delta.text
                    elif reply.HasField("completed"):
                        done, ended = reply.completed, True
                        self._count(tenant, done)
                        yield CompletionEnd(
                            reason=done.reason,
                            model=done.model,
                            prompt_tokens=done.prompt_tokens,
                            completion_tokens=done.completion_tokens,
                            first_token_ms=done.first_token_ms,
                            total_ms=done.total_ms,
                            calls=tuple(FunctionCall(one.name, one.arguments) for one in done.calls),
                        )
            if not ended:
                raise Unavailable("The generator stopped before the completion was complete.")

    def _count(self, tenant: str, end: Finished | generator_pb2.Completed) -> None:
        self._spent(tenant, tokens_read=end.prompt_tokens, tokens_written=end.completion_tokens)

    async def close(self) -> None:
        """Close the channel."""
        if self._refresh:
            self._refresh.cancel()
        await self._channel.close()
