"""What a text cites, as chat front-ends read it: OpenAI's url_citation, and the source events of Open WebUI.

Open WebUI (0.12.4, `utils/middleware.py`) hands the field `event` of a chunk on to its page, where [n] is the n-th of
the sources that came, told apart by their names and their `metadata.source`; it shows their `document`, which is where
quotes belong. It makes such sources of url_citation too, with the title in the place of the quote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fastapi import Request

from quelea_gateway.core.answers.citations import of_mark
from quelea_gateway.core.grounding import marks
from quelea_gateway.core.model import Citation
from quelea_gateway.rest.knowledge_base.documents import page_url

_OPEN_WEBUI = "x-openwebui-"
"""How its headers begin; it sends them with ENABLE_FORWARD_USER_INFO_HEADERS=true."""


def is_open_webui(request: Request) -> bool:
    """The caller says that it is Open WebUI, which makes sources of annotations: it would show each twice."""
    return any(name.lower().startswith(_OPEN_WEBUI) for name in request.headers)


def url_citations(content: str, citations: Sequence[Citation], base: str) -> list[dict[str, Any]]:
    """A url_citation for every marker [n] of the content: its place, and the page on which the citation opens."""
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "url": page_url(base, citation),
                "title": citation.title,
                "start_index": mark.start,
                "end_index": mark.end,
            },
        }
        for mark, citation in of_mark(content, tuple(citations))
    ]


def source_events(
    content: str, citations: Sequence[Citation], shown: Mapping[int, Citation], base: str
) -> Iterator[dict[str, Any]]:
    """Of each number that the content cites, from 1 on, the event that has its source with its quotes.

    Args:
        content: The text, its passages numbered in the order in which it cites them.
        citations: Of the checked answer.
        shown: Number -> the passage as it was streamed, for a marker that the checks took away.
        base: The gateway's address.
    """
    cited = {mark.number for mark in marks(content)}
    names: set[str] = set()
    for number in range(1, max(cited, default=0) + 1):
        found = [one for one in citations if one.number == number] or [one for n, one in shown.items() if n == number]
        if not found:
            return  # of no passage: what comes after it would be taken for it
        yield _event(found, number, names, base)


def _event(found: Sequence[Citation], number: int, names: set[str], base: str) -> dict[str, Any]:
    first, address = found[0], page_url(base, found[0])
    name = " · ".join(part for part in (first.title or first.uri, f"p. {first.page}") if part)
    if name in names:  # another passage of the same page
        name = f"{name} · {number}"
    names.add(name)
    quotes = list(dict.fromkeys(one.quote for one in found))
    about = {
        "document_id": first.document_id,
        "page": first.page,
        "published": first.published,
        "company": first.company,
        "period": first.period,
        "uri": first.uri,
    }
    return source_event(name, address, quotes, about)


def source_event(name: str, address: str, texts: Sequence[str], about: Mapping[str, Any]) -> dict[str, Any]:
    """One source. No other of the message may have its name or its address."""
    metadata = {"source": address, "source_url": address, "name": name, **about}
    if page := metadata.pop("page", 0):
        metadata["page"] = page - 1  # Open WebUI counts pages from 0, and shows one more
    return {
        "type": "source",
        "data": {
            "source": {"id": address, "name": name, "url": address},
            "document": list(texts),
            "metadata": [metadata] * len(texts),
        },
    }
