"""The questions over the sample web, how a round is counted, what is streamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.sets.model import EvaluationSet, Question
from quelea_evaluation.web.asking import Round, percentile, strip_spaces, unfinished_jobs, web_questions
from quelea_evaluation.web.commands import markdown
from quelea_evaluation.web.longitudinal import stream

SAMPLES = Path(__file__).parents[3] / "samples" / "web"


def test_every_question_has_a_page_that_holds_its_answer() -> None:
    questions = web_questions()
    assert len(questions) == len({q.page for q in questions}) == 20
    for question in questions:
        path = SAMPLES / question.page
        assert path.is_file()
        assert question.question != question.paraphrase
        if path.suffix == ".json":
            assert strip_spaces(question.holds) in strip_spaces(json.loads(path.read_text(encoding="utf-8"))["text"])


def answer(route: str = "local+web", quote: str = "sales of\n81,797", total: float = 1000.0) -> dict[str, Any]:
    return {
        "route": route,
        "citations": [{"quote": quote}],
        "timings": {"total": total, "retrieve": 100.0, "web": 600.0 if route != "local" else 0.0},
        "web": None if route == "local" else {"pages_read": 5, "problems": ["x"]},
    }


def test_a_round_is_counted() -> None:
    one = Round("r")
    one.add(answer(), "Sales of 81,797")
    one.add(answer("local", "nothing", 200.0), "Sales of 81,797")
    found = one.summary()
    assert (found["questions"], found["answered locally"], found["the page's words in a quote"]) == (2, 0.5, 0.5)
    assert (found["p50 ms"], found["p95 ms"], found["problems"]) == (200.0, 1000.0, {"x": 1})
    assert found["stages"]["web"] == {"p50 ms": 0.0, "share": 0.5}
    assert "rank" not in found["stages"]


@pytest.mark.parametrize(("share", "value"), [(0.5, 10), (0.95, 19), (0.0, 1), (1.0, 20)])
def test_percentiles_are_values_that_are_there(share: float, value: int) -> None:
    assert percentile([float(n) for n in range(20, 0, -1)], share) == value


def test_what_has_not_ended() -> None:
    states = ("queued", "running", "succeeded", "failed")
    assert [job["state"] for job in unfinished_jobs([{"state": state} for state in states])] == ["queued", "running"]


def test_the_stream_mixes_the_pages_questions_with_others() -> None:
    other = EvaluationSet("x", (), tuple(Question(str(n), f"Other {n}?", "k", frozenset({"d"})) for n in range(500)))
    texts = stream([other], 300)
    own = {text for q in web_questions() for text in (q.question, q.paraphrase)}
    assert len(texts) == len(set(texts)) == 300
    assert own < set(texts)
    assert 0 < sum(text in own for text in texts[:30]) < 30
    assert stream([], 300) == [text for q in web_questions() for text in (q.question, q.paraphrase)]
    assert len(stream([other], 10)) == 10


def test_tables_are_markdown() -> None:
    first, again = Round("first"), Round("again")
    first.add(answer(total=3000.0), "81,797")
    again.add(answer("local", total=100.0), "81,797")
    values = {"questions": 2.0, "hit@5": 0.5, "MRR@10": 0.25}
    row = {"variant": "v", "group": "all", "right": "document", "values": values}
    text = markdown(
        {
            "rounds": [first.summary(), again.summary()],
            "preselection": {"questions": 20, "hit_all": 0.9, "rank_ms_all": 1234.5},
            "longitudinal": [
                {
                    "quarantine": True,
                    "questions": 300,
                    "web": 7,
                    "documents_before": 20,
                    "documents_after": 22,
                    "states": {"kept": 2},
                    "before": [row],
                    "after": [row],
                }
            ],
        }
    )
    assert "30.0 : 1" in text
    assert "1 × x" in text
    assert "| hit_all | 0.900 |" in text
    assert "| rank_ms_all | 1234 |" in text
    assert "documents 20 → 22" in text
    assert "| all | document | 2 | 0.500 | 0.500 | 0.250 | 0.250 |" in text
