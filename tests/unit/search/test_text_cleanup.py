"""Characters come out right whatever bytes they came in as."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from quelea_search.adapters.formats.encoding import decode
from quelea_search.core.layout.text_cleanup import clean, clean_cell, mend_hyphens
from quelea_search.core.model import ParsedDocument

SIMPLIFIED = "中国人民银行决定于2023年9月15日下调金融机构存款准备金率0.25个百分点，释放中长期流动性超过5000亿元。"
TRADITIONAL = "香港金融管理局表示，銀行體系的資本充足，會繼續密切監察市場的發展，為業務提供支持。"
ENGLISH = "Net sales rose by 4% to $81,797 million in the third quarter."
GERMAN = "Die Umsatzerlöse für das Geschäftsjahr betrugen 4 Mrd. €, größer als im Vorjahr."


CASES = {
    SIMPLIFIED: "gbk gb2312 gb18030 utf-8 utf-8-sig utf-16 utf-32",
    TRADITIONAL: "big5 gb18030 utf-16 utf-8",
    ENGLISH: "ascii utf-16-le utf-16-be",
    GERMAN: "cp1252 utf-8",
}


@pytest.mark.parametrize(
    ("text", "codec"), [(text, codec) for text, codecs in CASES.items() for codec in codecs.split()]
)
def test_round_trip(text: str, codec: str) -> None:
    decoded = decode(text.encode(codec))
    assert decoded is not None and decoded.lstrip("\ufeff") == text


def test_gbk_news_becomes_a_document(parse_it: Callable[..., ParsedDocument]) -> None:
    page = f"<html><head><meta charset='gb2312'><title>降准</title></head><body><p>{SIMPLIFIED}</p></body></html>"
    assert SIMPLIFIED in parse_it(page.encode("gbk"), "news.html").pages[0].text
    assert SIMPLIFIED in parse_it(f"标题\n\n{SIMPLIFIED * 20}".encode("gb18030"), "news.txt").pages[0].text
    assert (
        parse_it("代码,收盘价\n平安银行,10.5\n".encode("gbk"), "p.csv").pages[0].text == "代码\t收盘价\n平安银行\t10.5"
    )


def test_a_wrong_declaration_and_a_cut_character() -> None:
    assert decode(b"<meta charset='utf-8'>" + SIMPLIFIED.encode("gbk")) == "<meta charset='utf-8'>" + SIMPLIFIED
    cut = decode((SIMPLIFIED * 10).encode("gbk")[:-1])
    assert cut is not None and cut.startswith(SIMPLIFIED)


def test_binary_is_no_text() -> None:
    assert decode(b"\x00\x01\x02abc" * 100) is None
    assert decode(bytes(range(1, 32)) * 50) is None


def test_clean() -> None:
    assert clean("ef\ufb01cient \u00adsoft\u00ad  \u200bspace\u00a0x\u3000y") == "efficient soft space x y"
    assert clean("净利润１２．５％，同比") == "净利润12．5％，同比"
    assert clean("\u2f2c\u2f08") == "屮人"
    assert clean_cell("(260 )") == "(260)" and clean_cell("12 %") == "12%" and clean_cell("( 3") == "(3"


def test_hyphens_at_line_ends() -> None:
    text = [
        "lack of one\ufffetime benefits",
        "the recog\ufffenition of sales",
        "a one and a time",
        "regulation; recognition",
    ]
    assert mend_hyphens(text)[:2] == ["lack of one-time benefits", "the recognition of sales"]
