"""Questions of analysts: the file that is read, and what counts as right."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from quelea_evaluation.answers.analyst import Page, pages_wanted, states
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.sets.analyst import AnalystQuestion, load

QUESTION = AnalystQuestion("1", "held", "figure", "How much?", frozenset({"note"}), (("54,900", "54.9"),))
OPENING = "Quoted from the sources:\n"


@pytest.mark.parametrize(
    ("kind", "answer", "right"),
    [
        ("figure", "- Paid: 54,900 [1]\n- Others: 7 [2]", True),
        ("figure", "- Others: 7 [2]\n- Paid: 54,900 [1]", False),
        ("words", "- Others: 7 [2]\n- Paid: $54.9 billion [1]", True),
        ("words", "- Others: 7 [2]", False),
    ],
)
def test_a_figure_is_right_in_the_first_statement_and_words_anywhere(kind: str, answer: str, right: bool) -> None:
    assert states(replace(QUESTION, kind=kind), OPENING + answer) is right


def written(folder: Path, *rows: dict[str, object]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


ASKED: dict[str, object] = {"id": 1, "part": "held", "kind": "words", "documents": ["note"], "question": "Why?"}


def test_documents_and_questions_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>x</p>", encoding="utf-8")
    path = written(
        tmp_path,
        {"document": "note", "note": {"text": "Ferries."}},
        {"document": "a", "file": "a.html"},
        {**ASKED, "answer": [["because"]], "page": ["Ferries", ["boat", "ship"]]},
    )
    found = load(path, tmp_path)
    assert [one.filename for one in found.documents] == ["note.json", "a.html"]
    assert found.questions[0].answer == (("because",),)
    assert found.questions[0].page == (("Ferries",), ("boat", "ship"))


def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="about \\['note'\\]"):
        load(written(tmp_path, ASKED), tmp_path)
    with pytest.raises(BadInput, match="line 1: cannot read"):
        load(written(tmp_path, {"document": "a", "file": "gone.html"}), tmp_path)
    with pytest.raises(BadInput, match="line 1 must be"):
        load(written(tmp_path, {"question": "Why?"}), tmp_path)


class Shelf(dict[str, dict[Page, str]]):
    """Pages of documents by key, as the evaluation reads them."""

    def of(self, key: str) -> dict[Page, str]:
        return self[key]


SHELF = Shelf(a={("a", 1): "sold1,234intheyear", ("a", 2): "sold1,234and5,678"}, b={("b", 1): "sold99"})


@pytest.mark.parametrize(
    ("documents", "page", "wanted"),
    [
        ("a", (("1 ,234",), ("5,678",)), [{("a", 2)}]),
        ("a", (("in the year", "5,678"),), [{("a", 1), ("a", 2)}]),
        ("ab", (("5,678",), ("99",)), [{("a", 2)}, {("b", 1)}]),
    ],
)
def test_the_right_page_has_all_that_the_key_names_or_there_are_several(
    documents: str, page: tuple[tuple[str, ...], ...], wanted: list[set[Page]]
) -> None:
    question = replace(QUESTION, documents=frozenset(documents), page=page)
    assert [set(one) for one in pages_wanted(question, SHELF)] == wanted


def test_a_page_that_no_document_has_is_a_mistake_of_the_key() -> None:
    question = replace(QUESTION, documents=frozenset("ab"), page=(("sold",), ("bought",)))
    with pytest.raises(BadInput, match="question 1: no page of its documents has number 2"):
        pages_wanted(question, SHELF)
