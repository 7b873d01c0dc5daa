"""Parts of OmniEval without a server: trees, prompts, sections, relevance, labels, many items."""

import asyncio
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from quelea_evaluation.endpoints.chat import Chat, Reply, Unparseable, parse_object
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.judging.agreement import agreement
from quelea_evaluation.omni.matrix import LANGUAGES, TASKS, as_toml, parse_matrix, read_matrix
from quelea_evaluation.omni.prompts import language_of, load_prompts
from quelea_evaluation.omni.questions.generation import Calls, Cell, Drafts, classify, wanted_cells
from quelea_evaluation.omni.questions.generation import fill as fill_cells
from quelea_evaluation.omni.questions.knowledge import LONGEST, Section, SectionFile, locate, section_of
from quelea_evaluation.omni.questions.model import Passage, QuestionIndex
from quelea_evaluation.omni.reporting.comparison import compare
from quelea_evaluation.omni.reporting.labels import measure_agreement, read_labels
from quelea_evaluation.omni.reporting.results import ids_by_relevance, summarize
from quelea_evaluation.omni.scoring.judges import ASPECTS, read_verdict, schema_of
from quelea_evaluation.reports.store import RowFile
from sklearn.metrics import cohen_kappa_score


def place(start: int, end: int, document: str = "d", page: int = 1) -> Passage:
    return Passage(document, page, start, end, "")


def test_the_published_matrix_is_sixteen_by_five(tmp_path: Path) -> None:
    matrix = read_matrix()
    assert (len(matrix.topics), len(TASKS)) == (16, 5)
    assert matrix.topics[0].label("zh") == "银行业务 - 零售银行"
    file = tmp_path / "tree.toml"
    file.write_text(as_toml(matrix), "utf-8")
    assert read_matrix(file) == matrix


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "topics must be a list"),
        ({"topics": [{"id": "A b", "name": "x"}]}, r"topics\[0\].id must be lower case"),
        ({"topics": [{"id": "a"}]}, r"topics\[0\].name must be a text"),
        ({"topics": [{"id": "a", "name": "x"}, {"id": "a", "name": "y"}]}, "'a' comes twice"),
    ],
)
def test_a_bad_tree_is_named(document: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        parse_matrix(document, "tree.toml")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_prompt_can_be_filled(language: Any) -> None:
    prompts = load_prompts(language)
    assert prompts.version.startswith(f"{language}-3-")
    values = dict.fromkeys(
        "least most documents topics sections topic task shape item question references answer aspect passages".split(),
        "$x",
    )
    for section, texts in prompts.texts.items():
        for name in texts:
            assert "$" not in prompts.text(section, name, **values).replace("$x", "")
    assert {one.id for one in TASKS} == set(prompts.texts["tasks"])
    assert {one.id for one in ASPECTS} == set(prompts.texts["aspects"])


def test_languages() -> None:
    texts = ("净利润 up", "Net profit of 腾讯 Holdings in 2023", "123")
    assert [language_of(one) for one in texts] == ["zh", "en", "en"]


def test_sections_end_with_a_line_and_quotations_are_found_in_them() -> None:
    text = "\n\n" + "A line of thirty characters….\n" * 100
    section = section_of("d", "T", 4, text)
    assert section is not None
    found = section.place
    assert text[found.start : found.end] == found.text
    assert len(found.text) <= LONGEST
    assert found.text.endswith("….")
    assert section_of("d", "T", 4, "too short") is None
    quoted = locate("characters…. A  line", section)
    assert quoted is not None
    assert text[quoted.start : quoted.end] == quoted.text == "characters….\nA line"
    assert locate("", section) is None
    wide = Section(Passage("d", 1, 5, 30, "指数为89 2，上升0 2点。（第三季度）㎞"), "zh")
    told = locate("89 2, 上升0 2点。(第三", wide)
    assert told is not None
    assert (told.text, told.start) == ("89 2，上升0 2点。（第三", 8)
    assert locate("km", wide) is None
    assert locate("characters of a line", Section(found, "en")) is None


def test_a_passage_counts_as_the_relevant_one_that_it_overlaps() -> None:
    relevant = [place(100, 150), place(200, 210)]
    first, second = (one.id for one in relevant)
    assert ids_by_relevance([place(0, 100), place(149, 160)], relevant) == ["d:1:0-100", first]
    assert ids_by_relevance([place(100, 205)], relevant) == [first, second]
    assert ids_by_relevance([place(100, 120), place(120, 150)], relevant) == [first, first]
    assert ids_by_relevance([place(100, 150, page=2), place(100, 150, "e")], relevant) == ["d:2:100-150", "e:1:100-150"]


def test_verdicts_are_read_and_nothing_else_is() -> None:
    completeness = next(one for one in ASPECTS if one.id == "completeness")
    assert read_verdict('```json\n{"reason": "r", "prediction": -1}\n```', completeness) == -1
    assert read_verdict('{"completeness": 2}', completeness) == 2
    assert schema_of(completeness)["properties"]["prediction"]["enum"] == [-1, 0, 1, 2]
    for text in (
        "",
        "2",
        '{"prediction": 3}',
        '{"prediction": "2"}',
        '{"prediction": true}',
        "[2]",
        '{"prediction": 2',
    ):
        with pytest.raises(Unparseable):
            read_verdict(text, completeness)
    with pytest.raises(Unparseable, match="no JSON object"):
        parse_object("} {")


def test_agreement_is_that_of_a_library_and_failures_count() -> None:
    people = [0, 1, 2, 2, 1, 0, 2, 1, 1, 0] * 10
    judge: list[int | None] = [0, 1, 2, 1, 1, 0, 2, 2, 0, 0] * 10
    judge[3] = None
    found = agreement(people, judge)
    assert found is not None
    both = [(a, b) for a, b in zip(people, judge, strict=True) if b is not None]
    assert found.kappa == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))
    assert found.kappa_low is not None
    assert found.kappa_high is not None
    assert found.kappa_low < found.kappa < found.kappa_high
    assert (found.n, found.failed, found.accuracy) == (99, 1, 70 / 99)
    assert found.accuracy_failed_as_wrong == 0.7
    same = agreement([1, 1], [1, 1])
    assert same is not None
    assert (same.accuracy, same.kappa) == (1.0, None)
    assert agreement([1], [None]) is None


