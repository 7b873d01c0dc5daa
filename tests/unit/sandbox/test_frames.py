import contextlib
import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_sandbox.core.frames import CAPS, MAX_FRAME, FrameParser, ProtocolError, encode, read_object

KINDS = sorted(CAPS)
frames = st.lists(st.tuples(st.sampled_from(KINDS), st.binary(max_size=600)), max_size=8)


@settings(deadline=None)
@given(frames, st.lists(st.integers(1, 700), max_size=30))
def test_frames_come_out_as_they_went_in_however_they_are_cut(sent: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    data = b"".join(encode(kind, payload) for kind, payload in sent)
    parser, got, start = FrameParser(), [], 0
    for size in [*cuts, len(data)]:
        got += parser.feed(data[start : start + size])
        start += size
    assert got == sent and parser.pending == 0


@settings(deadline=None)
@given(st.binary(max_size=4096))
def test_any_bytes_are_frames_or_an_error(data: bytes) -> None:
    parser = FrameParser()
    try:
        got = parser.feed(data)
    except ProtocolError:
        return
    assert b"".join(encode(kind, payload) for kind, payload in got) == data[: len(data) - parser.pending]
    assert parser.pending <= 5 + MAX_FRAME


@pytest.mark.parametrize("kind", KINDS)
def test_a_length_over_the_cap_is_refused_before_its_bytes_come(kind: bytes) -> None:
    assert FrameParser().feed(struct.pack(">cI", kind, CAPS[kind])) == []
    with pytest.raises(ProtocolError):
        FrameParser().feed(struct.pack(">cI", kind, CAPS[kind] + 1))


def test_types_that_go_in_do_not_come_out() -> None:
    with pytest.raises(ProtocolError):
        FrameParser().feed(encode(b"X", b"{}"))


def test_a_frame_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(ValueError, match="the limit is"):
        encode(b"D", bytes(MAX_FRAME + 1))


FIELDS = {"id": str, "ok": bool, "size": int}
GOOD = {"id": "a", "ok": True, "size": 3}


def test_an_object_is_read() -> None:
    assert read_object(json.dumps(GOOD).encode(), FIELDS) == GOOD


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff",
        b'{"id": "a", "ok": 1, "size": 3}',
        b'{"id": "a", "ok": true, "size": true}',
        b'{"id": "a", "ok": true, "size": 3.0}',
        b'{"id": "a", "ok": true, "size": NaN}',
        b'{"id": null, "ok": true, "size": 3}',
        b'{"id": "a", "ok": true, "size": 3, "more": 1}',
        b'{"id": "a", "ok": true, "size": ' + b"9" * 5000 + b"}",
        b'{"id": "a", "ok": true, "size": ' + b"[" * 90_000,
        b"\x80\x04\x95pickle",
    ],
    ids=range(14),
)
def test_anything_else_is_refused(payload: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_object(payload, FIELDS)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_payload_is_an_object_or_refused(payload: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        assert read_object(payload, FIELDS).keys() == FIELDS.keys()
