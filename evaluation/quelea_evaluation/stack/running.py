"""A stack of its own for an evaluation: the product as it runs, on a home that is kept between runs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2

from quelea_evaluation.sets.model import SourceDocument

_JOB_SECONDS = 1800.0
_FILES_PER_REQUEST = 10
USUAL = {"QUELEA_GATEWAY_GATE_ANY_ENCODER": "true"}
"""An encoder is measured, and a gate fitted to it, before there is a gate for it."""


class Stack:
    """A running stack: where it listens, and which document id a set's key has.

    Args:
        home: Its folder.
        url: Its gateway.
        ports: Port of each service, by name.
    """

    def __init__(self, home: Path, url: str, ports: dict[str, int]) -> None:
        self.home = home
        self.url = url
        self.ports = ports
        self.http = httpx2.Client(base_url=url, timeout=600, trust_env=False)

    def address(self, service: str) -> str:
        """host:port of a service's gRPC."""
        return f"127.0.0.1:{self.ports[service]}"

    def ingest(self, documents: tuple[SourceDocument, ...], say: Callable[[str], None]) -> dict[str, str]:
        """Upload, wait for every job, return document id by key. Documents already there change nothing."""
        ids: dict[str, str] = {}
        for first in range(0, len(documents), _FILES_PER_REQUEST):
            batch = documents[first : first + _FILES_PER_REQUEST]
            answer = self.http.post(
                "/v1/documents",
                files=[("files", (d.filename, d.data)) for d in batch],
                data={"metadata": json.dumps([d.metadata for d in batch])},
            )
            answer.raise_for_status()
            for document, job in zip(batch, answer.json()["jobs"], strict=True):
                ids[document.key] = self.wait_for_job(job["id"], document.filename)
            say(f"ingested {first + len(batch)} of {len(documents)} documents")
        return ids

    def page(self, document_id: str, number: int) -> tuple[str, int]:
        """Text of a page, and how many pages there are."""
        answer = self.http.get(f"/v1/documents/{document_id}/pages/{number}", headers={"Accept": "application/json"})
        page: dict[str, Any] = answer.raise_for_status().json()
        return str(page["text"]), int(page["pages"])

    def ask(
        self,
        question: str,
        route: str = "auto",
        history: Sequence[dict[str, str]] = (),
        documents: Sequence[str] = (),
    ) -> dict[str, Any]:
        """The gateway's answer as JSON; to a follow-up of `history`, and from some documents alone."""
        body: dict[str, Any] = {"question": question, "route": route, "history": [*history]}
        if documents:
            body["filters"] = {"document_ids": [*documents]}
        answer: dict[str, Any] = self.http.post("/v1/ask", json=body).raise_for_status().json()
        return answer

    def wait_for_job(self, job_id: str, filename: str) -> str:
        """Wait for a job; the id of its document."""
        end = time.monotonic() + _JOB_SECONDS
        while time.monotonic() < end:
            job: dict[str, Any] = self.http.get(f"/v1/jobs/{job_id}").raise_for_status().json()
            if job["state"] == "succeeded":
                return str(job["document_id"])
            if job["state"] == "failed":
                raise RuntimeError(f"{filename}: {job['error']}")
            time.sleep(0.2)
        raise RuntimeError(f"{filename}: not ingested within {_JOB_SECONDS:.0f} s")


def show_secret(home: Path) -> None:
    """Let the channels that this process opens from now on show the secret of the stack that runs on a home."""
    with contextlib.suppress(FileNotFoundError):  # a stack with certificates has none
        os.environ["QUELEA_STACK_SECRET"] = (home / "run" / "stack-secret").read_text(encoding="utf-8")


@contextlib.contextmanager
def end_on_sigterm() -> Iterator[None]:
    """SIGTERM leaves by the way of exceptions (exit code 143), so that what was started inside is ended too."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def copy_of_home(folder: Path, suffix: str) -> Iterator[Path]:
    """A copy of a home that is not running, beside it; thrown away afterwards.

    What a link leads to is copied, as documents may lie on another disk and are deleted in the copy. Links among the
    models stay links: the set in use is one, and so is the set before, which need not be there.
    """
    copy = folder.with_name(folder.name + suffix)
    models = folder / "models"
    shutil.rmtree(copy, ignore_errors=True)
    try:
        shutil.copytree(folder, copy, ignore=lambda at, _: ("run", "logs", models.name) if Path(at) == folder else ())
        if models.is_dir():
            shutil.copytree(models, copy / models.name, symlinks=True)
        yield copy
    finally:
        shutil.rmtree(copy, ignore_errors=True)


@contextlib.contextmanager
def running_stack(
    home: Path, environment: dict[str, str] | None = None, arguments: Sequence[str] = ()
) -> Iterator[Stack]:
    """Start `quelea up` on the home, and end it again.

    Args:
        home: Folder of the stack; kept, so that the next run need not ingest again.
        environment: Settings of services beside the usual, for example {"QUELEA_RETRIEVER_HEADER": "false"}.
        arguments: More of `quelea up`, for example "--sample-web".
    """
    with end_on_sigterm(), _running(home, environment or {}, arguments) as stack:
        yield stack


@contextlib.contextmanager
def _running(home: Path, environment: dict[str, str], arguments: Sequence[str]) -> Iterator[Stack]:
    home.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "quelea_cli", "up", "--home", str(home), "--port", "0", *arguments]
    with (home / "evaluation.log").open("w") as log:
        process = subprocess.Popen(  # noqa: S603  # our own command line
            command, env={**USUAL, **os.environ, **environment}, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        record = _ready(process, home)
        show_secret(home)
        ports = {name: one["port"] for name, one in record["services"].items()}
        yield Stack(home, record["url"], ports)
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


def _ready(process: subprocess.Popen[bytes], home: Path) -> dict[str, Any]:
    end = time.monotonic() + 180
    path = home / "run" / "stack.json"
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the stack ended with {process.returncode}; see {home / 'evaluation.log'}")
        with contextlib.suppress(OSError, ValueError):
            record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if record.get("state") == "ready" and record.get("pid") == process.pid:
                return record
        time.sleep(0.2)
    raise RuntimeError(f"the stack was not ready within 180 s; see {home / 'evaluation.log'}")
