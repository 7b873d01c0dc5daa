"""People vote blind; how far they agree, with one another and with the judge."""

import json
import random
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from quelea_evaluation.arena.arena_folder import Arena, dialogue_id, open_run
from quelea_evaluation.arena.bradley_terry import Game
from quelea_evaluation.arena.commands import app
from quelea_evaluation.arena.items import read_bench
from quelea_evaluation.arena.people import Vote, compare_records, compare_with_people, describe_raters
from quelea_evaluation.arena.record import build_record, read_record
from quelea_evaluation.arena.vote_page import VoteServer, write_page
from quelea_evaluation.arena.votes import Ballot, VoteBox, make_ballot, read_all_votes, read_ballot, shown_questions
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.judging.agreement import krippendorff_alpha, rank, spearman
from typer.testing import CliRunner

BENCH = read_bench()
UCFE = Path(__file__).parents[3] / "eval" / "ucfe"


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """Two systems that talked about the first five items, one of which failed for beta."""
    place = Arena(tmp_path)
    for name in ("alpha", "beta"):
        folder = place.system_folder(name)
        with open_run(folder, "arena-dialogues", {}, {"bench": BENCH.sha256}, resume=False) as run:
            rows = run.rows("dialogues")
            for item in BENCH.items[:5]:
                failed = name == "beta" and item.id == BENCH.items[4].id
                turns = [
                    {"role": "user", "content": "Hm?"},
                    {"role": "assistant", "content": f"</script>{name[0] * 3}"},
                ]
                status = "failed" if failed else "complete"
                rows.append({"id": dialogue_id(item.id), "item": item.id, "status": status, "turns": turns})
    return place


def test_alpha_of_krippendorffs_own_example() -> None:
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[float(row[n]) for row in table if row[n] is not None] for n in range(12)]  # type: ignore[arg-type]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(units, ordinal=True) == pytest.approx(0.815, abs=5e-4)


def test_alpha_at_its_ends() -> None:
    assert krippendorff_alpha([[1, 1], [0, 0], [0.5, 0.5]]) == 1
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[1], [0]]) is None
    opposed = krippendorff_alpha([[1, 0], [0, 1]])
    assert opposed is not None
    assert opposed < 0


def test_ranks_share_their_places() -> None:
    assert list(rank(np.array([3.0, 1.0, 3.0, 2.0]))) == [3.5, 1, 3.5, 2]
    assert spearman(np.array([1.0, 2, 3]), np.array([1.0, 8, 27])) == pytest.approx(1)
    assert spearman(np.array([1.0, 2, 3]), np.array([5.0, 5, 5])) is None


def games_and_votes(agreeing: float, seed: int = 1) -> tuple[list[Game], list[Vote]]:
    """Three systems, c best; people say what the judge says, or by chance."""
    rng = random.Random(seed)
    games, votes = [], []
    for number in range(120):
        for first, second, chance in (("a", "b", 0.4), ("a", "c", 0.2), ("b", "c", 0.3)):
            score = float(rng.random() < chance)
            games.append(Game(f"{number}", "t", first, second, score))
            said = score if rng.random() < agreeing else float(rng.random() < 0.5)
            votes.append(Vote("ann", f"{number}", "t", first, second, said))
    return games, votes


def test_a_judge_that_says_what_people_say() -> None:
    compared = compare_with_people(*games_and_votes(1.0))
    for measure in ("pearson", "spearman", "same"):
        assert compared["verdicts"][measure]["value"] == pytest.approx(1)
    assert compared["systems"]["pearson"]["value"] == pytest.approx(1)


def test_a_judge_that_guesses() -> None:
    compared = compare_with_people(*games_and_votes(0.0))
    verdicts = compared["verdicts"]
    assert verdicts["pearson"]["low"] < 0 < verdicts["pearson"]["high"]
    assert verdicts["same"]["value"] == pytest.approx(0.5, abs=0.08)


def test_agreement_in_between_is_inside_its_interval() -> None:
    pearson = compare_with_people(*games_and_votes(0.6))["verdicts"]["pearson"]
    assert pearson["low"] < 0.6 < pearson["high"]
    assert 0.05 < pearson["high"] - pearson["low"] < 0.4


