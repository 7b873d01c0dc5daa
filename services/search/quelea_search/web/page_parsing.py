"""Parses a fetched page as a worker parses a file, and adds what only web pages have."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from quelea_fintext.instructions import reads_like_instructions

from quelea_search.adapters.formats import parse
from quelea_search.adapters.web.page_facts import page_facts
from quelea_search.adapters.web.page_text import decode_page
from quelea_search.core.chunk import chunk
from quelea_search.core.errors import EmptyDocument
from quelea_search.core.media_types import SUFFIXES, sniff
from quelea_search.core.metadata.read import read_metadata
from quelea_search.core.model import DocumentFacts, LineKind, ParsedDocument, ParseLimits
from quelea_search.core.web.dates import FIRST_LINES, plausible, text_date, url_date
from quelea_search.core.web.facts import (
    FILING_TYPES,
    FORMS,
    PageFacts,
    has_cover,
    is_barrier,
    is_told,
    page_kind,
    page_title,
    without_site,
)
from quelea_search.core.web.model import Fetched, WebDocument
from quelea_search.core.web.urls import host_of

_NAME = re.compile(r"[^\w.-]+")
_NAME_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class _Dated:
    day: str
    source: str


def parse_web_page(
    fetched: Fetched, limits: ParseLimits, *, title: str = "", published: str = "", today: str
) -> WebDocument:
    """Read a page. Blocks and uses the processor: call it in a thread or a process of its own.

    Args:
        fetched: What the page reader brought, with its bytes.
        limits: What is refused.
        title: As the provider's list has it; used when the page says none.
        published: Likewise, YYYY-MM-DD.
        today: YYYY-MM-DD; no page is published after it.

    Raises:
        quelea_search.core.errors.*: Why the page cannot be read, in one sentence.
    """
    if fetched.not_modified:
        raise ValueError("a page that has not changed comes without bytes; read the version that is stored")
    media_type = sniff("" if fetched.data[:1024].find(b"%PDF-") >= 0 else fetched.media_type, fetched.data[:1024])
    filename = _filename(fetched.final_url, media_type)
    host = host_of(fetched.final_url)
    data, markup = fetched.data, PageFacts()
    if not filename.endswith(".pdf"):
        text = decode_page(fetched.data, fetched.charset)
        if text is not None:
            # With a byte order mark the parsers need not guess again what the server has said.
            data = b"\xef\xbb\xbf" + text.encode("utf-8", "replace")
            if filename.endswith(".html"):
                markup = page_facts(text)
    parsed = parse(data, filename, limits=limits, on_progress=lambda _done, _total: None)
    if is_barrier((markup.title, markup.heading), sum(len(page.text) for page in parsed.pages)):
        raise EmptyDocument("The site shows a captcha or consent screen instead of the page.")
    own = page_title(markup, host) or parsed.stated.get("title", "") or without_site(title, "", host)
    said = {key: value for key, value in parsed.stated.items() if key not in ("title", "published")}
    day = plausible(markup.published or parsed.stated.get("published", ""), today)
    said |= {key: value for key, value in (("title", own), ("published", day)) if value}
    parsed = replace(parsed, stated=said)
    facts = read_metadata(parsed, filename, None)
    dated_path = bool(url_date(fetched.final_url))
    is_form = facts.document_type in FORMS and has_cover(parsed.pages[0].text)
    if (
        facts.document_type in FORMS
        and not is_form
        and is_told(fetched.final_url, host, is_article=markup.is_article, dated_path=dated_path)
    ):  # news that only mentions a form: "see our Form 10-K"
        facts = read_metadata(replace(parsed, stated={**said, "document_type": "news"}), filename, None)
    dated = _find_date(parsed, facts, day, fetched, published, today)
    kind = "filing"
    if not is_form:
        kind = page_kind(
            fetched.final_url,
            host,
            facts.document_type,
            published=dated.day,
            is_article=markup.is_article,
            dated_path=dated_path,
        )
    chunks = tuple(chunk(parsed))
    if not chunks:
        raise EmptyDocument("The page contains no text that can be searched.")
    return WebDocument(
        document_id=hashlib.sha256(fetched.data).hexdigest()[:32],
        filename=filename,
        parsed=parsed,
        chunks=chunks,
        facts=replace(
            facts, published=dated.day, document_type=facts.document_type or ("news" if kind == "news" else "")
        ),
        published_source=dated.source,
        kind=kind,
        suspicious=tuple(piece.ordinal for piece in chunks if reads_like_instructions(piece.text)),
    )


def _find_date(
    parsed: ParsedDocument, facts: DocumentFacts, day: str, fetched: Fetched, provider: str, today: str
) -> _Dated:
    """The page's own statement, then its address, then its text, then the provider's list.

    A filing's signature and the provider come before its address, which mostly names the end of its period.
    """
    lines = parsed.pages[0].text.splitlines()
    # A heading may name a day without being published on it: "Results as of June 30, 2023".
    plain = [
        parsed.pages[0].text[line.start : line.end]
        for line in parsed.pages[0].lines[: 2 * FIRST_LINES]
        if line.kind is LineKind.TEXT
    ]
    in_url = url_date(fetched.final_url)
    in_text = facts.published or text_date(plain or lines)
    if facts.document_type in FILING_TYPES:
        if in_url == facts.period.end_date:
            in_url = ""
        signed = facts.published if facts.published != url_date(fetched.final_url) else ""
        rest = [_Dated(signed, "text"), _Dated(provider, "provider"), _Dated(in_url, "url")]
    else:
        rest = [_Dated(in_url, "url"), _Dated(in_text, "text"), _Dated(provider, "provider")]
    candidates = [_Dated(day, "page"), *rest]
    for candidate in candidates:
        if found := plausible(candidate.day, today):
            return _Dated(found, candidate.source)
    return _Dated("", "")


def _filename(url: str, media_type: str) -> str:
    """A name out of the address's last part, with the ending that tells the parsers the format."""
    parts = urlsplit(url)
    last = PurePosixPath(unquote(parts.path)).name
    suffix = SUFFIXES.get(media_type, ".html")
    for known in (*SUFFIXES.values(), ".htm", ".shtml", ".xhtml", ".php", ".aspx", ".asp", ".jsp"):
        last = last.removesuffix(known)
    name = _NAME.sub("-", last).strip("-.")[:_NAME_CHARACTERS] or (parts.hostname or "page")
    return f"{name}{suffix}"
