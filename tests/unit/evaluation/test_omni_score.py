"""`quelea eval omni score`: OmniEval's golden figures to the last bit, and the paper's definitions beside them."""

import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import AP, RR
from quelea_evaluation.cli import app
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.metrics.answers import em_max, f1_token, rouge
from quelea_evaluation.metrics.retrieved import map_relevant, map_retrieved, reciprocal_rank
from quelea_evaluation.omni.scoring.cases import read_cases
from typer.testing import CliRunner

GOLDEN = Path(__file__).parents[2] / "eval" / "omnieval" / "rule_metric_golden.json"
NAMES = ("em", "f1", "rouge1", "rouge2", "rougeL")


def run(*arguments: str) -> Any:
    result = CliRunner().invoke(app, ["omni", "score", *arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def write(path: Path, document: object) -> str:
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return str(path)


def test_golden_cases_are_met_exactly() -> None:
    wanted = json.loads(GOLDEN.read_text("utf-8"))["cases"]
    result = run("--compat", "omnieval", "--cases", str(GOLDEN), "--json")
    assert result["n"] == len(wanted) == 62
    assert [{n: one[n] for n in ("name", *NAMES)} for one in result["cases"]] == [
        {n: one[n] for n in ("name", *NAMES)} for one in wanted
    ]
    assert result["expected"] == {"compared": 310, "different": []}


def test_a_list_and_lines_are_read_as_well(tmp_path: Path) -> None:
    cases = json.loads(GOLDEN.read_text("utf-8"))["cases"][:3]
    lines = tmp_path / "cases.jsonl"
    lines.write_text("\n".join(json.dumps(one) for one in cases) + "\n", "utf-8")
    listed = run("--compat", "omnieval", "--cases", write(tmp_path / "list.json", cases), "--json")
    assert run("--compat", "omnieval", "--cases", str(lines), "--json") == listed
    assert [one["name"] for one in listed["cases"]] == [one["name"] for one in cases]


def test_the_paper_and_its_code_stand_side_by_side(tmp_path: Path) -> None:
    case = {"pred": "净利润", "golds": ["净利润", "利润"], "retrieved": ["a", "x"], "relevant": ["a", "b"]}
    file = write(tmp_path / "one.json", [case])
    paper, code = run("--cases", file, "--json"), run("--compat", "omnieval", "--cases", file, "--json")
    assert (paper["mean"]["em"], paper["mean"]["map"], paper["mean"]["mrr"]) == (1.0, 0.5, 1.0)
    assert (code["mean"]["em"], code["mean"]["map"], code["mean"]["mrr"]) == (0.5, 1.0, 1.0)
    assert paper["mean"]["measures"] == code["mean"]["measures"]
    assert (paper["definitions"]["map"], code["definitions"]["map"]) == ("map_relevant", "map_retrieved")


def test_omnieval_own_prediction_rows(tmp_path: Path) -> None:
    output = {"pred": "是", "retrieval_result": [{"id": 7, "contents": "…"}, {"id": 3, "contents": "…"}]}
    row = {"id": "q", "question": "?", "golden_answers": ["是"], "output": output, "relevant_node": 3}
    (case,) = run("--compat", "omnieval", "--cases", write(tmp_path / "rows.json", [row]), "--json")["cases"]
    assert (case["name"], case["em"], case["map"], case["mrr"]) == ("q", 1.0, 0.5, 0.5)


def test_what_was_not_retrieved_is_not_counted(tmp_path: Path) -> None:
    cases = [{"pred": "a", "golds": ["a"]}, {"pred": "a", "golds": ["a"], "retrieved": [], "relevant": ["x"]}]
    result = run("--cases", write(tmp_path / "c.json", {"cases": cases}), "--json")
    assert [one["map"] for one in result["cases"]] == [None, 0.0]
    assert (result["counted"]["map_relevant"], result["counted"]["em_max"]) == (1, 2)
    assert result["mean"]["map"] == 0.0


def test_words_are_counted_and_not_characters() -> None:
    assert f1_token("营业收入增长", ["营业收入下降"]) == pytest.approx(2 / 3)
    assert em_max("The profit.", ["profit", "loss"]) == 1.0


@pytest.mark.parametrize(
    ("answer", "references"), [("", ["是"]), ("是", []), ("是", [""]), (" ", ["是"]), ("是", ["是", " "])]
)
def test_rouge_is_zero_where_the_published_code_stumbles(answer: str, references: list[str]) -> None:
    found = rouge(answer, references)
    assert (found.rouge1, found.rouge2, found.rouge_l) == (0.0, 0.0, 0.0)


def test_an_empty_paragraph_is_one_empty_word() -> None:
    """As rouge-chinese 1.0.3 has it, so that figures stay comparable."""
    found = rouge("利润\n\n增长", ["利润\n\n下降"])
    assert found.rouge1 == pytest.approx(2 / 3)
    assert found.rouge2 == pytest.approx(0.5)
    assert found.rouge_l == pytest.approx(2 / 3)


def test_ir_measures_says_the_same() -> None:
    retrieved, relevant = ["x", "a", "y", "b", "z"], ["a", "b", "c"]
    qrels = [ir_measures.Qrel("q", one, 1) for one in relevant]
    ranking = [ir_measures.ScoredDoc("q", one, -float(at)) for at, one in enumerate(retrieved)]
    values = ir_measures.calc_aggregate([AP, RR], qrels, ranking)
    assert map_relevant(retrieved, relevant) == pytest.approx(values[AP])
    assert reciprocal_rank(retrieved, relevant) == pytest.approx(values[RR])
    assert map_retrieved(retrieved, relevant) == (1 / 2 + 2 / 4) / 2
    assert map_relevant(["a", "a"], ["a"]) == 1.0
    assert map_retrieved([], relevant) == map_relevant([], relevant) == map_relevant(["a"], []) == 0.0


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([{"golds": ["a"]}], r"cases\[0\]\.pred must be a text, got nothing"),
        ([{"pred": "a", "golds": ["a"]}, {"pred": "a"}], r"cases\[1\]\.golds must be a list of texts, got nothing"),
        ([{"pred": "a", "golds": ["a", 3]}], r"cases\[0\]\.golds\[1\] must be"),
        ([{"pred": "a", "golds": ["a"], "retrieved": [None]}], r"cases\[0\]\.retrieved\[0\] must be an id"),
        ([{"pred": "a", "golds": ["a"], "em": "one"}], r"cases\[0\]\.em must be a number"),
        (["a"], r"cases\[0\] must be an object, got str"),
        ({"cases": {"a": 1}}, "cases must be a list"),
        ([], "holds no cases"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, document: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_cases(Path(write(tmp_path / "bad.json", document)))


def test_broken_files_end_with_a_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"pred": "a", "golds": ["a"]}\n{"pred": \n', "utf-8")
    for path, said in ((broken, "line 2"), (tmp_path / "missing.json", "cannot be read")):
        result = CliRunner().invoke(app, ["omni", "score", "--cases", str(path)])
        assert result.exit_code == 2
        assert said in " ".join(result.stderr.replace("│", " ").split())


def test_check_fails_on_a_value_that_differs(tmp_path: Path) -> None:
    file = write(tmp_path / "c.json", [{"pred": "a", "golds": ["b"], "em": 1.0}])
    result = CliRunner().invoke(app, ["omni", "score", "--cases", file, "--compat", "omnieval", "--check"])
    assert result.exit_code == 1
    assert "1 of 1 values differ" in result.stderr
    assert CliRunner().invoke(app, ["omni", "score", "--cases", file, "--compat", "ucfe"]).exit_code == 2
