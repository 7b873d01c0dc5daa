"""GeneratorService served over real gRPC, for tests of its contract."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from quelea.generator.v1 import generator_pb2 as pb
from quelea.generator.v1 import generator_pb2_grpc as pb_grpc
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.completion import Completer
from quelea_generator.core.chat.reader import ModelReader
from quelea_generator.core.extractive.reader import ExtractiveReader, answer
from quelea_generator.core.model import Quote, Task
from quelea_generator.core.reader import Reader
from quelea_generator.service import NAME, GeneratorService
from quelea_generator.settings import GeneratorSettings
from quelea_kit.client import channel, stream
from quelea_kit.testing import running

TEXT = "Three months ended March 30,\n2024 2023\nTotal net sales 81,797 82,959\nNet income 19,881 19,442"


def evidence(number: int = 1, text: str = TEXT) -> pb.Evidence:
    return pb.Evidence(
        number=number,
        text=text,
        is_table=True,
        company="Norbert Mills",
        period_end="2024-03-30",
        period_label="FY2024 Q3",
    )


def request(question: str = "What were total net sales?", **fields: object) -> pb.GenerateRequest:
    return pb.GenerateRequest(**{"question": question, "evidence": [evidence()], "as_of": "2024-06-01", **fields})


def lines_and_quotes(task: Task) -> tuple[list[str], list[Quote]]:
    """What the extractive reader answers; both empty when it declines."""
    found = answer(task)
    assert (found.decline is None) == bool(found.lines) == bool(found.quotes)
    return list(found.lines), list(found.quotes)


def model_reader(chat: FakeEndpoint) -> ModelReader:
    return ModelReader(chat, evidence_tokens=1000, history_tokens=100, max_tokens=100, temperature=0.0)


@asynccontextmanager
async def served(
    reader: Reader, completer: Completer | None = None, **limits: object
) -> AsyncIterator[pb_grpc.GeneratorServiceStub]:
    settings = GeneratorSettings(drain_seconds=0.5, **limits)
    service = GeneratorService(reader, settings, completer)
    async with (
        running(
            lambda server: pb_grpc.add_GeneratorServiceServicer_to_server(service, server),
            [NAME],
            settings=settings,
            ready=reader.ready,
        ) as target,
        channel(target, NAME) as open_channel,
    ):
        yield pb_grpc.GeneratorServiceStub(open_channel)


async def collect(
    stub: pb_grpc.GeneratorServiceStub, wanted: pb.GenerateRequest
) -> tuple[str, Sequence[pb.Quote], pb.Finished]:
    text, quotes, finished = "", [], []
    async for event in stream(stub.Generate(wanted, timeout=60)):
        if event.HasField("delta"):
            assert not quotes
            text += event.delta.text
        elif event.HasField("quote"):
            quotes.append(event.quote)
        else:
            finished.append(event.finished)
    assert len(finished) == 1
    return text, quotes, finished[0]


def readers() -> list[Reader]:
    return [ExtractiveReader(), model_reader(FakeEndpoint(["Sales were 81,797 ", "[1]."]))]
