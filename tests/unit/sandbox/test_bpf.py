"""The list of system calls as a program for the kernel: what it decides, by a small machine that runs such programs."""

import json
import struct
from pathlib import Path

import pytest
import quelea_sandbox
from quelea_sandbox.core.bpf import compile_profile
from quelea_sandbox.seccomp import filter_for_pods

NUMBERS = json.loads((Path(quelea_sandbox.__file__).parent / "syscalls_x86_64.json").read_text())
X86_64, I386 = 0xC000003E, 0x40000003
ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x50001, 0x50026


def decide(program: bytes, call: str | int, *arguments: int, processor: int = X86_64) -> int:
    """What the kernel would do: classic BPF over struct seccomp_data."""
    number = NUMBERS[call] if isinstance(call, str) else call
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, processor, 0, *(one & (1 << 64) - 1 for one in padded))
    steps = list(struct.iter_unpack("=HBBI", program))
    place = held = 0
    while True:
        code, yes, no, value = steps[place]
        place += 1
        if code == 0x20:
            (held,) = struct.unpack_from("=I", data, value)
        elif code == 0x54:
            held &= value
        elif code == 0x15:
            place += yes if held == value else no
        elif code == 0x35:
            place += yes if held >= value else no
        else:
            assert code == 0x06
            return value


CALLS = [
    ("read", (), ALLOW),
    ("execve", (), ALLOW),
    ("clone3", (), ENOSYS),
    ("clone", (0x11,), ALLOW),
    ("clone", (0x10000000,), EPERM),
    ("clone", (0x10000000 | 0x11,), EPERM),
    ("socket", (1, 1), ALLOW),
    ("socket", (16, 3), EPERM),
    ("socket", (2, 2), EPERM),
    ("socket", ((1 << 32) | 1, 1), EPERM),
    ("ioctl", (0, 21505), ALLOW),
    ("ioctl", (0, 21522), EPERM),
    ("prlimit64", (0, 4, 0), ALLOW),
    ("prlimit64", (0, 4, 1 << 40), EPERM),
    ("prlimit64", (0, 7, 1 << 40), ALLOW),
    ("renameat2", (0, 0, 0, 0, 1), ALLOW),
    ("renameat2", (0, 0, 0, 0, 4), EPERM),
    (101, (), EPERM),  # ptrace
    (319, (), EPERM),  # memfd_create
    (425, (), EPERM),  # io_uring_setup
    (0x40000000, (), KILL),  # read of the x32 ABI
]


@pytest.mark.parametrize(("call", "arguments", "decided"), CALLS)
@pytest.mark.parametrize("tcp", [False, True])
def test_what_it_decides(call: str | int, arguments: tuple[int, ...], decided: int, tcp: bool) -> None:
    assert decide(filter_for_pods(tcp=tcp), call, *arguments) == decided


def test_tcp_where_there_is_a_door_and_nothing_for_another_processor() -> None:
    for family in (2, 10):
        for kind in (1, 1 | 0o4000 | 0o2000000):  # also not blocking, and closed at exec
            assert decide(filter_for_pods(tcp=True), "socket", family, kind) == ALLOW
            assert decide(filter_for_pods(tcp=False), "socket", family, kind) == EPERM
    assert decide(filter_for_pods(tcp=True), "read", processor=I386) == KILL


def test_every_number_is_decided_and_only_named_calls_are_allowed() -> None:
    program, named = filter_for_pods(tcp=False), set(NUMBERS.values())
    for number in range(600):
        assert decide(program, number) != ALLOW or number in named
        assert decide(program, number) in {ALLOW, EPERM, ENOSYS}


@pytest.mark.parametrize(
    "rule",
    [
        {"names": ["read"], "action": "SCMP_ACT_TRACE"},
        {"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_GT"}]},
    ],
)
def test_what_it_does_not_know_is_an_error(rule: dict) -> None:
    with pytest.raises(ValueError, match="unknown seccomp"):
        compile_profile({"defaultErrnoRet": 1, "syscalls": [rule]}, NUMBERS)
    with pytest.raises(KeyError):
        compile_profile(
            {"defaultErrnoRet": 1, "syscalls": [{"names": ["nothing"], "action": "SCMP_ACT_ALLOW"}]}, NUMBERS
        )
