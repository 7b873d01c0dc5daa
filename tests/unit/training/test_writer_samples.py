"""Samples for a writer: answers in the draft notation, evidence taken away, nothing of what is tested with."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.endpoints.client import Address
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import hash_file, write_json
from quelea_fintext.languages import REFUSALS
from quelea_gateway.core.draft.notation import parse_group
from quelea_kit.errors import Unavailable
from quelea_training.pairs.model import Pair, Pairs, Passage, fingerprint, held_out, write_pairs
from quelea_training.writer import agent_runs, facts, making, proof, weaverbird
from quelea_training.writer.drafts import NotComputed, Said, compute, figures, markers
from quelea_training.writer.generator import Limits, Reply
from quelea_training.writer.model import Sample, Shown, load, read_samples, refuse_held_out, write_samples
from quelea_training.writer.proof import choose, judge
from quelea_training.writer.questions import Answered, Shape, samples_of, write_answer
from unit.training.made import pair, passage

TABLE = passage("t", document="d", text="\t2019\t2018\nNet sales\t81,797\t82,959\nLoss\t(1,221)\t48,218", is_table=True)
PROSE = passage("p", document="d", text="Sales rose by 12% in 2019. The pound was weak. Costs were $3.5 million.")
OTHER = passage("o", document="e", text="Other\t81,797")


def asked(question: str, *answers: str, derivation: str = "", percent: bool = False) -> Answered:
    return Answered(question, "d", answers, derivation, percent)


@pytest.mark.parametrize(
    ("given", "text", "right", "figure"),
    [
        (asked("What was net sales in 2019?", "81,797"), "Net sales in 2019 was {81,797 [2]}.", (2,), "81797"),
        (asked("What was the loss?", "$1,221"), "The loss was {1,221 [2]}.", (2,), "1221"),
        (
            asked("What is the change of net sales?", "-1.4", derivation="(81,797-82,959)/82,959", percent=True),
            "The change of net sales is {(81,797 [2] - 82,959 [2]) / 82,959 [2] = %}.",
            (2,),
            "-1.4",
        ),
        (
            asked("What was the average loss?", "-24719.5", derivation="[-1,221-48,218]/2"),
            "The average loss was {(-1,221 [2] - 48,218 [2]) / 2}.",
            (2,),
            "-24719.5",
        ),
        (asked("净销售额是多少？", "81,797"), "净销售额为{81,797 [2]}。", (2,), "81797"),
        (asked("Why did it fall?", "the pound was weak"), "The pound was weak [3].", (3,), ""),
        (asked("How did sales do?", "Sales rose"), "Sales rose by {12 [3]}% in 2019.", (3,), ""),
    ],
)
def test_an_answer_is_in_the_notation_that_the_gateway_reads(
    given: Answered, text: str, right: tuple[int, ...], figure: str
) -> None:
    written = write_answer(given, [OTHER, TABLE, PROSE], "d")
    assert written is not None
    assert (written.text, written.right, written.figure) == (text, right, figure)
    for group in text.split("{")[1:]:
        assert parse_group(group.partition("}")[0]) is not None


@pytest.mark.parametrize(
    "given",
    [
        asked("What was net sales in 2017?", "77,000"),  # no passage prints it
        asked("What is the change?", "99", derivation="81,797-82,959"),  # the set's figure is another
        asked("What is the change?", "1", derivation="81,797-80,000"),  # an operand is nowhere
        asked("What is it?", "1", derivation="Apples##Pears"),
        asked("Which one?", "81,797"),  # cannot be restated
        asked("Who?", "a b", "c d"),
    ],
)
def test_what_the_evidence_does_not_give_is_no_sample(given: Answered) -> None:
    assert write_answer(given, [OTHER, TABLE, PROSE], "d") is None


def questions() -> tuple[Pairs, Mapping[tuple[str, str], Answered]]:
    passages: dict[str, Passage] = {}
    pairs: list[Pair] = []
    answered = {}
    for split in ("train", "dev", "test"):
        for at in range(6):
            one = passage(f"{split}{at}", document=f"{split}-d{at}", text=f"Sales\t{at + 1},000", source="tatqa")
            passages[one.id] = one
            query = f"What was sales number {at}?"
            pairs.append(pair(query, one, split=split, source="tatqa"))
            answered[one.document, query] = Answered(query, one.document, (f"{at + 1},000",), "", is_percent=False)
    pairs[0] = replace(pairs[0], negatives=("test0", "train3"))
    return Pairs(passages, tuple(pairs)), answered


def test_each_question_comes_with_its_evidence_and_without() -> None:
    pairs, answered = questions()
    made = list(samples_of(answered, pairs, Shape(passages=3, seed=1)))
    assert made == list(samples_of(answered, pairs, Shape(passages=3, seed=1)))
    assert len(made) == 36
    split_of = {one.id: one.id.rstrip("0123456789") for one in pairs.passages.values()}
    for one in made:
        assert {split_of[shown.passage] for shown in one.evidence} == {one.split}
        mine = [shown.passage for shown in one.evidence if pairs.passages[shown.passage].document in one.documents]
        if one.task == "declined":
            assert (one.output, one.right, mine) == (REFUSALS["en"], (), [])
        else:
            assert [one.evidence[at - 1].passage for at in one.right] == mine
            assert f"[{one.right[0]}]" in one.output
    first = next(one for one in made if one.question == pairs.pairs[0].query and one.split == "train")
    assert "train3" in {shown.passage for shown in first.evidence}  # what the product found, of its own split


def made_sample(name: str, **given: Any) -> Sample:
    usual: dict[str, Any] = {
        "id": name, "task": "cited", "messages": ({"role": "user", "content": "q"},), "output": "a [1].",
        "language": "en", "source": "s", "licence": "own", "split": "train", "documents": (f"doc-{name}",),
    }  # fmt: skip
    return Sample(**usual | given)


def test_a_folder_comes_back_as_it_was_written_and_no_other(tmp_path: Path) -> None:
    pairs, answered = questions()
    made = list(samples_of(answered, pairs, Shape()))
    write_samples(tmp_path, made, {})
    found, manifest = read_samples(tmp_path)
    assert found == made
    assert manifest["counts"]["test"] == {"cited": 6, "declined": 6}
    assert "test-d0" in manifest["held_out"]["documents"]
    rows = (tmp_path / "samples.jsonl").read_text()
    (tmp_path / "samples.jsonl").write_text(rows.replace("1,000", "9,000"))
    with pytest.raises(BadInput, match="is not what the manifest says"):
        read_samples(tmp_path)
    with pytest.raises(BadInput, match="no sample is left"):
        write_samples(tmp_path, [], {})


def test_what_is_tested_with_is_refused_by_its_hash(tmp_path: Path) -> None:
    words = fingerprint("These words are held out.")
    write_samples(tmp_path / "mine", [made_sample("a"), made_sample("b", texts=(words,))], {})
    write_samples(tmp_path / "fine", [made_sample("c")], {})
    write_samples(tmp_path / "tested", [made_sample("t", split="test", documents=("doc-a",))], {})
    with pytest.raises(BadInput, match="sample a of train is of document doc-a, which is held out"):
        load([tmp_path / "mine"], [tmp_path / "tested"])
    write_samples(tmp_path / "tested", [made_sample("t", split="test", texts=(words,))], {})
    with pytest.raises(BadInput, match="sample b of train has the words of a passage that is held out"):
        load([tmp_path / "mine"], [tmp_path / "tested"])
    samples, _ = load([tmp_path / "fine"], [tmp_path / "tested"])
    assert sorted((one.id, one.split) for one in samples) == [("c", "train"), ("t", "test")]
    with pytest.raises(BadInput, match="doc-c"):
        refuse_held_out(samples, [{"documents": ["doc-c"], "texts": []}])


def fact(label: str, printed: str, value: str, year: int, start: int, **given: Any) -> dict[str, Any]:
    return {
        "company": "Acme", "label": label, "printed": printed, "value": value, "unit": "USD", "statement": "income",
        "group": "", "period_start": f"{year}-01-01", "period_end": f"{year}-12-31", "document_id": "d", "page": 1,
        "start": start, "end": start + len(printed),
    } | given  # fmt: skip


def test_facts_ask_for_a_figure_and_for_its_change() -> None:
    table = replace(TABLE, start=0, end=len(TABLE.text), company="Acme")
    rows = [
        fact("Net sales", "81,797", "81797000", 2019, table.text.index("81,797")),
        fact("Net sales", "82,959", "82959000", 2018, table.text.index("82,959")),
        fact("Elsewhere", "5", "5", 2018, 5, page=9),
    ]
    pairs, answered = facts.ask_facts(rows, Pairs({table.id: table}, ()), seed=0, dev=0.0, test=0.0)
    texts = {question: write_answer(one, [table], "d") for (_, question), one in answered.items()}
    assert {one.text for one in texts.values() if one} == {
        "Acme's Net sales for the period from 2019-01-01 to 2019-12-31 was {81,797 [1]}.",
        "Acme's Net sales for the period from 2018-01-01 to 2018-12-31 was {82,959 [1]}.",
        "The percentage change of Acme's Net sales from the period from 2018-01-01 to 2018-12-31 to the period from "
        "2019-01-01 to 2019-12-31 was {(81,797 [1] - 82,959 [1]) / 82,959 [1] = %}.",
    }
    assert {one.split for one in pairs.pairs} == {"train"}


def test_facts_of_another_period_or_company_are_declined_and_what_is_missing_is_named() -> None:
    passages: dict[str, Passage] = {}
    rows: list[dict[str, Any]] = []

    def store(document: str, company: str, year: int, printed: str) -> None:
        text = f"\t{year}\nNet sales\t{printed}"
        passages[document] = passage(
            document, document=document, end=len(text), text=text, company=company, is_table=True
        )
        passages[f"{document} note"] = passage(
            f"{document} note", document=document, page=2, text=f"Loans of {year}\t17", company=company
        )
        start = text.index(printed)
        rows.append(
            {
                "document_id": document, "company": company, "label": "Net sales", "statement": "", "group": "",
                "unit": "USD", "printed": printed, "value": printed.replace(",", ""), "page": 1, "start": start,
                "end": start + len(printed), "period_start": f"{year}-01-01", "period_end": f"{year}-12-31",
            }
        )  # fmt: skip

    store("new", "Acme", 2019, "81,797")
    store("old", "Acme", 2017, "70,001")
    store("other", "Bolt", 2019, "5,002")
    pairs, answered = facts.ask_facts(rows, Pairs(passages, ()), seed=0, dev=0.0, test=0.0)
    pairs = replace(pairs, pairs=tuple(replace(one, split="train") for one in pairs.pairs))
    made = [one for one in samples_of(answered, pairs, Shape()) if one.documents == ("new",)]
    whole, partly = "the period from 2019-01-01 to 2019-12-31", "the period from 2017-01-01 to 2017-12-31"
    shown = {(one.task, one.question): {each.passage for each in one.evidence} for one in made}
    one_period, two_periods = (
        f"What was Acme's Net sales for {whole}?", f"What was Acme's Net sales for {whole} and for {partly}?"
    )  # fmt: skip
    # The other period, the other company, and the other line of the right document, all of which nearly answer.
    assert shown["declined", one_period] >= {"old", "other", "new note"}
    assert "new" not in shown["declined", one_period]
    assert {one.output for one in made if one.task == "declined"} == {REFUSALS["en"]}
    (answer,) = (one for one in made if (one.task, one.question) == ("cited", two_periods))
    assert answer.output == (
        f"Acme's Net sales for {whole} was {{81,797 [{answer.right[0]}]}}. "
        f"The information does not give it for {partly}."
    )
    assert "old" not in shown["cited", two_periods]
    assert "other" in shown["cited", two_periods]
    # A page of the right document that prints the other period answers in part, so it is no reason to decline.
    passages["new note"] = replace(passages["new note"], text="Net sales of 2017\t70,001")
    again = samples_of(answered, replace(pairs, passages=passages), Shape())
    declined = [one for one in again if (one.task, one.question) == ("declined", two_periods)]
    assert "new note" not in {each.passage for one in declined for each in one.evidence}


def test_weaverbirds_four_kinds(tmp_path: Path) -> None:
    body = "The exporters sold more than ever before. " * 8
    one = passage("l", document="d", text=body, title="Exports at a peak", company="Acme", source="stored")
    asked_for = Answered("Who sold more?", "d", ("exporters",), "", is_percent=False)
    pairs = Pairs({one.id: one}, (pair(asked_for.question, one, split="test", source="stored"),))
    made = {each.task: each for each in weaverbird.samples_of(pairs, {("d", asked_for.question): asked_for})}
    assert made["generation"].messages[0]["content"] == (
        "Please write an article on Acme with the title “Exports at a peak”."
    )
    assert made["summarisation"].output == "Exports at a peak"
    assert made["close-book"].messages[0]["content"].endswith("\n\nWho sold more?")
    assert made["close-book"].output == "exporters"
    assert {each.split for each in made.values()} == {"test"}
    file = tmp_path / "faq.jsonl"
    file.write_text(json.dumps({"question": "What is EBIT?", "answer": "Earnings before interest and tax."}))
    (open_one,) = weaverbird.open_questions(file, "own", seed=0, dev=0.0, test=0.0)
    assert (open_one.task, open_one.output) == ("open", "Earnings before interest and tax.")
    file.write_text(json.dumps({"question": "What is EBIT?"}))
    with pytest.raises(BadInput, match="question and answer must both have words"):
        list(weaverbird.open_questions(file, "own", seed=0, dev=0.0, test=0.0))


def test_a_question_with_a_document_is_asked_where_the_part_that_is_shown_answers() -> None:
    body = "The exporters sold more than ever before. " * 40 + "The importers bought less."
    one = passage("l", document="d", text=body, source="stored")
    asked_for = Answered("Who bought less?", "d", ("importers",), "", is_percent=False)
    pairs = Pairs({one.id: one}, (pair(asked_for.question, one, source="stored"),))
    made = weaverbird.samples_of(pairs, {("d", asked_for.question): asked_for})
    assert "close-book" not in {each.task for each in made}


def step(run: str, subtask: str, outcome: str, said: str = "Do it.") -> dict[str, Any]:
    messages = [{"role": "user", "content": said}]
    return {
        "run": run,
        "step": 1,
        "subtask": subtask,
        "outcome": outcome,
        "messages": messages,
        "output": f"{subtask}!",
    }


def test_only_runs_that_ended_well_are_learned_from(tmp_path: Path) -> None:
    held = passage("h", text="A passage that is held out, and long enough to be told from all others by its words.")
    quoting = step("good", "action", "ok", f"See: {held.text}")
    rows = [
        step("good", "plan", "ok"), step("good", "action", "repeated"), step("good", "code", "error"),
        step("good", "code", "ok"), step("good", "answer", "grounded"), quoting,
        step("bad", "plan", "ok"), step("bad", "answer", "ungrounded"),
    ]  # fmt: skip
    (tmp_path / "2026-11-27-1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    found, dropped = agent_runs.samples_of(tmp_path, "own", [held], seed=0, dev=0.0, test_share=0.0)
    assert sorted(one.task for one in found) == ["answer", "code", "plan"]
    assert dropped == {
        "steps of runs that did not end well": 2,
        "steps that failed, or were repeated": 2,
        "steps that quote what is tested with": 1,
    }
    with pytest.raises(BadInput, match="has no recordings"):
        agent_runs.samples_of(tmp_path / "none", "own", [], seed=0, dev=0.0, test_share=0.0)


def test_a_draft_comes_to_its_figures() -> None:
    assert compute("(81,797 [1] - 82,959 [1]) / 82,959 [1] = %").quantize(Decimal("0.01")) == Decimal("-1.40")
    assert compute("-(2 [1] + 4) * 3") == -18
    for wrong in ("", "sales [1]", "1 / 0", "2 ** 3", "(1", "__import__('os')", "9" * 400):
        with pytest.raises(NotComputed):
            compute(wrong)
    text = "It rose by {5 [2]} to 1,234.5 [1, 3]."
    assert markers(text) == {1, 2, 3}
    assert figures(text) == [Said(Decimal(5), "", 0), Said(Decimal("1234.5"), "", 1)]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Net sales were $81.8 million [1].", True),
        ("Net sales were {81.8 [1]}.", True),
        ("In 2019 the company did well. Net sales were 81.8 million.", True),  # a year is no statement's figure
        ("Net sales were 81.8 thousand.", False),
        ("Net sales were 81.8%.", False),
        ("Net sales were 81,800 thousand.", True),
        ("Net sales were -81.8 million.", False),
        ("Net sales were (81.8) million.", False),
        ("Net sales fell by 81.8 million.", False),
        ("Net sales fell to $81.8 million.", True),  # where they are, not by how much they moved
        ("Net sales fell from 90.1 million to {81.8 [1]} million.", True),
        ("The net loss fell to 81.8 million.", False),
        ("Net sales were 12.0 million. They had been 81.8 million.", False),  # only the first statement answers
        ("I cannot say.", False),
    ],
)
def test_a_figure_is_right_when_value_sign_and_scale_agree(text: str, right: bool) -> None:
    one = made_sample(
        "a", right=(1,), figure="81.8", output="Net sales were {81.8 [1]} million.", question="Net sales?"
    )
    assert judge(one, text, declined=False).right_figures is right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("It changed by {(98.6 [1] - 100 [1]) / 100 [1] = %}.", True),
        ("It fell by 1.4%.", True),
        ("It changed by -1.4%.", True),
        ("It rose by 1.4%.", False),
        ("It fell by 1.4 million.", False),
    ],
)
def test_a_fall_is_said_by_a_minus_or_by_a_word(text: str, right: bool) -> None:
    output = "The change was {(98.6 [1] - 100 [1]) / 100 [1] = %}."
    one = made_sample("a", task="computed", right=(1,), figure="-1.4", output=output, question="What was the change?")
    assert judge(one, text, declined=False).right_figures is right
    asked_so = made_sample("b", task="computed", figure="1.4", output=output, question="What was the decrease?")
    assert judge(asked_so, "The decrease was 1.4%.", declined=False).right_figures is True


def test_an_answer_is_judged_by_its_own_passages_and_figure() -> None:
    one = made_sample("a", right=(2,), figure="-1.40", task="computed")
    good = judge(one, "It fell by {(81,797 [2] - 82,959 [2]) / 82,959 [2] = %}.", declined=False)
    assert (good.cites_rightly, good.right_figures, good.declines, good.answers) == (True, True, None, True)
    elsewhere = judge(one, "It fell by 1.4% [1][2].", declined=False)
    assert (elsewhere.cites_rightly, elsewhere.right_figures) == (False, True)
    wrong = judge(one, "It fell by {3 [2]}.", declined=False)
    assert (wrong.cites_rightly, wrong.right_figures) == (True, False)
    declined = judge(one, REFUSALS["en"], declined=True)
    assert (declined.cites_rightly, declined.right_figures, declined.answers) == (False, False, False)
    failed = judge(one, "", declined=False)  # no answer came
    assert (failed.cites_rightly, failed.right_figures, failed.answers) == (False, False, False)
    without = made_sample("b", task="declined")
    assert judge(without, REFUSALS["en"], declined=True).declines is True
    assert judge(without, "It was 5 [1].", declined=False).declines is False


def test_the_answer_of_a_sample_is_right_by_its_own_figure() -> None:
    """Of a set that rounds to whole numbers, too."""
    given = asked("What is the change of net sales?", "-1", derivation="(81,797-82,959)/82,959", percent=True)
    written = write_answer(given, [OTHER, TABLE, PROSE], "d")
    assert written is not None
    one = made_sample("a", right=written.right, figure=written.figure, task="computed")
    assert judge(one, written.text, declined=False).right_figures is True
    assert judge(one, "It fell by {2 [2]}%.", declined=False).right_figures is False
    other = asked("What is the change of net sales?", "-2", derivation="(81,797-82,959)/82,959", percent=True)
    assert write_answer(other, [OTHER, TABLE, PROSE], "d") is None


def test_held_out_questions_come_with_their_twins() -> None:
    pairs, answered = questions()
    made = list(samples_of(answered, pairs, Shape()))
    chosen = choose(made, 2)
    assert len(chosen) == 4
    assert {one.split for one in chosen} == {"test"}
    assert len({one.question for one in chosen}) == 2
    with pytest.raises(BadInput, match="no question of these samples is held out"):
        choose([one for one in made if one.split == "train"], 2)


def test_what_failed_is_asked_again_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    away = {"b"}

    class Engine:
        def __init__(self, address: str) -> None:
            assert address == "here"

        async def answer(self, sample: Sample, as_of: str) -> Reply:
            asked.append(sample.id)
            if sample.id in away:
                raise Unavailable("The engine is away.")
            return Reply("It was {5 [1]}.", declined=False, prompt_version=as_of)

        async def close(self) -> None:
            """Nothing is open."""

    monkeypatch.setattr(proof, "Generator", Engine)
    monkeypatch.setattr(proof, "running_generator", lambda *_: contextlib.nullcontext("here"))
    samples = [made_sample(name, split="test", right=(1,), figure="5", question=name) for name in ("a", "b")]
    write_samples(tmp_path / "samples", samples, {})
    system = {"tuned": Address("model", "http://127.0.0.1:1/v1")}

    def test() -> dict[str, Any]:
        return proof.test(
            [tmp_path / "samples"], samples, system, Limits(), tmp_path / "test", key="", as_of="", say=lambda _: None
        )

    found = test()
    assert (found["failed"], found["means"]["tuned/right_figures"]["mean"]) == ({"tuned": 1}, 0.5)
    away.clear()
    found = test()
    assert (found["failed"], found["means"]["tuned/right_figures"]["mean"]) == ({"tuned": 0}, 1.0)
    assert asked == ["a", "b", "b"]


def test_a_model_that_is_away_is_not_asked_on_and_gives_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Away:
        def __init__(self, address: str) -> None:
            """Nothing is opened."""

        async def answer(self, sample: Sample, as_of: str) -> Reply:
            asked.append(sample.id)
            raise Unavailable("The engine is away.")

        async def close(self) -> None:
            """Nothing is open."""

    monkeypatch.setattr(proof, "Generator", Away)
    monkeypatch.setattr(proof, "running_generator", lambda *_: contextlib.nullcontext("here"))
    samples = [made_sample(f"{number}", split="test", right=(1,), question=f"{number}") for number in range(9)]
    write_samples(tmp_path / "samples", samples, {})
    system = {"tuned": Address("model", "http://127.0.0.1:1/v1")}
    with pytest.raises(Unavailable, match=r"tuned: 5 questions in a row .* The engine is away"):
        proof.test(
            [tmp_path / "samples"], samples, system, Limits(), tmp_path / "test", key="", as_of="", say=lambda _: None
        )
    assert len(asked) == 5
    assert not (tmp_path / "test" / "report.json").exists()


def test_a_model_that_always_declines_knows_nothing() -> None:
    samples = [made_sample("a", right=(1,), task="cited"), made_sample("b", task="declined")]
    always = {one.id: judge(one, "Unable to answer.", declined=True) for one in samples}
    knows = {one.id: judge(one, "So it is [1].", declined=one.task == "declined") for one in samples}
    found = proof._report({"always": always, "knows": knows})  # of this module
    assert found["youden"] == {"always": 0.0, "knows": 1.0}
    assert "| always | declines + answers − 1 (Youden) | | 0.000 | |" in proof.table(found)


def test_runs_that_quote_any_page_of_a_tested_document_are_left_out(tmp_path: Path) -> None:
    words = "This page of the document that is tested with answers no question of the set, and is long enough."
    answers = passage("d:1:0-10", document="d", text="Net sales were 5.")
    beside = passage("d:2:0-99", document="d", page=2, text=words)
    pairs, runs = tmp_path / "pairs", tmp_path / "runs"
    found = Pairs({one.id: one for one in (answers, beside)}, (pair("What were net sales?", answers, split="test"),))
    write_pairs(pairs, found)
    hashes = {name: hash_file(pairs / name) for name in ("pairs.jsonl", "passages.jsonl")}
    write_json(
        pairs / "manifest.json",
        {"format": 1, "files": hashes, "held_out": held_out(found.passages.values(), found.pairs)},
    )
    runs.mkdir()
    rows = [step("one", "plan", "ok"), step("one", "action", "ok", words), step("one", "answer", "grounded")]
    (runs / "2026-11-27-1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    given = making.Given(pairs=(pairs,), runs=runs, licence="own")
    made = making.make(tmp_path / "out", given, making.Plan(dev=0, test=0), Limits(), lambda _: None)
    assert sorted(one.task for one in made) == ["answer", "plan"]


def test_a_document_that_is_held_out_is_no_evidence_of_training_either() -> None:
    shown = Shown("held:3:0-20", "Elsewhere\t5", "", "", is_table=True)
    one = made_sample("a", evidence=(shown,))
    with pytest.raises(BadInput, match="shows document held, which is held out"):
        refuse_held_out([one], [{"documents": ["held"], "texts": []}])
    refuse_held_out([made_sample("a", evidence=(shown,), split="test")], [{"documents": ["held"], "texts": []}])
