"""TLS towards callers from outside: both listeners, no certificate asked of the caller, renewed while it runs."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import grpc
import httpx2
import pytest
from cryptography import x509
from grpc_health.v1 import health_pb2, health_pb2_grpc
from quelea_cli.stack.certificates import Authority
from quelea_gateway.gateway import build
from quelea_gateway.runner import Running
from quelea_gateway.settings import Settings
from quelea_gateway.testing import standing
from quelea_kit.errors import Conflict

OURS = Authority("a public CA")
_LOOK = 1.1


def asking(url: str) -> httpx2.AsyncClient:
    trusting = ssl.create_default_context(cadata=OURS.pem.decode())
    return httpx2.AsyncClient(base_url=url.replace("http://", "https://"), verify=trusting, trust_env=False, timeout=60)


async def shown(url: str) -> int:
    """Serial number of the certificate that the HTTP listener shows now."""
    host, port = url.removeprefix("http://").split(":")
    trusting = ssl.create_default_context(cadata=OURS.pem.decode())
    _, writer = await asyncio.open_connection(host, int(port), ssl=trusting)
    der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return x509.load_der_x509_certificate(der).serial_number


async def test_both_listeners_speak_tls_and_take_renewed_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = OURS.issue(tmp_path / "public", "quelea.example.com")
    (folder / "ca.crt").unlink()
    async with standing(public_tls_dir=str(folder)) as stand:
        async with asking(stand.url) as client:
            assert (await client.get("/healthz")).status_code == 200
            answer = await client.post("/v1/ask", json={"question": "What was Apple's revenue?"})
            assert answer.status_code == 200, answer.text
        async with grpc.aio.secure_channel(stand.grpc, grpc.ssl_channel_credentials(OURS.pem)) as opened:
            health = await health_pb2_grpc.HealthStub(opened).Check(health_pb2.HealthCheckRequest(), timeout=60)
            assert health.status in (1, 2)
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as plain:
            with pytest.raises(httpx2.HTTPError):
                await plain.get(f"{stand.url}/healthz")
        before = await shown(stand.url)
        assert await shown(stand.url) == before
        OURS.issue(folder, "quelea.example.com")
        await asyncio.sleep(_LOOK)
        assert await shown(stand.url) != before
        async with asking(stand.url) as client:
            assert (await client.get("/healthz")).status_code == 200


async def test_the_certificates_between_services_are_not_for_callers_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With QUELEA_TLS_DIR the gateway calls over TLS; what comes in is another matter."""
    monkeypatch.setenv("QUELEA_TLS_DIR", str(OURS.issue(tmp_path / "inside", "gateway")))
    async with standing() as stand, httpx2.AsyncClient(trust_env=False, timeout=60) as plain:
        assert (await plain.get(f"{stand.url}/healthz")).status_code == 200
        async with grpc.aio.insecure_channel(stand.grpc) as opened:
            await health_pb2_grpc.HealthStub(opened).Check(health_pb2.HealthCheckRequest(), timeout=60)
        assert (await plain.post(f"{stand.url}/v1/search", json={"query": "revenue"})).status_code == 200


async def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    settings = Settings(public_tls_dir=str(tmp_path), http_listen="127.0.0.1:0", auth="off")
    gateway = build(settings)
    with pytest.raises(Conflict, match=r"cannot read .*tls\.crt"):
        Running(gateway)
    await gateway.close()
