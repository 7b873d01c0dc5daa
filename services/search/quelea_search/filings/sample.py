"""Write a recording of a fetch from a filing at hand: python -m quelea_search.filings.sample FILE OUT."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from quelea_search.core.web.urls import parse_url
from quelea_search.door.core.bundle import LONGEST_URL, write_bundle
from quelea_search.door.core.matching import match_of
from quelea_search.door.core.model import Question, Recorded
from quelea_search.filings.core.edgar import TICKERS

RUN = "fetch-sample"
NOTE = (
    "Netflix's 10-K for 2024 as it is on EDGAR, with lists in the shape of the SEC's that name nothing else. Put "
    "together from a copy of the filing, not recorded from the SEC's hosts. Filings are public."
)
_FETCHED = datetime(2025, 11, 25, tzinfo=UTC).timestamp()
_CIK, _ACCESSION, _DOCUMENT = 1065280, "0001065280-25-000044", "nflx-20241231.htm"
_JSON = "application/json"


def replies(filing: bytes) -> Mapping[str, tuple[bytes, str]]:
    """Address -> body and media type: what a fetch of NFLX asks for."""
    tickers = {"0": {"cik_str": _CIK, "ticker": "NFLX", "title": "NETFLIX INC"}}
    columns = {
        "accessionNumber": [_ACCESSION],
        "filingDate": ["2025-01-27"],
        "reportDate": ["2024-12-31"],
        "form": ["10-K"],
        "primaryDocument": [_DOCUMENT],
        "primaryDocDescription": ["10-K"],
    }
    submissions = {
        "cik": str(_CIK).zfill(10),
        "name": "NETFLIX INC",
        "tickers": ["NFLX"],
        "filings": {"recent": columns, "files": []},
    }
    folder = f"https://www.sec.gov/Archives/edgar/data/{_CIK}/{_ACCESSION.replace('-', '')}"
    return {
        TICKERS: (json.dumps(tickers).encode(), _JSON),
        f"https://data.sec.gov/submissions/CIK{str(_CIK).zfill(10)}.json": (json.dumps(submissions).encode(), _JSON),
        f"{folder}/{_DOCUMENT}": (filing, "text/html"),
    }


def write(file: Path, out: Path) -> str:
    """Write the recording.

    Args:
        file: Netflix's 10-K for 2024.
        out: The bundle.

    Returns:
        Its id.
    """
    calls, bodies = [], {}
    for url, (body, media_type) in replies(file.read_bytes()).items():
        question = Question("GET", parse_url(url, LONGEST_URL))
        match, sha256 = match_of(question), hashlib.sha256(body).hexdigest()
        bodies[sha256] = body
        headers = {"content-type": media_type}
        calls.append(
            Recorded(match.key, "GET", str(question.url), match.facts(), _FETCHED, 200, headers, sha256, len(body))
        )
    with out.open("wb") as written:
        return write_bundle(written, RUN, calls, bodies.__getitem__, NOTE)


def main() -> None:
    """Read the arguments and write."""
    parser = argparse.ArgumentParser(
        prog="python -m quelea_search.filings.sample", description="Write a recording of a fetch."
    )
    parser.add_argument("file", type=Path, help="Netflix's 10-K for 2024: samples/ixbrl/2024 FY NFLX.html")
    parser.add_argument("out", type=Path, help="file to write, for example nflx.bundle")
    told = parser.parse_args()
    sys.stdout.write(f"{told.out}: bundle {write(told.file, told.out)}\n")


if __name__ == "__main__":
    main()
