"""What is recorded of each call: one table for REST, the OpenAI-compatible routes, MCP and gRPC.

An entry names who did what to which object, by ids. Texts are left out unless the operator wants questions recorded.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Via = Literal["rest", "openai", "mcp", "openbb", "grpc", "login", "shell", "gateway"]
Outcome = Literal["ok", "refused", "failed", "ended", "cut"]
"""ok: served, or, of a stream, begun. refused: the caller may not, or asked for what cannot be. failed: an error here.
ended, cut: a second entry, of a stream that came to its end, or did not."""

_MOST_TEXT = 8_000
_MOST_ID = 200
_MOST_IDS = 50


class Act(StrEnum):
    """What was done."""

    ASKED = "asked"
    SEARCHED = "searched"
    CHECKED = "checked"
    SAW = "saw"
    LISTED = "listed"
    EXPORTED = "exported"
    UPLOADED = "uploaded"
    FETCHED = "fetched"
    CHANGED = "changed"
    DELETED = "deleted"
    RAN = "ran"
    CANCELLED = "cancelled"
    SIGNED_IN = "signed in"
    SIGNED_OUT = "signed out"
    REFUSED = "refused"
    """A call that was turned away before anybody knew what it was to do."""
    STARTED = "started"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Action:
    """What a call does, and to what."""

    act: Act
    of: str
    """The kind of object: document, page, run, …"""
    text: str = ""
    """Field of the request that holds the question; empty: there is none."""


_ASK = Action(Act.ASKED, "answer", "question")

ROUTES: dict[str, Action | None] = {
    "POST /v1/ask": _ASK,
    "POST /v1/search": Action(Act.SEARCHED, "passages", "query"),
    "POST /v1/export": Action(Act.EXPORTED, "answer"),
    "POST /v1/check": Action(Act.CHECKED, "answer"),
    "POST /v1/documents": Action(Act.UPLOADED, "document"),
    "GET /v1/documents": Action(Act.LISTED, "documents"),
    "GET /v1/documents/{document_id}": Action(Act.SAW, "document"),
    "DELETE /v1/documents/{document_id}": Action(Act.DELETED, "document"),
    "GET /v1/documents/{document_id}/pages/{page}": Action(Act.SAW, "page"),
    "GET /v1/documents/{document_id}/pages/{page}/boxes": Action(Act.SAW, "page"),
    "GET /v1/documents/{document_id}/original": Action(Act.SAW, "original"),
    "GET /v1/documents/{document_id}/html": Action(Act.SAW, "original"),
    "GET /v1/conversations": Action(Act.LISTED, "conversations"),
    "POST /v1/conversations": Action(Act.CHANGED, "conversation"),
    "GET /v1/conversations/{conversation_id}": Action(Act.SAW, "conversation"),
    "PATCH /v1/conversations/{conversation_id}": Action(Act.CHANGED, "conversation"),
    "DELETE /v1/conversations/{conversation_id}": Action(Act.DELETED, "conversation"),
    "GET /v1/conversations/{conversation_id}/export": Action(Act.EXPORTED, "conversation"),
    "GET /v1/collections": Action(Act.LISTED, "collections"),
    "POST /v1/collections": Action(Act.CHANGED, "collection"),
    "DELETE /v1/collections/{name}": Action(Act.DELETED, "collection"),
    "GET /v1/facts": Action(Act.SAW, "facts"),
    "GET /v1/companies": Action(Act.LISTED, "companies"),
    "GET /v1/companies/{company}/statements": Action(Act.SAW, "statement"),
    "GET /v1/comparison": Action(Act.SAW, "comparison"),
    "POST /v1/fetch": Action(Act.FETCHED, "filings"),
    "GET /v1/fetch/{run_id}/bundle": Action(Act.EXPORTED, "bundle"),
    "POST /v1/watches": Action(Act.CHANGED, "watch"),
    "GET /v1/watches": Action(Act.LISTED, "watches"),
    "DELETE /v1/watches/{watch_id}": Action(Act.DELETED, "watch"),
    "GET /v1/web/pages": Action(Act.LISTED, "web pages"),
    "POST /v1/web/pages/approve": Action(Act.CHANGED, "web pages"),
    "POST /v1/web/pages/reject": Action(Act.CHANGED, "web pages"),
    "POST /v1/web/pages/roll-back": Action(Act.DELETED, "web pages"),
    "POST /v1/agent/runs": Action(Act.RAN, "run", "question"),
    "GET /v1/agent/runs": Action(Act.LISTED, "runs"),
    "GET /v1/agent/runs/{run_id}": Action(Act.SAW, "run"),
    "DELETE /v1/agent/runs/{run_id}": Action(Act.DELETED, "run"),
    "GET /v1/agent/runs/{run_id}/events": Action(Act.SAW, "run"),
    "POST /v1/agent/runs/{run_id}/cancel": Action(Act.CANCELLED, "run"),
    "GET /v1/agent/runs/{run_id}/artifacts/{name}": Action(Act.EXPORTED, "artifact"),
    "GET /v1/agent/runs/{run_id}/notebook": Action(Act.EXPORTED, "run"),
    "GET /v1/agent/runs/{run_id}/report.pdf": Action(Act.EXPORTED, "run"),
    "GET /v1/agent/runs/{run_id}/bundle": Action(Act.EXPORTED, "bundle"),
    "GET /v1/agent/runs/{run_id}/archive": Action(Act.EXPORTED, "run"),
    "POST /v1/agent/bundles": Action(Act.UPLOADED, "bundle"),
    "GET /v1/agent/bundles": Action(Act.LISTED, "bundles"),
    "GET /v1/tools": None,
    "GET /v1/tools/categories": None,
    "POST /v1/tools/select": None,
    "GET /v1/tools/{name}": None,
    "GET /v1/jobs": Action(Act.LISTED, "jobs"),
    "POST /v1/jobs/replay": Action(Act.CHANGED, "jobs"),
    "GET /v1/jobs/{job_id}": Action(Act.SAW, "job"),
    "GET /v1/jobs/{job_id}/events": Action(Act.SAW, "job"),
    "GET /v1/prompts": Action(Act.SAW, "prompts"),
    "GET /v1/prompts/{name}/{language}/versions": Action(Act.LISTED, "prompt versions"),
    "POST /v1/prompts/{name}/{language}/versions": Action(Act.CHANGED, "prompt"),
    "DELETE /v1/prompts/{name}/{language}/versions/{version}": Action(Act.DELETED, "prompt"),
    "GET /v1/prompts/{name}/{language}/diff": Action(Act.SAW, "prompt versions"),
    "POST /v1/prompts/{name}/{language}/activate": Action(Act.CHANGED, "prompt in force"),
    "POST /v1/prompts/{name}/{language}/roll-back": Action(Act.CHANGED, "prompt in force"),
    "POST /v1/prompts/{name}/{language}/try": Action(Act.ASKED, "answer", "question"),
    "GET /v1/keys": Action(Act.LISTED, "keys"),
    "POST /v1/keys": Action(Act.CHANGED, "key"),
    "POST /v1/keys/{key_id}/rotate": Action(Act.CHANGED, "key"),
    "DELETE /v1/keys/{key_id}": Action(Act.DELETED, "key"),
    "GET /v1/deployment": None,
    "GET /v1/usage": Action(Act.SAW, "usage"),
    "POST /v1/feedback": Action(Act.CHANGED, "feedback"),
    "GET /v1/feedback": Action(Act.EXPORTED, "feedback"),
    "DELETE /v1/feedback/{feedback_id}": Action(Act.DELETED, "feedback"),
    "GET /v1/evaluations/options": None,
    "POST /v1/evaluations": Action(Act.RAN, "evaluation"),
    "GET /v1/evaluations": Action(Act.LISTED, "evaluations"),
    "GET /v1/evaluations/{evaluation_id}": Action(Act.SAW, "evaluation"),
    "DELETE /v1/evaluations/{evaluation_id}": Action(Act.DELETED, "evaluation"),
    "GET /v1/evaluations/{evaluation_id}/items": Action(Act.SAW, "evaluation"),
    "GET /v1/evaluations/{evaluation_id}/items/{item_id}": Action(Act.SAW, "evaluation item"),
    "POST /v1/evaluations/{evaluation_id}/labels": Action(Act.CHANGED, "label"),
    "GET /v1/evaluations/{evaluation_id}/labels": Action(Act.SAW, "labels"),
    "GET /v1/evaluations/{evaluation_id}/comparisons/{number}": Action(Act.SAW, "comparison"),
    "POST /v1/evaluations/{evaluation_id}/votes": Action(Act.CHANGED, "vote"),
    "GET /v1/evaluations/{evaluation_id}/votes": Action(Act.SAW, "votes"),
    "GET /v1/evaluations/{evaluation_id}/agreement": Action(Act.SAW, "agreement"),
    "POST /v1/evaluations/{evaluation_id}/cancel": Action(Act.CANCELLED, "evaluation"),
    "GET /v1/models": None,
    "GET /v1/models/{name}": None,
    "POST /v1/chat/completions": Action(Act.ASKED, "answer", "messages"),
    "GET /v1/info": None,
    "GET /healthz": None,
    "GET /readyz": None,
    "GET /metrics": None,
    "GET /auth/session": None,
    "GET /auth/login": None,
    "GET /auth/callback": Action(Act.SIGNED_IN, "page"),
    "POST /auth/logout": Action(Act.SIGNED_OUT, "page"),
    # OpenBB's routes, which the OpenAPI document has only where that backend is on.
    "GET /openbb/agents.json": None,
    "GET /openbb/widgets.json": None,
    "GET /openbb/companies": Action(Act.LISTED, "companies"),
    "GET /openbb/statements": Action(Act.SAW, "statement"),
    "GET /openbb/metrics": Action(Act.SAW, "facts"),
    "GET /openbb/filings": Action(Act.LISTED, "documents"),
    "POST /openbb/answer": Action(Act.ASKED, "answer", "question"),
    "POST /openbb/query": Action(Act.ASKED, "answer", "messages"),
}
"""Method and route to what is recorded. None: not recorded when it is served, as it shows nothing of anybody's."""

