"""`quelea up --tls`: the real stack with mutual TLS, asked a question, called by strangers, given new certificates."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc
from quelea_cli.stack.certificates import Authority
from quelea_kit import tls
from quelea_kit.client import channel, unary
from quelea_kit.errors import PermissionDenied, QueleaError, Unavailable
from support.stack import Stack

RETRIEVER = "quelea.retriever.v1.RetrieverService"
TEXT = b"""Hadada Rail Company annual report 2031

For the fiscal year 2031 the Hadada Rail Company reported total revenue of 7,301 million dollars, compared with
6,990 million dollars in fiscal year 2030. Net income for fiscal year 2031 was 512 million dollars.
"""
QUESTION = "What was the total revenue of Hadada Rail Company in fiscal year 2031?"
SERVERS = ("embedder", "retriever", "search", "generator")


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """With one document in it."""
    stack = Stack(tmp_path_factory.mktemp("tls") / "home", "--tls")
    try:
        assert stack.ingest(("hadada.txt", TEXT))[0]["state"] == "succeeded"
        yield stack
    finally:
        stack.stop()


def address(stack: Stack, service: str) -> str:
    return f"127.0.0.1:{stack.record()['services'][service]['port']}"


async def count(stack: Stack, opened: grpc.aio.Channel) -> int:
    """Documents, asked of the retriever itself."""
    try:
        stub = retriever_pb2_grpc.RetrieverServiceStub(opened)
        request = retriever_pb2.ListDocumentsRequest(page_size=10)
        return len((await unary(stub.ListDocuments(request, timeout=60))).documents)
    finally:
        await opened.close()


async def as_service(stack: Stack, name: str) -> int:
    folder = tls.Folder(stack.home / "run/tls" / name)
    return await count(stack, channel(address(stack, "retriever"), RETRIEVER, folder=folder))


def cited(stack: Stack) -> None:
    answer = stack.ask(QUESTION, route="local")
    assert "7,301" in answer["answer"]
    assert any("7,301" in citation["quote"] for citation in answer["citations"])


def test_a_question_is_answered_with_a_citation(secure: Stack) -> None:
    cited(secure)


@pytest.mark.parametrize("service", SERVERS)
async def test_a_caller_without_tls_gets_nowhere(secure: Stack, service: str) -> None:
    async with grpc.aio.insecure_channel(address(secure, service)) as plain:
        ask = plain.unary_unary("/grpc.health.v1.Health/Check")
        with pytest.raises(grpc.RpcError) as caught:
            await ask(b"", timeout=60)
    assert caught.value.code() == grpc.StatusCode.UNAVAILABLE


async def test_a_certificate_of_another_ca_gets_nowhere(secure: Stack, tmp_path: Path) -> None:
    strange = tls.Folder(Authority().issue(tmp_path / "strange", "gateway"))
    with pytest.raises(Unavailable, match="TLS: the certificate of the server"):
        await count(secure, channel(address(secure, "retriever"), RETRIEVER, folder=strange))


async def test_only_those_who_have_business_there_may_call(secure: Stack) -> None:
    for name in ("gateway", "search", "worker", "operator"):
        assert await as_service(secure, name) == 1
    for name in ("generator", "embedder"):
        with pytest.raises(PermissionDenied, match="may not call this service"):
            await as_service(secure, name)


async def test_new_certificates_of_a_new_ca_are_taken_while_it_runs(secure: Stack, tmp_path: Path) -> None:
    """The hardest renewal: the CA too. Open connections live on, a service that starts anew finds all the others."""
    old = secure.home / "run/tls"
    kept = tmp_path / "before"
    kept.mkdir()
    for file in (old / "operator").iterdir():
        (kept / file.name).write_bytes(file.read_bytes())
    authority = Authority("the next one")
    for folder in old.iterdir():
        authority.issue(folder, folder.name)
    await asyncio.sleep(1.1)
    await asyncio.to_thread(cited, secure)
    before = secure.kill("retriever")

    def back() -> bool:
        return secure.is_back("retriever", before)

    await asyncio.to_thread(secure.wait_until, back, 240, "the retriever is back")
    assert await as_service(secure, "operator") == 1
    await asyncio.to_thread(cited, secure)
    with pytest.raises(QueleaError):
        await count(secure, channel(address(secure, "retriever"), RETRIEVER, folder=tls.Folder(kept)))


def test_the_keys_are_for_their_owner_alone(secure: Stack) -> None:
    keys = list((secure.home / "run/tls").glob("*/tls.key"))
    assert len(keys) >= len(SERVERS) + 3
    assert {key.stat().st_mode & 0o077 for key in keys} == {0}
    assert {key.parent.stat().st_mode & 0o077 for key in keys} == {0}
