"""Make the catalogue's file: `python -m quelea_sandbox.registry --out FILE [--from PLACE]… [--openapi FILE]…`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from quelea_kit.errors import QueleaError

from quelea_sandbox.registry.akshare import AkshareProvider
from quelea_sandbox.registry.catalogue import collect
from quelea_sandbox.registry.curated import CuratedProvider
from quelea_sandbox.registry.model import CATEGORIES, ToolProvider
from quelea_sandbox.registry.openapi import OpenApiProvider


def main() -> int:
    """Read the distributions, write one JSON line a tool; exit code 2 when something cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m quelea_sandbox.registry", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument(
        "--from",
        dest="places",
        type=Path,
        action="append",
        default=[],
        help="a wheel, a folder of wheels or a site folder; without any, this environment's packages",
    )
    parser.add_argument("--openapi", type=Path, action="append", default=[], help="an OpenAPI 3 document, as JSON")
    parser.add_argument("--openapi-category", choices=CATEGORIES, default="Other", help="of operations that name none")
    parser.add_argument("--openapi-server", default="", help="base URL, where the document names none")
    asked = parser.parse_args()
    places = tuple(asked.places)
    try:
        providers: list[ToolProvider] = [
            AkshareProvider(places),
            CuratedProvider("yfinance", places),
            CuratedProvider("edgartools", places),
            *(
                OpenApiProvider.from_file(path, category=asked.openapi_category, server=asked.openapi_server)
                for path in asked.openapi
            ),
        ]
        catalogue = collect(providers)
        catalogue.write(asked.out)
    except QueleaError as error:
        sys.stderr.write(f"registry: {error.message}\n")
        return 2
    counts = Counter(spec.category for spec in catalogue.tools)
    shown = ", ".join(f"{category} {counts[category]}" for category in catalogue.categories)
    sys.stdout.write(f"{asked.out}: {len(catalogue.tools)} tools ({shown}), version {catalogue.version}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
