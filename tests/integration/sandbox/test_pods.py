"""The service on a fake API server whose pods are real containers: what a pod is, and what a cluster does to it."""

import asyncio
import copy
from pathlib import Path

import pytest
from aiohttp import WSMsgType
from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea_kit.client import unary
from quelea_kit.errors import NotFound, Unavailable
from quelea_kit.testing import wait_until_async
from quelea_sandbox.adapters.kubernetes_api import PodApi
from quelea_sandbox.adapters.kubernetes_options import OWNER, pod_of
from quelea_sandbox.core.model import Shape
from support.fake_cluster import FakeCluster
from support.sandbox import FORK, SandboxClient, pod_sandbox, pod_settings

pytestmark = pytest.mark.usefixtures("engine")

FOREVER = "print('begun')\nimport time\nwhile True: time.sleep(0.05)"


async def begun(client: SandboxClient, **fields: object) -> asyncio.Task:
    """A run that goes on, and has said so."""
    task = await client.begin(FOREVER, **fields)
    assert client.service.pool.counts.running == 1
    return task


def its_pod(cluster: FakeCluster, client: SandboxClient) -> str:
    """The pod of the one run that is under way."""
    (keeper,) = client.service.pool._running
    return str(keeper.container.name)


async def test_pandas_and_a_plot_from_a_warm_pod(cluster: FakeCluster) -> None:
    async with pod_sandbox(cluster, max_warm=1) as client:
        ran = await client.run(
            "import pandas as pd\nimport matplotlib.pyplot as plt\n"
            "df = pd.read_csv('prices.csv')\ndf.plot(y='收盘', title='收盘价')\nplt.show()\ndf.describe()",
            files=[pb.File(path="prices.csv", data="日期,收盘\n2024-01-02,10.5\n2024-01-03,11.0\n".encode())],
        )
        assert ran.reason == "OK" and "10.75" in ran.text, ran.finished.error
        assert ran.files["figure-1.png"].media_type == "image/png" and len(ran.files["figure-1.png"].data) > 5000
        assert ran.started is not None and ran.started.warm and ran.started.backend == "kubernetes"
        assert (await client.capacity()).image == client.service._settings.image


async def test_the_node_closes_stdin_when_stderr_has_ended_as_containerd_does(tmp_path: Path) -> None:
    """So that a guest that lets go of its stderr fails here too: its session would end after one step on a node."""
    cluster = FakeCluster()
    pod = pod_of(pod_settings(cluster, tmp_path), Shape(256 << 20, 1.0, 64, market=False), "quelea-sandbox-hangs-up")
    program = "import os, sys; print('begun', flush=True); os.close(2); sys.stdin.read(); print('ended', flush=True)"
    pod["spec"]["containers"][0]["command"] = ["python", "-c", program]
    await cluster.start()
    api = PodApi(cluster.namespace, kubeconfig=cluster.kubeconfig(tmp_path))
    try:
        made = await api.create(pod)
        async with asyncio.timeout(120):
            while "running" not in str(made.get("status", {}).get("containerStatuses")):
                await asyncio.sleep(0.05)
                made = await api.get("quelea-sandbox-hangs-up")
            line = await api.attach("quelea-sandbox-hangs-up", "run")
            said = b"".join([message.data[1:] async for message in line if message.type is WSMsgType.BINARY])
        assert b"ended" in said
    finally:
        await api.close()
        await cluster.close()


async def test_what_the_code_sees_of_the_cluster(client_on_pods: SandboxClient) -> None:
    code = """
import os, socket
status = dict(line.split(':\\t', 1) for line in open('/proc/self/status').read().splitlines() if ':\\t' in line)
print(*(status[name].strip() for name in ('CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp')))
print(os.getuid() >= 100000, os.getuid() == os.getgid(), sorted(os.listdir('/sys/class/net')))
print(os.uname().nodename, [k for k in os.environ if 'KUBERNETES' in k], os.path.exists('/var/run/secrets'))
print(open('/proc/1/environ').read().count('KUBERNETES'), open('/etc/resolv.conf').read().strip())
print(os.listdir('/run'))
"""
    ran = await client_on_pods.run(code)
    assert ran.text.splitlines() == [
        "0000000000000000 0000000000000000 1 2",
        "True True ['lo']",
        "sandbox [] False",
        "0 nameserver 127.0.0.1",
        "['market']",
    ], ran


async def test_each_pod_has_its_own_number_of_processes(client_on_pods: SandboxClient) -> None:
    code = f"{FORK}time.sleep(2)\n"
    both = await asyncio.gather(*(client_on_pods.run(code, limits=pb.Limits(pids=32)) for _ in range(2)))
    for ran in both:
        error, number = ran.text.split()
        assert error == "EAGAIN" and 20 < int(number) < 32


async def test_the_api_server_goes_and_comes_back(cluster: FakeCluster) -> None:
    async with pod_sandbox(cluster, preload="", check_seconds=0.3, engine_seconds=5, max_containers=4) as client:
        one = (await unary(client.stub.CreateSession(pb.CreateSessionRequest(), timeout=60))).session_id
        running = await client.begin(FOREVER)
        await cluster.stop()
        ran = await running
        assert ran.reason == "ENGINE" and ran.text == "begun\n", ran.finished
        await wait_until_async(lambda: bool(client.service.pool.down))
        with pytest.raises(Unavailable):
            await client.run("print(1)")
        left = set(cluster.pods)
        await cluster.start()
        await client.until_ready()
        assert (await client.run("print('again')")).text == "again\n"
        with pytest.raises(NotFound):
            await client.run("1", session_id=one)
        await wait_until_async(lambda: not left & set(cluster.pods), what="what was lost is removed")
    assert not cluster.kubelet.alive()


