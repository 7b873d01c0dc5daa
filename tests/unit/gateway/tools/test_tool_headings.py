"""What a tool is searched by: its headings in other words, weights of fields, terms that are matched as words alone."""

import pytest
from quelea_gateway.core.tools.headings import headings_of, load_headings, parse, title_of
from quelea_gateway.core.tools.index_texts import index_texts_of
from quelea_gateway.core.tools.model import Column, Tool
from quelea_gateway.core.tools.terms import load_terms as packaged_terms
from quelea_gateway.core.tools.terms import parse as parse_terms
from quelea_gateway.core.tools.terms import terms_of

UNLOCK = Tool("stock_release_x", "akshare", "Stock", "东方财富网-数据中心-限售股解禁", path=("基本面数据", "解禁批次"))
HEADINGS = parse(
    "解禁 | lock-up expiry | 可以卖了, sellable\n解禁批次 | batches of unlocks | 分批\nPPI | producer prices | 出厂价"
)


def named(tool: Tool) -> list[str]:
    return [heading.english for heading in headings_of(tool, HEADINGS)]


def test_a_longer_heading_says_what_a_shorter_one_in_it_does() -> None:
    assert named(UNLOCK) == ["batches of unlocks"]


def test_a_heading_is_looked_for_in_the_title_first_and_only_then_anywhere() -> None:
    below = Tool("x", "akshare", "Stock", "东财-解禁-股东", path=("解禁批次", "解禁股东"))
    assert named(below) == ["lock-up expiry"]
    assert named(Tool("x", "akshare", "Stock", "东财-解禁-股东")) == ["lock-up expiry"]
    assert named(Tool("x", "akshare", "Stock", "东财-股东")) == []


def test_latin_letters_are_matched_as_words() -> None:
    assert named(Tool("macro_shipping_index", "akshare", "Macro", "运价")) == []
    assert named(Tool("macro_usa_ppi", "akshare", "Macro", "美国")) == ["producer prices"]


def test_all_parts_of_a_heading_must_be_there_wherever_they_stand() -> None:
    both = parse("龙虎榜&统计 | dragon list | 游资")
    assert headings_of(Tool("x", "akshare", "Stock", "每日统计", path=("龙虎榜", "每日")), both)
    assert not headings_of(Tool("x", "akshare", "Stock", "每日统计"), both)


def test_a_title_is_the_end_of_a_trail_and_all_of_a_sentence() -> None:
    assert title_of(UNLOCK) == "基本面数据 解禁批次 限售股解禁"
    told = Tool("m", "akshare", "Macro", "原油指数，数据区间从 2001-至今；需要代理", path=("指标", "原油指数"))
    assert title_of(told) == "指标 原油指数"
    assert title_of(Tool("y", "yfinance", "Stock", "Buy-back of shares.")) == "Buy-back of shares."


def test_a_tool_is_searched_by_its_headings_in_both_ways() -> None:
    texts = index_texts_of(UNLOCK)
    for said in ("expiry of lock-ups", "可以卖了"):
        assert said in texts.text
        assert said in texts.lexical


@pytest.mark.parametrize("line", ["解禁 | lock-up", "解禁 | | x", "| a | b", "a | b | c | d"])
def test_a_line_that_is_no_heading_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="line 2 is no heading"):
        parse("# note\n" + line)


def test_packaged_headings_are_each_there_once() -> None:
    known = [heading.parts for heading in load_headings()]
    assert len(known) == len(set(known)) > 500


def test_a_part_of_a_name_that_two_terms_claim_says_nothing() -> None:
    terms = parse_terms("股票 | shares | stock\n库存 | inventory | stock,inv\n")
    assert terms_of("x", ["stock"], terms) == []
    assert [term.english for term in terms_of("x", ["inv"], terms)] == [("inventory",)]
    assert [term.english for term in terms_of("股票", ["stock"], terms)] == [("shares",)]


def test_what_a_tool_says_of_itself_counts_more_than_its_columns() -> None:
    tool = Tool("stock_x", "akshare", "Stock", "大宗交易", path=("交易",), outputs=(Column("成交价"),))
    lexical = index_texts_of(tool).lexical
    assert (lexical.count("大宗交易\n"), lexical.count("成交价")) == (3 + 2, 1)  # the description, and the term in it


def test_some_terms_are_not_for_the_encoder() -> None:
    first, second = parse_terms("黄金 | gold |\n#: words only\n市值 | market cap |\n")
    assert (first.words_only, second.words_only) == (False, True)
    assert any(term.words_only for term in packaged_terms())
    texts = index_texts_of(Tool("stock_x", "akshare", "Stock", "市值"))
    assert "market capitalisation" in texts.lexical
    assert "market" not in texts.text