RPCS: dict[str, Action | None] = {
    "quelea.gateway.v1.GatewayService/Ask": _ASK,
    "quelea.gateway.v1.GatewayService/Search": Action(Act.SEARCHED, "passages", "query"),
    "quelea.gateway.v1.GatewayService/Ingest": Action(Act.UPLOADED, "document"),
    "quelea.gateway.v1.GatewayService/IngestUrl": Action(Act.UPLOADED, "document"),
    "quelea.gateway.v1.GatewayService/FetchFilings": Action(Act.FETCHED, "filings"),
    "quelea.gateway.v1.GatewayService/GetJob": Action(Act.SAW, "job"),
    "quelea.gateway.v1.GatewayService/ListFacts": Action(Act.SAW, "facts"),
    "quelea.gateway.v1.GatewayService/ListCompanies": Action(Act.LISTED, "companies"),
    "quelea.gateway.v1.GatewayService/GetStatement": Action(Act.SAW, "statement"),
    "quelea.gateway.v1.PromptService/ListTemplates": Action(Act.SAW, "prompts"),
    "quelea.gateway.v1.PromptService/ListVersions": Action(Act.LISTED, "prompt versions"),
    "quelea.gateway.v1.PromptService/SaveVersion": Action(Act.CHANGED, "prompt"),
    "quelea.gateway.v1.PromptService/DeleteVersion": Action(Act.DELETED, "prompt"),
    "quelea.gateway.v1.PromptService/CompareVersions": Action(Act.SAW, "prompt versions"),
    "quelea.gateway.v1.PromptService/ActivateVersion": Action(Act.CHANGED, "prompt in force"),
    "quelea.gateway.v1.PromptService/RollBackVersion": Action(Act.CHANGED, "prompt in force"),
    "quelea.gateway.v1.GatewayService/ListCollections": Action(Act.LISTED, "collections"),
    "quelea.gateway.v1.GatewayService/CreateCollection": Action(Act.CHANGED, "collection"),
    "quelea.gateway.v1.GatewayService/DeleteCollection": Action(Act.DELETED, "collection"),
    "quelea.gateway.v1.AgentService/StartRun": Action(Act.RAN, "run", "question"),
    "quelea.gateway.v1.AgentService/WatchRun": Action(Act.SAW, "run"),
    "quelea.gateway.v1.AgentService/GetRun": Action(Act.SAW, "run"),
    "quelea.gateway.v1.AgentService/ListRuns": Action(Act.LISTED, "runs"),
    "quelea.gateway.v1.AgentService/CancelRun": Action(Act.CANCELLED, "run"),
    "quelea.gateway.v1.AgentService/GetArtifact": Action(Act.EXPORTED, "artifact"),
}
"""The same of gRPC."""

