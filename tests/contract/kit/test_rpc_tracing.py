"""A caller's trace goes on at the server, over every kind of call; who leaves a stream leaves nothing behind."""

import asyncio
import contextlib
import logging

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NonRecordingSpan, SpanContext, StatusCode, TraceFlags
from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_kit import tracing
from quelea_kit.client import channel, stream, unary
from quelea_kit.errors import NotFound, QueleaError
from quelea_kit.rpc import rpc_tracing
from quelea_kit.testing import running, wait_until_async

NAME = "quelea.generator.v1.GeneratorService"
TRACE, SPAN = 0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331
MESSAGE = pb.GenerateResponse(delta=pb.TextDelta(text="x" * 100_000))


class Generator(pb_grpc.GeneratorServiceServicer):
    def __init__(self) -> None:
        self.seen: list[SpanContext] = []
        self.closed_by: list[bool] = []

    def note(self) -> None:
        self.seen.append(trace.get_current_span().get_span_context())

    async def GetInfo(self, request, context):  # noqa: N802  # the wire names it
        self.note()
        return pb.GetInfoResponse(reader="r")

    async def Rewrite(self, request, context):  # noqa: N802  # as above
        if request.question == "bug":
            raise ValueError(request.question)
        raise NotFound("none")

    async def Generate(self, request, context):  # noqa: N802  # as above
        self.note()
        task = asyncio.current_task()
        try:
            while True:
                yield MESSAGE
        finally:
            self.closed_by.append(asyncio.current_task() is task)


@pytest.fixture
async def generator():
    servicer = Generator()
    register = lambda server: pb_grpc.add_GeneratorServiceServicer_to_server(servicer, server)  # noqa: E731  # one line
    async with running(register, [NAME]) as address:
        yield servicer, address


@contextlib.contextmanager
def asking():
    """A span of the caller's."""
    with trace.use_span(NonRecordingSpan(SpanContext(TRACE, SPAN, is_remote=False, trace_flags=TraceFlags(0)))):
        yield


@pytest.mark.parametrize("collected", [False, True])
async def test_a_trace_goes_on_at_the_server(generator, monkeypatch, collected):
    monkeypatch.setattr(tracing, "_COLLECTED", ["here"] * collected)
    servicer, address = generator
    opened = channel(address, NAME)
    stub = pb_grpc.GeneratorServiceStub(opened)
    with asking():
        await unary(stub.GetInfo(pb.GetInfoRequest(), timeout=60, metadata=(("more", "1"),)))
        async with contextlib.aclosing(stream(stub.Generate(pb.GenerateRequest(), timeout=600))) as replies:
            await anext(replies)
    assert [one.trace_id for one in servicer.seen] == [TRACE, TRACE]
    await opened.close()


@pytest.mark.parametrize("collected", [False, True])
async def test_a_stream_that_is_left_is_closed_where_it_ran(generator, monkeypatch, caplog, collected):
    monkeypatch.setattr(tracing, "_COLLECTED", ["here"] * collected)
    servicer, address = generator
    opened = channel(address, NAME)
    stub = pb_grpc.GeneratorServiceStub(opened)
    with caplog.at_level(logging.WARNING), asking():
        for _ in range(3):
            async with contextlib.aclosing(stream(stub.Generate(pb.GenerateRequest(), timeout=600))) as replies:
                await anext(replies)
        await wait_until_async(lambda: len(servicer.closed_by) == 3)
    assert servicer.closed_by == [True] * 3  # and not by the garbage collector, in another context
    assert not [record for record in caplog.records if record.exc_info or "detach" in record.getMessage()]
    await opened.close()


async def test_a_recorded_span_says_how_the_call_ended(generator, monkeypatch):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(rpc_tracing, "_tracer", provider.get_tracer("test"))
    _, address = generator
    opened = channel(address, NAME)
    stub = pb_grpc.GeneratorServiceStub(opened)
    await unary(stub.GetInfo(pb.GetInfoRequest(), timeout=60))
    for question in ("none", "bug"):
        with pytest.raises(QueleaError):
            await unary(stub.Rewrite(pb.RewriteRequest(question=question), timeout=60))
    await wait_until_async(lambda: len(exporter.get_finished_spans()) == 3)
    fine, missing, bug = exporter.get_finished_spans()
    codes = [span.attributes["rpc.grpc.status_code"] for span in (fine, missing, bug)]
    assert codes == [0, 5, 13]
    assert [span.status.status_code for span in (fine, missing, bug)] == [StatusCode.UNSET] * 2 + [StatusCode.ERROR]
    assert (fine.attributes["rpc.service"], fine.attributes["rpc.method"]) == (NAME, "GetInfo")
    assert fine.attributes["net.peer.ip"] == "127.0.0.1"
    assert [event.name for event in bug.events] == ["exception"]
    await opened.close()
