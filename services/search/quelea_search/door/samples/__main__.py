"""Write the sample bundle: python -m quelea_search.door.samples OUT [--until YYYY-MM-DD]."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from quelea_search.core.web.urls import parse_url
from quelea_search.door.core.bundle import LONGEST_URL, write_bundle
from quelea_search.door.core.matching import match_of
from quelea_search.door.core.model import Question, Recorded
from quelea_search.door.samples import eastmoney, others

UNTIL = date(2024, 11, 22)
"""Last day of the made-up data: a Friday."""
RUN = "samples"
NOTE = (
    "Made-up data in the shape of the real upstreams, written by quelea_search.door.samples from a fixed seed; nothing "
    "was copied from a vendor, and nothing says what a market did. The SEC's sample has public facts. CC0."
)


def samples(until: date) -> Iterator[eastmoney.Sample]:
    """Every sample, with data up to a day."""
    for family in (eastmoney.klines, eastmoney.quotes, eastmoney.tables, eastmoney.funds):
        yield from family(until)
    for other in (others.sina, others.jin10, others.chinamoney, others.yahoo):
        yield from other(until)
    yield from others.cninfo()
    yield from others.sec()


def write(out: Path, until: date = UNTIL) -> tuple[str, int]:
    """Write the bundle.

    Args:
        out: The file.
        until: Last day of the data; the answers are dated 21:00 UTC of that day.

    Returns:
        The bundle's id, and how many calls it has.
    """
    fetched = datetime(until.year, until.month, until.day, 21, tzinfo=UTC).timestamp()
    calls: dict[str, Recorded] = {}
    bodies: dict[str, bytes] = {}
    for method, url, body, media_type in samples(until):
        question = Question(method, parse_url(url, LONGEST_URL))
        match, sha256 = match_of(question), hashlib.sha256(body).hexdigest()
        bodies[sha256] = body
        status, more = others.UNUSUAL.get(url, (200, {}))
        headers = {"content-type": media_type, **more}
        facts = match.facts()
        answer = Recorded(match.key, method, str(question.url), facts, fetched, status, headers, sha256, len(body))
        calls.setdefault(match.key, answer)
    with out.open("wb") as file:
        bundle_id = write_bundle(file, RUN, list(calls.values()), bodies.__getitem__, NOTE)
    return bundle_id, len(calls)


def main() -> None:
    """Read the arguments and write."""
    parser = argparse.ArgumentParser(
        prog="python -m quelea_search.door.samples", description="Write the sample bundle."
    )
    parser.add_argument("out", type=Path, help="file to write, for example market-samples.zip")
    parser.add_argument("--until", type=date.fromisoformat, default=UNTIL, help=f"last day of the data ({UNTIL})")
    told = parser.parse_args()
    bundle_id, calls = write(told.out, told.until)
    sys.stdout.write(f"{told.out}: bundle {bundle_id}, {calls} calls, data up to {told.until}\n")


if __name__ == "__main__":
    main()
