"""A folder more is a language more; and what the folders hold fits together."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from quelea_fintext.languages import FOLDER, LANGUAGES, Languages
from quelea_fintext.line_items import line_items
from quelea_fintext.periods import Period, PeriodReader
from quelea_fintext.quantities import read_currencies, read_scales

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


def test_its_words_of_amounts_are_known(three: Languages) -> None:
    assert read_scales(three)["mrd"] == 1_000_000_000
    assert read_currencies(three)["schweizer franken"] == "CHF"


def test_english_is_needed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="every set of languages needs English"):
        Languages(tmp_path)


def test_every_pattern_of_the_folders_compiles() -> None:
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
