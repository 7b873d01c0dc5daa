"""The whole product as a process, for the tests that use it from outside: `quelea up` on a home of its own."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2

START_SECONDS = 600
JOB_SECONDS = 600
REPOSITORY = Path(__file__).parents[2]
SAMPLES = REPOSITORY / "samples"


def pdf(pages: list[str], encrypt: bool = False) -> bytes:
    """A PDF of text, written by hand; `encrypt` asks for a password that nobody knows."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for text in pages:
        lines = "".join(f"({line}) Tj T* " for line in text.split("\n"))
        stream = f"BT /F1 11 Tf 14 TL 50 750 Td {lines}ET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        resources = b"/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792]"
        objects.append(b"<< /Type /Page /Parent 2 0 R %s /Contents %d 0 R >>" % (resources, len(objects)))
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    trailer = b"/Root 1 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
    if encrypt:
        lock = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (b"a1" * 32, b"b2" * 32)
        objects.append(lock)
        trailer += b" /Encrypt %d 0 R" % len(objects)
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(b"trailer << /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start))
    return out.getvalue()


class Stack:
    """A running stack: `url`, `home`, `pids` by service, `kill(service)`, and shortcuts of its REST interface."""

    def __init__(self, home: Path, *options: str, environment: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.options = options
        self.environment = {**os.environ, **(environment or {})}
        self.http = httpx2.Client(timeout=120, trust_env=False, headers={"Accept": "application/json"})
        self.start()

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.home.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "quelea_cli", "up", "--home", str(self.home), "--port", "0", *self.options]
        with (self.home / "up.out").open("a") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, cwd=REPOSITORY, env=self.environment
            )
        self.wait_until(lambda: self.record().get("state") == "ready", START_SECONDS, "the stack is ready")
        self.url = str(self.record()["url"])
        self.http.base_url = self.url

    def record(self) -> dict[str, Any]:
        """What the supervisor says of its processes."""
        if self.process.poll() is not None:
            tail = (self.home / "up.out").read_text(errors="replace")[-3000:]
            raise RuntimeError(f"quelea up ended with {self.process.returncode}:\n{tail}")
        try:
            found: dict[str, Any] = json.loads((self.home / "run/stack.json").read_text())
        except (OSError, ValueError):
            return {}
        return found if found["pid"] == self.process.pid else {}

    @property
    def pids(self) -> dict[str, int]:
        """Process by service: redis, embedder, retriever, search, worker, generator, gateway."""
        return {name: one["pid"] for name, one in self.record()["services"].items()}

    def kill(self, service: str) -> int:
        """kill -9; returns the pid that was."""
        pid = self.pids[service]
        os.kill(pid, signal.SIGKILL)
        return pid

    def is_back(self, service: str, old: int) -> bool:
        """Whether another process than `old` is ready in its place."""
        one = self.record().get("services", {}).get(service, {})
        return one.get("pid") != old and one.get("state") == "ready"

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it for good, and wait."""
        self.http.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(180)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def submit(self, *files: tuple[str, bytes], metadata: dict[str, Any] | None = None) -> list[str]:
        """Upload; returns the jobs' ids."""
        answer = self.http.post(
            "/v1/documents",
            files=[("files", file) for file in files],
            data={"metadata": json.dumps(metadata or {})},
        )
        assert answer.status_code == 202, answer.text
        return [job["id"] for job in answer.json()["jobs"]]

    def job(self, job_id: str) -> dict[str, Any]:
        """A job as it is now."""
        found: dict[str, Any] = self.http.get(f"/v1/jobs/{job_id}").raise_for_status().json()
        return found

    def ended(self, job_id: str, seconds: float = JOB_SECONDS) -> dict[str, Any]:
        """A job when it has ended, whatever else goes down in between."""
        last: dict[str, Any] = {}

        def look() -> bool:
            nonlocal last
            try:
                last = self.job(job_id)
            except httpx2.HTTPError:
                return False
            return last["state"] in ("succeeded", "failed")

        self.wait_until(look, seconds, lambda: f"job {last} has ended")
        return last

    def ingest(self, *files: tuple[str, bytes], metadata: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Upload and wait; returns the ended jobs."""
        return [self.ended(job) for job in self.submit(*files, metadata=metadata)]

    def ask(self, question: str, **more: Any) -> dict[str, Any]:
        """The answer."""
        reply = self.http.post("/v1/ask", json={"question": question, **more})
        assert reply.status_code == 200, reply.text
        answer: dict[str, Any] = reply.json()
        return answer

    def documents(self) -> dict[str, dict[str, Any]]:
        """The documents by uri."""
        found = self.http.get("/v1/documents", params={"page_size": 1000}).raise_for_status().json()
        return {one["uri"]: one for one in found["documents"]}

    def page(self, document_id: str, page: int) -> dict[str, Any]:
        """A page's text."""
        found: dict[str, Any] = self.http.get(f"/v1/documents/{document_id}/pages/{page}").raise_for_status().json()
        return found

    @staticmethod
    def wait_until(condition: Callable[[], bool], seconds: float, what: str | Callable[[], str]) -> None:
        """Block until it is so; AssertionError after the given seconds."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"not within {seconds} s: {what if isinstance(what, str) else what()}"
            time.sleep(0.1)