TOOLS: dict[str, Action | None] = {
    "search_tools": None,
    "tool_details": None,
    "ask": _ASK,
    "search_passages": Action(Act.SEARCHED, "passages", "query"),
    "list_documents": Action(Act.LISTED, "documents"),
    "analyse": Action(Act.RAN, "run", "question"),
    "list_companies": Action(Act.LISTED, "companies"),
    "get_statement": Action(Act.SAW, "statement"),
    "find_figures": Action(Act.SAW, "facts"),
    "execute_python": Action(Act.RAN, "code"),
}
"""The same of the tools of MCP."""

TURNED_AWAY = (401, 403, "UNAUTHENTICATED", "PERMISSION_DENIED")
"""Statuses of calls that are recorded whatever they were to do."""


@dataclass
class Record:
    """What is known of a call so far; becomes an entry when its outcome is."""

    request: str
    """Id of the call, which its answer carries too."""
    via: Via
    route: str
    """Method and route, rpc, or tool."""
    action: Action | None = None
    address: str = ""
    subject: str = ""
    key: str = ""
    """Id of the key, or how else the caller proved who he is: "token", "session"."""
    tenant: str = ""
    objects: dict[str, Any] = field(default_factory=dict)
    text: str = ""

    def entry(self, outcome: Outcome, status: int | str) -> dict[str, Any]:
        """As it is stored; what is empty is left out."""
        said: dict[str, Any] = {
            "request": self.request,
            "subject": self.subject,
            "key": self.key,
            "tenant": self.tenant,
            "act": self.action.act if self.action else Act.REFUSED,
            "of": self.action.of if self.action else "",
            "objects": self.objects,
            "via": self.via,
            "route": self.route,
            "outcome": outcome,
            "status": status,
            "address": self.address,
            "text": self.text[:_MOST_TEXT],
        }
        return {name: value for name, value in said.items() if value not in ("", {})}


