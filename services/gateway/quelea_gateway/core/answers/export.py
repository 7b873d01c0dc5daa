"""An answer with its sources as Markdown, for a note or a mail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from quelea_fintext.notices import sentences

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]+`)", re.DOTALL)
_WEB = re.compile(r"https?://[^\s<>]+")

Link = Callable[[Mapping[str, Any]], str]
"""Where a citation opens."""


def markdown(question: str, answer: Mapping[str, Any], link: Link) -> str:
    """The answer, its figures' formulas, its sources with their quotes, notices, checks, record; ends with a newline.

    Args:
        question: As it was asked.
        answer: As POST /v1/ask gives it.
        link: Gives the address of a citation's page.

    What comes from documents stays text: nothing of it is read as Markdown or HTML. The answer's own Markdown is kept,
    its HTML is not.
    """
    say = Words(answer["language"])
    route = str(answer["route"])
    facts = [say("as_of", answer["as_of"]), say("route", route), say("reader", answer["model"] or answer["reader"])]
    blocks = [heading(question), _own(answer["answer"]), f"_{' · '.join(map(_plain, facts))}_"]
    before: list[str] = []
    after: list[str] = []
    for title, lines in remarks(answer, say):
        (after if title in (say("notices"), say("checks")) else before).extend(_list(title, map(_plain, lines)))
    blocks += before
    if answer["citations"]:
        blocks.append(f"## {say('sources')}")
        blocks += [_source(citation, say, link(citation)) for citation in once(answer["citations"])]
    if answer["declined"]:
        further = (_head(one, say, link(one)) for one in answer["further_reading"])
        blocks += _list(say("further"), further)
    blocks += after
    blocks += _list(say("record"), map(_plain, record(answer, say)))
    return "\n\n".join(blocks) + "\n"


def heading(text: str) -> str:
    """A heading of Markdown; the text stays text."""
    return f"# {_plain(' '.join(text.split()))}"


class Words:
    """The exports' own words, in the language of an answer."""

    def __init__(self, language: str) -> None:
        self._texts = sentences("export", language)

    def __call__(self, name: str, *values: object) -> str:
        """A text with its values."""
        return self._texts[name].format(*values)


def _list(title: str, lines: Iterator[str] | Sequence[str]) -> list[str]:
    items = [f"- {line}" for line in lines]
    return [f"## {title}", "\n".join(items)] if items else []


def remarks(answer: Mapping[str, Any], say: Words) -> Iterator[tuple[str, list[str]]]:
    """What there is to say of an answer beside its text, each with its heading: figures that were computed, that the
    evidence contradicts or does not have, sentences that were withheld, notices, checks."""
    found = answer.get("grounding") or {"figures": [], "withheld": []}
    derived = [f"{one['text']} {one['formula']}" for one in found["figures"] if one["verdict"] == "derived"]
    doubted = {
        verdict: list(dict.fromkeys(one["text"] for one in found["figures"] if one["verdict"] == verdict))
        for verdict in ("contradicted", "not_found")
    }
    checks = [
        f"{one['name']}: {say('passed' if one['passed'] else 'failed')} ({one['detail']})" for one in answer["checks"]
    ]
    for name, lines in (
        ("derived", derived),
        *doubted.items(),
        ("withheld", [" ".join(text.split()) for text in found["withheld"]]),
        ("notices", list(answer["notices"])),
        ("checks", checks),
    ):
        if lines:
            yield say(name), lines


def once(citations: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Each source once: in an answer one stands for each of its markers."""
    return list({(c["number"], c["document_id"], c["page"], c["start"], c["end"]): c for c in citations}.values())


def record(answer: Mapping[str, Any], say: Words) -> Iterator[str]:
    """What is needed to ask again and get the same, or to see why not."""
    if answer.get("standalone"):
        yield say("understood", answer["standalone"]["question"])
    if answer["reading"]["text"]:
        yield say("reading", answer["reading"]["text"])
    if answer["prompt_version"]:
        yield say("written", answer["model"], answer["prompt_version"])
    gate = answer["gate"]
    yield say("gate", gate["kind"], gate["probability"], gate["threshold"])
    places: dict[str, list[str]] = {}
    for one in answer.get("evidence", ()):
        place = f"[{one['number']}] {say('page', one['page'])} ({one['start']}–{one['end']})"
        places.setdefault(one["document_id"], []).append(place)
    for document, shown in places.items():
        yield say("shown", document, ", ".join(shown))


def place(citation: Mapping[str, Any], say: Words) -> list[str]:
    """Page and days of a source."""
    parts = [say("page", citation["page"])]
    parts += [say("published", citation["published"])] if citation["published"] else []
    parts += [say("scanned")] if citation.get("scanned") else []
    parts += [say("fetched", citation["fetched"][:10])] if citation["fetched"] else []
    return parts


def web_address(citation: Mapping[str, Any]) -> str:
    """A source's address in the web; empty where it has none."""
    return str(citation["uri"]) if _WEB.fullmatch(citation["uri"]) else ""


def _head(citation: Mapping[str, Any], say: Words, address: str) -> str:
    title = _plain(" ".join((citation["title"] or citation["uri"]).split()))
    return f"[{title}](<{_address(address)}>), {_plain(', '.join(place(citation, say)))}"


def _source(citation: Mapping[str, Any], say: Words, address: str) -> str:
    lines = [f"**\\[{citation['number']}\\]** {_head(citation, say, address)}"]
    if address := web_address(citation):
        code = f"`{address.replace('`', '%60')}`"  # in code nothing becomes a link
        lines[0] += f", <{address}>" if citation.get("from_web") else f", {say('stated', code)}"
    lines += [f"> {_plain(line)}" for line in citation["quote"].split("\n")]
    return "\n".join((lines[0], "", *lines[1:]))


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _address(address: str) -> str:
    return address.replace("<", "%3C").replace(">", "%3E").replace("\n", "")


def _own(text: str) -> str:
    """The answer's text: its Markdown stays, but tags are shown as they are."""
    pieces = _CODE.split(text.strip())
    return "".join(piece if index % 2 else piece.replace("<", "\\<") for index, piece in enumerate(pieces))
