"""Mutual TLS between a server and a channel of the kit: who is let in, who is told what, certificates that change."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from quelea.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from quelea_cli.stack.certificates import Authority
from quelea_kit import tls
from quelea_kit.client import channel, stream, unary
from quelea_kit.errors import Conflict, PermissionDenied, Unavailable
from quelea_kit.rpc import renewing_channel
from quelea_kit.server import LIVE, Server
from quelea_kit.settings import ServiceSettings
from quelea_kit.testing import free_port, running
from structlog.testing import capture_logs

NAME = "quelea.embedder.v1.EmbedderService"
OURS = Authority("ours")
_LOOK = 1.1  # a folder looks at its files at most once a second


class Embedder(embedder_pb2_grpc.EmbedderServiceServicer):
    """Says by whose certificate it was called."""

    def __init__(self) -> None:
        self.serials: list[str] = []

    async def GetModel(self, request, context):  # noqa: N802  # the wire names it
        self.serials.append(b"".join(context.auth_context().get("x509_pem_cert", [])).decode())
        return embedder_pb2.GetModelResponse(model="m")


@contextlib.asynccontextmanager
async def serving(
    folder: tls.Folder | None = None, *, outside: bool = False, **settings: object
) -> AsyncIterator[tuple[Server, Embedder]]:
    servicer = Embedder()
    server = Server(
        ServiceSettings(drain_seconds=0.2, **settings),
        [NAME],
        lambda s: embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(servicer, s),
        tls=folder,
        outside=outside,
    )
    await server.start()
    try:
        yield server, servicer
    finally:
        await server.stop()


async def model(opened: grpc.aio.Channel) -> str:
    stub = embedder_pb2_grpc.EmbedderServiceStub(opened)
    return (await unary(stub.GetModel(embedder_pb2.GetModelRequest(), timeout=60))).model


async def ask(server: Server, folder: tls.Folder | None, host: str = "127.0.0.1") -> str:
    opened = channel(f"{host}:{server.port}", NAME, folder=folder)
    try:
        return await model(opened)
    finally:
        await opened.close()


@pytest.fixture
def server_folder(tmp_path: Path) -> tls.Folder:
    return tls.Folder(OURS.issue(tmp_path / "server", "retriever"))


@pytest.fixture
def client_folder(tmp_path: Path) -> tls.Folder:
    return tls.Folder(OURS.issue(tmp_path / "client", "gateway"))


async def test_both_ends_show_a_certificate(server_folder: tls.Folder, client_folder: tls.Folder) -> None:
    async with serving(server_folder) as (server, servicer):
        assert await ask(server, client_folder) == "m"
        assert await ask(server, client_folder, "localhost") == "m"
    assert servicer.serials[0] == client_folder.current().cert.decode()


async def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUELEA_TLS_DIR", str(OURS.issue(tmp_path / "both", "gateway")))
    async with running(
        lambda s: embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(Embedder(), s), [NAME]
    ) as address:
        opened = channel(address, NAME)
        assert await model(opened) == "m"
        await opened.close()
        monkeypatch.delenv("QUELEA_TLS_DIR")
        with pytest.raises(Unavailable, match="it wants TLS"):
            await model(opened := channel(address, NAME))
        await opened.close()


async def test_a_caller_of_another_ca_is_refused_and_told_why(server_folder: tls.Folder, tmp_path: Path) -> None:
    strange = Authority("strange").issue(tmp_path / "strange", "gateway")
    async with serving(server_folder) as (server, servicer):
        with pytest.raises(Unavailable, match=r"TLS: the certificate of the server .* is not accepted: unable to get"):
            await ask(server, tls.Folder(strange))
        # It trusts us, we do not trust it: a self-made certificate beside our ca.crt does not even load as a folder.
        (strange / "ca.crt").write_bytes(OURS.pem)
        with pytest.raises(Conflict, match="is not accepted: unable to get local issuer"):
            tls.Folder(strange)
        shown = grpc.ssl_channel_credentials(OURS.pem, *((strange / f"tls.{x}").read_bytes() for x in ("key", "crt")))
        for credentials in (shown, grpc.ssl_channel_credentials(OURS.pem)):
            async with grpc.aio.secure_channel(f"127.0.0.1:{server.port}", credentials) as opened:
                with pytest.raises(Unavailable, match="does not accept this caller's certificate"):
                    await model(opened)
        assert not servicer.serials


async def test_a_server_without_tls_is_named_as_the_reason(client_folder: tls.Folder) -> None:
    async with serving() as (server, _):
        with capture_logs() as lines:
            for _ in range(3):
                with pytest.raises(Unavailable, match="speaks none, this caller does"):
                    await ask(server, client_folder)
        said = [line for line in lines if line["event"] == "no_connection"]
        assert [str(server.port) in line["why"] for line in said] == [True]  # once, not for every call


async def test_a_server_that_is_not_the_one_called_is_refused(tmp_path: Path, client_folder: tls.Folder) -> None:
    other = tls.Folder(OURS.issue(tmp_path / "other", "embedder"))
    async with serving(other) as (server, _):
        opened = grpc.aio.secure_channel(
            f"127.0.0.1:{server.port}",
            client_folder.channel_credentials(),
            options=[("grpc.ssl_target_name_override", "retriever")],
        )
        with pytest.raises(Unavailable, match="does not name the host that was called"):
            await model(opened)
        await opened.close()


async def test_only_listed_callers_may_call(server_folder: tls.Folder, tmp_path: Path) -> None:
    async with serving(server_folder, allowed_callers=("Gateway", "search")) as (server, servicer):
        for name in ("gateway", "search"):
            await ask(server, tls.Folder(OURS.issue(tmp_path / name, name)))
        with pytest.raises(PermissionDenied, match="names generator, localhost may not call"):
            await ask(server, tls.Folder(OURS.issue(tmp_path / "generator", "generator")))
        assert len(servicer.serials) == 2


def test_callers_cannot_be_listed_without_certificates() -> None:
    with pytest.raises(Conflict, match="QUELEA_TLS_DIR"):
        Server(ServiceSettings(allowed_callers=("gateway",)), [NAME], lambda _: None)


async def test_a_renewed_certificate_of_the_server_is_picked_up(
    server_folder: tls.Folder, client_folder: tls.Folder
) -> None:
    async with serving(server_folder) as (server, _):
        await ask(server, client_folder)
        new = Authority("next")
        new.issue(server_folder.path, "retriever")
        await asyncio.sleep(_LOOK)
        with pytest.raises(Unavailable, match="is not accepted"):
            await ask(server, client_folder)
        new.issue(client_folder.path, "gateway")
        await asyncio.sleep(_LOOK)
        assert await ask(server, client_folder) == "m"


async def test_an_open_channel_shows_its_renewed_certificate_and_its_calls_go_on(
    server_folder: tls.Folder, client_folder: tls.Folder
) -> None:
    async with serving(server_folder) as (server, servicer):
        opened = channel(f"127.0.0.1:{server.port}", NAME, folder=client_folder)
        stub = embedder_pb2_grpc.EmbedderServiceStub(opened)
        watch = health_pb2_grpc.HealthStub(opened).Watch(health_pb2.HealthCheckRequest(service=LIVE), timeout=60)
        events = stream(watch)
        assert (await anext(events)).status == health_pb2.HealthCheckResponse.SERVING
        await unary(stub.GetModel(embedder_pb2.GetModelRequest(), timeout=60))
        OURS.issue(client_folder.path, "gateway")
        await asyncio.sleep(_LOOK)
        await unary(stub.GetModel(embedder_pb2.GetModelRequest(), timeout=60))
        assert servicer.serials[0] != servicer.serials[1] == client_folder.current().cert.decode()
        assert not watch.done()  # begun on the connection before
        await events.aclose()
        await opened.close()


async def test_the_connection_before_a_renewal_is_closed_in_the_end(
    server_folder: tls.Folder, client_folder: tls.Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renewing_channel, "OLD_CALLS_SECONDS", 0.3)
    async with serving(server_folder) as (server, _):
        opened = channel(f"127.0.0.1:{server.port}", NAME, folder=client_folder)
        watch = health_pb2_grpc.HealthStub(opened).Watch(health_pb2.HealthCheckRequest(service=LIVE), timeout=60)
        await watch.read()
        OURS.issue(client_folder.path, "gateway")
        await asyncio.sleep(_LOOK)
        opened.get_state()
        with contextlib.suppress(asyncio.CancelledError, grpc.RpcError):
            await watch.read()
        assert watch.done()
        await opened.close()


async def test_a_renewal_that_does_not_fit_is_not_taken(server_folder: tls.Folder, client_folder: tls.Folder) -> None:
    async with serving(server_folder) as (server, _):
        (server_folder.path / "tls.key").write_bytes((client_folder.path / "tls.key").read_bytes())
        await asyncio.sleep(_LOOK)
        assert await ask(server, client_folder) == "m"
        (server_folder.path / "tls.crt").unlink()
        await asyncio.sleep(_LOOK)
        assert await ask(server, client_folder) == "m"


async def test_a_certificate_that_expires_ends_readiness_and_its_renewal_brings_it_back(tmp_path: Path) -> None:
    folder = tls.Folder(OURS.issue(tmp_path / "one", "retriever"))
    client = tls.Folder(OURS.issue(tmp_path / "client", "gateway"))
    async with (
        serving(folder, health_listen="127.0.0.1:0") as (server, _),
        grpc.aio.insecure_channel(f"127.0.0.1:{server.health_port}") as plain,
    ):
        health = health_pb2_grpc.HealthStub(plain)

        async def becomes(status: int) -> None:
            request = health_pb2.HealthCheckRequest(service=NAME)
            async with asyncio.timeout(120):
                while (await health.Check(request, timeout=60)).status != status:  # noqa: ASYNC110  # health tells nobody
                    await asyncio.sleep(0.1)

        await becomes(health_pb2.HealthCheckResponse.SERVING)
        for seconds in (3, 12, 48):  # one that has expired before it is looked at is not taken
            OURS.issue(folder.path, "retriever", days=seconds / 86400)
            await asyncio.sleep(_LOOK)
            if folder.current().expires < time.time() + 3600:
                break
        await becomes(health_pb2.HealthCheckResponse.NOT_SERVING)
        with pytest.raises(Unavailable, match="certificate has expired"):
            await ask(server, client)
        live = await health.Check(health_pb2.HealthCheckRequest(service=LIVE), timeout=60)
        assert live.status == health_pb2.HealthCheckResponse.SERVING
        OURS.issue(folder.path, "retriever")
        await becomes(health_pb2.HealthCheckResponse.SERVING)
        assert await ask(server, client) == "m"


async def test_the_plain_listener_has_health_and_nothing_else(server_folder: tls.Folder) -> None:
    async with (
        serving(server_folder, health_listen="127.0.0.1:0") as (server, servicer),
        grpc.aio.insecure_channel(f"127.0.0.1:{server.health_port}") as plain,
    ):
        stub = embedder_pb2_grpc.EmbedderServiceStub(plain)
        with pytest.raises(grpc.RpcError) as caught:
            await stub.GetModel(embedder_pb2.GetModelRequest(), timeout=60)
        assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED
    assert not servicer.serials


async def test_a_server_for_the_outside_asks_no_certificate(
    tmp_path: Path, server_folder: tls.Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = OURS.issue(tmp_path / "public", "quelea.example.com")
    (public / "ca.crt").unlink()
    monkeypatch.setenv("QUELEA_TLS_DIR", str(server_folder.path))
    async with (
        serving(tls.Folder(public, mutual=False), outside=True) as (server, _),
        grpc.aio.secure_channel(f"127.0.0.1:{server.port}", grpc.ssl_channel_credentials(OURS.pem)) as opened,
    ):
        stub = embedder_pb2_grpc.EmbedderServiceStub(opened)
        assert (await stub.GetModel(embedder_pb2.GetModelRequest(), timeout=60)).model == "m"
    async with serving(outside=True) as (server, _), grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as plain:
        stub = embedder_pb2_grpc.EmbedderServiceStub(plain)
        assert (await stub.GetModel(embedder_pb2.GetModelRequest(), timeout=60)).model == "m"


async def test_nobody_there_is_no_matter_of_certificates(client_folder: tls.Folder) -> None:
    opened = channel(f"127.0.0.1:{free_port()}", NAME, folder=client_folder)
    with pytest.raises(Unavailable, match="Connection refused"):
        await model(opened)
