"""Read the audit log (docs/howto/audit-log.md).

python -m quelea_gateway.audit [--dir DIR] [--subject NAME] [--tenant NAME] [--act ACT] [--object ID] [--json] …
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quelea_kit.errors import QueleaError

from quelea_gateway.adapters.stores.audit_log import filter_entries, read
from quelea_gateway.core.callers.audit import Act

_FIELDS = ("subject", "tenant", "key", "act", "of", "object", "via", "outcome", "status", "request", "since", "until")
_HELP = {
    "object": "id of a document, run or job, or a company",
    "since": "from this time on, as 2026-11-27 or 2026-11-27T09:00",
    "until": "before this time",
    "act": ", ".join(Act),
}


def line_of(entry: Mapping[str, Any]) -> str:
    """An entry for a person, on one line."""
    if "unreadable" in entry:
        return f"! {entry['unreadable']}, line {entry['line']}: not readable; its gateway may have died while writing"
    if "missing" in entry:
        return f"! {entry['file']}, line {entry['line']}: {entry['missing']} entries before it are missing"
    objects = " ".join(
        f"{name}={','.join(one) if isinstance(one, list) else one}" for name, one in entry.get("objects", {}).items()
    )
    who = f"{entry.get('tenant', '-')}/{entry.get('subject', '-')}"
    what = f"{entry.get('act', '')} {entry.get('of', '')}".strip()
    said = (entry["at"][:19] + "Z", who, what, objects, entry.get("outcome", ""), str(entry.get("status", "")))
    return "  ".join(one for one in said if one)


def main(arguments: list[str] | None = None) -> int:
    """The command line; exit code 1 with a sentence on failure."""
    parser = argparse.ArgumentParser(prog="python -m quelea_gateway.audit", description="Read the audit log.")
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("QUELEA_GATEWAY_AUDIT_DIR") or "audit"))
    for name in _FIELDS:
        parser.add_argument(f"--{name}", default="", help=_HELP.get(name, "exactly this"))
    parser.add_argument("--last", type=int, default=0, metavar="N", help="the newest N only")
    parser.add_argument("--json", action="store_true", help="as JSON lines")
    given = parser.parse_args(arguments)
    wanted = {name: getattr(given, name) for name in _FIELDS}
    try:
        found = filter_entries(read(given.dir), **wanted)
        if given.last:
            found = iter(sorted(found, key=lambda entry: entry.get("at", ""))[-given.last :])
        for entry in found:
            sys.stdout.write((json.dumps(entry, ensure_ascii=False) if given.json else line_of(entry)) + "\n")
    except BrokenPipeError:
        return 0
    except (QueleaError, OSError) as error:
        sys.stderr.write(f"{error.message if isinstance(error, QueleaError) else error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
