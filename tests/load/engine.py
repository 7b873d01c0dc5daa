"""`make bench-vllm`: gateway -> generator -> vLLM against vLLM asked directly, on a CPU engine; one JSON line each.

The direct caller sends what the generator sends, recorded once on its way to the engine. Rounds alternate, so that what
else the machine does slows both sides; a line has the median of the rounds and how far apart they are, and what a token
costs of processor time, which other work changes least. The retriever is a mock without delay (mocks.py): what is
measured is what gateway and generator add to the engine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from processes import HERE, busy, get, process, until
from quelea_kit.testing import free_port

sys.path.insert(0, str(HERE.parent))
from support.engine import Engine  # tests/ is on the path from here on

MODEL = "smollm2-135m-instruct"
QUESTION = "What were Apple's total net sales in the third quarter of fiscal 2023? Answer number {}."
TOKENS = 64
LEAST_RATIO, MOST_ADDED_MS = 0.95, 15.0
"""What is aimed at: throughput against the engine's own, and what may be added to the first text."""
Caller = Callable[[httpx2.AsyncClient, str], Coroutine[Any, Any, float]]
"""Seconds to the first text."""


@contextlib.asynccontextmanager
async def recording(upstream: int, seen: bytearray) -> AsyncIterator[int]:
    """A relay in front of a port that keeps what callers send; its own port."""

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray | None) -> None:
        while data := await reader.read(65536):
            if kept is not None:
                kept += data
            writer.write(data)
            await writer.drain()
        writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to, back = await asyncio.open_connection("127.0.0.1", upstream)
        await asyncio.gather(copy(reader, back, seen), copy(to, writer, None), return_exceptions=True)

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


def sent_prompt(seen: bytes) -> dict[str, Any]:
    """The body of the last streamed chat completion among recorded requests."""
    bodies = []
    for request in seen.split(b"POST ")[1:]:
        head, _, body = request.partition(b"\r\n\r\n")
        if head.startswith(b"/v1/chat/completions"):
            with contextlib.suppress(ValueError):
                bodies.append(json.JSONDecoder().raw_decode(body.decode())[0])  # the next request may be behind it
    streamed = [body for body in bodies if body.get("stream") and "Apple" in json.dumps(body)]
    if not streamed:
        raise SystemExit("the generator's request to the engine was not seen")
    return dict(streamed[-1])


def direct(engine: str, prompt: dict[str, Any]) -> Caller:
    """Asks the engine as the generator does."""

    async def ask(client: httpx2.AsyncClient, number: str) -> float:
        messages = [dict(message) for message in prompt["messages"]]
        messages[-1]["content"] = messages[-1]["content"].replace("Answer number 0.", f"Answer number {number}.")
        started, first = time.perf_counter(), 0.0
        async with client.stream(
            "POST", f"{engine}/v1/chat/completions", json={**prompt, "messages": messages}
        ) as reply:
            reply.raise_for_status()
            async for line in reply.aiter_lines():
                choices = json.loads(line[6:])["choices"] if line.startswith("data: {") else []
                if choices and choices[0]["delta"].get("content"):
                    first = first or time.perf_counter()
        return (first or time.perf_counter()) - started

    return ask


def through(gateway: str) -> Caller:
    """Asks the gateway."""

    async def ask(client: httpx2.AsyncClient, number: str) -> float:
        started, first = time.perf_counter(), 0.0
        body = {"question": QUESTION.format(number), "stream": True, "route": "local"}
        async with client.stream("POST", f"{gateway}/v1/ask", json=body) as reply:
            reply.raise_for_status()
            async for line in reply.aiter_lines():
                if line == "event: delta":
                    first = first or time.perf_counter()
        return (first or time.perf_counter()) - started

    return ask


async def generated(engine: str, client: httpx2.AsyncClient) -> float:
    """Tokens that the engine has generated since its start, by its own count: pieces of text are no measure."""
    lines = (await client.get(f"{engine}/metrics")).text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("vllm:generation_tokens_total"))


async def round_of(caller: Caller, client: httpx2.AsyncClient, streams: int, asked: int, base: int) -> dict[str, Any]:
    """`asked` questions, `streams` at a time; seconds to the first text of each, and for all together."""
    place = asyncio.Semaphore(streams)

    async def one(number: int) -> float:
        async with place:
            return await caller(client, str(base + number))

    started = time.perf_counter()
    times = await asyncio.gather(*(one(number) for number in range(asked)))
    wall = time.perf_counter() - started
    return {"first": times, "wall": wall}


@dataclass
class Side:
    """What one way to the engine gave at one number of streams; lists have an entry a round."""

    first: list[float] = field(default_factory=list)
    """Median time to the first text, milliseconds."""
    speed: list[float] = field(default_factory=list)
    """Tokens a second, by the engine's own count."""
    tokens: float = 0.0
    work: dict[str, float] = field(default_factory=dict)
    """Seconds of processor time by process, of all rounds."""

    def per_token(self) -> dict[str, float]:
        """Milliseconds of processor time a token, by process."""
        return {name: round(1000 * seconds / self.tokens, 3) for name, seconds in self.work.items()}


def spread(values: list[float], digits: int) -> dict[str, float]:
    """What is in the middle, and how far apart the rounds are."""
    return {
        "median": round(statistics.median(values), digits),
        "low": round(min(values), digits),
        "high": round(max(values), digits),
    }