def test_labels_with_the_judges_numbers_stand_alone(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("question,aspect,label,judge\nq1,accuracy,2,2\nq2,ACC,1,0\nq3,hallucination,1,\n", "utf-8")
    found = {one["aspect"]: one for one in measure_agreement(read_labels(file), None)}
    assert (found["accuracy"]["n"], found["accuracy"]["accuracy"]) == (2, 0.5)
    assert "hallucination" not in found
    assert (found["all"]["n"], found["all"]["failed"]) == (2, 1)
    lines = tmp_path / "labels.jsonl"
    for row, said in (
        ({"question": "q", "aspect": "style", "label": 1}, "aspect must be one of"),
        ({"question": "q", "aspect": "accuracy", "label": 5}, r"label of accuracy must be one of \(0, 1, 2\)"),
        ({"aspect": "accuracy", "label": 1}, "question must be the id"),
        ({"question": "q", "aspect": "accuracy"}, "label must be a whole number, got None"),
    ):
        lines.write_text(json.dumps(row) + "\n")
        with pytest.raises(BadInput, match=said):
            read_labels(lines)
    lines.write_text('{"question": "q", "aspect": "accuracy", "label": 1}\n')
    with pytest.raises(BadInput, match="name the judged run"):
        measure_agreement(read_labels(lines), None)


def test_questions_and_values_of_many_items_stay_on_the_disk(tmp_path: Path) -> None:
    told = {"value": 0.5, "failed": 0, "not_applicable": 0}
    turns = [{"question": "What was it? " * 400, "answers": ["7 " * 200]}]
    shared = {"topic": "t", "task": "extractive", "language": "en", "turns": turns}
    with (tmp_path / "questions.jsonl").open("w") as questions, (tmp_path / "values.jsonl").open("w") as values:
        for at in range(3_000):
            questions.write(json.dumps({"id": f"q{at}", **shared}) + "\n")
            value = {"id": f"q{at}", "topic": "t", "task": "extractive", "values": {"em_max": told}, "why": "." * 10000}
            values.write(json.dumps(value) + "\n")
    assert (tmp_path / "questions.jsonl").stat().st_size > 15e6
    assert (tmp_path / "values.jsonl").stat().st_size > 30e6
    tracemalloc.start()
    index = QuestionIndex(tmp_path / "questions.jsonl")
    assert (len(index), index["q2999"].id, index.get("x")) == (3_000, "q2999", None)
    assert sum(1 for one in index.values() if one.turns) == 3_000
    assert tracemalloc.get_traced_memory()[1] < 4e6
    file = RowFile(tmp_path / "values.jsonl")
    compared = compare(file, (row for row in file if row["id"] != "q0"))
    assert (compared["items"], compared["only_in_first"], compared["only_in_second"]) == (2999, 1, 0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 22e6  # most of it for the bootstrap


class _Writer(Chat):
    """Sorts sections in turn, asks about the first line of each, and finds each question useful."""

    async def complete(self, messages: Any, *, schema: Any = None, **_: Any) -> Reply:
        line = messages[1]["content"].split("[1]")[-1].splitlines()[1]
        if "topic" in schema["properties"]:
            return Reply(json.dumps({"topic": int(line.split()[1]) % 16 + 1}))
        if "inspection" in schema["properties"]:
            return Reply('{"inspection": {"evaluation": 2, "corrected": null}}')
        item = {"question": f"What of {line}?", "answers": ["7"], "passages": [{"section": 1, "text": line}]}
        return Reply(json.dumps({"items": [item]}))


def test_sections_and_questions_stay_on_the_disk_while_they_are_made(tmp_path: Path) -> None:
    count, matrix = 800, read_matrix()
    chat = _Writer("http://127.0.0.1:9/v1", "m")
    sections, drafts = SectionFile(tmp_path / "sections.jsonl"), Drafts(tmp_path / "drafts.jsonl")
    tracemalloc.start()
    for at in range(count):
        made = section_of("d", "t", at + 1, f"page {at} has:\n" + "The figures are unaudited. " * 400)
        assert made is not None
        sections.add(made)
    calls = Calls(chat, RowFile(tmp_path / "calls.jsonl"))

    async def work() -> list[Cell]:
        sorted_, _ = await classify(sections, matrix, calls, 4)
        wanted = wanted_cells(matrix, (), ("extractive",))
        return await fill_cells(sorted_, sections, matrix, wanted, calls, drafts, 100, 4, 4)

    cells = asyncio.run(work())
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(sections) == len(list(drafts.of(cells))) == count
    assert len({one for cell in cells for one in cell.questions}) == count
    on_disk = sum((tmp_path / f"{one}.jsonl").stat().st_size for one in ("sections", "drafts", "calls"))
    assert on_disk > 2.5e6
    assert held < 1.2e6 < (tmp_path / "sections.jsonl").stat().st_size / 1.4  # the texts alone would be more
    assert peak < 2e6
    drafts.remove()
    assert not (tmp_path / "drafts.jsonl").exists()


def test_ten_thousand_items_in_bounded_memory() -> None:
    def items() -> Any:
        for at in range(10_000):
            told = {"value": at % 3 / 2, "failed": 0, "not_applicable": 0}
            values = {f"metric{number}": told for number in range(3)}
            yield {"topic": f"t{at % 16}", "task": f"k{at % 5}", "failed": False, "declined": False, "values": values}

    tracemalloc.start()
    result = summarize(items(), 10_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result["overall"]["n"] == 10_000
    assert len(result["cells"]) == 80
    assert peak < 100e6
