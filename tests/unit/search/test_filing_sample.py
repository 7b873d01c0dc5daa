"""The sample recording is what its module writes, and has all that a fetch of it asks for."""

from __future__ import annotations

from pathlib import Path

from quelea_search.door.core.bundle import BundleLimits, read_bundle
from quelea_search.filings.core import edgar
from quelea_search.filings.sample import replies, write

SAMPLES = Path(__file__).parents[3] / "samples"
FILING = SAMPLES / "ixbrl/2024 FY NFLX.html"


def test_the_committed_recording_is_what_the_module_writes(tmp_path: Path) -> None:
    kept: list[bytes] = []
    opened = read_bundle(SAMPLES / "fetch/nflx-10-k-2024.bundle", BundleLimits(), kept.append)
    assert write(FILING, tmp_path / "again") == opened.id
    assert FILING.read_bytes() in kept


def test_it_has_the_replies_of_a_fetch() -> None:
    found = replies(b"filing")
    (company,) = edgar.read_tickers(found[edgar.TICKERS][0])
    call = edgar.submissions(company.id)
    _, (filing,), older = edgar.read_submissions(found[call.url][0], call.url)
    assert (filing.form, older, found[filing.url]) == ("10-K", [], (b"filing", "text/html"))
