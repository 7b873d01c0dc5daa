"""Make the sample reports of docs/evaluation-sample: a small matrix and a small arena, driven by a real model.

    make evaluation-sample                                   # wants `make engine-cpu`; an hour on two idle cores
    .venv/bin/python tests/eval/sample_report.py FOLDER      # the same; FOLDER keeps everything
    .venv/bin/python tests/eval/sample_report.py FOLDER --report-only    # from a finished run, in seconds

A stack of its own (ports 8196 and 8197 must be free) with three filings and the short news items of `samples/`, and
Qwen2.5-Coder-1.5B-Instruct beside it. The model writes the questions (4 cells of up to 5: one topic, as it sorts nearly
every section under the economy), answers them closed book, and judges its own answers and those of Quelea's extractive
reader; then both meet in an arena of 6 items (`sample_bench.json`), in both orders. Broken off, the same command goes
on: every step keeps what it has.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "eval"
SAMPLE = ROOT / "docs" / "evaluation-sample"
MODEL = ROOT / ".cache" / "models" / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
GATEWAY_PORT, ENGINE_PORT = 8196, 8197
"""Always the same: addresses are settings of an arena, which goes on under the same ones only."""
MOST_BYTES = 1600
"""Of a news item: short evidence is read quickly."""
FILINGS = ("2023 Q1 NVDA.pdf", "2023 Q2 AAPL.pdf", "2023 Q3 AAPL.pdf")
TREE = HERE / "sample_topics.toml"
PICTURES = ("accuracy", "map_relevant")
"""Heat maps that the documents show."""


def quelea(*arguments: object, codes: tuple[int, ...] = (0,), env: dict[str, str] | None = None) -> str:
    """The command; its errors and bars go to the terminal."""
    words = [str(ROOT / ".venv" / "bin" / "quelea"), *map(str, arguments)]
    print("+", *words[1:], file=sys.stderr, flush=True)
    done = subprocess.run(words, check=False, stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
    if done.returncode not in codes:
        sys.exit(f"ended with code {done.returncode}; the same command goes on where it stopped")
    return done.stdout


@contextmanager
def stack(home: Path) -> Iterator[str]:
    """A stack with the extractive reader and the sample documents; gives its address."""
    quelea("up", "--home", home, "--port", GATEWAY_PORT, "--detach", "--start-seconds", 600)
    try:
        url = f"http://127.0.0.1:{GATEWAY_PORT}"
        chosen = home / "chosen"
        chosen.mkdir(exist_ok=True)
        for one in [ROOT / "samples" / "filings" / name for name in FILINGS] + short_news():
            shutil.copy(one, chosen)
        quelea("ingest", chosen, "--url", url)
        yield url
    finally:
        quelea("down", "--home", home)


def short_news() -> list[Path]:
    """News items that are read quickly."""
    return [one for one in sorted((ROOT / "samples" / "news").glob("*.json")) if one.stat().st_size < MOST_BYTES]


@contextmanager
def engine() -> Iterator[tuple[str, str]]:
    """The model on llama.cpp; gives its address and key."""
    port, key = ENGINE_PORT, secrets.token_urlsafe(16)
    own = {
        "MODEL": str(MODEL),
        "NAME": MODEL.stem,
        "PORT": str(port),
        "API_KEY": key,
        "MAX_MODEL_LEN": "8192",
    }
    env = {**os.environ, **{f"QUELEA_ENGINE_{name}": value for name, value in own.items()}}
    process = subprocess.Popen(
        [sys.executable, "-m", "quelea_generator.llama_engine"], env=env, stdout=subprocess.DEVNULL
    )
    try:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 600
        while True:
            try:
                if httpx2.get(f"{url}/health", timeout=5).status_code == 200:
                    break
            except httpx2.HTTPError:
                pass
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the model did not start; is it here (`make engine-cpu`)?")
            time.sleep(0.5)
        yield f"{url}/v1", key
    finally:
        process.terminate()
        process.wait(30)


def run(folder: Path) -> None:
    """Everything that asks a model."""
    slow = ("--concurrency", 1, "--seconds", 1800)
    omni = ("eval", "omni")
    with stack(folder / "home") as gateway, engine() as (url, key):
        env = {"QUELEA_EVAL_API_KEY": key}
        model = f"{MODEL.stem}@{url}"
        quelea(
            *(*omni, "generate", "--model-url", url, "--model", MODEL.stem, "--gateway", gateway),
            *("--tree", TREE, "--topic", "economy"),
            *("--task", "extractive", "--task", "multi_hop", "--task", "contrast", "--task", "long_form"),
            *("--per-cell", 5, "--tries", 2, "--sections", 4, "--out", folder / "questions", *slow),
            env=env,
        )
        made = folder / "questions" / "questions.jsonl"
        quelea(*omni, "run", made, "--out", folder / "quelea", "--gateway", gateway, "--concurrency", 1)
        quelea(
            *omni, "run", made, "--out", folder / "closed-book", "--system", url, "--model", MODEL.stem, *slow, env=env
        )
        for name in ("quelea", "closed-book"):
            quelea(*omni, "judge", folder / name, "--judge", model, "--aspects", "ACC,COM,NAC", *slow, env=env)
        quelea(*omni, "judge", folder / "quelea", "--judge", model, *slow, env=env)
        arena = folder / "arena"
        keys = {f"QUELEA_ARENA_{role}_KEY": key for role in ("USER", "SYSTEM", "JUDGE")}
        bench = ("--bench", HERE / "sample_bench.json", "--at-once", 1, "--seconds", 1800, "--resume")
        no_keys = dict.fromkeys(keys, "")
        quelea(
            "eval",
            "arena",
            "talk",
            arena,
            "--system",
            f"quelea@{gateway}",
            "--name",
            "quelea-extractive",
            *bench,
            env=no_keys,
        )
        quelea(
            "eval",
            "arena",
            "talk",
            arena,
            "--system",
            model,
            "--name",
            "closed-book",
            "--max-tokens",
            200,
            *bench,
            env=keys,
        )
        quelea("eval", "arena", "judge", arena, "--judge", model, "--max-tokens", 300, *bench, codes=(0, 1), env=keys)


def report(folder: Path) -> None:
    """From a finished run to docs/evaluation-sample."""
    quelea("eval", "omni", "report", folder / "closed-book", "--tree", TREE)
    quelea("eval", "omni", "report", folder / "quelea", "--against", folder / "closed-book", "--tree", TREE)
    quelea("eval", "arena", "report", folder / "arena")
    for old in SAMPLE.iterdir():
        old.unlink()
    shutil.copy(folder / "questions" / "questions.jsonl", SAMPLE)
    shutil.copy(folder / "quelea" / "report.html", SAMPLE)
    for name in PICTURES:
        shutil.copy(folder / "quelea" / f"{name}.png", SAMPLE)
    shutil.copy(folder / "arena" / "report" / "index.html", SAMPLE / "arena.html")
    shutil.copy(folder / "arena" / "report" / "ratings.png", SAMPLE / "arena.png")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--report-only", action="store_true")
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not given.report_only:
        run(folder)
    report(folder)


if __name__ == "__main__":
    main()
