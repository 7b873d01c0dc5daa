"""What the HTTP and the gRPC server share: clients, pipeline, limits."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import grpc
from quelea_kit.disk import Disk, local_folder
from quelea_kit.errors import DiskFull, InvalidInput, QueleaError, Unavailable
from quelea_kit.reach import within

from quelea_gateway.access import Access, Caller, CallLimiter
from quelea_gateway.adapters.check_pool import CheckPool
from quelea_gateway.adapters.conversations import ConversationStore
from quelea_gateway.adapters.cross_encoder_verifier import CrossEncoderVerifier
from quelea_gateway.adapters.downstream import Health
from quelea_gateway.adapters.evaluations import EvaluationStore
from quelea_gateway.adapters.feedback import FeedbackStore
from quelea_gateway.adapters.generator import GeneratorClient
from quelea_gateway.adapters.model_verifier import ModelVerifier
from quelea_gateway.adapters.retriever import RetrieverClient
from quelea_gateway.adapters.search import SearchClient
from quelea_gateway.analyst import Analyst, build_analyst
from quelea_gateway.core.agent.prompts import AgentPrompts
from quelea_gateway.core.gate.gates import CalibratedGate, Calibration, CosineGate, Gate
from quelea_gateway.core.pipeline import Pipeline
from quelea_gateway.core.ports import Checker
from quelea_gateway.core.prompts import PromptSource
from quelea_gateway.core.question import Limits
from quelea_gateway.core.review.foreign_sentences import MeaningChecker
from quelea_gateway.core.review.verifier import VerifyingChecker
from quelea_gateway.core.structured import StructuredPrompts
from quelea_gateway.core.web.route import WebLimits, WebRoute
from quelea_gateway.core.web.useful_page_reporter import UsefulPageReporter
from quelea_gateway.metrics import observe_kept
from quelea_gateway.rights import readable, writable
from quelea_gateway.settings import Settings
from quelea_gateway.statement_reader import StatementReader
from quelea_gateway.toolkit import Toolkit, build_toolkit

_FRESH_SECONDS = 1.0


@dataclass
class Gateway:
    """The clients, the pipeline and the rules."""

    settings: Settings
    access: Access
    limiter: CallLimiter
    limits: Limits
    retriever: RetrieverClient
    search: SearchClient
    generator: GeneratorClient
    pipeline: Pipeline
    reporter: UsefulPageReporter
    check_pool: CheckPool
    checker: Checker
    analyst: Analyst
    toolkit: Toolkit
    feedback: FeedbackStore
    conversations: ConversationStore
    evaluations: EvaluationStore
    prompt_sources: tuple[PromptSource, ...] = ()
    closing: list[Callable[[], Awaitable[None]]] = field(default_factory=list, repr=False)
    """Called when the gateway closes, by what was built on it."""
    _ready: tuple[float, dict[str, str]] | None = field(default=None, repr=False)

    @contextlib.contextmanager
    def admitted(self, context: grpc.aio.ServicerContext[Any, Any]) -> Iterator[Caller]:
        """Who makes a gRPC call, counted as under way until the block ends.

        Raises:
            Unauthenticated: no key, or one that is not known.
            Overloaded: too many calls of this key.
        """
        metadata: Any = context.invocation_metadata() or ()  # the stubs do not know that it is iterable
        given = next((value for key, value in metadata if key == "authorization"), None)
        caller = Caller(self.access, given if isinstance(given, str) else None)
        with within(caller.principal.reach()), self.limiter.call(caller.name):
            yield caller

    @contextlib.asynccontextmanager
    async def reading(
        self, context: grpc.aio.ServicerContext[Any, Any], collections: Sequence[str] = ()
    ) -> AsyncIterator[Caller]:
        """As `admitted`; what is asked in the block sees the named collections only.

        Raises:
            NotFound: one that is not there, or that the caller may not read.
        """
        with self.admitted(context) as caller:
            bounds = await readable(self.search, caller.principal, collections)
            with within(bounds):
                yield caller

    @contextlib.asynccontextmanager
    async def writing_to(self, context: grpc.aio.ServicerContext[Any, Any], collection: str) -> AsyncIterator[Caller]:
        """As `admitted`; what is done in the block is done in one collection, the default one when none is named.

        Raises:
            NotFound: it is not there, or the caller may not read it.
            PermissionDenied: he may not write it.
        """
        with self.admitted(context) as caller:
            bounds = await writable(self.search, caller.principal, collection)
            with within(bounds):
                yield caller

    @property
    def statements(self) -> StatementReader:
        """Figures of statements as data."""
        return StatementReader(self.retriever)

    async def dependencies(self) -> dict[str, str]:
        """What is wrong with each service, empty where nothing is; at most a second old."""
        now = time.monotonic()
        if self._ready is None or now - self._ready[0] > _FRESH_SECONDS:

            async def state(health: Health) -> str:
                try:
                    await health.check()
                except QueleaError as error:
                    return error.message
                return ""

            names = ("retriever", "search", "generator")
            states = await asyncio.gather(*(state(getattr(self, name).health) for name in names))
            self._ready = (now, dict(zip(names, states, strict=True)))
        return self._ready[1]

    async def writing(self) -> str:
        """Why nothing new is stored just now: a full disk; empty while it is."""
        stores = (self.retriever.health, self.search.health)
        asked = await asyncio.gather(*(health.takes_writes() for health in stores), return_exceptions=True)
        full = [error.message for error in asked if isinstance(error, DiskFull)]
        if self.analyst.disk:
            try:
                await asyncio.to_thread(self.analyst.disk.check)
            except DiskFull as error:
                full.append(error.message)
        return " ".join(full)

    async def ready(self) -> None:
        """Raises Unavailable, naming the services that are down."""
        down = {name: why for name, why in (await self.dependencies()).items() if why}
        if down:
            raise Unavailable(" ".join(down.values()), details=down)

    async def close(self) -> None:
        """Report the useful pages that wait, and close the channels."""
        for close in self.closing:
            await close()
        await self.analyst.close()
        await self.toolkit.close()
        await self.feedback.close()
        await self.conversations.close()
        await self.evaluations.close()
        await self.reporter.close(self.settings.drain_seconds)
        await asyncio.gather(
            self.retriever.close(), self.search.close(), self.generator.close(), self.check_pool.close()
        )


def build(settings: Settings) -> Gateway:
    """The gateway on its services' addresses. Must be called inside the event loop, as gRPC channels bind to it.

    Raises:
        InvalidInput: keys are off on a public address, or the gate's file cannot be used.
    """
    access = Access(settings)
    gate = build_gate(settings)
    retriever = RetrieverClient(
        settings.retriever,
        search_seconds=settings.retrieve_seconds,
        rank_seconds=settings.rank_seconds,
        call_seconds=settings.call_seconds,
        wait_seconds=settings.retriever_wait_seconds,
    )
    search = SearchClient(settings.search, call_seconds=settings.call_seconds, upload_seconds=settings.upload_seconds)
    reporter = UsefulPageReporter(
        search.keep, seconds=settings.keep_seconds, most=settings.keep_queue, report=observe_kept
    )
    limits = WebLimits(pages=settings.web_pages, passages=settings.web_passages, seconds=settings.web_seconds)
    generator = GeneratorClient(
        settings.generator, generate_seconds=settings.generate_seconds, evidence_tokens=settings.evidence_tokens
    )
    check_pool = CheckPool(
        processes=settings.check_processes, waiting=settings.check_queue, seconds=settings.check_seconds
    )
    checker: Checker = MeaningChecker(check_pool, retriever)
    if settings.verifier != "none":
        verifier = ModelVerifier(generator) if settings.verifier == "model" else CrossEncoderVerifier(retriever)
        checker = VerifyingChecker(checker, verifier, seconds=settings.verifier_seconds)
    toolkit = build_toolkit(settings, generator=generator)
    analyst = build_analyst(
        settings,
        generator=generator,
        retriever=retriever,
        search=search,
        checker=checker,
        tools=toolkit.catalogue if toolkit.on else None,
    )
    return Gateway(
        settings=settings,
        access=access,
        limiter=CallLimiter(settings.max_calls_per_key, settings.calls_per_minute_per_key),
        limits=Limits(
            question_chars=settings.max_question_chars,
            history_turns=settings.max_history_turns,
            history_chars=settings.max_history_chars,
            k=settings.k,
            j=settings.j,
        ),
        retriever=retriever,
        search=search,
        generator=generator,
        pipeline=Pipeline(
            retriever,
            generator,
            gate,
            checker,
            WebRoute(search, retriever, reporter, cosine=settings.keep_cosine, limits=limits),
            filings=search,
        ),
        reporter=reporter,
        check_pool=check_pool,
        checker=checker,
        analyst=analyst,
        toolkit=toolkit,
        feedback=build_feedback(settings),
        conversations=build_conversations(settings),
        evaluations=build_evaluations(settings),
        prompt_sources=(generator, AgentPrompts(), StructuredPrompts()),
    )


def build_feedback(settings: Settings) -> FeedbackStore:
    """The store of thumbs that the settings choose. Raises InvalidInput when nothing speaks its address."""
    url = settings.feedback_url or f"{settings.runs_url.rstrip('/')}/feedback"
    folder = local_folder(url)
    return FeedbackStore(url, most=settings.feedback_per_key, disk=Disk(folder, settings) if folder else None)


def build_conversations(settings: Settings) -> ConversationStore:
    """The store of conversations that the settings choose. Raises InvalidInput when nothing speaks its address."""
    url = settings.conversations_url or f"{settings.runs_url.rstrip('/')}/conversations"
    folder = local_folder(url)
    return ConversationStore(
        url,
        most=settings.conversations_per_key,
        turns=settings.conversation_turns,
        disk=Disk(folder, settings) if folder else None,
    )


def build_evaluations(settings: Settings) -> EvaluationStore:
    """The store of evaluations that the settings choose. Raises InvalidInput when nothing speaks its address."""
    url = settings.evaluations_url or f"{settings.runs_url.rstrip('/')}/evaluations"
    folder = local_folder(url)
    return EvaluationStore(url, queue=settings.evaluation_queue, disk=Disk(folder, settings) if folder else None)


def build_gate(settings: Settings) -> Gate:
    """The gate that the settings choose. Raises InvalidInput when its file cannot be used."""
    packaged = resources.files("quelea_gateway.core.gate").joinpath("gate.json").read_text("utf-8")
    calibration = Calibration.parse(packaged, name="the packaged gate.json")
    if settings.gate_file:
        try:
            text = Path(settings.gate_file).read_text("utf-8")
        except (OSError, ValueError) as error:
            raise InvalidInput(f"gate_file cannot be read: {error}.", details={"field": "gate_file"}) from error
        calibration = Calibration.parse(text, name=settings.gate_file, base=calibration)
    if settings.gate == "cosine":
        return CosineGate(calibration.cosine if settings.gate_cosine is None else settings.gate_cosine)
    return CalibratedGate(
        calibration,
        threshold=settings.gate_threshold,
        fresh_days=settings.fresh_days,
    )
