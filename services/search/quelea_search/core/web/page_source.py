"""How the bytes of a page came, kept with the job that brings them in, so that no second fetch is needed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from quelea_search.core.records import decode_fields
from quelea_search.core.web.model import Fetched, Validators


@dataclass(frozen=True, slots=True)
class PageSource:
    """What parse_web_page has to know beside the bytes, and what the page's record says of them."""

    url: str
    final_url: str
    canonical_url: str
    media_type: str
    charset: str
    fetched: float
    """Seconds since 1970."""
    status: int = 200
    etag: str = ""
    last_modified: str = ""
    title: str = ""
    """What the provider said, used when the page does not say."""
    published: str = ""
    """Likewise, YYYY-MM-DD."""

    def with_bytes(self, data: bytes) -> Fetched:
        """The page as it came."""
        return Fetched(
            url=self.url,
            final_url=self.final_url,
            canonical_url=self.canonical_url,
            status=self.status,
            media_type=self.media_type,
            charset=self.charset,
            data=data,
            fetched=self.fetched,
            validators=Validators(self.etag, self.last_modified),
        )


def source_of(page: Fetched) -> PageSource:
    """Of a page that was just fetched."""
    return PageSource(
        url=page.url,
        final_url=page.final_url,
        canonical_url=page.canonical_url,
        media_type=page.media_type,
        charset=page.charset,
        fetched=page.fetched,
        status=page.status,
        etag=page.validators.etag,
        last_modified=page.validators.last_modified,
    )


def decode(text: str) -> PageSource:
    """What `records.encode` made of one."""
    return PageSource(**decode_fields(PageSource, text))


def provisional_id(canonical_url: str) -> str:
    """The document id of a page whose bytes are not known yet, 32 hexadecimal digits."""
    return hashlib.sha256(f"page {canonical_url}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def name_of(url: str) -> str:
    """A file name to show for an address: its last part, else its host."""
    parts = urlsplit(url)
    last = unquote(parts.path.rstrip("/").rpartition("/")[2])
    name = "".join(c for c in last if c.isprintable() and c not in "/\\").strip(". ")
    return (name or parts.hostname or "page")[:255]
