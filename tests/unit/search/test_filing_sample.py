"""The sample recording is what its module writes, and has all that a fetch of it asks for."""

from __future__ import annotations

from pathlib import Path

from quelea_search.door.core.bundle import BundleLimits, read_bundle
from quelea_search.filings.core import edgar
from quelea_search.filings.sample import FILINGS, replies, write

SAMPLES = Path(__file__).parents[3] / "samples"
FILING = SAMPLES / "ixbrl/2024 FY NFLX.html"


def test_the_committed_recording_is_what_the_module_writes(tmp_path: Path) -> None:
    kept: list[bytes] = []
    opened = read_bundle(SAMPLES / "fetch/10-k-2024.bundle", BundleLimits(), kept.append)
    documents = {
        ticker: next(body for body in kept if FILINGS[ticker].document.removesuffix("htm").encode() + b"xsd" in body)
        for ticker in FILINGS
    }
    assert documents["NFLX"] == FILING.read_bytes()
    assert write(documents, tmp_path / "again") == opened.id


def test_it_has_the_replies_of_a_fetch() -> None:
    found = replies({"NFLX": b"filing", "KO": b"another"})
    companies = edgar.read_tickers(found[edgar.TICKERS][0])
    assert [company.ticker for company in companies] == ["NFLX", "KO"]
    call = edgar.submissions(companies[0].id)
    _, (filing,), older = edgar.read_submissions(found[call.url][0], call.url)
    assert (filing.form, older, found[filing.url]) == ("10-K", [], (b"filing", "text/html"))