def line(streams: int, asked: int, direct: Side, through: Side) -> dict[str, Any]:
    """A level's figures. Rounds are compared in pairs: what slows the machine for a while slows both of a pair.

    `all_rounds_agree` on which side of the aim they are; where they do not, the median says little.
    """
    ratios = [mine / theirs for mine, theirs in zip(through.speed, direct.speed, strict=True)]
    added = [mine - theirs for mine, theirs in zip(through.first, direct.first, strict=True)]
    cost, alone = through.per_token(), direct.per_token()["engine"]
    return {
        "streams": streams,
        "rounds": len(ratios),
        "asked_each_way": asked,
        "tokens_each_way": [round(direct.tokens), round(through.tokens)],
        "throughput_ratio": spread(ratios, 3),
        "added_p50_ms": spread(added, 1),
        "first_token_direct_p50_ms": spread(direct.first, 1),
        "all_rounds_agree": {
            "throughput": len({ratio >= LEAST_RATIO for ratio in ratios}) == 1,
            "first_token": len({ms <= MOST_ADDED_MS for ms in added}) == 1,
        },
        "cpu_ms_per_token": {**cost, "engine asked directly": alone},
        # What an engine on the same cores has left for itself, whatever the clock says.
        "ratio_by_processor_time": round(alone / (alone + cost["generator"] + cost["gateway"]), 3),
    }


async def compare(engine: str, gateway: str, prompt: dict[str, Any], given: argparse.Namespace) -> None:
    """Print one line for each number of streams; every round goes through all of them, each way in turn."""
    ways = {"direct": direct(engine, prompt), "through": through(gateway)}
    levels = [int(part) for part in given.streams.split(",")]
    sides = {streams: {name: Side() for name in ways} for streams in levels}
    async with httpx2.AsyncClient(timeout=600, trust_env=False) as client:
        for caller in ways.values():
            await round_of(caller, client, 2, 2, 90_000)
        base = 1
        for number, streams in ((n, level) for n in range(given.rounds) for level in levels):
            for name in list(ways)[:: 1 if number % 2 else -1]:
                side = sides[streams][name]
                before, worked = await generated(engine, client), {who: busy(pid) for who, pid in given.pids.items()}
                got = await round_of(ways[name], client, streams, given.asked * streams, base)
                tokens = await generated(engine, client) - before
                side.first.append(1000 * statistics.median(got["first"]))
                side.speed.append(tokens / got["wall"])
                side.tokens += tokens
                for who, pid in given.pids.items():
                    side.work[who] = side.work.get(who, 0.0) + busy(pid) - worked[who]
                base += given.asked * streams
    for streams, both in sides.items():
        print(json.dumps(line(streams, given.rounds * given.asked * streams, **both)), flush=True)


def main() -> None:
    """Start engine, mocks, generator and gateway; record one prompt; compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", default="1,4,16")
    parser.add_argument("--asked", type=int, default=3, help="questions per stream and round")
    parser.add_argument("--rounds", type=int, default=6, help="of each way at each number of streams, in turn")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quelea-engine-")))
        log, port_file = folder / "log", folder / "mocks.json"
        engine = Engine(folder / "engine.log", MODEL)
        engine.start()
        stack.callback(engine.kill)
        mocks = [sys.executable, str(HERE / "mocks.py"), str(port_file), "0", "0", "0", "1"]
        stack.enter_context(process(mocks, log))
        at = f"127.0.0.1:{until(lambda: json.loads(port_file.read_text())['port'], 'mocks.py', log)}"
        engine.until_ready()

        assert engine.process is not None  # it runs
        given.pids = {"engine": engine.process.pid}

        def product(endpoint: int, inside: contextlib.ExitStack) -> str:
            port, http = free_port(), free_port()
            reader = {"LISTEN": f"127.0.0.1:{port}", "ENDPOINT": f"http://127.0.0.1:{endpoint}/v1", "MODEL": MODEL}
            reader |= {"EVIDENCE_TOKENS": "700", "MAX_TOKENS": str(TOKENS), "MAX_IN_FLIGHT_PER_ENGINE": "16"}
            reader["LOG_LEVEL"] = "warning"
            named = {f"QUELEA_GENERATOR_{name}": value for name, value in reader.items()}
            generator = inside.enter_context(process([sys.executable, "-m", "quelea_generator"], log, **named))
            door = {"RETRIEVER": at, "SEARCH": at, "GENERATOR": f"127.0.0.1:{port}", "AUTH": "off"}
            door |= {"HTTP_LISTEN": f"127.0.0.1:{http}", "LOG_LEVEL": "warning"}
            named = {f"QUELEA_GATEWAY_{name}": value for name, value in door.items()}
            front = inside.enter_context(process([sys.executable, "-m", "quelea_gateway"], log, **named))
            given.pids |= {"generator": generator.pid, "gateway": front.pid}
            until(lambda: get(f"http://127.0.0.1:{http}/readyz"), "generator and gateway", log)
            return f"http://127.0.0.1:{http}"

        async def record() -> dict[str, Any]:
            seen = bytearray()
            async with recording(engine.port, seen) as port:
                with contextlib.ExitStack() as inside:
                    url = await asyncio.to_thread(product, port, inside)
                    async with httpx2.AsyncClient(timeout=300, trust_env=False) as client:
                        await through(url)(client, "0")
                    prompt = sent_prompt(bytes(seen))
                    await asyncio.to_thread(inside.close)
            return prompt

        prompt = asyncio.run(record())
        url = product(engine.port, stack)
        asyncio.run(compare(engine.url, url, prompt, given))


if __name__ == "__main__":
    main()
