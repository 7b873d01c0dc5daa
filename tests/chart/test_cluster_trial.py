"""The trial of `make test-cluster`, driven by the real Helm against an API server that keeps objects and runs nothing.

What it shows: that the steps come in their order, ask for what a cluster understands, and say what is wrong when
something is. What pods do is for a node.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from helm_python import Config
from quelea_sandbox.adapters.fake import FakeBackend
from support.chart_render import REPOSITORY, Object, file
from support.fake_api_server import FakeApiServer
from support.sandbox import fast_settings, sandbox

FOLDER = REPOSITORY / "tests/cluster"
NAMESPACE = "quelea-trial"


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cluster_run", FOLDER / "run.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["cluster_run"] = module  # its dataclass looks itself up
    spec.loader.exec_module(module)
    return module


run = _module()


class FakeKubectl(run.Kubectl):  # type: ignore[misc,name-defined]  # loaded by path
    """kubectl on the fake API server: `get` is answered by it, the rest as a cluster would where all is well."""

    def __init__(self, server: FakeApiServer) -> None:
        super().__init__("", NAMESPACE)
        self.server = server
        self.said: list[str] = []
        self.load = {"answered": 100, "failed": 0, "first": []}
        self.denial = "pods foreign is forbidden: only the sandbox makes pods here"

    def __call__(self, *words: str, stdin: str = "", seconds: float = 60.0) -> str:
        self.said.append(" ".join(words[:3]))
        match words[0]:
            case "version":
                return json.dumps({"serverVersion": {"major": "1", "minor": "36+"}})
            case "create":
                if self.denial:
                    raise run.StepFailed(self.denial)
            case "apply":
                self.server.put(json.loads(stdin), NAMESPACE)
            case "exec":
                return "3 steps of one session\n" if "gateway" in words else ""
            case "logs":
                return json.dumps(self.load)
            case "rollout" if words[1] == "restart":
                assert self.server.objects["Deployment", NAMESPACE, words[2].removeprefix("deployment/")]
        return ""

    def objects(self, *words: str) -> list[Object]:
        kinds = {
            "nodes": "Node",
            "storageclasses": "StorageClass",
            "pods": "Pod",
            "validatingadmissionpolicy": "ValidatingAdmissionPolicy",
        }
        found = self.server.of_kind(kinds[words[0]])
        return [one for one in found if one["metadata"]["name"] == words[1]] if words[0].startswith("v") else found


@pytest.fixture
def server() -> Iterator[FakeApiServer]:
    one = FakeApiServer()
    one.start()
    meta = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    one.put({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local", **meta}})
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}}
    one.put({**node, "status": {**ready, "nodeInfo": {"containerRuntimeVersion": "containerd://2.1"}}})
    yield one
    one.stop()


@contextlib.contextmanager
def trial_on(server: FakeApiServer, **options: Any) -> Iterator[Any]:
    """Helm keeps its records in memory: as Secrets it sends them in a format of its own."""
    helm = Config(kubeconfig_content=server.kubeconfig, namespace=NAMESPACE, storage_driver="memory")
    values = run.merged(file("values-small.yaml"), run.SANDBOX)
    yield run.Trial(helm, FakeKubectl(server), values, **{"seconds": 60.0, **options})
    helm.close()


def _release_pod(server: FakeApiServer, **status: Any) -> None:
    """One that a controller would have made."""
    labels = {"app.kubernetes.io/instance": "quelea"}
    container = {"name": "gateway", "image": "quelea-gateway:0.1.0"}
    metadata = {"name": "quelea-gateway-1", "labels": labels}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
    server.put(pod, NAMESPACE)
    with server._lock:
        server.objects["Pod", NAMESPACE, "quelea-gateway-1"]["status"] |= {"phase": "Running", **status}


@pytest.mark.slow(reason="Helm waits three times for a whole release, and looks again and again")
def test_all_steps_on_a_cluster_where_all_is_well(server: FakeApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    _release_pod(server)
    with trial_on(server) as trial:
        well = trial.run()
        assert well, capsys.readouterr().out
        assert [name for name, _, _ in trial.rows] == list(trial.steps)
        assert len(trial.helm.history("quelea")) == 3, "installed, upgraded, rolled back"
        levels = json.dumps(server.of_kind("Deployment", NAMESPACE))
        assert '"value": "debug"' not in levels, "the roll-back is of the first revision"
        trial.remove()
    assert server.problems == []
    assert not server.of_kind("Deployment", NAMESPACE)
    kept = {one["metadata"]["name"] for one in server.of_kind("PersistentVolumeClaim", NAMESPACE)}
    assert "quelea-blobs" in kept, "claims stay"
    restarted = [one for one in trial.kubectl.said if one.startswith("rollout restart")]
    assert len(restarted) == len(run.ROLLED)
    assert trial.table().count("\n") == 1 + len(trial.steps)


def test_an_installation_that_does_not_get_ready_says_who(
    server: FakeApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.stuck = {"quelea-sandbox"}
    waiting = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}
    _release_pod(server, conditions=[], containerStatuses=[waiting])
    with trial_on(server, seconds=3.0) as trial:
        assert not trial.run()
        trial.remove()
    said = capsys.readouterr().out
    assert "quelea-sandbox not ready" in said
    assert "ImagePullBackOff no such image" in said
    assert [name for name, _, _ in trial.rows] == ["reach", "install"]


def _restarted(trial: Any) -> None:
    _release_pod(trial.kubectl.server, containerStatuses=[{"restartCount": 2, "lastState": {}}])


def _warning(trial: Any) -> None:
    for one in trial.kubectl.server.objects.values():
        if one["kind"] == "ValidatingAdmissionPolicy":
            one["status"]["typeChecking"] = {"expressionWarnings": [{"warning": "undefined field"}]}


def _load(**said: Any) -> Callable[[Any], None]:
    return lambda trial: trial.kubectl.load.update(said)


@pytest.mark.parametrize(
    ("step", "spoil", "says"),
    [
        ("reach", lambda trial: trial.kubectl.server.objects.pop(("Node", "", "node")), "no node is ready"),
        ("reach", lambda trial: trial.kubectl.server.objects.pop(("StorageClass", "", "local")), "no default Storage"),
        ("look", lambda trial: None, "there are no pods"),
        ("look", _restarted, "restarted 2 times"),
        ("policy", _warning, "typeChecking warns"),
        ("policy", lambda trial: setattr(trial.kubectl, "denial", ""), "a foreign pod may be made"),
        ("policy", lambda trial: setattr(trial.kubectl, "denial", "exceeded quota"), "but not by the policy"),
        ("restart", _load(answered=0), "nobody was answered"),
        ("restart", _load(failed=3, first=["503"]), "3 of 103 questions failed"),
    ],
)
def test_what_is_wrong_is_said(server: FakeApiServer, step: str, spoil: Callable[[Any], None], says: str) -> None:
    with trial_on(server) as trial:
        policy = trial._rendered("ValidatingAdmissionPolicy")
        server.put(policy)
        for name in run.ROLLED:
            deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"quelea-{name}"}}
            server.put({**deployment, "spec": {}}, NAMESPACE)
        spoil(trial)
        with pytest.raises(run.StepFailed, match=says):
            trial.steps[step]()


def test_a_pause_of_the_embedded_store_is_told_and_no_failure(server: FakeApiServer) -> None:
    with trial_on(server) as trial:
        trial.values = run.merged(trial.values, file("values-embedded.yaml"))
        trial.kubectl.load |= {"failed": 3, "first": ["503"]}
        assert "3 failed (the embedded store pauses)" in trial._under_load(lambda: None)


def test_kubectl_that_fails_hangs_or_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubectl = run.Kubectl("some.kubeconfig", NAMESPACE)
    program = tmp_path / "kubectl"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(run.StepFailed, match="kubectl does not run"):
        kubectl("get", "pods")
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('error: ' + ' '.join(sys.argv[1:]))\n")
    program.chmod(0o755)
    with pytest.raises(run.StepFailed, match=f"error: --kubeconfig some.kubeconfig --namespace {NAMESPACE} get pods"):
        kubectl("get", "pods")
    program.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(600)\n")
    with pytest.raises(run.StepFailed, match=r"no answer within 0\.2 s"):
        kubectl("get", "pods", seconds=0.2)


async def test_the_session_keeps_its_variables() -> None:
    """What runs in the gateway's pod, against a sandbox over gRPC."""
    import asyncio

    async with sandbox(FakeBackend(), fast_settings()) as client:
        await client.until_ready()
        environment = {**os.environ, "QUELEA_GATEWAY_SANDBOX": client.target}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-", stdin=-1, stdout=-1, stderr=-1, env=environment
        )
        script = (FOLDER / "session.py").read_bytes()
        said, wrong = await asyncio.wait_for(process.communicate(script), 120)
    assert process.returncode == 0, wrong.decode()
    assert said == b"3 steps of one session\n"


def test_the_load_counts_answers_and_failures() -> None:
    import http.server
    import threading

    class Gateway(http.server.BaseHTTPRequestHandler):
        asked = 0

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            Gateway.asked += 1
            self.send_response(503 if Gateway.asked == 2 else 200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as gateway:
        threading.Thread(target=gateway.serve_forever, args=(0.05,), daemon=True).start()
        environment = {
            "QUELEA_URL": f"http://127.0.0.1:{gateway.server_port}",
            "QUELEA_KEY": "k",
            "QUELEA_CLIENTS": "2",
        }
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", (FOLDER / "load.py").read_text()],
            stdout=subprocess.PIPE,
            env=environment,
        )
        from quelea_kit.testing import wait_until

        wait_until(lambda: Gateway.asked >= 5, what="five questions")
        process.terminate()
        out, _ = process.communicate(timeout=120)
        gateway.shutdown()
    said = json.loads(out)
    assert (said["failed"], len(said["first"])) == (1, 1) and said["first"][0].split()[1] == "503"
    assert said["answered"] == Gateway.asked - 1