_current: ContextVar[Record | None] = ContextVar("quelea_audit", default=None)


@contextlib.contextmanager
def recording(record: Record) -> Iterator[Record]:
    """Make it the record that `note` adds to, in this task and those that it starts."""
    token = _current.set(record)
    try:
        yield record
    finally:
        _current.reset(token)


def note(name: str, *ids: str) -> None:
    """Add ids of objects to the record of the call under way, if there is one: note("runs", run.id)."""
    record = _current.get()
    if record is not None and ids:
        known = record.objects.setdefault(name, [])
        known.extend(one[:_MOST_ID] for one in ids[: _MOST_IDS - len(known)] if one not in known)


def note_caller(subject: str, tenant: str, key: str) -> None:
    """Say who makes the call under way, where that is known only while it is answered."""
    record = _current.get()
    if record is not None:
        record.subject, record.tenant, record.key = subject, tenant, key


def of_path(params: Mapping[str, Any]) -> dict[str, Any]:
    """The ids in a path, cut to a length that a log can bear."""
    return {name: str(value)[:_MOST_ID] for name, value in params.items()}


def text_of(request: Any, name: str) -> str:
    """The question in a request, of JSON or a message of the wire; of a chat its last turn."""
    given = request.get(name) if isinstance(request, Mapping) else getattr(request, name, "")
    if isinstance(given, list) and given and isinstance(given[-1], Mapping):
        given = given[-1].get("content", "")
    if isinstance(given, list):  # parts of a message
        given = " ".join(str(part.get("text", "")) for part in given if isinstance(part, Mapping))
    return given if isinstance(given, str) else ""


def json_of(body: bytes) -> Any:
    """A body as JSON; None when it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def outcome_of(status: int) -> Outcome:
    """Of an HTTP status."""
    if status < 400:  # where errors begin
        return "ok"
    return "refused" if status < 500 else "failed"
