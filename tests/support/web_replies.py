"""Replies of web servers under test, and what a search says went wrong."""

from __future__ import annotations


def body(text: str) -> bytes:
    """A response, as conftest's response() makes it (conftest modules cannot be imported)."""
    lines = ["HTTP/1.1 200 OK", "Content-Type: text/html", f"Content-Length: {len(text.encode())}"]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + text.encode()


def status(code: int, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {code} X", "Content-Length: 0", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def problems(answer) -> list[tuple[str, str]]:
    return [(p.where, p.reason) for p in answer.problems]