async def test_a_broken_stream_is_the_engines_fault(cluster: FakeCluster) -> None:
    async with pod_sandbox(cluster, preload="", max_warm=1) as client:
        running = await begun(client)
        cluster.drop()
        ran = await running
        assert ran.reason == "ENGINE" and ran.text == "begun\n", ran.finished
        assert (await client.run("print(1)")).text == "1\n"


@pytest.mark.slow(reason="a pod is started and lost three times, once by a deletion with its grace")
async def test_a_pod_that_is_killed_deleted_or_evicted_is_the_engines_fault(cluster: FakeCluster) -> None:
    async with pod_sandbox(cluster, preload="", max_warm=1) as client:
        running = await begun(client)
        await cluster.kubelet.kill(its_pod(cluster, client))
        assert (await running).reason == "ENGINE"

        running = await begun(client)
        cluster._delete(its_pod(cluster, client), {"gracePeriodSeconds": 1})
        assert (await running).reason == "ENGINE"

        running = await begun(client)
        name = its_pod(cluster, client)
        cluster._report(name, {"phase": "Failed", "reason": "Evicted", "message": "used more than it may"})
        cluster.kubelet._told = lambda *_: None  # the kubelet has had its last word
        await cluster.kubelet.kill(name)
        ran = await running
        assert ran.reason == "ENGINE" and "Evicted: used more than it may" in ran.finished.error


async def test_starts_survive_a_shaky_api_server(cluster: FakeCluster) -> None:
    cluster.faults += [
        ("POST .*/pods$", 429, {"Retry-After": "1"}),
        ("GET .*/pods$", 500, {}),
        ("GET .*/pods$", 503, {"Retry-After": "1"}),
        ("GET .*/pods/quelea-sandbox-[0-9a-f]+$", 504, {}),
        ("GET .*/pods$", 410, {}),
        ("GET .*/attach", 500, {}),
        ("DELETE ", 429, {"Retry-After": "0"}),
    ]
    async with pod_sandbox(cluster, preload="", max_warm=1) as client:
        cluster.forget()
        assert (await client.run("print(1)")).text == "1\n"
    assert len([one for one in cluster.seen if one.startswith("POST")]) >= 2
    assert not cluster.faults or all("DELETE" not in fault[0] for fault in cluster.faults)


@pytest.mark.slow(reason="each reason is found by waiting for a pod that does not come")
async def test_why_there_is_no_pod_is_said(cluster: FakeCluster) -> None:
    whys = {
        'cannot list resource "pods"': lambda: cluster.rights.discard("list pods"),
        'cannot create resource "pods"': lambda: cluster.rights.discard("create pods"),
        "refuses to attach": lambda: cluster.rights.discard("create pods/attach"),
        "does not know this service's token": lambda: setattr(cluster, "tokens", set()),
        "exceeded quota": lambda: setattr(cluster, "pod_quota", 0),
        "ImagePullBackOff": lambda: setattr(cluster.kubelet, "broken", "ImagePullBackOff"),
        "nodes are available": lambda: setattr(cluster.kubelet, "broken", "Unschedulable"),
    }
    rights, tokens = set(cluster.rights), set(cluster.tokens)
    for words, break_it in whys.items():
        break_it()
        async with pod_sandbox(
            cluster,
            dead=True,
            preload="",
            check_seconds=0.2,
            start_seconds=2 if "nodes" in words else 60,
            engine_seconds=4,
            queue_seconds=10,
        ) as client:
            try:
                try:
                    said = str((await client.run("print(1)", timeout=50)).finished)
                except Unavailable as error:
                    said = error.message
                assert words in said or words in client.service.pool.down, (words, said, client.service.pool.down)
            finally:
                cluster.rights, cluster.tokens, cluster.pod_quota, cluster.kubelet.broken = (
                    set(rights),
                    set(tokens),
                    50,
                    "",
                )
        cluster.errors.clear()


async def test_a_runtime_class_is_asked_for_and_its_absence_said(cluster: FakeCluster) -> None:
    async with pod_sandbox(cluster, preload="", runtime="runc", max_warm=1) as client:
        assert (await client.run("print(1)")).text == "1\n"
    assert cluster.created[-1]["spec"]["runtimeClassName"] == "runc"
    async with pod_sandbox(cluster, preload="", runtime="gvisor", dead=True, queue_seconds=5) as client:
        with pytest.raises(Unavailable, match="gvisor"):
            await client.run("print(1)")


async def test_what_a_killed_service_left_is_removed_and_others_pods_are_spared(cluster: FakeCluster) -> None:
    async with pod_sandbox(cluster, preload="", max_warm=1):
        model = copy.deepcopy(cluster.created[-1])
    for name, owner in (("left", "tests"), ("others", "somebody-else")):
        pod = copy.deepcopy(model)
        pod["metadata"]["name"], pod["metadata"]["labels"][OWNER] = name, owner
        cluster._create(pod)
    async with pod_sandbox(cluster, preload="", max_warm=1, must_be_alone=False):
        await wait_until_async(lambda: "left" not in cluster.pods)
        assert "others" in cluster.pods
    assert set(cluster.pods) == {"others"}


async def test_an_older_api_server_and_one_that_speaks_another_protocol(engine: None) -> None:
    for protocols, works in ((("v4.channel.k8s.io",), True), (("base64.channel.k8s.io",), False)):
        cluster = FakeCluster(protocols=protocols)
        await cluster.start()
        try:
            async with pod_sandbox(cluster, preload="", dead=not works, queue_seconds=10) as client:
                if works:
                    assert (await client.run("print(1)")).text == "1\n"
                else:
                    with pytest.raises(Unavailable, match="attach"):
                        await client.run("print(1)")
        finally:
            await cluster.close()
