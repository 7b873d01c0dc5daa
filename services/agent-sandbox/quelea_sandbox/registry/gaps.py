"""What akshare's own registry lacks: headings, sample tables, columns, hosts; packaged as akshare_gaps.jsonl.gz.

`python -m quelea_sandbox.registry.gaps REGISTRY.json HOSTS.json` makes the file anew from a registry of akshare's
documentation (`doc_path`, `sample`) and from the hosts that its source names (`hosts`: functions by host). The texts
are akshare's, under the MIT licence beside the file.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from quelea_sandbox.registry.model import SAMPLE_CHARS

FILE = "akshare_gaps.jsonl.gz"
_ROWS = 6
_ROW_CHARS = 240
_HEADING_CHARS = 24
_ELLIPSIS = "..."


@dataclass(frozen=True)
class Gap:
    """What is added to one function."""

    path: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    sample: str = ""
    hosts: tuple[str, ...] = ()


@cache
def load_gaps() -> Mapping[str, Gap]:
    """The packaged gaps, by function."""
    data = resources.files("quelea_sandbox.registry").joinpath(FILE).read_bytes()
    found = {}
    for line in gzip.decompress(data).decode().splitlines():
        one = json.loads(line)
        found[one["name"]] = Gap(tuple(one["path"]), tuple(one["columns"]), one["sample"], tuple(one["hosts"]))
    return found


def heading(text: str) -> str:
    """A heading without links; empty when it is a remark that was formatted as a heading."""
    plain = re.sub(r"\[[^\]\[]*\]\([^()]*\)", "", text).replace("*", "").strip()
    return "" if len(plain) > _HEADING_CHARS or plain.startswith("注意") else plain


def columns_of(sample: str) -> tuple[str, ...]:
    """Column names of a printed table, as far as its first line shows them."""
    lines = [line for line in sample.splitlines() if line.strip()]
    return tuple(word for word in lines[0].split() if word != _ELLIPSIS) if len(lines) > 1 else ()


def head_of(sample: str) -> str:
    """The first rows of a printed table."""
    lines = [line.rstrip()[:_ROW_CHARS] for line in sample.splitlines() if line.strip()]
    return "\n".join(lines[:_ROWS])[:SAMPLE_CHARS]


def make(registry: list[dict[str, Any]], by_host: Mapping[str, list[str]]) -> bytes:
    """The file's bytes; the same input gives the same bytes."""
    hosts: dict[str, list[str]] = defaultdict(list)
    for host, names in by_host.items():
        for name in names:
            hosts[name].append(host)
    lines = []
    for one in sorted(registry, key=lambda entry: str(entry["name"])):
        shown = urlsplit(str(one.get("url", ""))).hostname
        asked = sorted(hosts[one["name"]], key=lambda host: (host == shown, host))  # the page to read comes last
        sample = str(one.get("sample") or "")
        gap = {
            "name": one["name"],
            "path": [kept for part in one.get("doc_path", ()) if (kept := heading(str(part)))],
            "columns": [] if one.get("outputs") else list(columns_of(sample)),
            "sample": head_of(sample),
            "hosts": asked,
        }
        lines.append(json.dumps(gap, ensure_ascii=False, sort_keys=True))
    return gzip.compress("\n".join(lines).encode(), 9, mtime=0)


def main() -> None:
    """Make the packaged file."""
    registry, hosts = (json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:3])
    Path(__file__).with_name(FILE).write_bytes(make(registry, hosts["hosts"]))


if __name__ == "__main__":
    main()
