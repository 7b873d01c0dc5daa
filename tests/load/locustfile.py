"""A caller of streamed answers; settings in the environment, as Locust reads no arguments of ours.

QUELEA_LOAD_URLS   gateways, separated by commas; a user keeps to one
QUELEA_LOAD_IDEAL  milliseconds that an answer takes when nothing but the set delays is in the way
QUELEA_LOAD_PACE   questions a second that a user asks, whatever becomes of them; 0: the next when one is answered
QUELEA_LOAD_THINK  milliseconds that a user waits behind an answer, on average (exponential); 0: asks again at once
QUELEA_LOAD_USED   file for what the callers themselves used: seconds of processor time
QUELEA_LOAD_ASK    the question, or several with a line each, in turn
QUELEA_LOAD_MODEL  empty: POST /v1/ask; else POST /v1/chat/completions asks this model, as any OpenAI-compatible server
"""

from __future__ import annotations

import itertools
import json
import os
import random
import time
from pathlib import Path

from locust import FastHttpUser, constant, constant_throughput, events, task
from locust.env import Environment

URLS = itertools.cycle(os.environ["QUELEA_LOAD_URLS"].split(","))
IDEAL = float(os.environ["QUELEA_LOAD_IDEAL"])
PACE = float(os.environ["QUELEA_LOAD_PACE"])
THINK = float(os.environ["QUELEA_LOAD_THINK"])
MODEL = os.environ["QUELEA_LOAD_MODEL"]
PATH = "/v1/chat/completions" if MODEL else "/v1/ask"
FIRST, LAST = (b"data: {", b'"stop"') if MODEL else (b"event: delta", b"event: answer")


def body(question: str) -> str:
    """A request for a streamed answer."""
    chat = {"model": MODEL, "messages": [{"role": "user", "content": question}]}
    return json.dumps({**(chat if MODEL else {"question": question}), "stream": True})


QUESTIONS = itertools.cycle(body(line) for line in os.environ["QUELEA_LOAD_ASK"].splitlines())
HEADERS = {"Content-Type": "application/json"}


def record(environment: Environment, name: str, milliseconds: float, error: Exception | None = None) -> None:
    """One measurement, under its own name in Locust's statistics."""
    environment.events.request.fire(
        request_type="ask", name=name, response_time=milliseconds, response_length=0, exception=error, context={}
    )


def thinking(_user: object) -> float:
    """Seconds until the next question of one who does not ask by the clock."""
    return random.expovariate(1000 / THINK)


class Reader(FastHttpUser):
    """Asks, reads the stream to its end, asks again."""

    wait_time = constant_throughput(PACE) if PACE else thinking if THINK else constant(0)
    network_timeout = connection_timeout = 60.0
    host = "http://127.0.0.1"

    def on_start(self) -> None:
        """Keep to one gateway, as a front-end's connection does; those who think do not begin together either."""
        self._url = next(URLS) + PATH
        if THINK:
            time.sleep(random.uniform(0, IDEAL + THINK) / 1000)

    @task
    def ask(self) -> None:
        """One answer; refusals are counted by their own name and come back after what Retry-After says, at most 1 s."""
        started = time.perf_counter()
        first = 0.0
        with self.client.post(
            self._url, data=next(QUESTIONS), headers=HEADERS, stream=True, catch_response=True, name="http"
        ) as reply:
            if reply.status_code == 429:
                refused = (time.perf_counter() - started) * 1000
                after = float(reply.headers.get("Retry-After", "0"))
                if not after:
                    reply.failure("429 without Retry-After")
                    return
                reply.success()
                record(self.environment, "429", refused)
                time.sleep(0 if PACE else min(1.0, after))
                return
            if reply.status_code != 200:
                reply.failure(f"status {reply.status_code}")
                return
            reply.stream.block_size = 65536  # a read of 4 KiB at a time costs callers more than the gateway
            answered, last = False, b""
            while piece := reply.stream.readline(b"\n\n"):
                if not first and piece.startswith(FIRST):
                    first = (time.perf_counter() - started) * 1000
                answered, last = answered or LAST in piece, piece
            total = (time.perf_counter() - started) * 1000
            if not answered:
                reply.failure(f"the stream ended without an answer: {bytes(last[:300])!r}")
                return
            reply.success()
        record(self.environment, "answer", total)
        record(self.environment, "first token", first)
        record(self.environment, "added", max(0.0, total - IDEAL))


_began = 0.0


@events.test_start.add_listener
def _begin(**_: object) -> None:
    global _began  # noqa: PLW0603  # Locust's listeners share nothing else
    _began = time.process_time()


@events.quitting.add_listener
def _exit_code(environment: Environment, **_: object) -> None:
    Path(os.environ["QUELEA_LOAD_USED"]).write_text(str(time.process_time() - _began), encoding="ascii")
    environment.process_exit_code = 0  # what failed is judged by the one who reads the numbers
