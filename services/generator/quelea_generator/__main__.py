"""python -m quelea_generator: settings -> logging -> build -> serve."""

from __future__ import annotations

from functools import partial

from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_kit.errors import DeadlineExceeded, Unavailable
from quelea_kit.json_schema import misfit
from quelea_kit.logging import setup_logging
from quelea_kit.metrics import start_metrics
from quelea_kit.server import Server, run, serve
from quelea_kit.tracing import setup_tracing

from quelea_generator.adapters.engine_pool import EnginePool
from quelea_generator.adapters.engine_slots import PoolLimits
from quelea_generator.adapters.reading_pool import ReadingPool
from quelea_generator.core.chat.completion import Completer
from quelea_generator.core.chat.excerpts import excerpt
from quelea_generator.core.chat.reader import ModelReader
from quelea_generator.core.chat.routing import ByAffinity
from quelea_generator.core.dialogue.rewriter import Rewriter
from quelea_generator.core.extractive.reader import ExtractiveReader
from quelea_generator.core.joint_answer import Preparation, prepare
from quelea_generator.core.joint_reader import JointReader
from quelea_generator.core.model import Decline, Task
from quelea_generator.core.reader import Reader
from quelea_generator.core.two_readers import TwoReaders
from quelea_generator.service import NAME, GeneratorService
from quelea_generator.settings import GeneratorSettings


def build(settings: GeneratorSettings) -> GeneratorService:
    """The service over the reader that the settings ask for."""
    reading = ReadingPool(processes=settings.read_processes, seconds=settings.read_seconds)
    if not settings.endpoints:
        return GeneratorService(
            ExtractiveReader(reading.run), settings, rewriter=Rewriter(run=reading.run), reading=reading
        )
    engines = pool(settings)
    completer = Completer(
        engines,
        misfit,
        max_tokens=settings.completion_tokens,
        temperature=settings.temperature,
        token_safety=settings.token_safety,
        context_tokens=settings.context_tokens,
    )
    model = model_reader(settings, engines, reading)
    is_small = settings.prompt == "short_answer"
    reader: Reader = JointReader(model, partial(_prepare, reading, settings.excerpt_tokens)) if is_small else model
    return GeneratorService(
        TwoReaders(reader, ExtractiveReader(reading.run)) if settings.quotes else reader,
        settings,
        completer,
        Rewriter(completer, seconds=settings.rewrite_seconds, run=reading.run),
        reading=reading,
    )


def model_reader(settings: GeneratorSettings, engines: EnginePool, reading: ReadingPool) -> ModelReader:
    """The reader that asks the model alone."""
    return ModelReader(
        engines,
        evidence_tokens=settings.evidence_tokens,
        history_tokens=settings.history_tokens,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        token_safety=settings.token_safety,
        context_tokens=settings.context_tokens,
        excerpt=partial(_excerpt, reading, settings.excerpt_tokens) if settings.excerpt_tokens else None,
        template=settings.prompt,
        sureness=settings.prompt == "short_answer",
    )


async def _excerpt(reading: ReadingPool, tokens: int, task: Task) -> Task | Decline:
    try:
        return await reading.run(excerpt, task, tokens)
    except (DeadlineExceeded, Unavailable):  # the model can read it whole
        return task


async def _prepare(reading: ReadingPool, tokens: int, task: Task) -> Preparation | None:
    try:
        return await reading.run(prepare, task, tokens)
    except (DeadlineExceeded, Unavailable):
        return None


def pool(settings: GeneratorSettings) -> EnginePool:
    """The engine's replicas."""
    # Its library is a third of the start, and a reader without a model needs none of it.
    from quelea_generator.adapters.openai_endpoint import OpenAIEndpoint  # noqa: PLC0415  # as said

    endpoints = [
        OpenAIEndpoint(
            url,
            settings.api_key,
            settings.model,
            connect_seconds=settings.connect_seconds,
            stall_seconds=settings.stall_seconds,
            first_stall_seconds=settings.first_stall_seconds,
            environment_proxy=settings.environment_proxy,
            ca=settings.endpoint_ca,
            extra=settings.extra_body,
            function_calls=settings.function_calls,
        )
        for url in settings.endpoints
    ]
    limits = PoolLimits(
        slots=settings.max_in_flight_per_engine,
        attempts=settings.attempts,
        queue_length=settings.queue_length,
        queue_length_per_tenant=settings.queue_length_per_tenant,
        queue_wait_seconds=settings.queue_wait_seconds,
        queue_quantum=settings.queue_quantum,
        comeback_seconds=settings.comeback_seconds,
        circuit_seconds=settings.circuit_seconds,
        stall_seconds=settings.stall_seconds,
    )
    return EnginePool(endpoints, limits, ByAffinity(settings.affinity_factor))


async def main() -> None:
    """Serve until told to stop."""
    settings = GeneratorSettings()
    setup_logging("generator", settings)
    setup_tracing("generator", settings)
    start_metrics(settings)
    service = build(settings)
    server = Server(
        settings,
        [NAME],
        lambda s: pb_grpc.add_GeneratorServiceServicer_to_server(service, s),
        ready=service.ready,
    )
    await serve(server, on_stop=service.close)


if __name__ == "__main__":
    run(main())
