import json
import os
from pathlib import Path

import docker
import pytest
from quelea_sandbox.adapters.cgroup import find_cgroup
from quelea_sandbox.adapters.docker_options import OWNER, create_options, engine_fault, seccomp_profile
from quelea_sandbox.core.model import Shape
from quelea_sandbox.settings import SandboxSettings

SHAPE = Shape(512 << 20, 1.5, 40, market=False)


def options(shape: Shape = SHAPE, **fields: object) -> dict:
    api = docker.APIClient(base_url="unix:///nowhere", version="1.41")
    return create_options(
        api, SandboxSettings(**fields), shape, image="sha256:1", owner="me", seccomp='{"defaultAction": "X"}'
    )


def test_every_limit_is_an_option() -> None:
    made = options()
    host = made["host_config"]
    assert host["Memory"] == host["MemorySwap"] == 512 << 20
    assert host["NanoCpus"] == 1_500_000_000 and host["PidsLimit"] == 40
    assert host["ReadonlyRootfs"] and host["CapDrop"] == ["ALL"] and "CapAdd" not in host
    assert host["SecurityOpt"] == ["no-new-privileges", 'seccomp={"defaultAction": "X"}']
    assert host["NetworkMode"] == "none" and host["IpcMode"] == "none" and not host["Init"]
    assert host["LogConfig"]["Type"] == "none" and "Privileged" not in host and "Binds" not in host
    assert {one["Name"]: one["Hard"] for one in host["Ulimits"]} == {"nofile": 256, "fsize": 64 << 20, "core": 1}
    for folder, size in (("/work", 128 << 20), ("/tmp", 64 << 20)):  # noqa: S108  # inside the container
        flags = host["Tmpfs"][folder].split(",")
        assert {"noexec", "nosuid", "nodev", f"size={size}"} <= set(flags)
        assert any(flag.startswith("nr_inodes=") for flag in flags)
    assert made["user"] == "65534:65534" and made["labels"] == {OWNER: "me"} and made["hostname"] == "sandbox"


def test_the_environment_of_the_service_does_not_go_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "hidden")
    made = options()
    assert set(made["environment"]) == {"QUELEA_PRELOAD", "HOME", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
    assert not made["use_config_proxy"]


def test_the_door_is_the_only_mount_and_read_only() -> None:
    assert options()["host_config"].get("Mounts") in (None, [])
    made = options(Shape(1 << 29, 1.0, 8, market=True), market_socket_dir="/srv/door")
    (mount,) = made["host_config"]["Mounts"]
    assert (mount["Source"], mount["Target"], mount["ReadOnly"]) == ("/srv/door", "/run/market", True)


def test_another_runtime_can_be_named() -> None:
    assert options(runtime="runsc")["host_config"]["Runtime"] == "runsc"


WHOLE = {
    "MemoryLimit": True,
    "SwapLimit": True,
    "CpuCfsQuota": True,
    "PidsLimit": True,
    "SecurityOptions": ["name=seccomp,profile=default"],
    "Runtimes": {"runc": {"path": "runc"}, "runsc": {"path": "runsc", "runtimeArgs": ["--platform=ptrace"]}},
}


def test_an_engine_that_enforces_everything_is_taken() -> None:
    assert engine_fault(WHOLE, "") == engine_fault(WHOLE, "runsc") == ""


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        ({"MemoryLimit": False}, "does not limit memory"),
        ({"PidsLimit": False, "CpuCfsQuota": False}, "does not limit processors, processes"),
        ({"SwapLimit": None, "SecurityOptions": ["name=rootless"]}, "rootless engine needs cgroup v2"),
        ({"SecurityOptions": None}, "no seccomp"),
    ],
)
def test_an_engine_that_cannot_hold_the_code_is_refused(lacks: dict, said: str) -> None:
    assert said in engine_fault({**WHOLE, **lacks}, "")


def test_a_runtime_that_is_missing_or_ignores_limits_is_refused() -> None:
    assert "no runtime kata, only runc, runsc" in engine_fault(WHOLE, "kata")
    lax = {**WHOLE, "Runtimes": {"runsc": {"runtimeArgs": ["--ignore-cgroups"]}}}
    assert "--ignore-cgroups" in engine_fault(lax, "runsc") and engine_fault(lax, "") == ""


def test_threads_start_in_gvisor_which_knows_no_other_errors_than_eperm() -> None:
    text = seccomp_profile(SandboxSettings(runtime="runsc"))
    (rule,) = [one for one in json.loads(text)["syscalls"] if one["names"] == ["clone3"]]
    assert rule["action"] == "SCMP_ACT_ALLOW" and "errnoRet" not in rule


def test_the_profile_that_comes_with_the_package_is_an_allow_list() -> None:
    profile = json.loads(seccomp_profile(SandboxSettings()))
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    names = {name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}
    assert {"read", "write", "mmap"} <= names
    assert not names & {"io_uring_setup", "bpf", "ptrace", "unshare", "mount", "userfaultfd", "keyctl", "setns"}


def test_control_groups_of_both_versions_are_read(tmp_path: Path) -> None:
    proc, root = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "7").mkdir(parents=True)
    (proc / "7" / "cgroup").write_text("9:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n")
    for folder, name, text in (
        ("memory/docker/abc", "memory.max_usage_in_bytes", "4096\n"),
        ("cpu,cpuacct/docker/abc", "cpuacct.usage", "2500000000\n"),
        ("docker-abc.scope", "memory.peak", "8192\n"),
        ("docker-abc.scope", "cpu.stat", "usage_usec 1500000\nuser_usec 1\n"),
    ):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / name).write_text(text)
    first = find_cgroup(7, "abc", proc=proc, root=root)
    assert first is not None and first.read() is not None
    assert (first.read().cpu_seconds, first.read().memory_peak_bytes) == (2.5, 4096)
    (proc / "7" / "cgroup").write_text("0::/docker-abc.scope\n")
    second = find_cgroup(7, "abc", proc=proc, root=root)
    assert second is not None and second.read() is not None
    assert (second.read().cpu_seconds, second.read().memory_peak_bytes) == (1.5, 8192)
    assert find_cgroup(7, "another", proc=proc, root=root) is None
    assert find_cgroup(os.getpid(), "abc", root=root) is None
