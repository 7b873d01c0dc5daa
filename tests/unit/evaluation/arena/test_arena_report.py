"""The page of an arena opens offline, and hides no failure."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from quelea_evaluation.arena.arena_folder import Arena, judgement_id, open_run
from quelea_evaluation.arena.commands import app
from quelea_evaluation.arena.items import read_bench
from quelea_evaluation.arena.pictures import draw_radar, label
from typer.testing import CliRunner

BENCH = read_bench()
UCFE = Path(__file__).parents[3] / "eval" / "ucfe"
NOTHING = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "uncounted_calls": 0}


class Page(HTMLParser):
    """Addresses that a page fetches, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href") or tag in ("script", "link")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """Alpha won twice, and one judgement failed; one dialogue of beta failed."""
    place = Arena(tmp_path)
    items = [next(i for i in BENCH.items if i.task == task) for task in BENCH.tasks[:4]]
    for name in ("alpha", "beta"):
        with open_run(place.system_folder(name), "arena-dialogues", {}, {"bench": BENCH.sha256}, resume=False) as run:
            rows = run.rows("dialogues")
            for item in items:
                failed = name == "beta" and item is items[3]
                usage = {**NOTHING, "calls": 2, "prompt_tokens": 1000, "total_tokens": 1000}
                rows.append(
                    {
                        "id": str(item.id),
                        "item": item.id,
                        "task": item.task,
                        "rounds": 1,
                        "milliseconds": 5.0,
                        "status": "failed" if failed else "complete",
                        "ended_by": "failure" if failed else "user",
                        "turns": [{"role": "assistant", "content": f"<b>{name}</b> says"}],
                        "usage": {"user": NOTHING, "system": usage},
                    }
                )
    with open_run(place.judge_folder("j"), "arena-judgements", {}, {"bench": BENCH.sha256}, resume=False) as run:
        rows = run.rows("judgements")
        for item, status, score in zip(
            items, ("judged", "judged", "failed", "missing"), (1.0, 0.5, None, None), strict=True
        ):
            verdict = {
                "order": ["alpha", "beta"],
                "verdict": 1,
                "winner": "alpha",
                "error": None,
                "text": "<i>so</i> [[1]]",
            }
            rows.append(
                {
                    "id": judgement_id(item.id, "alpha", "beta"),
                    "item": item.id,
                    "task": item.task,
                    "first": "alpha",
                    "second": "beta",
                    "status": status,
                    "score": score,
                    "usage": NOTHING,
                    "error": None if score is not None else "the judge gave no verdict",
                    "disagreed": score == 0.5,
                    "verdicts": [verdict] if status == "judged" else [],
                }
            )
    return place


def test_a_page_of_a_run(arena: Arena) -> None:
    result = CliRunner().invoke(app, ["report", str(arena.path), "--resamples", "20"])
    assert result.exit_code == 0, result.output
    folder = arena.path / "report"
    assert {path.name for path in folder.iterdir()} == {"index.html", "leaderboard.json", "ratings.png", "wins.png"}
    text = (folder / "index.html").read_text()
    page = Page(text)
    assert page.fetched
    assert all(address.startswith("data:image/png;base64,") for address in page.fetched)
    words = " ".join(page.words)
    assert "1 of 4 dialogues of beta failed" in words
    assert "1 of 4 judgements failed" in words
    assert "1 of 4 comparisons lacked a dialogue" in words
    assert "1 of 2 pairs were judged otherwise in the other order" in words
    assert "first better in 100% of its verdicts" in words
    assert "4,000" in words  # tokens of alpha's calls
    assert "<b>alpha</b>" in words  # as text, not as markup
    assert "<i>so" not in text
    rated = json.loads((folder / "leaderboard.json").read_text())
    assert rated["games"] == 2


def test_a_page_of_the_published_record(tmp_path: Path) -> None:
    source = str(UCFE / "record.json.gz")
    assert CliRunner().invoke(app, ["report", source, "--out", str(tmp_path), "--compat", "ucfe"]).exit_code == 0
    assert (tmp_path / "radar.png").read_bytes().startswith(b"\x89PNG")
    words = " ".join(Page((tmp_path / "index.html").read_text()).words)
    for told in ("Tongyi-Finance-14B-Chat", "2 pairs never played", "Stock price prediction", "1157.0"):
        assert told in words


def test_a_radar_needs_three_tasks() -> None:
    table = {"tasks": ["a", "b"], "per_task": {}, "leaderboard": []}
    assert draw_radar(table) is None


def test_tasks_of_any_name_are_drawn() -> None:
    tasks = ["0_股价预测", "贷款", "Credit_Risk"]
    assert [label(task) for task in tasks] == ["Stock price prediction", "贷款", "Credit Risk"]


def test_a_judge_of_prose_alone_is_said_plainly(arena: Arena) -> None:
    with open_run(arena.judge_folder("k"), "arena-judgements", {}, {"bench": BENCH.sha256}, resume=False) as run:
        rows = run.rows("judgements")
        rows.append(
            {
                "id": "1 alpha beta",
                "item": 1,
                "task": "t",
                "first": "alpha",
                "second": "beta",
                "usage": NOTHING,
                "status": "failed",
                "score": None,
                "disagreed": False,
                "verdicts": [],
                "error": "no verdict",
            }
        )
    refused = CliRunner().invoke(app, ["rate", str(arena.path), "--judge", "k"])
    assert refused.exit_code == 2
    assert "nothing to rate: {'failed': 1}, {'no verdict': 1}" in refused.stderr
    several = CliRunner().invoke(app, ["rate", str(arena.path)])
    assert "several judges judged here: j, k; name one with --judge" in several.stderr
