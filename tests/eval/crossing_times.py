"""Whether the time that an error takes tells a stranger that another tenant has what he names.

    python tests/eval/crossing_times.py [--pairs 400] [--owner bonds]

A stranger calls each route of the gateway that takes an id in pairs: with an id of another tenant, and with one that
nobody has, in random order. Printed for each route: the medians, the median of the paired differences with its 95 %
interval, and how probable differences this large would be if the two were alike (sign flips within pairs; Holm over all
routes). Once by the clock, which is what a stranger has, and once by processor time of the whole stack, which other
processes of the machine do not disturb. The first line is a control: two ids that nobody has. The whole stack runs in
this process (tests/support/tenant_stack.py), nothing but files and loopback between; the owner's document has
eighty pages, so that reading any of it would show.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.crossing import QUESTION, Crossing, crossed
from support.tenant_stack import BONDS, TENANTS, tenant_stack

WARM_UP = 20
FLIPS = 10_000
LONG = "".join(
    f'<div style="page-break-before:always"><h2>Note {number}</h2>'
    + f"<p>Note {number}: Zanzibar Motors leased depot {number} for {number + 3} years at a fixed rent.</p></div>" * 12
    for number in range(80)
)
NOBODYS = "7c" * 16
"""Of the form of every random id."""
TIMED = "20260102030405000000-" + "7c" * 8


@dataclass(frozen=True)
class Route:
    """A request in which an id stands for `{}`."""

    method: str
    path: str
    theirs: str
    nobodys: str
    body: dict[str, Any] = field(default_factory=dict)

    def request(self, given: str) -> dict[str, Any]:
        """For an HTTP client."""
        body = {name: value.replace("{}", given) for name, value in self.body.items()}
        return {"method": self.method, "url": self.path.replace("{}", given), **({"json": body} if body else {})}


def routes_of(it: Crossing) -> list[Route]:
    """Those that take an id of something."""
    run = it.run[:-3] + ("777" if it.run[-3:] != "777" else "333")
    watch = "7c" * (len(it.watch) // 2)
    fetch = it.fetch[:-3] + ("777" if it.fetch[-3:] != "777" else "333")
    document = "/v1/documents/{}"
    found = [Route("GET", document, NOBODYS, "3d" * 16)]
    found += [
        Route(method, document + more, it.document, NOBODYS)
        for method, more in (
            ("GET", ""), ("GET", "/pages/1"), ("GET", "/pages/9"), ("GET", "/pages/1/boxes?start=0&end=4"),
            ("GET", "/original"), ("HEAD", "/original"), ("GET", "/html"), ("DELETE", ""),
            ("DELETE", "?forget_quotes=true"),
        )
    ]  # fmt: skip
    found += [Route("GET", f"/v1/jobs/{{}}{more}", it.job, NOBODYS) for more in ("", "/events")]
    found += [
        Route(method, f"/v1/agent/runs/{{}}{more}", it.run, run)
        for method, more in (
            ("GET", ""), ("DELETE", ""), ("GET", "/events"), ("POST", "/cancel"), ("GET", "/artifacts/plot.png"),
            ("GET", "/notebook"), ("GET", "/report.pdf"), ("GET", "/bundle"), ("GET", "/archive"),
        )
    ]  # fmt: skip
    found += [
        Route(method, f"/v1/conversations/{{}}{more}", it.conversation, TIMED)
        for method, more in (("GET", ""), ("DELETE", ""), ("GET", "/export"), ("GET", "/export?format=xlsx"))
    ]
    thumb = {"question": "q", "answer": "a", "thumb": "up", "conversation_id": "{}"}
    found += [
        Route("PATCH", "/v1/conversations/{}", it.conversation, TIMED, {"title": "mine"}),
        Route("POST", "/v1/ask", it.conversation, TIMED, {"question": QUESTION, "conversation_id": "{}"}),
        Route("POST", "/v1/feedback", it.conversation, TIMED, thumb),
        Route("DELETE", "/v1/feedback/{}", it.feedback, TIMED),
        Route("DELETE", "/v1/watches/{}", it.watch, watch),
        Route("GET", "/v1/fetch/{}/bundle", it.fetch, fetch),
        Route("DELETE", "/v1/collections/{}", "hk", "sg"),
        Route("GET", "/v1/documents?collection={}", "hk", "sg"),
        Route("GET", "/v1/facts?company={}", "Zanzibar%20Motors", "Tanganyi%20Motors"),
        Route("GET", "/v1/companies/{}/statements", "Zanzibar%20Motors", "Tanganyi%20Motors"),
        Route("GET", "/v1/comparison?concept=revenue&company={}", "Zanzibar%20Motors", "Tanganyi%20Motors"),
    ]
    return found


async def call(http: httpx2.AsyncClient, route: Route, given: str) -> tuple[float, float, int]:
    """Seconds by the clock, seconds of processor time, and the status."""
    clock, processor = time.perf_counter(), time.process_time()
    answer = await http.request(**route.request(given))
    return time.perf_counter() - clock, time.process_time() - processor, answer.status_code


async def measure(http: httpx2.AsyncClient, routes: Sequence[Route], pairs: int) -> np.ndarray:
    """Seconds, of the shape (routes, pairs, 2: theirs and nobody's, 2: clock and processor)."""
    found = np.zeros((len(routes), pairs, 2, 2))
    gc.disable()
    for number in range(-WARM_UP, pairs):
        gc.collect(0)
        for which, route in enumerate(routes):
            both = [(0, route.theirs), (1, route.nobodys)]
            random.shuffle(both)
            statuses = set()
            for side, given in both:
                clock, processor, status = await call(http, route, given)
                statuses.add(status)
                if number >= 0:
                    found[which, number, side] = clock, processor
            if len(statuses) != 1:
                raise SystemExit(f"{route.method} {route.path} answers {statuses}: that tells them apart already")
    return found


def probability(differences: np.ndarray, rng: np.random.Generator) -> float:
    """Of a median at least as far from 0, were each difference as likely to have the other sign."""
    signs = rng.choice((-1.0, 1.0), (FLIPS, len(differences)))
    flipped = np.abs(np.median(signs * differences, axis=1))
    return float((1 + np.count_nonzero(flipped >= abs(np.median(differences)))) / (1 + FLIPS))


def interval(differences: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """95 % of the medians of samples drawn from the differences."""
    drawn = np.median(rng.choice(differences, (2_000, len(differences))), axis=1)
    return float(np.quantile(drawn, 0.025)), float(np.quantile(drawn, 0.975))


def holm(found: Sequence[float]) -> list[float]:
    """Probabilities, corrected for how many there are."""
    order, corrected, largest = np.argsort(found), [0.0] * len(found), 0.0
    for rank, which in enumerate(order):
        largest = max(largest, min(1.0, found[which] * (len(found) - rank)))
        corrected[which] = largest
    return corrected


def report(routes: Sequence[Route], seconds: np.ndarray) -> None:
    """Print both tables."""
    for kind, what in enumerate(("by the clock", "by processor time")):
        rng = np.random.default_rng(18)
        paired = [one[:, 0, kind] - one[:, 1, kind] for one in seconds]
        corrected = holm([probability(one, rng) for one in paired])
        print(f"\n{what}, µs: theirs, nobody's, median difference (95 %), p (Holm)")
        for route, one, differences, p in zip(routes, seconds, paired, corrected, strict=True):
            theirs, nobodys = (np.median(one[:, side, kind]) * 1e6 for side in (0, 1))
            low, high = (value * 1e6 for value in interval(differences, rng))
            told = f"{np.median(differences) * 1e6:+8.0f} ({low:+.0f} to {high:+.0f})"
            mark = "*" if p < 0.05 else " "
            print(f"{theirs:8.0f} {nobodys:8.0f} {told:28} {p:6.3f} {mark} {route.method} {route.path}")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--owner", choices=TENANTS, default=BONDS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        async with tenant_stack(Path(folder), agent_running=1) as stack:
            it = await crossed(stack, given.owner, more=LONG)
            routes = routes_of(it)
            async with stack.client(f"{it.stranger} all") as http:
                seconds = await measure(http, routes, given.pairs)
    report(routes, seconds)


if __name__ == "__main__":
    asyncio.run(main())
