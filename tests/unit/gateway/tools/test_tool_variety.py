"""Different tools first, weights of fields, terms that only words are matched with."""

from quelea_gateway.core.tools.indexing import indexed
from quelea_gateway.core.tools.model import Column, Tool
from quelea_gateway.core.tools.terms import packaged, parse
from quelea_gateway.core.tools.variety import varied


def shown(*names: str) -> list[str]:
    return varied([(name, name) for name in names])


def test_of_tools_nearly_the_same_two_come_first_and_none_is_lost() -> None:
    alike = ["index_option_50etf_qvix", "index_option_300etf_qvix", "index_option_500etf_qvix"]
    assert shown(*alike, "stock_us_daily", "bond_china_yield") == [
        *alike[:2], "stock_us_daily", "bond_china_yield", alike[2],
    ]  # fmt: skip


def test_another_source_of_the_same_is_nearly_the_same() -> None:
    assert shown("stock_zh_a_spot_em", "stock_zh_a_spot", "stock_zh_a_spot_sina", "fund_aum_em")[2] == "fund_aum_em"
    assert shown() == []


def test_what_a_tool_says_of_itself_counts_more_than_its_columns() -> None:
    tool = Tool("stock_x", "akshare", "Stock", "大宗交易", path=("交易",), outputs=(Column("成交价"),))
    lexical = indexed(tool).lexical
    assert (lexical.count("大宗交易\n"), lexical.count("成交价")) == (3 + 2, 1)  # the description, and the term in it


def test_some_terms_are_not_for_the_encoder() -> None:
    first, second = parse("黄金 | gold |\n#: words only\n市值 | market cap |\n")
    assert (first.words_only, second.words_only) == (False, True)
    assert any(term.words_only for term in packaged())
    texts = indexed(Tool("stock_x", "akshare", "Stock", "市值"))
    assert "market capitalisation" in texts.lexical
    assert "market" not in texts.text
