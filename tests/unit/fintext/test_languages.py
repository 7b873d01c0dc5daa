"""A folder more is a language more; and what the folders hold fits together."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from quelea_fintext.languages import FOLDER, LANGUAGES, Languages, find_all, groups_of
from quelea_fintext.line_items import line_items
from quelea_fintext.quantities import read_currencies, read_scales
from quelea_fintext.times.periods import Period, PeriodReader

GERMAN = {
    "language.toml": """
name = "Deutsch"
words_apart = true
refusal = "Die Frage lässt sich mit den vorliegenden Informationen nicht beantworten"
stop_words = "der die das und"
""",
    "periods.toml": r"""
year_before = 'Geschäftsjahr'
fiscal = ['geschäftsjahr']
part_then_year = 'des'
[ordinals]
ersten = 1
zweiten = 2
dritten = 3
vierten = 4
[[parts]]
kind = 'quarter'
pattern = '\b(?P<n>ersten|zweiten|dritten|vierten)\s+Quartals?\b'
[phrases]
forms = ['<part>\s+(?:des\s+)?<of_year>', '<part>', '<of_year>']
of_year = '(?:(?P<fiscal>Geschäftsjahr)e?s?\s+)?(?P<year>(?:19|20)\d\d)'
part = '(?P<quarter>ersten|zweiten|dritten|vierten)\s+Quartals?|(?P<quarter>[1-4])\.\s?Quartal'
[shifts]
later = 'danach'
forms = '(?P<count>zwei|drei|\d)?\s?(?P<unit>Jahr|Quartal)e?\s+(?P<way>davor|danach)|im\s+(?P<same>gleichen)\s+Zeitraum'
[[usual]]
pattern = 'Auftaktquartal'
becomes = 'ersten Quartal'
""",
    "time.toml": r"""
relative.yesterday = '\bgestern\b'
ago = 'vor\s+(?P<count>\d{1,3})\s+(?P<unit>Tagen|Stunden)'
months_asked = ['(?P<months>drei|sechs|neun)\s+Monate', '(?P<half>Halbjahr)']
[units]
Tagen = 'day'
[months_long]
drei = 3
""",
    "dialogue.toml": r"""
connectives = 'und|aber'
why = '(?:warum|weshalb)'
[phrases]
why = '{question}, und warum?'
and = ' und '
""",
    "questions.toml": r"""
advice = '\bsoll(?:te)? ich\b.{0,40}\bkaufen\b'
asking = "bericht bilanz"
""",
    "documents.toml": r"""
dated = 'veröffentlicht'
[types]
'annual report' = 'Geschäftsbericht'
""",
    "numbers.toml": """
[scales]
mrd = 1_000_000_000
""",
    "companies.txt": "Siemens||Siemens AG\n",
}


@pytest.fixture
def three(tmp_path: Path) -> Languages:
    """Quelea's own languages, and a German of a few lines."""
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / "de").mkdir()
    for name, text in GERMAN.items():
        (tmp_path / "de" / name).write_text(text, "utf-8")
    return Languages(tmp_path)


def test_a_language_is_added_by_its_folder(three: Languages) -> None:
    assert three.codes == ("en", "de", "zh")
    assert three.months()["märz"] == three.months()["march"] == 3
    assert "der" in three.words("language.stop_words")
    assert three.of("language.refusal")["de"].startswith("Die Frage")
    assert ("de", ["Siemens", "", "Siemens AG"]) in list(three.rows("companies.txt"))


def test_its_periods_are_read_beside_those_of_the_others(three: Languages) -> None:
    reader = PeriodReader(three)
    text = "Umsatz im dritten Quartal des Geschäftsjahres 2023"
    assert reader.read(text.replace("jahres", "jahr")) == [Period("quarter", 2023, 3, fiscal=True)]
    assert reader.read("sales in Q3 2023") == [Period("quarter", 2023, 3)]
    assert PeriodReader(LANGUAGES).read("im dritten Quartal") == []


