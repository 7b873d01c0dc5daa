"""A caller of POST /v1/ask with server-sent events; settings in the environment, as Locust reads no arguments of ours.

QUELEA_LOAD_URLS   gateways, separated by commas; a user keeps to one
QUELEA_LOAD_IDEAL  milliseconds that an answer takes when nothing but the set delays is in the way
"""

from __future__ import annotations

import itertools
import json
import os
import time

from locust import FastHttpUser, constant, events, task
from locust.env import Environment

URLS = itertools.cycle(os.environ["QUELEA_LOAD_URLS"].split(","))
IDEAL = float(os.environ["QUELEA_LOAD_IDEAL"])
BODY = json.dumps(
    {"question": "What were Apple's total net sales in the third quarter of fiscal 2023?", "stream": True}
)
HEADERS = {"Content-Type": "application/json"}


def record(environment: Environment, name: str, milliseconds: float, error: Exception | None = None) -> None:
    """One measurement, under its own name in Locust's statistics."""
    environment.events.request.fire(
        request_type="ask", name=name, response_time=milliseconds, response_length=0, exception=error, context={}
    )


class Reader(FastHttpUser):
    """Asks, reads the stream to its end, asks again."""

    wait_time = constant(0)
    network_timeout = connection_timeout = 30.0
    host = "http://127.0.0.1"

    def on_start(self) -> None:
        """Keep to one gateway, as a front-end's connection does."""
        self._url = next(URLS) + "/v1/ask"

    @task
    def ask(self) -> None:
        """One answer; refusals are counted by their own name and come back after what Retry-After says, at most 1 s."""
        started = time.perf_counter()
        first = 0.0
        with self.client.post(
            self._url, data=BODY, headers=HEADERS, stream=True, catch_response=True, name="http"
        ) as reply:
            if reply.status_code == 429:
                reply.success()
                refused = (time.perf_counter() - started) * 1000
                record(self.environment, "429", refused)
                time.sleep(min(1.0, float(reply.headers.get("Retry-After", "1"))))
                return
            if reply.status_code != 200:
                reply.failure(f"status {reply.status_code}")
                return
            answered = False
            while piece := reply.stream.readline(b"\n\n"):
                if not first and piece.startswith(b"event: delta"):
                    first = (time.perf_counter() - started) * 1000
                answered = answered or piece.startswith(b"event: answer")
            total = (time.perf_counter() - started) * 1000
            if not answered:
                reply.failure("the stream ended without an answer")
                return
            reply.success()
        record(self.environment, "answer", total)
        record(self.environment, "first token", first)
        record(self.environment, "added", max(0.0, total - IDEAL))


@events.quitting.add_listener
def _exit_code(environment: Environment, **_: object) -> None:
    environment.process_exit_code = 0  # what failed is judged by the one who reads the numbers
