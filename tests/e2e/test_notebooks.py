"""The sample notebooks, run from their first cell to their last against the shared stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from support.stack import SAMPLES

KERNEL_SECONDS = 300


def executed(name: str, stack: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text of each code cell's outputs."""
    monkeypatch.setenv("QUELEA_URL", stack.url)
    monkeypatch.delenv("QUELEA_API_KEY", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    monkeypatch.setenv("TMPDIR", str(folder))
    book = nbformat.read(SAMPLES / "notebooks" / name, as_version=4)
    assert not [cell for cell in book.cells if cell.cell_type == "code" and cell.outputs], "stored without outputs"
    NotebookClient(book, timeout=KERNEL_SECONDS, resources={"metadata": {"path": str(folder)}}).execute()
    return [json.dumps(cell.outputs, ensure_ascii=False) for cell in book.cells if cell.cell_type == "code"]


@pytest.mark.filterwarnings("default")  # of the kernel's libraries
def test_ask_and_facts(library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    companies, answer, figures, citations, verdicts, chinese, sales, statement, declined = executed(
        "ask_and_facts.ipynb", library, tmp_path, monkeypatch
    )
    assert "Apple" in companies
    assert "$81,797 million [1]" in answer
    assert "#quote" in answer  # shown as Markdown, with links
    assert "81797000000" in figures or "8.179700e+10" in figures
    assert "81,797" in citations
    assert "supported" in verdicts
    assert "5740" in chinese
    assert "81,797" in sales
    assert "81,797,000,000.00" in statement
    assert "company" in declined


SMALL = """<html><body><p>Osprey Bridges quarterly report for the quarter ended June 30, 2023</p>
<p style="font-weight:bold">CONSOLIDATED STATEMENTS OF INCOME</p><p>(in millions)</p>
<table><tr><td>Three months ended June 30,</td><td>2023</td><td>2022</td></tr>
<tr><td>Total revenues</td><td>1,234</td><td>1,111</td></tr>
<tr><td>Cost of revenues</td><td>1,000</td><td>900</td></tr>
<tr><td>Gross profit</td><td>234</td><td>211</td></tr>
<tr><td>Net income</td><td>56</td><td>45</td></tr></table></body></html>"""


@pytest.mark.filterwarnings("default")  # of the kernel's libraries
def test_compare_and_export(library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = {"company": "Osprey Bridges", "period": {"label": "FY2023 Q2", "end_date": "2023-06-30"}}
    (job,) = library.ingest(("osprey.html", SMALL.encode()), metadata=metadata)
    assert job["state"] == "succeeded", job
    try:
        peers, table, cells, chart, links, files, answer = executed(
            "compare_and_export.ipynb", library, tmp_path, monkeypatch
        )
    finally:
        library.http.delete(f"/v1/documents/{job['document_id']}").raise_for_status()
    assert "Apple" in peers and "Osprey Bridges" in peers
    assert "2023 Q2" in table
    assert "2023-07-01" in cells and "2023-06-30" in cells  # quarters that end on other days stand side by side
    assert "image/png" in chart
    assert "#quote" in links and "81797000000" in links
    for name in ("note.docx", "note.pdf", "answer.xlsx", "answer.md"):
        assert name in files
        (made,) = tmp_path.glob(f"*/{name}")
        assert made.stat().st_size > 0
    assert "81,797" in answer
