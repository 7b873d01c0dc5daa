"""What the commands print: for people on a terminal, plain text in a pipe, JSON when asked for."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.text import Text

Json = dict[str, Any]

QUOTE_SHOWN = 400
FURTHER_SHOWN = 5
PROBLEMS_SHOWN = 3
_DOUBTS = {"contradicted": "contradicted", "not_found": "not found"}
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and newline, and marks that turn the direction of text around."""


def consoles() -> tuple[Console, Console]:
    """(standard output, standard error). Rich leaves out colours by itself when they are no terminal."""
    return Console(highlight=False), Console(stderr=True, highlight=False)


def documents_of(count: int) -> str:
    """ "1 document", "2 documents"."""
    return f"{count} document{'' if count == 1 else 's'}"


def say(console: Console, text: str = "", style: str = "", end: str = "\n") -> None:
    """Text as it is: no markup is read from it, no terminal steered by it; in a pipe not even a tab is touched."""
    if console.is_terminal:
        console.print(Text(_STEERING.sub("", text), style=style), end=end)
    else:
        console.file.write(text + end)
        console.file.flush()


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def source_line(item: Json) -> str:
    """ "Apple 10-Q FY2023 Q3 · p. 4 · 2023-08-04", of what is known; of the web also when it was fetched."""
    title = item.get("title") or item.get("uri") or item.get("document_id", "")
    period = item.get("period") or ""
    published = item.get("published") or ""
    web = item.get("source") == "web"
    parts = [title, "" if period in title else period, f"p. {item.get('page', 1)}", "" if web else published]
    line = " · ".join(str(part) for part in parts if part)
    if not web:
        return line
    fetched = minute(item.get("fetched"))
    return f"{line} (web, published {published or 'unknown'}{f', fetched {fetched}' if fetched else ''})"


def minute(moment: str | None) -> str:
    """ "2026-11-22 01:02" of RFC 3339; empty for none."""
    return (moment or "")[:16].replace("T", " ")


def shorten(text: str, limit: int = QUOTE_SHOWN) -> str:
    """On one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def show_reading(console: Console, reading: Json | None) -> None:
    """The line "reading: …", and what was done when the filing asked for is not there."""
    if reading and reading.get("text"):
        say(console, f"reading: {reading['text']}", "dim")
    if reading and reading.get("fallback"):
        say(console, f"note: {reading['fallback']}", "yellow")


def show_standalone(console: Console, item: Json) -> None:
    """The line "asked: …" of a follow-up, what it was understood to mean; "searched: …" for each planned search."""
    if made := item.get("standalone"):
        say(console, f"asked: {made['question']}", "dim")
    for search in item.get("searches") or ():
        say(console, f"searched: {search}", "dim")


def route_line(item: Json) -> str:
    """The way an answer took and why, in one line; empty where it is not told."""
    gate = item.get("gate")
    if not gate or not item.get("route"):
        return ""
    line = f"route: {item['route']}"
    if gate.get("kind") not in ("", "none", None):
        sign = "≥" if gate["passed"] else "<"
        verdict = "local evidence is enough" if gate["passed"] else "local evidence is not enough"
        line += f" · {verdict} ({gate['kind']} {gate['probability']:.2f} {sign} {gate['threshold']:.2f})"
    reasons = "; ".join(gate.get("reasons") or [])
    return f"{line} · {reasons}" if reasons else line


def show_route(console: Console, item: Json) -> None:
    """The line "route: …" of a stream's start or of an answer."""
    if line := route_line(item):
        say(console, line, "dim")


def show_web(console: Console, answer: Json) -> None:
    """What the web route did: pages read, what was kept or waits, what failed."""
    web = answer.get("web")
    if not web:
        return
    say(console)
    cached = ", results from the cache" if web.get("cached") else ""
    say(console, f"web: {web.get('provider') or 'no provider'}, {web.get('pages_read', 0)} pages read{cached}", "dim")
    for page in web.get("kept", []):
        job = f" (job {page['job_id']})" if page.get("job_id") else ""
        waits = "; `quelea docs approve URL` lets it in" if page["state"] == "pending" else ""
        say(console, f"  {page['state']}: {page['url']}{job}{waits}", "dim")
    problems = web.get("problems", [])
    for problem in problems[:PROBLEMS_SHOWN]:
        say(console, f"note: web: {problem}", "yellow")
    if len(problems) > PROBLEMS_SHOWN:
        say(console, f"note: web: and {len(problems) - PROBLEMS_SHOWN} more; --json has them all", "yellow")


def show_grounding(console: Console, grounding: Json) -> None:
    """Computed figures with their formulas, contradicted and unfound sentences, and what strict mode withheld."""
    derived = {f"{one['text']} {one['formula']}" for one in grounding.get("figures", []) if one["verdict"] == "derived"}
    for line in sorted(derived):
        say(console, f"computed: {line}", "dim")
    for sentence in grounding.get("sentences", []):
        if sentence["verdict"] in _DOUBTS:
            say(console, f"{_DOUBTS[sentence['verdict']]}: {shorten(sentence['text'])}", "yellow")
    for text in grounding.get("withheld", []):
        say(console, f"withheld: {shorten(text)}", "yellow")


def show_sources(console: Console, answer: Json, page_url: Callable[[Json], str]) -> None:
    """Citations, further reading, the web, verdicts, notices, failed checks and timings of an answer."""
    for citation in answer.get("citations", []):
        say(console, f"[{citation['number']}] {source_line(citation)}", "bold cyan")
        say(console, f"    “{shorten(citation['quote'])}”")
        say(console, f"    {page_url(citation)}", "dim")
        if citation.get("source") == "web" and citation.get("uri"):
            say(console, f"    {citation['uri']}", "dim")
    further = answer.get("further_reading", [])
    if further:
        say(console)
        say(console, "Further reading", "bold")
        for item in further[:FURTHER_SHOWN]:
            say(console, f"  · {source_line(item)}  {page_url(item)}", "dim")
        if len(further) > FURTHER_SHOWN:
            say(console, f"  and {len(further) - FURTHER_SHOWN} more; --json has them all", "dim")
    show_web(console, answer)
    show_grounding(console, answer.get("grounding") or {})
    fallback = (answer.get("reading") or {}).get("fallback")
    declined = answer.get("declined")
    if declined:
        say(console, f"declined ({declined['reason']}): {declined['detail']}", "yellow")
    for notice in answer.get("notices", []):
        if notice not in (fallback, declined and declined["detail"]):  # shown with the reading already
            say(console, f"note: {notice}", "yellow")
    for check in answer.get("checks", []):
        if not check.get("passed", True) and not declined:
            say(console, f"check failed: {check['name']}: {check.get('detail', '')}", "red")
    say(console)
    say(console, closing_line(answer), "dim")


def closing_line(answer: Json) -> str:
    """Route, reader, date and times of an answer."""
    timings = {name: value for name, value in (answer.get("timings") or {}).items() if isinstance(value, int | float)}
    total = timings.pop("total_ms", timings.pop("total", None))
    stages = ", ".join(f"{name.removesuffix('_ms')} {value:.0f}" for name, value in timings.items())
    parts = [
        f"reader {answer.get('reader', '?')}",
        f"route {answer.get('route', '?')}",
        f"as of {answer.get('as_of', '?')}",
        f"{total:.0f} ms" if total is not None else "",
    ]
    line = " · ".join(part for part in parts if part)
    return f"{line} ({stages})" if stages else line
