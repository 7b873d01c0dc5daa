import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_sandbox.core.conversation import Conversation, State
from quelea_sandbox.core.frames import MAX_FRAME, ProtocolError, encode
from quelea_sandbox.core.model import Ended, InputFile, Output, ReturnedFile, Task

READY = encode(b"R", b'{"guest": 1, "python": "3.11.7"}')
TASK = Task(id="a", code="1", output_bytes=10, files_bytes=100)


def end(identity: str = "a", ok: bool = True, error: str = "") -> bytes:
    return encode(b"Z", json.dumps({"id": identity, "ok": ok, "error": error}).encode())


def file(path: str, size: int) -> bytes:
    return encode(b"F", json.dumps({"path": path, "size": size}).encode())


def running(task: Task = TASK, **options: int) -> Conversation:
    talk = Conversation(**options)
    talk.feed(READY)
    list(talk.begin(task))
    return talk


def test_a_whole_conversation() -> None:
    talk = Conversation()
    assert talk.feed(READY) == [] and talk.state is State.IDLE and talk.python == "3.11.7"
    sent = list(talk.begin(Task(id="a", code="1", files=(InputFile("d", bytes(MAX_FRAME + 1)),))))
    assert [one[:1] for one in sent] == [b"X", b"D", b"D"]
    events = talk.feed(
        encode(b"O", b"hi") + encode(b"E", b"oh") + file("a.csv", 4) + encode(b"D", b"1,") + encode(b"D", b"2\n")
    )
    assert events == [Output(False, b"hi"), Output(True, b"oh"), ReturnedFile("a.csv", b"1,2\n", "text/plain")]
    assert talk.feed(end()) == [Ended(True, "")] and talk.state is State.IDLE


def test_a_second_step_starts_afresh() -> None:
    talk = running()
    talk.feed(encode(b"O", b"x" * 20) + file("b", 1000) + end())
    assert talk.dropped == 10 and len(talk.refused) == 1
    list(talk.begin(Task(id="b", code="2", output_bytes=10)))
    assert talk.dropped == 0 and talk.refused == ()
    assert talk.feed(encode(b"O", b"y") + end("b")) == [Output(False, b"y"), Ended(True, "")]


ANYTHING = {
    b"R": READY,
    b"O": encode(b"O", b"x"),
    b"E": encode(b"E", b"x"),
    b"F": file("a", 2),
    b"D": encode(b"D", b"x"),
    b"Z": end(),
}
ALLOWED = {
    State.STARTING: b"R",
    State.IDLE: b"",
    State.RUNNING: b"OEFZ",
    State.RECEIVING: b"D",
}


def conversation_in(state: State) -> Conversation:
    talk = Conversation() if state is State.STARTING else running()
    if state is State.IDLE:
        talk.feed(end())
    if state is State.RECEIVING:
        talk.feed(file("f", 3))
    assert talk.state is state
    return talk


@pytest.mark.parametrize("state", ALLOWED)
@pytest.mark.parametrize("kind", ANYTHING)
def test_what_may_come_when(state: State, kind: bytes) -> None:
    talk = conversation_in(state)
    if kind in ALLOWED[state]:
        talk.feed(ANYTHING[kind])
        assert talk.state is not State.BROKEN
    else:
        with pytest.raises(ProtocolError):
            talk.feed(ANYTHING[kind])
        assert talk.state is State.BROKEN


@pytest.mark.parametrize("state", [State.STARTING, State.RUNNING, State.RECEIVING])
def test_a_run_needs_an_idle_guest(state: State) -> None:
    with pytest.raises(ProtocolError):
        conversation_in(state).begin(TASK)


def test_half_a_frame_while_idle_is_out_of_turn() -> None:
    with pytest.raises(ProtocolError):
        conversation_in(State.IDLE).feed(b"O")


def test_nothing_is_taken_after_a_break() -> None:
    talk = conversation_in(State.RUNNING)
    with pytest.raises(ProtocolError):
        talk.feed(READY)
    with pytest.raises(ProtocolError):
        talk.feed(end())


def test_a_file_in_anothers_place_is_refused_and_the_first_stays() -> None:
    talk = running()
    paths = ("a", "b/c", "a", "a/b", "b", "b/d")
    events = [one for path in paths for one in talk.feed(file(path, 1) + encode(b"D", b"1"))]
    assert [one.path for one in events] == ["a", "b/c", "b/d"]
    assert talk.refused == (
        "a: another file has its name",
        "a/b: it lies below another file",
        "b: another file lies below it",
    )


def test_output_is_cut_at_its_limit() -> None:
    talk = running()
    assert talk.feed(encode(b"O", b"12345678") + encode(b"E", b"abcd") + encode(b"O", b"more")) == [
        Output(False, b"12345678"),
        Output(True, b"ab"),
    ]
    assert talk.dropped == 6


def test_a_file_over_what_is_left_is_refused_and_has_no_bytes() -> None:
    talk = running()
    assert talk.feed(file("a", 60) + encode(b"D", bytes(60)) + file("b", 41) + file("c", 40) + encode(b"D", bytes(40)))
    assert len(talk.refused) == 1 and "b: 41 bytes" in talk.refused[0]


def test_a_refused_name_does_not_break_the_run_and_counts_to_the_limit() -> None:
    talk = running()
    events = talk.feed(file("../x", 60) + encode(b"D", bytes(60)) + file("y", 60) + file("", 0) + end())
    assert events == [Ended(True, "")]
    assert [line.split(":")[0] for line in talk.refused] == ["../x", "y", ""]


def test_files_over_their_number_are_refused() -> None:
    talk = running(max_files=2)
    events = talk.feed(b"".join(file(f"f{n}", 0) for n in range(4)))
    assert [event.path for event in events if isinstance(event, ReturnedFile)] == ["f0", "f1"]
    assert len(talk.refused) == 2


def test_refusals_are_bounded() -> None:
    talk = running()
    with pytest.raises(ProtocolError):
        for _ in range(20_000):
            talk.feed(file("huge", 1 << 40))
    assert len(talk.refused) == 101


def test_errors_are_cut_to_16_kib() -> None:
    (event,) = running().feed(end(ok=False, error="错" * 10_000))
    assert isinstance(event, Ended) and not event.ok and len(event.error.encode()) <= 16 << 10
    assert set(event.error) == {"错"}


def test_lone_surrogates_in_an_error_do_not_reach_the_wire() -> None:
    (event,) = running().feed(encode(b"Z", b'{"id": "a", "ok": false, "error": "\\ud800"}'))
    assert isinstance(event, Ended)
    event.error.encode()


@settings(deadline=None)
@given(st.lists(st.one_of(st.sampled_from(list(ANYTHING.values())), st.binary(max_size=40)), max_size=12))
def test_whatever_comes_is_bounded_or_refused(pieces: list[bytes]) -> None:
    talk = running()
    events = []
    try:
        for piece in pieces:
            events += talk.feed(piece)
    except ProtocolError:
        assert talk.state is State.BROKEN
    assert sum(len(one.data) for one in events if isinstance(one, Output)) <= TASK.output_bytes
    assert sum(len(one.data) for one in events if isinstance(one, ReturnedFile)) <= TASK.files_bytes
    ended = [number for number, one in enumerate(events) if isinstance(one, Ended)]
    assert len(ended) <= 1 and all(later == len(events) - 1 for later in ended)
    assert all(first is not second for first, second in pairwise(events))
