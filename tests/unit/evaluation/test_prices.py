"""Prices of an option, of a file, and costs that are not known."""

from pathlib import Path

import pytest
from quelea_evaluation.endpoints.prices import read_prices
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.runs.spending import spent_on_answers, spent_on_verdicts
from quelea_evaluation.reports.store import RowFile

FILE = 'currency = "USD"\n[models."org/model-7b"]\nread = 0.15\nwritten = 0.60\n'


def test_prices_of_an_option_and_of_a_file(tmp_path: Path) -> None:
    of_all = read_prices("0.5/2")
    assert of_all.cost("any", 1_000_000, 500_000) == pytest.approx(1.5)
    assert of_all.write_cost(1.5) == "1.5000"
    (tmp_path / "prices.toml").write_text(FILE)
    named = read_prices(str(tmp_path / "prices.toml"))
    assert named.write_cost(named.cost("org/model-7b", 2_000_000, 0)) == "0.3000 USD"
    assert named.write_cost(named.cost("another", 2_000_000, 0)) == "not known"
    assert read_prices("").cost("any", 1, 1) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models = 3", "models must have a table for each model"),
        ("[models]", "models must have a table for each model"),
        ("[models.a]\nread = 1", "models.a must have read and written"),
        ("[models.a]\nread = 1\nwritten = -1", "models.a.written must be a price of 0 or more, got -1"),
        ("[models.a]\nread = true\nwritten = 1", "models.a.read must be a price"),
        ("[models.a]\nread = 1\nwritten = inf", "models.a.written must be a price"),
        ("currency = 1\n[models.a]\nread = 1\nwritten = 1", "currency must be a text"),
        ("price = 1\n[models.a]\nread = 1\nwritten = 1", "unknown field 'price'"),
        ("models = [", "cannot be read as TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(BadInput, match=said):
        read_prices(str(tmp_path / "prices.toml"))


@pytest.mark.parametrize("text", ["1", "1/2/3", "a/b", "nan/1", "-1/1"])
def test_what_is_wrong_in_an_option_is_named(text: str) -> None:
    with pytest.raises(BadInput, match="--prices must be"):
        read_prices(text)


def test_a_cost_is_not_known_where_tokens_are_not_counted(tmp_path: Path) -> None:
    answers, verdicts = RowFile(tmp_path / "answers.jsonl"), RowFile(tmp_path / "verdicts.jsonl")
    counted = {"text": "7", "prompt_tokens": 10, "completion_tokens": 5}
    answers.append({"id": "a", "turns": [counted, counted]})
    answers.append({"id": "b", "turns": [], "error": "refused"})
    prices = read_prices("1/2")
    spent = spent_on_answers(answers, {"system": "m closed book", "model": "m"}, prices)
    assert (spent["prompt_tokens"], spent["completion_tokens"], spent["uncounted"]) == (20, 10, 0)
    assert spent["cost"] == pytest.approx(40e-6)
    assert set(spent_on_answers(answers, {"system": "quelea"}, prices).values()) == {None}
    verdicts.append({"id": "v", **counted})
    verdicts.append({"id": "w", "prompt_tokens": 0, "completion_tokens": 0})
    assert spent_on_verdicts(verdicts, "m", prices)["cost"] == pytest.approx(20e-6)
    verdicts.append({"id": "x", **counted, "prompt_tokens": 0, "completion_tokens": 0})
    spent = spent_on_verdicts(verdicts, "m", prices)
    assert (spent["uncounted"], spent["cost"]) == (1, None)
