"""What a pod is made of, what its status means, how the API server is reached: without a cluster."""

import asyncio
import datetime
import ssl
import subprocess
from pathlib import Path

import pytest
from kubernetes_asyncio.config import incluster_config
from pydantic import ValidationError
from quelea_kit.errors import Unavailable
from quelea_sandbox.adapters.backend import EngineError, Inspection
from quelea_sandbox.adapters.door import Door, door_of
from quelea_sandbox.adapters.kubernetes_api import ApiError, PodApi
from quelea_sandbox.adapters.kubernetes_options import inspection_of, is_running, pod_of, waits_for
from quelea_sandbox.core.model import Shape
from quelea_sandbox.seccomp import profile_for_pods
from quelea_sandbox.settings import SandboxSettings
from support.fake_admission import problems_of
from support.fake_cluster import FakeCluster

PODS = {"backend": "kubernetes", "namespace": "runs", "owner": "me", "market_url": "http://door.example:7409"}
SHAPE = Shape(768 << 20, 1.5, 64, market=True)


def settings(**fields: object) -> SandboxSettings:
    return SandboxSettings(**{**PODS, **fields})


def test_a_pod_is_valid_and_no_two_share_a_user() -> None:
    pods = [pod_of(settings(), SHAPE, f"p{n}") for n in range(20)]
    assert all(problems_of(pod, "runs") == [] for pod in pods)
    assert len({pod["spec"]["securityContext"]["runAsUser"] for pod in pods}) > 15
    resources = pods[0]["spec"]["containers"][0]["resources"]
    assert resources["limits"]["memory"] == resources["requests"]["memory"] == str(768 << 20)
    assert resources["limits"]["cpu"] == "1500m" and resources["requests"]["cpu"] == "375m"
    one = pod_of(settings(pod_uid=5000, pod_uids=1), SHAPE, "p")["spec"]
    assert one["containers"][0]["securityContext"]["runAsUser"] == 5000


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"namespace": ""}, "NAMESPACE"),
        ({"owner": ""}, "OWNER"),
        ({"owner": "a/b"}, "OWNER"),
        ({"market_url": "https://door:1/x"}, "MARKET_URL"),
        ({"pod_seconds": 900}, "POD_SECONDS"),
    ],
)
def test_settings_that_make_no_pod_are_refused(fields: dict, says: str) -> None:
    with pytest.raises(ValidationError, match=f"QUELEA_SANDBOX_{says}"):
        settings(**fields)


def status(phase: str, **state: object) -> dict:
    return {"status": {"phase": phase, "containerStatuses": [{"state": state}]}}


def test_what_a_status_means() -> None:
    assert is_running(status("Running", running={}))
    assert not is_running({"status": {"phase": "Pending"}}) and not is_running({})
    for reason in ("ImagePullBackOff", "CreateContainerConfigError"):
        with pytest.raises(EngineError, match=reason):
            is_running(status("Pending", waiting={"reason": reason, "message": "because"}))
    with pytest.raises(EngineError, match="exit code 1"):
        is_running(status("Failed", terminated={"exitCode": 1}))
    unscheduled = {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": "no room"}]}}
    assert waits_for(unscheduled) == "not scheduled: no room"

    assert inspection_of(status("Running", running={})) is None
    assert inspection_of(status("Failed", terminated={"exitCode": 3})) == Inspection(False, False, 3)
    killed = {"exitCode": 137, "reason": "OOMKilled"}
    assert inspection_of(status("Failed", terminated=killed)) == Inspection(False, True, 137)
    # A child of it was; it ended by itself.
    assert inspection_of(status("Failed", terminated={**killed, "exitCode": 1})) == Inspection(False, False, 1)
    evicted = status("Failed", terminated={"exitCode": 137})
    evicted["status"] |= {"reason": "Evicted", "message": "too much storage"}
    with pytest.raises(EngineError, match="Evicted: too much storage"):
        inspection_of(evicted)


async def test_the_door_is_told_by_its_address() -> None:
    assert await Door().environment() == {"QUELEA_MARKET_SOCKET": "/run/market/door.sock"}
    assert await Door("http://127.0.0.1:7409").environment() == {"QUELEA_MARKET_URL": "http://127.0.0.1:7409"}
    assert await Door("http://[::1]:7409").environment() == {"QUELEA_MARKET_URL": "http://[::1]:7409"}
    with pytest.raises(Unavailable, match="Cannot resolve the address"):
        await door_of(settings(market_url="http://door.invalid:7409")).environment()


def test_the_profile_for_pods_is_dockers_with_tcp() -> None:
    rules = [rule for rule in profile_for_pods()["syscalls"] if rule["names"] == ["socket"]]
    assert [rule["args"][0]["value"] for rule in rules] == [1, 2, 10]
    assert all(rule["args"][1]["valueTwo"] == 1 for rule in rules[1:]), "stream sockets only"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A key and a certificate of 127.0.0.1."""
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=api -keyout key -out ca.crt"
    subprocess.run(
        [*command.split(), "-addext", "subjectAltName=IP:127.0.0.1"], cwd=tmp_path, check=True, capture_output=True
    )
    return tmp_path


async def test_a_pods_token_is_read_again_when_it_has_changed(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incluster_config, "TOKEN_REFRESH_PERIOD", datetime.timedelta(0))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate / "ca.crt", certificate / "key")
    cluster = FakeCluster(tls=tls)
    await cluster.start()
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(cluster.port))
    api = PodApi("runs", account=certificate, seconds=5)
    try:
        with pytest.raises(EngineError, match="token file does not exist"):
            await api.list("a=b")
        (certificate / "token").write_text("token-one")
        assert await api.list("a=b") == []
        cluster.tokens = {"token-two"}
        with pytest.raises(ApiError, match="does not know this service's token"):
            await api.list("a=b")
        (certificate / "token").write_text("token-two")
        await asyncio.sleep(0.01)
        assert await api.list("a=b") == []
    finally:
        await api.close()
        await cluster.close()


async def test_an_api_server_that_is_not_there_is_said_within_the_deadline(tmp_path: Path) -> None:
    cluster = FakeCluster()
    api = PodApi("runs", kubeconfig=cluster.kubeconfig(tmp_path), seconds=2)
    try:
        async with asyncio.timeout(60):
            with pytest.raises(EngineError, match="API server does not answer"):
                await api.get("p")
            with pytest.raises(EngineError, match="cannot attach"):
                await api.attach("p", "run")
    finally:
        await api.close()
        await cluster.close()
