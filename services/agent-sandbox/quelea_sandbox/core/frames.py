"""Frames between a keeper and a guest: one byte type, four bytes length (big-endian), so many bytes.

What comes out of a container may have been written by anyone in it: types and lengths are checked as soon as a header
is complete, so that nothing forged makes the keeper hold more than one frame.
"""

from __future__ import annotations

import json
import struct
from typing import Any

_HEADER = struct.Struct(">cI")

MAX_FRAME = 1 << 20
"""Bytes of one frame's payload, either way."""

CAPS = {
    b"R": 1 << 10,
    b"O": MAX_FRAME,
    b"E": MAX_FRAME,
    b"F": 8 << 10,
    b"D": MAX_FRAME,
    # 16 KiB of traceback, which JSON may write with six bytes for one, and the id.
    b"Z": 112 << 10,
}
"""Types that a guest may send, with the longest payload of each."""


class ProtocolError(Exception):
    """What came out of a container is not what the protocol allows."""


def encode(kind: bytes, payload: bytes) -> bytes:
    """One frame.

    Raises:
        ValueError: The payload is over MAX_FRAME.
    """
    if len(payload) > MAX_FRAME:
        raise ValueError(f"the frame has {len(payload)} bytes, the limit is {MAX_FRAME}")
    return _HEADER.pack(kind, len(payload)) + payload


class FrameParser:
    """Cuts a stream of bytes into frames; holds at most one incomplete frame."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def pending(self) -> int:
        """Bytes of a frame that is not complete."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """The frames that are complete now: type and payload.

        Raises:
            ProtocolError: An unknown type, or a length over the type's cap.
        """
        self._buffer += data
        frames: list[tuple[bytes, bytes]] = []
        start = 0
        while len(self._buffer) - start >= _HEADER.size:
            kind, size = _HEADER.unpack_from(self._buffer, start)
            cap = CAPS.get(kind)
            if cap is None:
                raise ProtocolError(f"unknown frame type {kind!r}")
            if size > cap:
                raise ProtocolError(f"frame {kind.decode()} has {size} bytes, the limit is {cap}")
            end = start + _HEADER.size + size
            if len(self._buffer) < end:
                break
            frames.append((kind, bytes(self._buffer[start + _HEADER.size : end])))
            start = end
        del self._buffer[:start]
        return frames


def read_object(payload: bytes, fields: dict[str, type]) -> dict[str, Any]:
    """A JSON object with exactly these fields of exactly these types.

    Raises:
        ProtocolError: It is anything else.
    """
    try:
        value = json.loads(payload.decode("utf-8"), parse_constant=_no_constant, parse_int=_short_int)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the payload is not JSON ({type(error).__name__})") from error
    if not isinstance(value, dict) or value.keys() != fields.keys():
        raise ProtocolError(f"the payload must have exactly the fields {', '.join(fields)}")
    for name, kind in fields.items():
        if type(value[name]) is not kind:  # exactly: True is no integer here
            raise ProtocolError(f"{name} in the payload must be of type {kind.__name__}")
    return value


def _no_constant(text: str) -> Any:
    raise ValueError(text)


def _short_int(text: str) -> int:
    if len(text) > 18:
        raise ValueError("an integer has more than 18 digits")
    return int(text)