def test_two_systems_have_no_correlation_of_ratings() -> None:
    games, votes = games_and_votes(1.0)
    compared = compare_with_people([g for g in games if g.second == "b"], votes)
    assert compared["units"] == 120
    assert "systems" not in compared


def test_two_records(tmp_path: Path) -> None:
    record = read_record(UCFE / "record.json.gz")
    compared = compare_records(record, record)
    assert compared["pearson"]["value"] == pytest.approx(1)
    assert 0.9 < compared["pearson"]["low"] < compared["pearson"]["high"] <= 1
    with pytest.raises(BadInput, match="needs 3 models in both records, there are 0"):
        compare_records(record, build_record([("t", "x", "y", 1.0)]))


def test_a_ballot_is_blind_and_belongs_to_its_arena(arena: Arena) -> None:
    ballot = make_ballot(arena, BENCH, most=0, seed=3)
    assert sorted(q.item for q in ballot.questions) == sorted(i.id for i in BENCH.items[:4])
    assert {q.left for q in ballot.questions} == {"alpha", "beta"}
    assert make_ballot(arena, BENCH, most=0, seed=3).questions == ballot.questions
    assert read_ballot(arena, ballot.id) == ballot
    page = write_page(ballot, shown_questions(arena, BENCH, ballot), send=False)
    assert "alpha" not in page.replace("--alpha", "")
    assert "beta" not in page
    held = re.search(r'<script id="ballot" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert held
    questions = json.loads(held[1])["questions"]
    assert {q["left"][1]["text"] for q in questions} == {"</script>aaa", "</script>bbb"}
    assert "http" not in page.replace("http-equiv", "").replace(held[1], "")  # nothing is fetched
    with pytest.raises(BadInput, match="no ballot '0123' was made"):
        read_ballot(arena, "0123")
    with pytest.raises(BadInput, match="no ballot"):
        read_ballot(arena, "../../manifest")


def vote_for(ballot: Ballot, number: int, system: str, rater: str) -> dict[str, Any]:
    question = ballot.questions[number - 1]
    choice = {question.left: "left", question.right: "right"}.get(system, "equal")
    return {"ballot": ballot.id, "number": number, "choice": choice, "rater": rater}


def test_votes_become_comparisons_and_the_last_one_counts(arena: Arena) -> None:
    ballot = make_ballot(arena, BENCH, most=0, seed=3)
    with VoteBox(arena) as box:
        for number in range(1, 5):
            box.add(vote_for(ballot, number, "alpha", "Ann"))
            box.add(vote_for(ballot, number, "alpha" if number < 4 else "", " Bo "))
        box.add(vote_for(ballot, 1, "beta", "Ann"))
    votes = read_all_votes(arena)
    assert len(votes) == 8
    assert sorted(vote.score for vote in votes if vote.rater == "Ann") == [0, 1, 1, 1]
    assert sorted(vote.score for vote in votes if vote.rater == "Bo") == [0.5, 1, 1, 1]
    described = describe_raters(votes)
    assert described["raters"] == {"Ann": 4, "Bo": 4}
    assert described["units_with_several_raters"] == 4
    assert described["alpha_nominal"]["value"] == pytest.approx(
        krippendorff_alpha([[0, 1], [1, 1], [1, 1], [1, 0.5]]), abs=1e-9
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rater": ""}, "field 'rater'"),
        ({"rater": "a\nb"}, "field 'rater'"),
        ({"rater": "x" * 61}, "field 'rater'"),
        ({"choice": "both"}, "field 'choice' must be one of left, right, equal, got 'both'"),
        ({"number": 0}, "field 'number' must be one of 1 to 4, got 0"),
        ({"number": True}, "field 'number'"),
        ({"ballot": "ff"}, "no ballot 'ff'"),
        ({"ballot": None}, "field 'ballot'"),
    ],
)
def test_a_file_of_votes_is_stored_whole_or_not_at_all(
    arena: Arena, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    ballot = make_ballot(arena, BENCH, most=0, seed=3)
    good = vote_for(ballot, 1, "beta", "Ann")
    path = tmp_path / "votes.jsonl"
    path.write_text(json.dumps(good) + "\n\n" + json.dumps({**good, **change}) + "\n")
    result = CliRunner().invoke(app, ["vote", str(arena.path), "--add", str(path)])
    assert result.exit_code == 2
    assert f"line 3: {message}" in result.stderr
    assert read_all_votes(arena) == []
    path.write_text(json.dumps(good) + "\n")
    assert CliRunner().invoke(app, ["vote", str(arena.path), "--add", str(path)]).output == "1 votes stored\n"
    assert [vote.score for vote in read_all_votes(arena)] == [0.0]


def test_votes_of_the_gateways_page_are_stored_by_item_and_systems(arena: Arena, tmp_path: Path) -> None:
    vote = {
        "item_id": f"{BENCH.items[0].id}:beta:alpha",
        "rater": "Ann",
        "task": "t",
        "first": "beta",
        "second": "alpha",
    }
    path = tmp_path / "votes.jsonl"

    def add(change: dict[str, Any]) -> Any:
        path.write_text(json.dumps({**vote, "score": 1.0, "at": "", **change}) + "\n")
        return CliRunner().invoke(app, ["vote", str(arena.path), "--add", str(path)])

    for change, message in (
        ({"score": 2}, "field 'score' must be 0, 0.5 or 1, got 2"),
        ({"first": "gamma"}, "this arena has no system 'gamma'; there are alpha, beta"),
        ({"item_id": "999999:beta:alpha"}, "no dialogue on item '999999'"),
        ({"rater": " "}, "field 'rater'"),
    ):
        assert message in add(change).stderr
    assert read_all_votes(arena) == []
    assert add({}).exit_code == 0
    (stored,) = read_all_votes(arena)
    assert (stored.first, stored.second, stored.score) == ("alpha", "beta", 0.0)  # names in the alphabet's order


def test_the_command_writes_one_page(arena: Arena, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["vote", str(arena.path), "--page", str(page), "--most", "2"])
    assert result.exit_code == 0
    assert result.output.startswith("2 comparisons in ")
    assert '"send": false' in page.read_text()


def test_agreement_of_a_folder(arena: Arena) -> None:
    runner = CliRunner()
    assert "has no votes" in runner.invoke(app, ["agree", str(arena.path)]).stderr
    ballot = make_ballot(arena, BENCH, most=0, seed=3)
    with VoteBox(arena) as box:
        for number in range(1, 5):
            for rater in ("Ann", "Bo"):
                box.add(vote_for(ballot, number, "alpha" if number % 2 else "beta", rater))
    shown = runner.invoke(app, ["agree", str(arena.path)]).output
    assert "8 votes of 2 raters on 4 comparisons" in shown
    assert "Krippendorff's alpha, nominal: 1.000" in shown


@pytest.fixture
def server(arena: Arena) -> Iterator[tuple[VoteServer, Ballot]]:
    ballot = make_ballot(arena, BENCH, most=0, seed=3)
    page = write_page(ballot, shown_questions(arena, BENCH, ballot), send=True)
    with VoteBox(arena) as box, VoteServer(page, box) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield serving, ballot
        serving.shutdown()
        thread.join()


def ask(url: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    with httpx2.Client(trust_env=False, timeout=60) as client:
        answer = client.request("GET" if body is None else "POST", url, content=body, headers=sent)
    return answer.status_code, answer.content


def test_the_page_is_served_and_votes_are_stored(server: tuple[VoteServer, Ballot], arena: Arena) -> None:
    serving, ballot = server
    json_type = {"content_type": "application/json"}
    status, page = ask(serving.url)
    assert status == 200
    assert b'"send": true' in page
    vote = json.dumps(vote_for(ballot, 2, "beta", "Ann")).encode()
    assert ask(serving.url + "votes", vote, **json_type)[0] == 201
    assert [v.score for v in read_all_votes(arena)] == [0.0]
    status, answer = ask(serving.url + "votes", b'{"rater": "Ann"}', **json_type)
    assert status == 400
    assert "field 'choice'" in json.loads(answer)["error"]["message"]
    assert ask(serving.url + "votes", b"no JSON", **json_type)[0] == 400
    assert ask(serving.url + "votes", b" " * 5000, **json_type)[0] == 413
    assert ask(serving.url + "votes", vote, content_type="text/plain")[0] == 403
    assert ask(serving.url + "votes", vote, origin="http://evil.example", **json_type)[0] == 403
    assert ask(serving.url, host="evil.example")[0] == 403
    assert ask(serving.url + "other")[0] == 404
    assert len(read_all_votes(arena)) == 1
