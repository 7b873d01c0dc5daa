"""What the agent needs of the world; the adapters give it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from quelea_checker import CheckPassage, Report

from quelea_gateway.core.agent.model import Event, Run
from quelea_gateway.core.model import Filters, Function, FunctionCall, Message, Retrieved
from quelea_gateway.core.statements.statement_grid import Company, Figure, Statement, StatementQuery
from quelea_gateway.core.web.model import WebFound


@dataclass(frozen=True, slots=True)
class Completed:
    """What a chat model wrote, and called; the reasons are CompletionEnd's."""

    text: str
    reason: str = "stop"
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: tuple[FunctionCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The model in use: tokens that a prompt and its answer may have together, 0 where unknown."""

    model: str
    context_tokens: int = 0
    is_language_model: bool = True


class Model(Protocol):
    """A chat model."""

    async def info(self) -> ModelInfo:
        """The model in use; the last known one while the service is away."""
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: str = "",
        model: str = "",
        max_tokens: int,
        temperature: float,
        tenant: str,
        functions: Sequence[Function] = (),
    ) -> Completed:
        """A completion; under a JSON schema when one is given, or with functions to call. Raises QueleaError."""
        ...


@dataclass(frozen=True, slots=True)
class ApiCandidate:
    """An API in a line."""

    name: str
    description: str
    category: str = ""


class Tools(Protocol):
    """The catalogue of finance APIs."""

    async def categories(self) -> Sequence[str]:
        """The categories; none: there is no catalogue."""
        ...

    async def select(self, category: str, need: str, *, limit: int, language: str) -> Sequence[ApiCandidate]:
        """The best candidates of a category, or of all when it is empty or unknown. Raises QueleaError."""
        ...

    async def details(self, name: str) -> str:
        """The API's document: parameters, output columns, example. Raises NotFound, QueleaError."""
        ...

    async def report(self, name: str, *, ok: bool, error: str = "") -> None:
        """Tell what a call of an API came to; one that fails comes later in selections. Raises QueleaError."""
        ...


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file that code made."""

    path: str
    data: bytes
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """How a piece of code ended.

    Attributes:
        reason: "ok", "error", "timeout", "memory", "cancelled", "died", "protocol" or "engine".
        session_alive: Variables are still there for the next step.
    """

    reason: str
    stdout: str = ""
    stderr: str = ""
    error: str = ""
    files: tuple[CodeFile, ...] = ()
    wall_seconds: float = 0.0
    dropped_bytes: int = 0
    refused_files: tuple[str, ...] = ()
    session_alive: bool = True


class Sandbox(Protocol):
    """Runs code that nobody trusts."""

    async def open(self, *, market_token: str, tenant: str) -> str:
        """A session; its id. With a token its code may reach the market-data door. Raises QueleaError."""
        ...

    async def execute(
        self,
        code: str,
        *,
        session_id: str,
        execution_id: str,
        market_token: str,
        seconds: float,
        tenant: str,
        files: Sequence[CodeFile] = (),
    ) -> Execution:
        """Run code as the next step of a session, beside these files. Cancelling the wait kills the run.

        Raises QueleaError.
        """
        ...

    async def spare_session(self, session_id: str, *, tenant: str, spare: bool, idle_seconds: float) -> None:
        """Say that a session waits for another task, or has one again. Raises NotFound when it has ended, QueleaError.

        Args:
            spare: Who needs its place may have it.
            idle_seconds: How long it may wait; 0: as before.
        """
        ...

    async def close_session(self, session_id: str) -> None:
        """End a session. Raises QueleaError."""
        ...


@dataclass(frozen=True, slots=True)
class DoorCall:
    """A call that code made, of the door's attribution log."""

    id: str
    method: str
    url: str
    asked: str
    fetched: str
    status: int
    media_type: str
    sha256: str
    bytes: int
    source: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DoorSession:
    """A run's way to data; the token is a secret."""

    id: str
    token: str = field(repr=False)
    notes: tuple[str, ...] = ()
    """What whoever made the replayed bundles says of their data."""


class Door(Protocol):
    """The market-data door."""

    async def open(
        self, *, run_id: str, tenant: str, as_of: str, bundle_ids: Sequence[str], max_calls: int, seconds: float
    ) -> DoorSession:
        """A session: live, or a replay when bundles are given; as_of pins it to a past day. Raises QueleaError."""
        ...

    async def calls(self, *, run_id: str, session_id: str) -> Sequence[DoorCall]:
        """Every call of the session, in order. Raises QueleaError."""
        ...

    async def body(self, sha256: str, *, limit: int) -> bytes:
        """The first bytes that a call brought. Raises QueleaError."""
        ...

    async def close_session(self, session_id: str) -> None:
        """The token is worth nothing from here on. Raises QueleaError."""
        ...

    def bundle(self, run_id: str) -> AsyncIterator[bytes]:
        """All calls of a run with their bodies, as a file that can be replayed. Raises QueleaError."""
        ...


class KnowledgeBase(Protocol):
    """The stored documents."""

    async def search(self, query: str, *, k: int, as_of: str, filters: Filters) -> Retrieved:
        """The k best passages. Raises QueleaError."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page of a document: its text, how many pages there are, the day it was published (YYYY-MM-DD)."""

    text: str
    pages: int
    published: str = ""


class Pages(Protocol):
    """The pages of stored documents."""

    async def read(self, document_id: str, page: int) -> DocumentPage:
        """A page, from 1. Raises NotFound, QueleaError."""
        ...


class Statements(Protocol):
    """Figures of the stored documents' statements."""

    async def companies(self) -> Sequence[Company]:
        """Every company that a stored document is about. Raises QueleaError."""
        ...

    async def statement(self, query: StatementQuery) -> Statement:
        """Years or quarters × lines. Raises NotFound where nothing is stored of the company, QueleaError."""
        ...

    async def figures(self, company: str, names: Sequence[str], *, period_from: str, as_of: str) -> list[Figure]:
        """Single figures by name, newest first. Raises QueleaError."""
        ...


class WebSearch(Protocol):
    """The web, behind search."""

    async def providers(self) -> tuple[str, ...] | None:
        """Names of the providers in use, none where the deployment has no web; None while nobody can say."""
        ...

    async def find(self, query: str, *, as_of: str, pages: int, passages: int, seconds: float) -> WebFound:
        """Pages for a query, nothing published after `as_of`. Raises QueleaError."""
        ...


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """With its zone, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...


class RunStore(Protocol):
    """Where runs are kept. Every method may raise Unavailable; a run belongs to its tenant alone."""

    async def put(self, run: Run) -> None:
        """Store the run's head."""
        ...

    async def get(self, tenant: str, run_id: str) -> Run:
        """Raises NotFound, also for another tenant's run."""
        ...

    async def newest(self, tenant: str, limit: int, *, before: str = "") -> list[Run]:
        """The newest first; only those older than the run `before`. Raises InvalidInput where it is no run's id."""
        ...

    async def append(self, tenant: str, run_id: str, event: Event) -> None:
        """Store an event under its number."""
        ...

    async def events(self, tenant: str, run_id: str, after: int) -> list[Event]:
        """Events with a greater number, in order, without gaps."""
        ...

    async def write(self, tenant: str, run_id: str, name: str, data: bytes) -> None:
        """Store a file of the run."""
        ...

    async def read(self, tenant: str, run_id: str, name: str) -> bytes:
        """Raises NotFound."""
        ...

    async def beat(self, tenant: str, run_id: str) -> None:
        """Say that the run's gateway lives."""
        ...

    async def silent_seconds(self, tenant: str, run_id: str) -> float:
        """Since the last beat; infinity when there was none."""
        ...

    async def ask_end(self, tenant: str, run_id: str) -> None:
        """Ask the gateway that runs it to end it."""
        ...

    async def end_asked(self, tenant: str, run_id: str) -> bool:
        """Whether somebody did."""
        ...

    async def delete(self, tenant: str, run_id: str) -> None:
        """Forget a run; no error when there is none."""
        ...


class Checks(Protocol):
    """The figure checker, off the event loop."""

    async def check(self, answer: str, passages: Sequence[CheckPassage], *, question: str = "") -> Report:
        """The verdicts on a text. Raises QueleaError."""
        ...


class Trajectories(Protocol):
    """Takes supervised examples."""

    async def add(self, example: dict[str, Any]) -> None:
        """Store one. Never raises."""
        ...
