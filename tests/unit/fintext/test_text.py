import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_fintext.dates import find_dates, parse_iso
from quelea_fintext.text import STOP_WORDS, estimate_tokens, language_of, new_words, stem, terms, words


def test_words_of_both_languages() -> None:
    assert words("Apple’s net sales: $81,797 million") == ["apple", "net", "sales", "81797", "million"]
    assert "营业" in words("２０２３年营业收入") or "营业收入" in words("２０２３年营业收入")
    assert words("２０２３")[0] == "2023"


def test_words_that_no_dictionary_has() -> None:
    assert new_words("安靠智电面临哪些风险？") == ["安靠智电"]
    assert new_words("会计师对安靠智电和黄晓颖说了什么") == ["安靠智电", "黄晓颖"]
    assert new_words("这一政策对市场有何影响，规模多大？") == []  # pronouns, numerals
    assert new_words("What risks does 安靠智电 face in 2023?") == ["安靠智电"]


def test_terms_of_figures_are_their_digits() -> None:
    assert terms("$81,797 (12.5%), 3,432.\t-7 1,,2 Q3") == ["81797", "12.5", "3432", "7", "1", "2", "q", "3"]


def test_terms_drop_stop_words_and_stem() -> None:
    assert terms("What were the total net sales?") == ["total", "net", "sale"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Total net sales", "en"),
        ("苹果公司的营业收入", "zh"),
        ("Apple 苹果 revenue 营收", "zh"),
        ("", "en"),
        ("1,234", "en"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language


@given(st.text(max_size=300))
def test_any_text_is_taken(text: str) -> None:
    assert estimate_tokens(text) >= 0
    assert all(word for word in words(text))
    list(find_dates(text))


@given(st.text(max_size=200) | st.text("abcdefgh 0123456789,.", max_size=200))
def test_tokens_are_estimated_from_letters_digits_and_the_rest(text: str) -> None:
    lengths = [len(word) for word in re.findall("[A-Za-z]+", text)]
    digits = len(re.findall(r"\d", text))
    others = len("".join(text.split())) - sum(lengths) - digits
    beyond = sum(length - 4 for length in lengths if length > 4)
    assert estimate_tokens(text) == round(len(lengths) + beyond / 7 + 0.6 * digits + 0.7 * others)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("quarter ended July 1, 2023", date(2023, 7, 1)),
        ("JULY 1 , 2023", date(2023, 7, 1)),
        ("24 Sept. 2022", date(2022, 9, 24)),
        ("截至2023年7月1日止", date(2023, 7, 1)),
        ("2023-07-01", date(2023, 7, 1)),
        ("2023/7/1", date(2023, 7, 1)),
    ],
)
def test_dates(text: str, day: date) -> None:
    found = list(find_dates(text))
    assert [f.day for f in found] == [day]
    assert "2023" in text[found[0].start : found[0].end] or "2022" in text[found[0].start : found[0].end]


@pytest.mark.parametrize("text", ["February 30, 2023", "2023-13-01", "12023-01-011", "May 2023"])
def test_what_is_no_date(text: str) -> None:
    assert list(find_dates(text)) == []


def test_iso() -> None:
    assert parse_iso("2023-07-01") == date(2023, 7, 1)
    for text in ("yesterday", "20230701", "2023-W26-6", "2023W266", "2023-02-30", "+023-07-01"):
        assert parse_iso(text) is None


@given(st.text(alphabet=st.sampled_from("aZ9 .,'’%$¨\u00a0\u3000公司净利润的ＡＢ１Σςéß\u0308\n\t-_ﬁ№İ"), max_size=80))
def test_a_text_read_in_runs_has_the_terms_of_the_whole(text: str) -> None:
    whole = [stem(word) for word in words(text) if word not in STOP_WORDS]
    assert terms(text) == whole
    assert terms(text) == whole  # and once more, from memory


def test_an_english_question_with_a_chinese_name_is_english() -> None:
    assert language_of("What was 四方科技's revenue in 2019?") == "en"
    assert language_of("How did 茅台 do in 2023?") == "en"
    assert language_of("NVIDIA Data Center revenue是多少？") == "zh"
    assert language_of("What 是四方科技的收入？") == "zh"
