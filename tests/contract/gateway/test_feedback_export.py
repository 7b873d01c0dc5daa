"""Thumbs of a real gateway become an evaluation set."""

import json

import httpx2
from quelea_evaluation.cli import app
from quelea_evaluation.endpoints import client as endpoint
from quelea_evaluation.feedback.export import Exported, export, fetch
from quelea_evaluation.omni.questions.model import read_questions
from quelea_gateway.testing import standing
from typer.testing import CliRunner

THUMBS = [
    ("What were net sales?", "81,797", "down", "of another year"),
    ("What were net sales?", "81,797", "up", "I looked again"),  # replaces the one before
    ("What were net sales?", "81.8 billion", "up", ""),
    ("净利润是多少？", "十亿", "up", ""),
    ("Who is CEO?", "Nobody", "down", "made up"),
]


async def test_what_was_found_right_is_a_reference_and_what_was_wrong_needs_one(tmp_path):
    async with (
        standing() as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        for question, answer, thumb, why in THUMBS:
            body = {"question": question, "answer": answer, "thumb": thumb, "why": why}
            assert (await client.post("/v1/feedback", json=body)).status_code == 201
        done = export(await fetch(stand.url), tmp_path / "set")
        again = export(await fetch(stand.url), tmp_path / "again")
    assert done == again == Exported(questions=2, to_review=1, replaced=1)
    questions = {one.turns[0].question: one for one in read_questions(tmp_path / "set" / "questions.jsonl")}
    assert {q: one.turns[0].answers for q, one in questions.items()} == {
        "What were net sales?": ("81,797", "81.8 billion"),
        "净利润是多少？": ("十亿",),
    }
    assert questions["净利润是多少？"].language == "zh"
    assert questions["What were net sales?"].source["feedback"][0]["why"] == "I looked again"
    review = [json.loads(line) for line in (tmp_path / "set" / "to_review.jsonl").read_text().splitlines()]
    assert [(one["question"], one["wrong_answer"], one["why"]) for one in review] == [
        ("Who is CEO?", "Nobody", "made up")
    ]
    assert (tmp_path / "set" / "questions.jsonl").read_bytes() == (tmp_path / "again" / "questions.jsonl").read_bytes()


def test_a_gateway_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.0)
    refused = CliRunner().invoke(app, ["feedback", "export", str(tmp_path), "--url", "http://127.0.0.1:9"])
    assert refused.exit_code == 2
    assert "http://127.0.0.1:9/v1/feedback?page_size=500: ConnectError" in refused.stderr


def test_an_address_that_is_none(tmp_path):
    refused = CliRunner().invoke(app, ["feedback", "export", str(tmp_path), "--url", "gateway"])
    assert refused.exit_code == 2
    assert "gateway is no address" in refused.stderr
