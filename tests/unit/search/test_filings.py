"""The real filings of the development data; skipped, loudly, where they are absent."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from quelea_fintext.sentences import sentence_spans
from quelea_fintext.text import estimate_tokens
from quelea_search.core.chunk import HARD_CHARACTERS, HARD_TOKENS, chunk
from quelea_search.core.metadata.read import read_metadata
from quelea_search.core.model import ParsedDocument

Parse = Callable[..., ParsedDocument]
pytestmark = pytest.mark.data

# Read off the covers by eye: company, form, the filing's own quarter, last day of the period, day of the signature.
COVERS = {
    "2023 Q3 AAPL": ("Apple", "10-Q", "FY2023 Q3", "2023-07-01", "2023-08-03"),
    "2022 Q3 AMZN": ("Amazon", "10-Q", "FY2022 Q3", "2022-09-30", "2022-10-27"),
    "2022 Q3 INTC": ("Intel", "10-Q", "FY2022 Q3", "2022-10-01", "2022-10-27"),
    "2023 Q1 MSFT": ("Microsoft", "10-Q", "FY2023 Q2", "2022-12-31", "2023-01-24"),
    "2023 Q2 NVDA": ("NVIDIA", "10-Q", "FY2024 Q2", "2023-07-30", "2023-08-25"),
}


@pytest.mark.parametrize("name", COVERS)
def test_ten_q(name: str, data_folder: Path, parse_it: Parse) -> None:
    path = data_folder / "docugami_sec10q" / "docs" / f"{name}.pdf"
    parsed = parse_it(path.read_bytes(), path.name)
    facts = read_metadata(parsed, path.name, None)
    assert (facts.company, facts.document_type, facts.period.label, facts.period.end_date, facts.published) == COVERS[
        name
    ]
    assert facts.ticker == name.rsplit(maxsplit=1)[-1] and facts.period.file_label == name[:7]
    chunks = chunk(parsed)
    for number, page in enumerate(parsed.pages, start=1):
        cuts = {edge for c in chunks if c.page == number for edge in (c.start, c.end)}
        for line in page.lines:
            for start, end in (
                [(line.start, line.end)] if line.kind != "text" else sentence_spans(page.text, line.start, line.end)
            ):
                short = estimate_tokens(page.text[start:end]) <= HARD_TOKENS and end - start <= HARD_CHARACTERS
                assert not (short and any(start < cut < end for cut in cuts))
    assert any(
        c.is_table and re.search(r"Net income", c.text) and "Three Months Ended" in c.text + c.table_head
        for c in chunks
    )


def test_segment_table_reads_like_the_print(data_folder: Path, parse_it: Parse) -> None:
    path = data_folder / "docugami_sec10q" / "docs" / "2023 Q3 AAPL.pdf"
    parsed = parse_it(path.read_bytes(), path.name)
    table = next(
        c for c in chunk(parsed) if c.section == "Item 2. MD&A › Products and Services Performance" and c.is_table
    )
    assert table.text.split("\n")[2:6] == [
        "Three Months Ended\tNine Months Ended",
        "July 1, 2023\tJune 25, 2022\tChange\tJuly 1, 2023\tJune 25, 2022\tChange",
        "Net sales by category:",
        "iPhone\t$ 39,669\t$ 40,665\t(2)%\t$ 156,778\t$ 162,863\t(4)%",
    ]


def test_figures_of_the_answers_survive_parsing(data_folder: Path, parse_it: Parse) -> None:
    """Amounts that reviewed answers quote are found in the text of the filing that they name."""
    folder = data_folder / "docugami_sec10q"
    texts: dict[str, str] = {}
    found = total = 0
    with (folder / "qna_data.csv").open(encoding="utf-8", newline="") as file:
        for record in csv.DictReader(file):
            sources = re.findall(r"20\d\d Q\d \w{4}", record["Source Docs"])
            if len(sources) != 1 or sources[0] not in ("2023 Q2 AAPL", "2023 Q1 NVDA", "2022 Q3 INTC"):
                continue
            for source in sources:
                if source not in texts:
                    path = folder / "docs" / f"{source}.pdf"
                    texts[source] = "\n".join(page.text for page in parse_it(path.read_bytes(), path.name).pages)
            for figure in re.findall(r"\d{1,3},\d{3}", record["Answer"]):
                total += 1
                found += figure in texts[sources[0]]
    assert total > 10 and found >= 0.85 * total


def test_chinese_report(data_folder: Path, parse_it: Parse) -> None:
    (path,) = (data_folder / "finglm" / "reports").glob("2021-04-23*.pdf")
    parsed = parse_it(path.read_bytes(), path.name)
    facts = read_metadata(parsed, path.name, None)
    assert (facts.company, facts.ticker, facts.document_type, facts.period.label) == (
        "生物股份",
        "600201",
        "annual report",
        "FY2020",
    )
    assert facts.published == "2021-04-23" and facts.language == "zh"
    text = parsed.pages[5].text
    assert "加权平均净资产收益率（%）\t8.37\t4.49\t增加3.88个百分点\t15.56" in text
    assert "归属于上市公司股东的净利润\t150,513,913.05\t31,931,767.81\t113,287,251.42\t110,462,531.29" in text
    assert any(c.section.startswith("第三节 公司业务概要 › 一、") for c in chunk(parsed))


def test_regulation_in_two_columns(data_folder: Path, parse_it: Parse) -> None:
    path = data_folder / "fintextqa" / "215.pdf"
    parsed = parse_it(path.read_bytes(), path.name)
    assert "subject to such authorizations, directions, regulations," in parsed.pages[0].text
    assert any("§ 215.2 Definitions." in c.section for c in chunk(parsed))
    assert read_metadata(parsed, path.name, None).document_type == "regulation"
