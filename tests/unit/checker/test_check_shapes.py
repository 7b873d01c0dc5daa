"""Answers and passages in other shapes: foreign markers, LaTeX, heads of tables, code, HTML, and their offsets."""

from __future__ import annotations

import pytest
from quelea_checker import CheckPassage, Report, check_answer

PROSE = CheckPassage("Revenue was $1,234.5 million in fiscal 2023, up 12% from $1,102.2 million in fiscal 2022.")
TABLE = CheckPassage("(In millions)\nThree Months Ended\nJuly 1, 2023\tJune 25, 2022\nTotal net sales\t81,797\t82,959")
MARKUP = CheckPassage(
    "<table>\n<tr><th>(in millions)</th><th>2023</th><th>2022</th></tr>\n"
    "<tr><td>R&amp;D expense</td><td>1,234.5</td><td>1,102.2</td></tr></table>"
)


def _checked(answer: str, *passages: CheckPassage) -> Report:
    """Checked, with every text the answer's own."""
    report = check_answer(answer, list(passages))
    for one in (*report.sentences, *report.figures):
        assert answer[one.start : one.end] == one.text
    return report


@pytest.mark.parametrize(
    "marker",
    ["[1]", "【1】", "［1］", "〔1〕", "[^1]", "[Source 1]", "[来源：1]", "[1](https://a.example/b)", "【1†source】"],
)
def test_a_foreign_marker_is_no_figure(marker: str) -> None:
    answer = f"Revenue was $1,234.5 million in fiscal 2023{marker}. It rose 12%{marker}."

    report = _checked(answer, PROSE)

    assert [f.text for f in report.figures] == ["$1,234.5 million", "fiscal 2023", "12%"]
    assert [s.verdict for s in report.sentences] == ["supported", "supported"]
    assert "".join(s.text for s in report.sentences) == answer.replace(". It", ".It")
    assert report.markers.unresolved == report.markers.corrections == report.markers.missing == ()


def test_a_wrong_foreign_marker_is_reported_where_it_stands() -> None:
    answer = "Revenue was $1,234.5 million in fiscal 2023 [Source 4]. 【1】 names it."

    (fault,) = _checked(answer, PROSE).markers.unresolved

    assert (fault.number, fault.suggested) == (4, 1)
    assert answer[fault.start : fault.end] == "[Source 4]"


@pytest.mark.parametrize("marker", ["^1", "[1-2]"])
def test_raised_and_ranged_markers_are_no_figures(marker: str) -> None:
    report = _checked(f"Revenue rose by 12%{marker}.", PROSE, PROSE)

    assert [f.text for f in report.figures] == ["12%"]
    assert report.markers.unresolved == report.markers.missing == ()


def test_a_missing_marker_belongs_where_the_answer_ends_and_not_the_shaped_text() -> None:
    answer = r"Net sales were \$81{,}797\text{ million}. Nothing else."

    (missing,) = _checked(answer, TABLE).markers.missing

    assert answer[missing.at :] == ". Nothing else."


def test_latex_is_read() -> None:
    report = _checked(r"$$\Delta = 81{,}797 - 82{,}959$$", TABLE)
    assert [(f.text, f.verdict) for f in report.figures] == [("81{,}797", "supported"), ("82{,}959", "supported")]

    report = _checked(r"Total net sales were \$81{,}797\text{ million}, down 1.4\% [1].", TABLE)
    assert [f.verdict for f in report.figures] == ["supported", "derived"]


def test_arabic_digits_are_read() -> None:
    report = _checked("Revenue was $١٬٢٣٤٫٥ million.", PROSE)
    assert [(f.text, f.verdict) for f in report.figures] == [("$١٬٢٣٤٫٥ million", "supported")]


def test_the_head_of_a_table_is_no_claim_and_gets_no_marker() -> None:
    report = _checked("| Item | Q3 2023 | Q3 2022 |\n|---|---|---|\n| Total net sales | 81,797 | 82,959 |", TABLE)

    assert [s.verdict for s in report.sentences] == ["no_claim", "no_claim", "supported"]
    assert [m.sentence for m in report.markers.missing] == [2]


def test_fences_of_code_are_no_sentences_and_code_gets_no_marker() -> None:
    report = _checked("Total net sales were $81,797 million [1].\n\n```python\ntotal_net_sales = 81797\n```\n", TABLE)

    assert [s.text for s in report.sentences] == [
        "Total net sales were $81,797 million [1].",
        "total_net_sales = 81797",
    ]
    assert report.markers.missing == ()


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("R&D expense was $1,234.5 million in 2023 [1].", "supported"),
        ("R&D expense was $1,102.2 million in 2022 [1].", "supported"),
        ("R&D expense was $1,234.5 million in 2022 [1].", "contradicted"),
    ],
)
def test_a_table_in_html_is_read_as_rows(answer: str, verdict: str) -> None:
    assert _checked(answer, MARKUP).figures[0].verdict == verdict


def test_a_sentence_is_supported_when_all_its_figures_are_and_what_it_cites_has_some() -> None:
    first = CheckPassage("Total net sales were $81,797 million.")
    second = CheckPassage("A year earlier total net sales were $82,959 million.")

    report = _checked(
        "Total net sales were $81,797 million, against $82,959 million a year earlier [1].", first, second
    )

    assert [s.verdict for s in report.sentences] == ["supported"]
