"""A list of system calls, as Docker and Kubernetes write it, as a program for the kernel's filter (seccomp's BPF).

For where nobody can put the list on a node: a process without rights may give the filter to itself, and all that it
starts inherits it. Layout and constants: linux/seccomp.h, linux/filter.h, linux/audit.h.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_NUMBER_AT, _PROCESSOR_AT, _ARGUMENTS_AT = 0, 4, 16
_X86_64 = 0xC000003E
_X32 = 0x40000000
"""From this number on a call is of the x32 ABI, which has ways of its own to the same calls."""

_KILL, _ERROR, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_LOW = 0xFFFFFFFF
_MOST = 4096

Instruction = tuple[int, int, int, int]


def compile_profile(profile: Mapping[str, Any], numbers: Mapping[str, int]) -> bytes:
    """The program, for x86-64: other ABIs are killed, the first rule that fits decides, the default is an error.

    Args:
        profile: `defaultErrnoRet` and `syscalls` with names, action (allow or errno) and args (EQ or MASKED_EQ).
        numbers: Names of calls to their numbers.

    Raises:
        KeyError: A name without a number.
        ValueError: An action or comparison that is not known here, or a program too long for the kernel.
    """
    program: list[Instruction] = [
        (_LOAD, 0, 0, _PROCESSOR_AT),
        (_EQUAL, 1, 0, _X86_64),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
    ]
    for rule in profile["syscalls"]:
        for number in sorted(numbers[name] for name in rule["names"]):
            program += _rule(number, rule)
    program.append((_RETURN, 0, 0, _ERROR | profile["defaultErrnoRet"]))
    if len(program) > _MOST:
        raise ValueError(f"the filter has {len(program)} instructions; the kernel accepts at most {_MOST}")
    return b"".join(struct.pack("=HBBI", *one) for one in program)


def _rule(number: int, rule: Mapping[str, Any]) -> Iterable[Instruction]:
    """The call's number and its arguments must fit; where they do not, the number is loaded again for the next rule."""
    body: list[Instruction] = []
    for argument in rule.get("args", ()):
        body += _argument(argument)
    body.append((_RETURN, 0, 0, _decision(rule)))
    if rule.get("args"):
        body.append((_LOAD, 0, 0, _NUMBER_AT))
    # A comparison that fails goes to that last load.
    steps = [
        (code, yes, len(body) - 2 - place, value) if code == _EQUAL else (code, yes, no, value)
        for place, (code, yes, no, value) in enumerate(body)
    ]
    return [(_EQUAL, 0, len(body), number), *steps]


def _argument(argument: Mapping[str, Any]) -> Iterable[Instruction]:
    """Both halves of an argument of 64 bits."""
    masked = {"SCMP_CMP_EQ": False, "SCMP_CMP_MASKED_EQ": True}.get(argument["op"])
    if masked is None:
        raise ValueError(f"unknown seccomp comparison: {argument['op']}")
    mask, wanted = (argument["value"], argument["valueTwo"]) if masked else (None, argument["value"])
    for half, shift in ((0, 0), (4, 32)):
        yield _LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument["index"] + half
        if mask is not None:
            yield _AND, 0, 0, mask >> shift & _LOW
        yield _EQUAL, 0, 0, wanted >> shift & _LOW


def _decision(rule: Mapping[str, Any]) -> int:
    if rule["action"] == "SCMP_ACT_ALLOW":
        return _ALLOW
    if rule["action"] == "SCMP_ACT_ERRNO":
        return _ERROR | int(rule["errnoRet"])
    raise ValueError(f"unknown seccomp action: {rule['action']}")
