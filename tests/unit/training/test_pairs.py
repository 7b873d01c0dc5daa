"""Pairs: made from documents, split, filtered, written and read, reviewed."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.questions.model import Passage as Cited
from quelea_evaluation.omni.questions.model import Question, Turn
from quelea_training.pairs import filters, from_model, making, review
from quelea_training.pairs.from_documents import pairs_of
from quelea_training.pairs.importers import Asked, Source, load_source
from quelea_training.pairs.making import Made, Plan, pairs_of_questions, pairs_of_source
from quelea_training.pairs.model import Pairs, Passage, held_out, read_pairs, write_pairs
from quelea_training.pairs.splits import split, split_groups, split_of
from unit.training.made import pair, passage

TABLE = "Years Ended\t2019\t2018\nFixed Price\t$ 1,452.4\t$ 1,146.2\nOther\t44.1\t56.7\nNotes\t\t"
SALES = (
    "Net sales rose by 12 % in the third quarter of 2023, driven by higher volumes in the Americas and a better mix; "
    "the effect of currencies took two points away, and prices added one in every region but Asia."
)


def test_a_companys_documents_are_of_one_split_and_a_seed_repeats_it() -> None:
    passages = {
        f"{company}{at}": passage(f"{company}{at}", document=f"{company}{at}", company=company)
        for company in map(str, range(200))
        for at in range(2)
    }
    pairs = [pair("what?", one) for one in passages.values()]
    done = split(pairs, passages, {}, seed=3, dev=0.1, test=0.3)
    by_company: dict[str, set[str]] = {}
    for one in done:
        by_company.setdefault(passages[one.passage].company, set()).add(one.split)
    assert all(len(splits) == 1 for splits in by_company.values())
    share = sum(one.split == "test" for one in done) / len(done)
    assert 0.2 < share < 0.4
    assert done == split(pairs, passages, {}, seed=3, dev=0.1, test=0.3)
    assert done != split(pairs, passages, {}, seed=4, dev=0.1, test=0.3)
    assert {split_of("x", 0, 0.0, 1.0), split_of("x", 0, 0.0, 0.0), split_of("x", 0, 1.0, 0.0)} == {
        "test", "train", "dev",
    }  # fmt: skip
    never_trained = split(pairs, passages, {}, seed=3, dev=0.1, test=0.0, never_train=True)
    assert {one.split for one in never_trained} == {"dev", "test"}


@pytest.mark.parametrize("seed", range(20))
def test_three_companies_are_enough_for_every_split(seed: int) -> None:
    three = split_groups("abc", {}, seed=seed, dev=0.1, test=0.2)
    assert sorted(three.values()) == ["dev", "test", "train"]
    assert three == split_groups("cba", {}, seed=seed, dev=0.1, test=0.2)
    many = split_groups(map(str, range(50)), {}, seed=seed, dev=0.2, test=0.3)
    assert many == {group: split_of(group, seed, 0.2, 0.3) for group in many}  # nothing was empty
    assert "dev" not in split_groups("abc", {}, seed=seed, dev=0.0, test=0.2).values()  # not asked for


def test_a_company_keeps_the_split_that_it_has_in_another_source() -> None:
    known = split_groups("abc", {}, seed=1, dev=0.1, test=0.2)
    held = next(group for group, split in known.items() if split == "test")
    for seed in range(20):
        assert split_groups([held, "x", "y"], known, seed=seed, dev=0.1, test=0.2)[held] == "test"


def test_rows_headings_and_titles_become_queries() -> None:
    table = passage("t", text=TABLE, is_table=True, company="Cubic")
    text = passage(
        "p", text=SALES, section="Part I › Results of Operations in Detail", title="Quarterly report of 2023"
    )
    found = {(one.kind, one.query) for one in pairs_of([table, text])}
    assert ("row", "What was Cubic's Fixed Price for 2019?") in found
    assert ("row", "What was Cubic's Other for 2018?") in found
    assert not any("Notes" in query for _, query in found)  # it has no figure
    assert ("heading", "Results of Operations in Detail") in found
    assert ("title", "Quarterly report of 2023") in found
    chinese = passage(
        "z", text="项目\t2019年\t2018年\n营业收入\t1,000\t900", is_table=True, language="zh", company="生物股份"
    )
    assert [one.query for one in pairs_of([chinese])] == ["生物股份2019年营业收入是多少？"]


def test_a_row_is_asked_for_its_documents_quarter_beside_the_companys_other_quarters() -> None:
    def quarter(name: str, number: int, ended: str, *columns: str, company: str = "Cubic") -> Passage:
        head = f"{company} (CUB) · 10-Q · FY2023 Q{number} · quarter ended {ended} · Sales"
        heads = "\t".join(("", ended, *columns))
        return passage(
            name, document=name, company=company, is_table=True, head=head, section="Sales",
            text=f"{heads}\nService revenue\t{number},000\t{number}00\nItem 2.\t17",
        )  # fmt: skip

    second = quarter("q2", 2, "April 1, 2023")
    others = [
        quarter("q3", 3, "July 1, 2023", "July 2, 2022"),
        quarter("later", 1, "March 30, 2024", "April 1, 2023"),  # prints the second quarter, too
        quarter("elsewhere", 2, "April 1, 2023", company="Round"),
    ]
    made = [one for one in pairs_of([second, *others]) if one.kind == "period row"]
    (asked,) = (one for one in made if one.passage == "q2")
    assert asked.negatives == ("q3",)
    assert asked.query in {
        "What was Cubic's Service revenue for the quarter ended April 1, 2023?",
        "What was Cubic's Service revenue in Q2 2023?",
        "How much was Cubic's Service revenue in the second quarter of fiscal 2023?",
        "Cubic's Service revenue as reported in the Q2 2023 10-Q",
    }
    assert {one.passage for one in made} == {"q2", "q3", "later", "elsewhere"}
    without = replace(second, text="\tMay 2, 2020\nService revenue\t2,000")  # no column of the document's own period
    assert not [one for one in pairs_of([without]) if one.kind == "period row"]


def test_a_later_filing_that_prints_the_asked_year_beside_its_own_is_no_hard_negative() -> None:
    def annual(fiscal: int, ended: str, *years: str, figures: str) -> Passage:
        head = f"Cubic (CUB) · 10-K · FY{fiscal} · year ended {ended} · Sales"
        heads = "\t".join((f"Years ended {ended.partition(',')[0]},", *years))
        return passage(
            f"{fiscal}", document=f"{fiscal}", company="Cubic", is_table=True, head=head, section="Sales",
            text=f"{heads}\nService revenue\t{figures}",
        )  # fmt: skip

    stored = [
        annual(2022, "January 28, 2023", "2023", "2022", figures="220\t210"),
        annual(2023, "January 27, 2024", "2024", "2023", figures="230\t220"),  # no date of 2023, and its figure
        annual(2024, "January 25, 2025", "2025", "2024", figures="240\t230"),
        annual(2021, "January 29, 2022", "2022", "2021", figures="210\t200"),  # shares a figure, of its own year
    ]
    asked = {one.passage: one for one in pairs_of(stored) if one.kind == "period row"}
    assert set(asked["2022"].negatives) == {"2024", "2021"}
    for one in asked.values():
        assert "fiscal" not in one.query or f"fiscal {one.passage}?" in one.query


def test_repeats_of_a_query_on_one_passage_go() -> None:
    one, other = passage("a"), passage("b")
    query = "What were the net sales of the company in the fiscal year 2019?"
    pairs = [pair(query, one), pair(query.upper(), one), pair(query, other), pair("Why did they rise?", one)]
    assert filters.without_repeats(pairs) == [pairs[0], pairs[2], pairs[3]]


def test_what_is_nearly_tested_with_is_not_trained_on() -> None:
    passages = {
        "test": passage("test", text=SALES, document="held"),
        "near": passage("near", text=SALES.replace("two", "three")),
        "far": passage("far", text="The board declared a dividend."),
        "part": passage("part", text=SALES.partition(", driven")[0]),
        "whole": passage("whole", text=f"{SALES} Gross margin fell, as raw materials cost more than a year ago."),
    }
    parts = [pair("part?", passages["part"]), pair("whole?", passages["whole"])]
    tested = pair("By how much did sales rise?", passages["test"], split="test")
    near, far = pair("near?", passages["near"]), pair("far?", passages["far"])
    same_query = pair("by how much did  sales rise?", passages["far"])
    assert filters.without_leaks([tested, near, far, *parts, same_query], passages) == [tested, far]


def test_the_round_trip_takes_the_same_words_for_the_passage() -> None:
    passages = {"a": passage("a"), "same": passage("same"), "b": passage("b", text="Other words.")}
    mine = pair("q", passages["a"])
    assert filters.is_found(mine, ["b", "same"], passages, 2)
    assert not filters.is_found(mine, ["b", "same"], passages, 1)
    assert not filters.is_found(mine, ["unknown"], passages, 5)


def test_hard_negatives_are_not_right_and_not_the_passage_again() -> None:
    passages = {name: passage(name, text=f"{name} speaks of something else entirely") for name in "bcd"}
    passages |= {"a": passage("a", text=SALES), "again": passage("again", text=SALES + " Indeed.")}
    ranked = ["again", "a", "b", "gone", "c", "d"]
    assert filters.choose_negatives(pair("q", passages["a"]), ranked, frozenset({"b"}), passages, 5) == ("c", "d")


def test_no_document_has_more_than_its_share() -> None:
    many = [pair(f"q{at}", passage(f"p{at}", document="d")) for at in range(30)] + [
        pair("x", passage("o", document="e"))
    ]
    kept = filters.sample_spread(many, 5, seed=1)
    assert [one.document for one in kept] == ["d"] * 5 + ["e"]
    assert kept == filters.sample_spread(many, 5, seed=1) != filters.sample_spread(many, 5, seed=2)


def test_what_people_asked_is_chosen_first() -> None:
    made = [pair(f"query {at}", passage("a")) for at in range(20)]
    for seed in range(5):
        chosen = filters.sample_spread(made, 3, seed, first=made[7:9])
        assert len(chosen) == 3
        assert set(made[7:9]) < set(chosen)


def test_where_no_run_of_words_is_shared_the_words_choose_the_passage() -> None:
    stored = [passage("cover", text="Form 10-Q 262"), passage("right", start=9, text="Shares: 262 repurchased")]
    asked = Asked("Were shares repurchased?", "figure", frozenset({"x"}), lambda one: "262" in one.text)
    made = pairs_of_source(Source("tatqa", "CC", (), (asked,)), {"x": "d1"}, {one.id: one for one in stored})
    assert [one.passage for one in made.pairs] == ["right"]


def test_a_folder_is_read_as_it_was_written_and_a_change_is_noticed(tmp_path: Path) -> None:
    one, held = passage("a", company="Apple"), passage("h", document="held", text="Held out.")
    pairs = (pair("q", one, negatives=("h",)), pair("r", held, split="test"))
    made = Made({"a": one, "h": held}, [])
    making.write_folder(tmp_path, [made], pairs, Plan(), {})
    assert read_pairs(tmp_path) == Pairs({"a": one, "h": held}, pairs)
    manifest = making.read_manifest(tmp_path)
    assert manifest["counts"]["splits"] == {"train": 1, "dev": 0, "test": 1}
    assert manifest["held_out"] == held_out([one, held], pairs)
    assert manifest["held_out"]["documents"] == ["held"]
    assert [source["licence"] for source in manifest["sources"]] == ["own"]
    (tmp_path / "pairs.jsonl").write_text((tmp_path / "pairs.jsonl").read_text().replace('"q"', '"changed"'))
    with pytest.raises(BadInput, match=r"pairs\.jsonl is not what the manifest says"):
        making.read_manifest(tmp_path)


def test_a_broken_folder_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"has no passages\.jsonl"):
        read_pairs(tmp_path)
    write_pairs(tmp_path, Pairs({"a": passage("a")}, (pair("q", passage("lost")),)))
    with pytest.raises(BadInput, match=r"names lost, which passages\.jsonl does not have"):
        read_pairs(tmp_path)
    (tmp_path / "pairs.jsonl").write_text(json.dumps({"id": "1"}) + "\n")
    with pytest.raises(BadInput, match="line 1: fields are missing or strange"):
        read_pairs(tmp_path)


def test_a_review_is_read_in_again(tmp_path: Path) -> None:
    one = passage("a", text="=1+1 is what a spreadsheet would compute")
    pairs = [pair("keep me", one), pair("drop me", one), pair("say me better", one)]
    file = tmp_path / "review.csv"
    review.write_review(file, pairs, {"a": one})
    with file.open(newline="") as table:
        rows = list(csv.DictReader(table))
    assert rows[0]["passage"].startswith("'=")
    rows[1]["keep"], rows[2]["query"] = "N", "said better"
    with file.open("w", newline="") as table:
        writer = csv.DictWriter(table, review.COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    done = review.apply_review(file, pairs)
    assert [(one.id, one.query) for one in done.pairs] == [(pairs[0].id, "keep me"), (pairs[2].id, "said better")]
    assert (done.dropped, done.reworded) == (1, 1)
    file.write_text("id,keep,query\nnobody,,\n")
    with pytest.raises(BadInput, match="there is no pair 'nobody' here"):
        review.apply_review(file, pairs)
    file.write_text(f"id,keep,query\n{pairs[0].id},perhaps,\n")
    with pytest.raises(BadInput, match="keep must be y, n or empty"):
        review.apply_review(file, pairs)


def test_questions_of_an_evaluation_find_their_passage() -> None:
    stored = {
        "d:1:0-50": passage("d:1:0-50", document="d", end=50),
        "d:1:50-90": passage("d:1:50-90", document="d", start=50, end=90),
    }

    def question(start: int, end: int, document: str = "d") -> Question:
        return Question(
            "i", "t", "extractive_qa", "en", (Turn("What?", ("x",)),), (Cited(document, 1, start, end, ""),)
        )

    pairs, lost = pairs_of_questions([question(40, 80), question(0, 9, "gone")], stored)
    assert [(one.passage, one.kind) for one in pairs] == [("d:1:50-90", "extractive_qa")]
    assert lost == 1


def test_a_models_question_needs_words_of_the_passage() -> None:
    one = passage("a", text=SALES)
    answer = {
        "questions": [
            {"kind": "cause", "question": "Why did sales rise?", "quote": "driven by higher   volumes"},
            {"kind": "figure", "question": "How much?", "quote": "by 99 %"},
            {"kind": "poem", "question": "Why?", "quote": "Net sales"},
        ]
    }
    dropped = making.Counter[str]()
    found = from_model._read(answer, one, ["cause", "figure"], "m", dropped)
    assert [(one.query, one.made_by) for one in found] == [("Why did sales rise?", "m")]
    assert sum(dropped.values()) == 2
    chinese = from_model.messages(passage("z", language="zh"), ["cause"])
    assert "原因" in str(chinese[0]["content"])


def test_an_import_takes_the_passage_that_holds_the_answer(tmp_path: Path) -> None:
    def asked(question: str, answer: object) -> dict[str, object]:
        of = ("span", "text") if isinstance(answer, str) else ("arithmetic", "table")
        said = [answer] if isinstance(answer, str) else answer
        return {"uid": question, "question": question, "answer": said, "answer_type": of[0], "answer_from": of[1]}

    context = {
        "table": {"table": [["", "2019"], ["Total sales", "9"]]},
        "paragraphs": [{"order": 1, "text": "We are paid costs plus a profit."}],
        "questions": [asked("What are we paid?", "costs plus a profit"), asked("Change?", 3), asked("Who?", "nobody")],
    }
    (tmp_path / "tatqa").mkdir()
    (tmp_path / "tatqa" / "tatqa_dataset_dev.json").write_text(json.dumps([context]))
    source = load_source("tatqa", tmp_path)
    stored = {
        "t": passage("t", document="d", text="2019\nTotal sales\t9"),
        "p": passage("p", document="d", start=20, text="We are paid costs plus a profit."),
    }
    made = pairs_of_source(source, {"context-000": "d"}, stored)
    assert [(one.query, one.passage) for one in made.pairs] == [
        ("What are we paid?", "p"),
        ("Change?", "t"),
    ]
    assert made.dropped == {"no passage holds the answer": 1}
    with pytest.raises(BadInput, match="no set is called 'nothing'"):
        load_source("nothing", tmp_path)
    with pytest.raises(BadInput, match="say where with --data"):
        load_source("docugami", tmp_path)


def test_a_figure_is_right_wherever_its_row_stands_in_the_document() -> None:
    def holds(one: Passage) -> bool:
        return "81,797" in one.encoded

    stored = [
        passage("income", text="2023\t2022\nTotal net sales:\t81,797\t82,959", is_table=True),
        passage("segments", start=20, text="Quarter\t2023\nTotal net sales\t81,797", is_table=True),
        passage("other row", start=40, text="Segments\t81,797", is_table=True),
        passage("elsewhere", document="d2", text="Total net sales\t81,797", is_table=True),
        passage("no figure", start=60, text="Total net sales\t5", is_table=True),
    ]
    asked = Asked("What were total net sales in 2023 and 2022?", "figure", frozenset({"x", "y"}), holds, by_figure=True)
    source = Source("docugami", "MIT", (), (asked,))
    passages = {one.id: one for one in stored}
    (made,) = pairs_of_source(source, {"x": "d1", "y": "d2"}, passages).pairs
    assert (made.passage, made.also) == ("income", ("segments", "elsewhere"))  # asked of both documents
    (one,) = pairs_of_source(source, {"x": "d1"}, passages).pairs
    assert (one.passage, one.also) == ("income", ("segments",))
    (loose,) = pairs_of_source(
        Source("tatqa", "CC", (), (replace(asked, by_figure=False),)), {"x": "d1", "y": "d2"}, passages
    ).pairs
    assert loose.also == ()


@pytest.mark.parametrize("never_train", [True, False])
def test_where_no_passage_is_known_the_document_is_tested_and_nothing_trained(never_train: bool) -> None:
    passages = {one.id: one for one in (passage("a"), passage("b", start=20), passage("c", document="d2"))}
    asked = Asked("What did they say?", "news", frozenset({"x"}), None)
    made = pairs_of_source(Source("disc", "A", (), (asked,), never_train=never_train), {"x": "d1"}, passages)
    assert [{one.passage, *one.also} for one in made.pairs] == ([{"a", "b"}] if never_train else [])
    assert made.dropped == ({} if never_train else {"the set does not say which passage answers": 1})


def test_convfinqas_conversations_of_one_page_share_its_document(tmp_path: Path) -> None:
    row = {
        "questions": ["what was net income in 2007?"],
        "text": "as reported .",
        "table": "- | 2007\nnet income | $ 9",
    }
    ids = ("Single_MRO/2007/page_134.pdf-1", "Double_MRO/2007/page_134.pdf", "Double_HII/2017/page_104.pdf")
    (tmp_path / "convfinqa").mkdir()
    (tmp_path / "convfinqa" / "convfinqa_dev_pot.json").write_text(
        json.dumps(
            [row | {"id": one, "golden_table": row["table"], "golden_text": ""} for one in ids[:2]]
            + [row | {"id": ids[2], "golden_table": "", "golden_text": "net income was $ 9 in 2007 ."}]
        )
    )
    source = load_source("convfinqa", tmp_path)
    assert [one.metadata["ticker"] for one in source.documents] == ["MRO", "HII"]
    assert [one.documents for one in source.asked] == [
        frozenset({"MRO-2007-page_134"}),
        frozenset({"MRO-2007-page_134"}),
        frozenset({"HII-2017-page_104"}),
    ]
    table, text = passage("t", text="net income\t$ 9"), passage("p", text="Net income was $ 9 in 2007 . Sales fell .")
    holds = [one.holds for one in source.asked[1:] if one.holds is not None]
    assert [(one(table), one(text)) for one in holds] == [(True, True), (False, True)]
