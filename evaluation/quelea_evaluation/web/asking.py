"""`quelea eval web`: the web route over the sample web, the refresh, and the same questions afterwards."""

from __future__ import annotations

import json
import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from quelea_evaluation.sets.model import EvaluationSet
from quelea_evaluation.stack.running import Stack, copy_of_home, running_stack

_SETTLE_SECONDS = 900.0
_MOST_PROBLEMS = 10
_STEADY = 3
"""So many looks in a row must find nothing to do: a page is told of a moment after its answer."""
FRESH = {"QUELEA_SEARCH_PAGE_FRESH_SECONDS": "0", "QUELEA_SEARCH_PROVIDER_CACHE_SECONDS": "0"}
"""Nothing comes from a cache: every question searches and reads its pages."""
SAMPLE_WEB = ("--sample-web",)
"""How `quelea up` is told to serve the sample web."""
STAGES = ("retrieve", "web", "web_provider", "web_fetch", "web_parse", "web_select", "rank", "generate", "gateway")


@dataclass(frozen=True)
class WebQuestion:
    """A question that one page of the sample web answers, and the same asked in other words."""

    page: str
    language: str
    question: str
    holds: str
    """Stands in the passage that answers."""
    paraphrase: str


@dataclass
class Round:
    """What became of some questions."""

    name: str
    milliseconds: list[float] = field(default_factory=list)
    local: int = 0
    right: int = 0
    pages: list[int] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, answer: dict[str, Any], holds: str) -> None:
        """Count an answer."""
        self.milliseconds.append(float(answer["timings"]["total"]))
        self.local += answer["route"] == "local"
        self.right += any(strip_spaces(holds) in strip_spaces(c["quote"]) for c in answer["citations"])
        web = answer.get("web") or {}
        self.pages.append(int(web.get("pages_read", 0)))
        self.problems += web.get("problems", [])
        for stage in STAGES:
            self.stages.setdefault(stage, []).append(float(answer["timings"].get(stage, 0.0)))

    def summary(self) -> dict[str, Any]:
        """p50 and p95 in milliseconds, shares 0 to 1, and each stage's median and share of the whole."""
        count, whole = len(self.milliseconds), sum(self.milliseconds)
        return {
            "round": self.name,
            "questions": count,
            "p50 ms": percentile(self.milliseconds, 0.5),
            "p95 ms": percentile(self.milliseconds, 0.95),
            "answered locally": self.local / count if count else float("nan"),
            "the page's words in a quote": self.right / count if count else float("nan"),
            "pages read, median": statistics.median(self.pages) if self.pages else 0,
            "stages": {
                name: {"p50 ms": percentile(values, 0.5), "share": sum(values) / whole}
                for name, values in self.stages.items()
                if any(values)
            },
            "problems": dict(Counter(self.problems).most_common(_MOST_PROBLEMS)),
        }


def percentile(values: Sequence[float], share: float) -> float:
    """The value that the share of the values does not exceed; the nearest of those there are."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered) - 1e-9) - 1)] if ordered else float("nan")


def strip_spaces(text: str) -> str:
    """Without white space, which quotes and pages have differently."""
    return "".join(text.split()).lower()


def web_questions() -> list[WebQuestion]:
    """Those that come with this package: 20, in Chinese and English."""
    text = (resources.files(__package__) / "sample_web.json").read_text(encoding="utf-8")
    return [WebQuestion(**row) for row in json.loads(text)]


def evaluate_web(base: EvaluationSet, home: Path, say: Callable[[str], None]) -> list[Round]:
    """Web route, refresh, then the same and paraphrased questions, over a copy of the base's home."""
    folder = home / base.name
    with running_stack(folder) as stack:  # filled once, and kept without pages of the web
        stack.ingest(base.documents, say)
    questions = web_questions()
    rounds = [Round("first time, web route"), Round("again"), Round("in other words")]
    with copy_of_home(folder, "-web") as copy, running_stack(copy, FRESH, SAMPLE_WEB) as stack:
        for question in questions:
            rounds[0].add(stack.ask(question.question, "web"), question.holds)
            settle(stack)  # so that what is indexed in the background does not slow the next question
        say(f"approving {approve_all(stack)} pages that wait in quarantine")
        settle(stack)
        for question in questions:
            rounds[1].add(stack.ask(question.question), question.holds)
            settle(stack)
        for question in questions:
            rounds[2].add(stack.ask(question.paraphrase), question.holds)
            settle(stack)
    return rounds


def approve_all(stack: Stack) -> int:
    """Every page in quarantine enters the knowledge base; how many there were."""
    decided = stack.http.post("/v1/web/pages/approve", json={"states": ["pending"]}).raise_for_status().json()
    return len(decided["pages"])


def settle(stack: Stack) -> None:
    """Wait until no job is queued or running."""
    end, steady = time.monotonic() + _SETTLE_SECONDS, 0
    while steady < _STEADY:
        if time.monotonic() > end:
            raise RuntimeError(f"jobs did not end within {_SETTLE_SECONDS:.0f} s; see {stack.home / 'logs'}")
        jobs = stack.http.get("/v1/jobs", params={"page_size": 1000}).raise_for_status().json()["jobs"]
        steady = 0 if any(unfinished_jobs(jobs)) else steady + 1
        time.sleep(0.2)


def unfinished_jobs(jobs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that have not ended."""
    return [job for job in jobs if job["state"] in ("queued", "running")]
