"""Which paragraphs are worth encoding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from quelea_search.core.web.preselect import Paragraph, preselect

WEATHER = "The weather was fine, and people walked along the river until the evening came."


def texts(paragraphs: list[Paragraph], query: str, limit: int) -> list[str]:
    return [paragraphs[one.index].text for one in preselect(query, paragraphs, limit)]


def test_the_paragraph_that_says_it_comes_first() -> None:
    paragraphs = [
        Paragraph(0, WEATHER),
        Paragraph(0, "Apple was founded in 1976."),
        Paragraph(0, "Apple's iPhone net sales were $39,669 million in the third quarter."),
        Paragraph(1, "iPhone cases are sold by others."),
    ]
    found = preselect("What were the iPhone net sales?", paragraphs, 10)
    assert [one.index for one in found] == [2, 3]
    assert found[0].coverage == 1.0
    assert 0 < found[1].coverage < 0.5
    assert found[0].score > found[1].score


def test_each_page_keeps_its_best_and_the_limit_holds() -> None:
    paragraphs = [Paragraph(0, f"iPhone net sales, note number {n}: they rose.") for n in range(30)]
    paragraphs += [Paragraph(page, f"{WEATHER} An iPhone was seen on page {page}.") for page in range(1, 5)]
    found = preselect("iPhone net sales", paragraphs, 8)
    assert len(found) == 8
    assert {paragraphs[one.index].page for one in found} == {0, 1, 2, 3, 4}
    few = preselect("iPhone net sales", paragraphs, 3)
    assert len(few) == 3
    assert len({paragraphs[one.index].page for one in few}) == 3


def test_a_page_that_shares_nothing_has_no_place() -> None:
    paragraphs = [Paragraph(0, "iPhone net sales rose."), Paragraph(1, WEATHER)]
    assert texts(paragraphs, "iPhone net sales", 5) == ["iPhone net sales rose."]


def test_near_duplicates_are_given_once_and_free_their_place() -> None:
    said = "Net sales of the iPhone rose by ten percent in the third quarter of the year, the company said on Thursday"
    paragraphs = [
        Paragraph(0, said + "."),
        Paragraph(1, said + " evening."),
        Paragraph(2, "The iPhone again: its net sales were forecast to fall next year by several analysts."),
    ]
    found = preselect("iPhone net sales third quarter", paragraphs, 3)
    assert [one.index for one in found] == [0, 2]
    paragraphs += [Paragraph(3, "Services net sales are another matter.")]
    assert {one.index for one in preselect("iPhone net sales third quarter", paragraphs, 3)} == {0, 2, 3}


def test_what_differs_in_a_figure_alone_is_two_things() -> None:
    said = "Net sales of the iPhone in the third quarter of the fiscal year were {} million dollars, the company said"
    paragraphs = [Paragraph(0, said.format("39,669")), Paragraph(0, said.format("40,665"))]
    assert len(preselect("iPhone net sales", paragraphs, 5)) == 2


def test_a_short_line_is_no_duplicate_of_the_long_passage_that_holds_it() -> None:
    line = "iPhone net sales rose by ten percent"
    paragraphs = [Paragraph(0, line), Paragraph(0, f"{WEATHER} {line} {WEATHER} Nobody had thought so.")]
    assert len(preselect("iPhone net sales", paragraphs, 5)) == 2


def test_words_of_titles_headings_and_table_heads_count() -> None:
    paragraphs = [
        Paragraph(0, "39,669\t40,665", "iPhone net sales"),
        Paragraph(1, "39,669\t40,665", "Mac units"),
        Paragraph(2, "iPhone net sales were 39,669"),
    ]
    found = preselect("iPhone net sales", paragraphs, 5)
    assert {one.index for one in found} == {0, 2}
    assert [one.coverage for one in found] == [1.0, 1.0]


def test_words_side_by_side_count_more_than_apart() -> None:
    paragraphs = [
        Paragraph(0, "Sales were fine and the fishing net was full of fish that day in the river."),
        Paragraph(0, "Net sales were fine and the fishing boat was full of fish that day in the river."),
    ]
    assert [one.index for one in preselect("net sales", paragraphs, 5)] == [1, 0]


def test_chinese() -> None:
    paragraphs = [
        Paragraph(0, "公司简介：本公司成立于1999年，总部位于贵州省仁怀市。"),
        Paragraph(0, "2023年前三季度，贵州茅台实现营业收入1032.68亿元，同比增长18.48%。"),
        Paragraph(1, "今天天气很好。"),
    ]
    found = preselect("贵州茅台2023年前三季度的营业收入是多少？", paragraphs, 5)
    assert found[0].index == 1
    assert 2 not in {one.index for one in found}


def test_a_query_whose_terms_are_nowhere_gets_the_beginnings_of_the_pages() -> None:
    paragraphs = [Paragraph(0, "a1"), Paragraph(0, "a2"), Paragraph(1, "b1"), Paragraph(1, "b2")]
    assert texts(paragraphs, "zebra", 3) == ["a1", "b1", "a2"]
    assert texts(paragraphs, "???", 1) == ["a1"]
    assert preselect("zebra", [], 3) == []
    assert [one.coverage for one in preselect("zebra", paragraphs, 3)] == [0.0] * 3


_WORDS = st.lists(st.sampled_from("iphone sales mac rose fell 2023 茅台 收入 the of".split()), max_size=12).map(
    " ".join
)


@given(
    _WORDS,
    st.lists(st.builds(Paragraph, st.integers(0, 4), _WORDS, _WORDS), max_size=40),
    st.integers(1, 12),
)
def test_whatever_comes_in(query: str, paragraphs: list[Paragraph], limit: int) -> None:
    found = preselect(query, paragraphs, limit)
    assert len(found) <= limit
    assert len({one.index for one in found}) == len(found)
    assert all(0.0 <= one.coverage <= 1.0 for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert found == preselect(query, paragraphs, limit)
    if paragraphs:
        assert found
