"""Another user of the machine reaches the services' ports on loopback, and gets nothing from them."""

from __future__ import annotations

import stat
from typing import Any

import grpc
import pytest
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc
from quelea_kit.client import channel, unary
from quelea_kit.errors import Unauthenticated

RETRIEVER = "quelea.retriever.v1.RetrieverService"
CALLS = {
    "embedder": "/quelea.embedder.v1.EmbedderService/GetModel",
    "retriever": "/quelea.retriever.v1.RetrieverService/ListDocuments",
    "search": "/quelea.search.v1.SearchService/DeleteDocument",
    "generator": "/quelea.generator.v1.GeneratorService/GetInfo",
}


def address(stack: Any, service: str) -> str:
    return f"127.0.0.1:{stack.record()['services'][service]['port']}"


@pytest.mark.parametrize("service", CALLS)
async def test_a_service_refuses_who_does_not_know_the_secret(stack: Any, service: str) -> None:
    async with grpc.aio.insecure_channel(address(stack, service)) as plain:
        with pytest.raises(grpc.RpcError) as caught:
            await plain.unary_unary(CALLS[service])(b"", timeout=60)
    assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED


async def test_the_owner_of_the_home_may_call(stack: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = stack.home / "run/stack-secret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for secret, is_answered in ((file.read_text(), True), ("a guess", False)):
        monkeypatch.setenv("QUELEA_STACK_SECRET", secret)
        opened = channel(address(stack, "retriever"), RETRIEVER)
        call = retriever_pb2_grpc.RetrieverServiceStub(opened).ListDocuments(
            retriever_pb2.ListDocumentsRequest(page_size=10), timeout=60
        )
        try:
            if is_answered:
                await unary(call)
            else:
                with pytest.raises(Unauthenticated):
                    await unary(call)
        finally:
            await opened.close()
