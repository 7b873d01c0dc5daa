"""Figures and times as texts write them, in both languages; and what is no figure."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_checker.reading.amounts import parse, parse_amounts
from quelea_fintext.numerals import chinese

EN_SCALES = {"": 0, " thousand": 3, " million": 6, " billion": 9, " trillion": 12, "k": 3, "m": 6, "mn": 6, "bn": 9}
ZH_SCALES = {"": 0, "千": 3, "万": 4, "百万": 6, "亿": 8, "十亿": 9, "千亿": 11, "万亿": 12}
numbers = st.builds(lambda n, d: Decimal(n).scaleb(-d), st.integers(1, 9_999_999), st.integers(0, 3))


def wide(text):
    return "".join(chr(ord(c) + 0xFEE0) if c.isdigit() or c in ".%" else c for c in text)


@given(numbers, st.sampled_from(sorted(EN_SCALES)), st.sampled_from(["", "$", "€", "RMB", "US$"]), st.booleans())
def test_what_is_formatted_in_english_is_read_back(number, scale, currency, negative):
    said = f"{'-' if negative else ''}{currency}{number:,}{scale}"
    text = f"It was {said} at the end."
    figure = next(iter(parse_amounts(text)), None)
    if figure is None and not currency and not scale and 1900 <= number <= 2099:
        return  # a year
    assert text[figure.start : figure.end] == figure.text == said
    assert figure.value == (-1 if negative else 1) * number.scaleb(EN_SCALES[scale])
    assert figure.tolerance == Decimal(1).scaleb(number.as_tuple().exponent + EN_SCALES[scale]) / 2


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("sales of 17 K in 2026", []),  # a scale that nobody writes so
        ("$17 M worth of goods", []),
        ("10 b notes", []),
        ("17K express stores", [17_000]),
    ],
)
def test_a_letter_is_a_scale_only_beside_its_number(text, values):
    assert [figure.value for figure in parse_amounts(text) if figure.period is None] == values


@given(numbers, st.sampled_from(sorted(ZH_SCALES)), st.sampled_from(["元", "美元", "港元"]), st.booleans())
def test_what_is_formatted_in_chinese_is_read_back(number, scale, currency, full):
    said = f"{number}{scale}{currency}"
    said = wide(said) if full else said
    text = f"净利润为{said}，同比增长。"
    (figure,) = parse_amounts(text)
    assert (figure.text, text[figure.start : figure.end]) == (said, said)
    assert figure.value == number.scaleb(ZH_SCALES[scale])


@given(st.integers(0, 99_999_999))
def test_chinese_numerals_are_read_back(number):
    digits = "零一二三四五六七八九"

    def group(n):
        out, zero = "", False
        for place, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
            digit, n = divmod(n, place)
            if digit:
                out += ("零" if zero and out else "") + digits[digit] + name
                zero = False
            else:
                zero = True
        return out

    high, low = divmod(number, 10_000)
    text = (group(high) + "万" if high else "") + ("零" if high and 0 < low < 1000 else "") + group(low)
    assert chinese(text or "零") == number


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("grew 12.5%, or 150 basis points, 2.5x", ["12.5", "1.50", "2.5"]),
        ("a loss of $(9,982) thousand", ["-9982000"]),
        ("△5.2%，占比百分之十二点五，五成以上", ["-5.2", "12.5", "50"]),
        ("营收三千五百万元", ["35000000"]),
        ("10-15% and $2 to $3 billion", ["10", "15", "2000000000", "3000000000"]),
        ("$5.1, $4.2 and $3.3 million", ["5100000.0", "4200000.0", "3300000.0"]),
        ("between $1.5 and 2.5 billion", ["1500000000.0", "2500000000.0"]),
        ("- 3.20% notes\n- $5 million\n-2%", ["3.20", "5000000", "-2"]),
        ("twelve percent of two million", ["12", "2000000"]),
        ("提升1.2个百分点，２.５倍", ["1.2", "2.5"]),
    ],
)
def test_amounts(text, values):
    assert [figure.value for figure in parse_amounts(text)] == [Decimal(value) for value in values]


@pytest.mark.parametrize(
    "text",
    [
        "The 10-Q, Item 2, Note 5, Section 404 and ASC 606 [1], [2, 3].", "1. First\n2) Second\n(3) third",
        "iPhone 15 and Windows 11 on an A100 with 5G", "2022 Q3 AAPL.pdf", "COVID-19 and 401(k), the S&P 500",
        "第三章第5条，附注五", "See https://example.com/2023/10/27", "the 1st and 3rd of them",
    ],
)  # fmt: skip
def test_what_is_no_figure(text):
    assert parse(text) == []


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Q3 2023", (2023, 3, 0, 0, 0, 3)), ("third quarter of fiscal 2024", (2024, 3, 0, 0, 0, 3)),
        ("FY2023", (2023, 0, 0, 0, 0, 0)), ("3Q23", (2023, 3, 0, 0, 0, 3)), ("2023年三季度", (2023, 3, 0, 0, 0, 3)),
        ("2023年上半年", (2023, 0, 1, 0, 0, 6)), ("July 1, 2023", (2023, 0, 0, 7, 1, 0)),
        ("2018/19", (2019, 0, 0, 0, 0, 0)), ("Aug-2019", (2019, 0, 0, 8, 0, 0)),
        ("the nine months ended July 1, 2023", (2023, 0, 0, 7, 1, 9)), ("2023年1-9月", (2023, 0, 0, 0, 0, 9)),
        ("二〇二三年", (2023, 0, 0, 0, 0, 0)), ("first nine months of 2023", (2023, 0, 0, 0, 0, 9)),
        ("2023年6月30日", (2023, 0, 0, 6, 30, 0)), ("２０２３年", (2023, 0, 0, 0, 0, 0)),
    ],
)  # fmt: skip
def test_times(text, fields):
    (figure,) = parse(f"It was so in {text}.")
    period = figure.period
    assert (period.year, period.quarter, period.half, period.month, period.day, period.months) == fields


def test_a_second_year_has_the_day_of_the_first():
    found = [f.period for f in parse("as of December 31, 2019 and 2018")]
    assert [(p.year, p.month, p.day) for p in found] == [(2019, 12, 31), (2018, 12, 31)]


@given(st.text(max_size=300))
def test_any_text_can_be_read_and_spans_hold(text):
    for figure in parse(text):
        assert text[figure.start : figure.end] == figure.text != ""