def test_its_phrases_of_periods_stand_whole(three: Languages) -> None:
    reader = PeriodReader(three)
    text = "im dritten Quartal 2023 und im 4. Quartal"
    found = reader.read_phrases(text)
    assert found == [Period("quarter", 2023, 3), Period("quarter", 0, 4)]
    assert [text[one.start : one.end] for one in found] == ["dritten Quartal 2023", "4. Quartal"]
    assert [one.numbered for one in found] == [False, True]
    (fiscal,) = reader.read_phrases("Geschäftsjahres 2022")
    assert fiscal.fiscal
    assert reader.read_phrases("revenue in the third quarter of fiscal 2023") == [
        Period("quarter", 2023, 3, fiscal=True)
    ]


def test_its_patterns_stand_beside_those_of_the_others(three: Languages) -> None:
    advice = three.pattern("questions.advice")
    assert advice.search("soll ich die Aktie kaufen?")
    assert advice.search("should I buy the stock?")
    assert three.pattern("dialogue.why", r"^\W*<>\W*$").match("Warum?")
    assert three.of("dialogue.phrases")["de"]["why"].format(question="Umsatz 2023") == "Umsatz 2023, und warum?"
    assert three.of("documents.types")["de"]["annual report"] == "Geschäftsbericht"
    assert three.table("time.units")["Tagen"] == "day"
    assert {"bericht", "report"} <= set(three.words("questions.asking"))


def test_groups_of_one_name_are_read_whatever_the_language(three: Languages) -> None:
    text = "vor 3 Tagen, 2 weeks ago, 5天前"
    said = [groups_of(match) for match in find_all(three.grouped("time.ago"), text)]
    assert said == [
        {"count": "3", "unit": "Tagen"}, {"count": "2", "unit": "week"}, {"count": "5", "unit": "天"},
    ]  # fmt: skip
    shift = find_all(three.grouped("periods.shifts.forms"), "der Umsatz zwei Jahre danach")
    assert [groups_of(match) for match in shift] == [{"count": "zwei", "unit": "Jahr", "way": "danach"}]


def test_what_is_said_unusually_is_replaced(three: Languages) -> None:
    text = "Auftaktquartal"
    for pattern, becomes in three.replacements("periods.usual"):
        text = pattern.sub(becomes, text)
    assert text == "ersten Quartal"


def test_of_two_matches_at_one_place_the_first_patterns_counts() -> None:
    long, short = re.compile("the last quarter"), re.compile("last")
    found = find_all((long, short), "in the last quarter and last")
    assert [match.group() for match in found] == ["the last quarter", "last"]
    assert [match.group() for match in find_all((re.compile("ab"), re.compile("abc")), "abc")] == ["ab"]


def test_its_words_of_amounts_are_known(three: Languages) -> None:
    assert read_scales(three)["mrd"] == 1_000_000_000
    assert read_currencies(three)["schweizer franken"] == "CHF"


def test_english_is_needed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="every set of languages needs English"):
        Languages(tmp_path)


def test_every_pattern_of_the_folders_compiles() -> None:
    assert list(LANGUAGES.replacements("periods.usual"))
    for key in ("instructions.orders", "periods.parts"):
        for some in LANGUAGES.of(key).values():
            assert all(re.compile(one["pattern"]) for one in some)
    assert re.search(LANGUAGES.alternatives("companies.legal_forms"), "acme inc")


def test_line_items_of_all_languages_are_one_table() -> None:
    items = {one.key: one for one in line_items()}
    assert {"net sales", "营业收入"} <= set(items["revenue"].names)
    assert items["gross_margin"].made_of == ("revenue", "cost_of_sales")
    assert all(part in items for one in items.values() for part in one.made_of)
    assert all(len(one.expressions[0]) >= len(one.expressions[-1]) for one in items.values() if one.expressions)
