"""What a guest may say when: the state machine of one container's conversation with its keeper.

    STARTING --R--> IDLE --(X goes in)--> RUNNING --Z--> IDLE
                                           |  ^
                                           F  last D
                                           v  |
                                        RECEIVING

Anything else is a ProtocolError, and the container is destroyed. While IDLE nothing may come at all.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator

from quelea_sandbox.core.files import path_fault, place_fault, printable
from quelea_sandbox.core.frames import MAX_FRAME, FrameParser, ProtocolError, encode, read_object
from quelea_sandbox.core.media import media_type
from quelea_sandbox.core.model import Ended, Event, Output, ReturnedFile, Task

_ERROR_BYTES = 16 << 10
_MOST_REFUSED = 100
_MOST_REFUSED_UNNAMED = 10_000


class State(enum.Enum):
    """Where the conversation is."""

    STARTING = "starting"
    IDLE = "idle"
    RUNNING = "running"
    RECEIVING = "receiving"
    BROKEN = "broken"


class Conversation:
    """Turns what comes out of a container into events; refuses what the protocol does not allow.

    Args:
        max_files: Files that a run may give back; more are refused, and named so.
    """

    def __init__(self, *, max_files: int = 64) -> None:
        self._max_files = max_files
        self._parser = FrameParser()
        self._task = Task(id="", code="")
        self._output_left = 0
        self._files_left = 0
        self._files = 0
        self._given: set[str] = set()
        self._refused: list[str] = []
        self._refused_more = 0
        self._path = ""
        self._fault = ""
        self._missing = 0
        self._count = 0
        self._data = bytearray()
        self.state = State.STARTING
        self.python = ""
        self.dropped = 0
        """Bytes of output over the run's limit."""

    @property
    def refused(self) -> tuple[str, ...]:
        """Files that were not sent back, and why."""
        more = (f"and {self._refused_more} more",) if self._refused_more else ()
        return (*self._refused, *more)

    def take_count(self) -> int:
        """Frames since this was asked last."""
        count, self._count = self._count, 0
        return count

    def begin(self, task: Task) -> Iterator[bytes]:
        """Start a run; what is yielded goes in, in this order.

        Raises:
            ProtocolError: The guest is not idle, or has said something already.
            ValueError: The task does not fit into a frame.
        """
        if self.state is not State.IDLE or self._parser.pending:
            raise ProtocolError("the guest is not idle")
        first = encode(b"X", announcement(task))
        self._task, self.state = task, State.RUNNING
        self._output_left, self._files_left, self._files = task.output_bytes, task.files_bytes, 0
        self._given, self._refused, self._refused_more, self.dropped = set(), [], 0, 0
        return self._sent(first, task)

    @staticmethod
    def _sent(first: bytes, task: Task) -> Iterator[bytes]:
        yield first
        for file in task.files:
            for start in range(0, len(file.data), MAX_FRAME):
                yield encode(b"D", file.data[start : start + MAX_FRAME])

    def feed(self, data: bytes) -> list[Event]:
        """What the bytes mean.

        Raises:
            ProtocolError: They break the protocol; the conversation is over.
        """
        events: list[Event] = []
        try:
            for kind, payload in self._parser.feed(data):
                self._count += 1
                if event := self._take(kind, payload):
                    events.append(event)
            if self.state is State.IDLE and self._parser.pending:
                raise ProtocolError("unexpected bytes")
        except ProtocolError:
            self.state = State.BROKEN
            raise
        return events

    def _take(self, kind: bytes, payload: bytes) -> Event | None:
        if self.state is State.STARTING and kind == b"R":
            ready = read_object(payload, {"guest": int, "python": str})
            if ready["guest"] != 1:
                raise ProtocolError("the guest speaks another protocol version")
            self.python, self.state = ready["python"], State.IDLE
            return None
        if self.state is State.RECEIVING and kind == b"D":
            return self._receive(payload)
        if self.state is State.RUNNING:
            if kind in (b"O", b"E"):
                return self._output(kind == b"E", payload)
            if kind == b"F":
                return self._announced(payload)
            if kind == b"Z":
                return self._ended(payload)
        raise ProtocolError(f"unexpected frame {kind.decode()}")

    def _output(self, stderr: bool, payload: bytes) -> Event | None:
        if not payload:
            raise ProtocolError("output frame without bytes")
        kept = payload[: self._output_left]
        self._output_left -= len(kept)
        self.dropped += len(payload) - len(kept)
        return Output(stderr, kept) if kept else None

    def _announced(self, payload: bytes) -> Event | None:
        file = read_object(payload, {"path": str, "size": int})
        path, size = file["path"], file["size"]
        if size < 0:
            raise ProtocolError("negative file size")
        if size > self._files_left:
            self._refuse(path, f"{size} bytes, more than what is left of the limit of {self._task.files_bytes}")
            return None  # no bytes of it follow
        self._files_left -= size
        self._files += 1
        fault = path_fault(path)
        if not fault and self._files > self._max_files:
            fault = f"more than {self._max_files} files"
        # Whoever writes them into a folder would write one over the other, or fail.
        fault = fault or place_fault(path, self._given)
        if fault:
            self._refuse(path, fault)
        else:
            self._given.add(path)
        self._path, self._fault, self._missing, self._data = path, fault, size, bytearray()
        self.state = State.RECEIVING
        return self._received() if size == 0 else None

    def _receive(self, payload: bytes) -> Event | None:
        if not 0 < len(payload) <= self._missing:
            raise ProtocolError("a file chunk is empty, or exceeds the announced size")
        self._missing -= len(payload)
        if not self._fault:
            self._data += payload
        return self._received() if self._missing == 0 else None

    def _received(self) -> Event | None:
        self.state = State.RUNNING
        data, self._data = bytes(self._data), bytearray()
        return None if self._fault else ReturnedFile(self._path, data, media_type(data))

    def _ended(self, payload: bytes) -> Event:
        end = read_object(payload, {"id": str, "ok": bool, "error": str})
        if end["id"] != self._task.id:
            raise ProtocolError("the end frame names another run")
        self.state = State.IDLE
        error = end["error"].encode("utf-8", "replace")[:_ERROR_BYTES].decode("utf-8", "ignore")
        return Ended(end["ok"], error)

    def _refuse(self, path: str, why: str) -> None:
        if len(self._refused) < _MOST_REFUSED:
            self._refused.append(f"{printable(path)}: {why}")
        elif self._refused_more < _MOST_REFUSED_UNNAMED:
            self._refused_more += 1
        else:
            raise ProtocolError("more refused files than a working directory can hold")


def announcement(task: Task) -> bytes:
    """The payload of X."""
    return json.dumps(
        {
            "id": task.id,
            "code": task.code,
            "files": [{"path": file.path, "size": len(file.data)} for file in task.files],
            "environment": task.environment,
            "files_bytes": task.files_bytes,
            "keep": task.keep,
        },
        ensure_ascii=False,
    ).encode("utf-8")
