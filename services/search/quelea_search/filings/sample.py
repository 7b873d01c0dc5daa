"""Write a recording of fetches from filings at hand: python -m quelea_search.filings.sample OUT TICKER=FILE …."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from quelea_search.core.web.urls import parse_url
from quelea_search.door.core.bundle import LONGEST_URL, write_bundle
from quelea_search.door.core.matching import match_of
from quelea_search.door.core.model import Question, Recorded
from quelea_search.filings.core.edgar import TICKERS

RUN = "fetch-sample"
NOTE = (
    "Annual reports for 2024 as they are on EDGAR, with lists in the shape of the SEC's that name nothing else. Put "
    "together from copies of the filings, not recorded from the SEC's hosts. Filings are public."
)
_FETCHED = datetime(2025, 11, 25, tzinfo=UTC).timestamp()
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class SampleFiling:
    """A 10-K for the year 2024 as EDGAR lists it."""

    cik: int
    name: str
    accession: str
    filed: str
    document: str


FILINGS = {
    "NFLX": SampleFiling(1065280, "NETFLIX INC", "0001065280-25-000044", "2025-01-27", "nflx-20241231.htm"),
    "GOOGL": SampleFiling(1652044, "Alphabet Inc.", "0001652044-25-000014", "2025-02-05", "goog-20241231.htm"),
    "KO": SampleFiling(21344, "COCA COLA CO", "0000021344-25-000011", "2025-02-20", "ko-20241231.htm"),
}
"""By ticker."""


def replies(documents: Mapping[str, bytes]) -> Mapping[str, tuple[bytes, str]]:
    """Address -> body and media type: all that fetches of these companies ask for.

    Args:
        documents: Ticker -> its 10-K.
    """
    listed = {
        str(number): {"cik_str": FILINGS[ticker].cik, "ticker": ticker, "title": FILINGS[ticker].name}
        for number, ticker in enumerate(documents)
    }
    found = {TICKERS: (json.dumps(listed).encode(), _JSON)}
    for ticker, document in documents.items():
        filing = FILINGS[ticker]
        cik = str(filing.cik).zfill(10)
        columns = {
            "accessionNumber": [filing.accession],
            "filingDate": [filing.filed],
            "reportDate": ["2024-12-31"],
            "form": ["10-K"],
            "primaryDocument": [filing.document],
            "primaryDocDescription": ["10-K"],
        }
        submissions = {
            "cik": cik,
            "name": filing.name,
            "tickers": [ticker],
            "filings": {"recent": columns, "files": []},
        }
        folder = f"https://www.sec.gov/Archives/edgar/data/{filing.cik}/{filing.accession.replace('-', '')}"
        found[f"https://data.sec.gov/submissions/CIK{cik}.json"] = (json.dumps(submissions).encode(), _JSON)
        found[f"{folder}/{filing.document}"] = (document, "text/html")
    return found


def write(documents: Mapping[str, bytes], out: Path) -> str:
    """Write the recording.

    Args:
        documents: Ticker -> its 10-K.
        out: The bundle.

    Returns:
        Its id.
    """
    calls, bodies = [], {}
    for url, (body, media_type) in replies(documents).items():
        question = Question("GET", parse_url(url, LONGEST_URL))
        match, sha256 = match_of(question), hashlib.sha256(body).hexdigest()
        bodies[sha256] = body
        headers = {"content-type": media_type}
        calls.append(
            Recorded(match.key, "GET", str(question.url), match.facts(), _FETCHED, 200, headers, sha256, len(body))
        )
    with out.open("wb") as written:
        return write_bundle(written, RUN, calls, bodies.__getitem__, NOTE)


def _document(text: str) -> tuple[str, bytes]:
    ticker, _, file = text.partition("=")
    if ticker not in FILINGS or not file:
        raise argparse.ArgumentTypeError(f"must be TICKER=FILE with a ticker of {', '.join(FILINGS)}, got {text!r}")
    return ticker, Path(file).read_bytes()


def main() -> None:
    """Read the arguments and write."""
    parser = argparse.ArgumentParser(
        prog="python -m quelea_search.filings.sample", description="Write a recording of fetches."
    )
    parser.add_argument("out", type=Path, help="file to write, for example 10-k-2024.bundle")
    parser.add_argument("documents", type=_document, nargs="+", metavar="TICKER=FILE", help="a 10-K for 2024, as filed")
    told = parser.parse_args()
    sys.stdout.write(f"{told.out}: bundle {write(dict(told.documents), told.out)}\n")


if __name__ == "__main__":
    main()
