"""What `helm test` does, with Python alone: helm_test.py ingest|ask|code|sandbox. Says what went wrong in one line.

QUELEA_URL and QUELEA_KEY name the gateway and a key of it.
"""

# ruff: noqa: T201  # a probe or a test says on its output why

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

NAME = "helm-test.txt"
URI = "quelea:helm-test"
TEXT = """Marabou Grain Company annual report 2031

For the fiscal year 2031 the Marabou Grain Company reported total revenue of 4,517 million dollars, compared with
4,102 million dollars in fiscal year 2030. Net income for fiscal year 2031 was 311 million dollars.
"""
QUESTION = "What was the total revenue of Marabou Grain Company in fiscal year 2031?"
FIGURE = "4,517"
CODE_QUESTION = "Compute with code the sum of the whole numbers from 1 to 100, and state it."
SECONDS = 240.0
NOT_NOW = (429, 503)  # a queue is full, a service does not answer: another try may succeed
NO_MODEL = 409
PAUSE, LONGEST_PAUSE = 1.0, 15.0
STARTED = time.monotonic()


class Failed(Exception):
    """The test's verdict."""


class Refused(Failed):
    """The gateway's answer is an error that another try does not change."""

    def __init__(self, why: str, status: int) -> None:
        super().__init__(why)
        self.status = status


class NotNow(Exception):
    """The gateway, or a service behind it, is not there or has no place at the moment."""

    def __init__(self, why: str, retry_after: str | None = None) -> None:
        super().__init__(why)
        asked = float(retry_after) if retry_after and retry_after.isdigit() else PAUSE
        self.seconds = min(max(asked, PAUSE), LONGEST_PAUSE)


def left() -> float:
    """Seconds that this test still has."""
    return SECONDS - (time.monotonic() - STARTED)


def call(method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> dict:
    """One call to the gateway, again while it says "not now": just after an install not all have found one another.

    Every call may be made twice: a document has one URI, and a run that nobody waits for ends by itself.
    """
    while True:
        try:
            return once(method, path, body, kind)
        except NotNow as not_now:
            if left() <= not_now.seconds:
                raise Failed(f"{not_now}, for {SECONDS:.0f} s") from None
            time.sleep(not_now.seconds)


def once(method: str, path: str, body: bytes | None, kind: str) -> dict:
    """The call itself; a body that is no success is a failure that says so."""
    request = urllib.request.Request(os.environ["QUELEA_URL"].rstrip("/") + path, data=body, method=method)  # noqa: S310  # the chart's own address
    request.add_header("Authorization", f"Bearer {os.environ['QUELEA_KEY']}")
    request.add_header("Content-Type", kind)
    try:
        with urllib.request.urlopen(request, timeout=max(left(), PAUSE)) as answer:  # noqa: S310  # as above
            return json.load(answer)
    except urllib.error.HTTPError as error:
        said = f"{method} {path}: {error.code} {error.read(2000).decode(errors='replace')}"
        if error.code in NOT_NOW:
            raise NotNow(said, error.headers.get("Retry-After")) from None
        raise Refused(said, error.code) from None
    except TimeoutError:
        raise Failed(f"{method} {path}: no answer within {SECONDS:.0f} s") from None
    except (OSError, http.client.HTTPException) as error:  # no address, no listener, a connection that broke
        raise NotNow(f"{method} {path}: {error!r}") from None


def until(what: str, done) -> dict:
    """Ask every second until `done` gives something."""
    while left() > 0:
        found = done()
        if found:
            return found
        time.sleep(1)
    raise Failed(f"{what} did not come within {SECONDS:.0f} s")


def ingest() -> str:
    """A document goes in, and is found."""
    border = uuid.uuid4().hex
    parts = [
        f'--{border}\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{json.dumps({"uri": URI})}\r\n',
        f'--{border}\r\nContent-Disposition: form-data; name="files"; filename="{NAME}"\r\n',
        f"Content-Type: text/plain\r\n\r\n{TEXT}\r\n--{border}--\r\n",
    ]
    taken = call("POST", "/v1/documents", "".join(parts).encode(), f"multipart/form-data; boundary={border}")
    job = taken["jobs"][0]["id"]

    def ended() -> dict | None:
        state = call("GET", f"/v1/jobs/{job}")
        if state["state"] == "failed":
            raise Failed(f"the job failed: {state}")
        return state if state["state"] == "succeeded" else None

    until("the end of the job", ended)
    found = call("POST", "/v1/search", json.dumps({"query": QUESTION, "k": 5}).encode())
    if FIGURE not in json.dumps(found):
        raise Failed("the document is in, but is not found")
    return f"job {job} succeeded, the passage is found"


def ask() -> str:
    """A question is answered, and its citation opens; then the document goes out again."""
    answer = call("POST", "/v1/ask", json.dumps({"question": QUESTION, "route": "local"}).encode())
    if FIGURE not in answer["answer"]:
        raise Failed(f"the answer lacks {FIGURE}: {answer['answer']}")
    for citation in answer["citations"]:
        document = f"/v1/documents/{citation['document_id']}"
        if FIGURE in citation["quote"] and call("GET", document)["uri"] == URI:
            call("DELETE", document)
            return f"answered with {len(answer['citations'])} citations: {citation['quote'][:120]}"
    raise Failed(f"no citation has {FIGURE}: {answer['citations']}")


def code() -> str:
    """The agent runs code in the sandbox."""
    run = call("POST", "/v1/agent/runs", json.dumps({"question": CODE_QUESTION}).encode())["id"]

    def ended() -> dict | None:
        state = call("GET", f"/v1/agent/runs/{run}")
        return state if state["state"] not in ("queued", "running") else None

    state = until("the end of the run", ended)
    sources = (state["answer"] or {}).get("sources", [])
    if not any(s["kind"] == "execution" and "5050" in s["excerpt"].replace(",", "") for s in sources):
        raise Failed(f"the run ended as {state['state']}, and its answer rests on no code that gave 5050")
    return f"run {run}: {state['state']}, {len(sources)} sources"


def sandbox() -> str:
    """The sandbox works, where no language model is there to write code for it.

    The gateway takes no run before the sandbox says that it serves, which it does once a container of each kind has
    started; only then it asks for a model, and says that there is none.
    """
    try:
        call("POST", "/v1/agent/runs", json.dumps({"question": CODE_QUESTION}).encode())
    except Refused as refused:
        if refused.status == NO_MODEL and "No language model" in str(refused):
            return "containers start; there is no language model, so no code was run"
        raise
    raise Failed("the gateway took a run of the agent without a language model")


if __name__ == "__main__":
    try:
        print({"ingest": ingest, "ask": ask, "code": code, "sandbox": sandbox}[sys.argv[1]]())
    except Failed as failed:
        print(f"FAILED: {failed}", file=sys.stderr)
        sys.exit(1)
