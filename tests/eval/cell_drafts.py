"""What the review of drafts catches of figures that rest on the wrong cell, and doubts of those on the right one.

PYTHONPATH=tests python tests/eval/cell_drafts.py ../shared/data/filings_ixbrl/*.gz: true and false sentences are made
from each filing's facts (tests/support/cell_drafts.py) and read by the gateway's review, without a stack.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from pathlib import Path

from support.cell_draft_review import count_doubts
from support.cell_drafts import FORMS, KINDS, make_drafts
from support.filing_cells import read_filing


def main() -> None:
    """Print shares by kind and form; with --list, the drafts that are judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("filings", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=6, help="true sentences of each shape and filing")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--shapes", choices=("first", "fresh"), default="first", help="fresh: nothing was mended by these"
    )
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    drafts = [
        draft
        for path in args.filings
        for draft in make_drafts(path.name, read_filing(path), random.Random(args.seed), args.most, args.shapes)
    ]
    doubts = asyncio.run(count_doubts(drafts))
    print(f"{'':22}" + "".join(f"{form:>18}" for form in FORMS))
    for kind in ("", *KINDS):
        name = (kind and f"false, {kind}") or "true, doubted"
        cells = (f"{doubts.share(kind, form):>10.3f} of {doubts.count(kind, form):>4}" for form in FORMS)
        print(f"{name:22}" + "".join(cells))
    for one in doubts.wrong if args.list else ():
        print("\t".join((one.kind or "true", one.shape, one.form, one.id, one.draft)))


if __name__ == "__main__":
    main()
