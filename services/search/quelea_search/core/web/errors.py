"""Why a page was not read. Each message is one sentence: what is wrong and what to do.

PageError
├── BadUrl            BAD_URL          not an address of a web page as RFC 3986 writes it
├── RefusedAddress    REFUSED_ADDRESS  a host, port or address that is never read
├── RefusedByRobots   ROBOTS           the site's robots.txt asks not to, or cannot be had
├── TooManyRedirects  REDIRECTS        more than the limit, or in a circle
├── PageGone          GONE             404 or 410
├── BadStatus         STATUS           any other status that brings no page
├── WrongType         WRONG_TYPE       a media type that is not read here
├── PageTooLarge      TOO_LARGE        over the limit of unpacked bytes
├── PageTimeout       TIMEOUT          not there within the deadline
└── FetchFailed       FETCH_FAILED     no connection, or one that broke off
"""

from __future__ import annotations

from typing import ClassVar

from quelea_kit.errors import (
    DeadlineExceeded,
    InvalidInput,
    NotFound,
    PermissionDenied,
    QueleaError,
    TooLarge,
    Unavailable,
)

from quelea_search.core import errors

__all__ = [
    "BadStatus",
    "BadUrl",
    "FetchFailed",
    "PageError",
    "PageGone",
    "PageTimeout",
    "PageTooLarge",
    "RefusedAddress",
    "RefusedByRobots",
    "TooManyRedirects",
    "WrongType",
]


class PageError(QueleaError):
    """Base of everything that keeps a page from being read."""

    reason: ClassVar[str] = "PAGE"


class BadUrl(PageError, InvalidInput):
    """Not an address of a web page."""

    reason: ClassVar[str] = "BAD_URL"


class RefusedAddress(PageError, PermissionDenied):
    """A host, port or address that is never read."""

    reason: ClassVar[str] = "REFUSED_ADDRESS"


class RefusedByRobots(PageError, PermissionDenied):
    """The site's robots.txt asks not to read the page, or cannot be had."""

    reason: ClassVar[str] = "ROBOTS"


class TooManyRedirects(PageError, InvalidInput):
    """More redirects than the limit, or a circle of them."""

    reason: ClassVar[str] = "REDIRECTS"


class PageGone(PageError, NotFound):
    """The server says that there is no such page (404) or no longer (410)."""

    reason: ClassVar[str] = "GONE"


class BadStatus(PageError, Unavailable):
    """A status that brings no page; details has it as "status"."""

    reason: ClassVar[str] = "STATUS"


class WrongType(PageError, errors.WrongType):
    """A media type that is not read here."""

    reason: ClassVar[str] = "WRONG_TYPE"


class PageTooLarge(PageError, TooLarge):
    """The page is larger than the limit, unpacked."""

    reason: ClassVar[str] = "TOO_LARGE"


class PageTimeout(PageError, DeadlineExceeded):
    """The page was not there within its deadline."""

    reason: ClassVar[str] = "TIMEOUT"


class FetchFailed(PageError, Unavailable):
    """No connection, or one that broke off before the page began."""

    reason: ClassVar[str] = "FETCH_FAILED"
