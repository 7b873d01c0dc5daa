"""The chart's objects with TLS between the services and to Redis, run from the locally built images."""

from __future__ import annotations

from collections.abc import Iterator

import docker
import pytest
from support.chart_render import MATRIX, merged, render
from support.release import Release

READY_SECONDS = 420
STRANGER = """
import grpc, sys
channel = grpc.insecure_channel(sys.argv[1]) if sys.argv[2] == "plain" else grpc.secure_channel(
    sys.argv[1], grpc.ssl_channel_credentials(*(open(f"/etc/quelea/tls/{name}", "rb").read()
    for name in ("ca.crt", "tls.key", "tls.crt"))))
try:
    channel.unary_unary("/quelea.retriever.v1.RetrieverService/ListDocuments")(b"", timeout=60)
    print("OK")
except grpc.RpcError as error:
    print(error.code().name)
"""


@pytest.fixture(scope="module")
def release(engine: docker.DockerClient) -> Iterator[Release]:
    # One of each: that there may be two is test_release.py's, and both would show the same certificate.
    once = {name: {"replicas": 1} for name in ("embedder", "generator", "gateway")}
    values = {"tls": {"mode": "generated", "stores": True}, "services": once}
    one = Release(engine, render(merged(MATRIX["local"], values)))
    try:
        one.start()
        one.settle(READY_SECONDS)
        yield one
    finally:
        one.remove()


def call(release: Release, caller: str, how: str = "tls") -> str:
    """What the retriever says to a call from a component's container, by status."""
    container = release.pods[caller][0].main
    host = "demo-quelea-retriever.finance.svc.cluster.local:7402"
    found = container.exec_run(["python", "-c", STRANGER, host, how])
    return str(found.output.decode(errors="replace").strip().splitlines()[-1])


def test_every_probe_passes_beside_tls(release: Release) -> None:
    for component in release.pods:
        assert release.alive(component) == []


def test_the_charts_own_tests_pass_over_tls(release: Release) -> None:
    for name in ("test-ingest", "test-ask"):
        release.must_pass(name)


def test_who_may_reach_it_still_needs_the_right_certificate(release: Release) -> None:
    """The gateway may call the retriever; without its certificate even its pod gets nowhere."""
    assert call(release, "gateway") == "OK"
    assert call(release, "gateway", "plain") == "UNAVAILABLE"
    # The retriever's own certificate is good, and not on the list of its callers.
    assert call(release, "retriever") == "PERMISSION_DENIED"
