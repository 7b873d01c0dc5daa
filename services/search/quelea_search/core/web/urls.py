"""Addresses of web pages: one strict parser for everything that asks, fetches, compares or stores them.

There is only this one parser, so that no two readers of an address can disagree about its host (the root of most
tricks against address checks). What RFC 3986 forbids is refused; what it calls equal becomes equal (section 6).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from urllib.parse import urljoin

from quelea_search.core.web.addresses import parse_loose_ipv4
from quelea_search.core.web.errors import BadUrl

LONGEST = 4096
"""Characters of an address; browsers and servers give up at about 8,000."""
DEFAULT_PORTS = {"http": 80, "https": 443}

_START = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.I | re.S)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})|%")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH = _UNRESERVED | frozenset("!$&'()*+,;=:@/%")
_QUERY = _PATH | frozenset("?")
_SESSION = re.compile(r";jsessionid=[^/?;]*", re.I)
_TRACKING = re.compile(
    r"(?:utm_\w+|mtm_\w+|hsa_\w+|oly_\w+|vero_\w+|at_(?:medium|campaign)|[gdw]clid|gclsrc|[gw]braid|fbclid|msclkid|yclid"
    r"|twclid|ttclid|igshid|mc_[ce]id|mkt_tok|_ga|_gl|_hsenc|_hsmi|__twitter_impression|cmpid|ref_src|ref_url|guccounter"
    r"|guce_referrer(?:_sig)?|spm|scm|isappinstalled|share_token|xtor)",
    re.I,
)
_SHARED_FROM = frozenset("singlemessage groupmessage timeline rss feed app wechat weixin share".split())
"""Values of from= that say how a reader came; others may choose the page, as in from=USD."""


@dataclass(frozen=True, slots=True)
class WebUrl:
    """An address in normal form, without user and fragment."""

    scheme: str
    """ "http" or "https"."""
    host: str
    """Lower case ASCII (IDNA), an IPv4 address as four decimals, or an IPv6 address without brackets."""
    port: int
    path: str
    """Begins with "/"."""
    query: str
    """Without the "?"; empty where there is none."""

    @property
    def netloc(self) -> str:
        """Host with its port unless that is the scheme's own: what stands in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme and netloc: "https://example.com"."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def target(self) -> str:
        """Path and query: what stands in the request line."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def __str__(self) -> str:
        return self.origin + self.target


def parse_url(url: str, longest: int = LONGEST) -> WebUrl:
    """Read an address.

    Args:
        url: As written.
        longest: Characters that it may have.

    Raises:
        BadUrl: It is not http or https, or holds what no address of a page holds (a user, control characters,
            backslashes, an impossible port or host); the message says which.
    """
    text = url.strip(" ")
    if len(text) > longest:
        raise BadUrl(f"The address is longer than {longest:,} characters; use a shorter one.")
    if "\\" in text or any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text):
        raise BadUrl("The address has a backslash or control characters; copy it from the browser.")
    match = _START.fullmatch(text)
    if match is None:
        raise BadUrl(f"{_shorten(text)} is not an http or https address.")
    scheme, authority = match[1].lower(), match[2]
    if "@" in unicodedata.normalize("NFKC", authority):
        raise BadUrl("The address has a user name or password; remove the part before the @.")
    host, port = _host_and_port(authority)
    return WebUrl(
        scheme,
        host,
        port or DEFAULT_PORTS[scheme],
        _without_dots(_encode(match[3], _PATH)) or "/",
        _encode(match[4] or "", _QUERY),
    )


def join_url(base: WebUrl, location: str) -> WebUrl:
    """The address that a redirect or a link leads to. Raises BadUrl like `parse_url`."""
    if "\\" in location or any(unicodedata.category(c) == "Cc" for c in location):
        raise BadUrl("The page redirects to an address with a backslash or control characters.")
    try:
        return parse_url(urljoin(str(base), location.strip(" ")))
    except ValueError as error:  # urljoin on unbalanced brackets
        raise BadUrl(f"The page redirects to {_shorten(location)}, which is not an http or https address.") from error


def canonical(url: str) -> str:
    """The address by which a page is known: normal form, without fragment, session and tracking parameters.

    The order of parameters stays, since servers may heed it. Raises BadUrl.
    """
    parsed = parse_url(url)
    kept = [part for part in parsed.query.split("&") if part and not _is_tracking(part)]
    return str(WebUrl(parsed.scheme, parsed.host, parsed.port, _SESSION.sub("", parsed.path), "&".join(kept)))


def host_of(url: str) -> str:
    """The host in normal form, without port. Raises BadUrl."""
    return parse_url(url).host


def host_matches(host: str, patterns: Sequence[str]) -> bool:
    """Whether a host is one of the patterns or below one: "sec.gov" covers "www.sec.gov", not "notsec.gov".

    "*.sec.gov" and ".sec.gov" mean the same as "sec.gov". An IP address matches only itself.
    """
    own = host.lower().rstrip(".")
    numeric = ":" in own or own.rpartition(".")[2].isdigit()
    for pattern in patterns:
        name = pattern.strip().lower().removeprefix("*").strip(".")
        if name and (own == name or (not numeric and own.endswith(f".{name}"))):
            return True
    return False


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


def _is_tracking(part: str) -> bool:
    name, _, value = part.partition("=")
    if name.lower() == "from":
        return value.lower() in _SHARED_FROM
    return _TRACKING.fullmatch(name) is not None


def _host_and_port(authority: str) -> tuple[str, int]:
    if authority.startswith("["):
        inside, bracket, after = authority[1:].partition("]")
        if not bracket or (after and not after.startswith(":")) or "%" in inside:
            raise BadUrl(f"{_shorten(authority)} is not a valid host name.")
        try:
            return str(IPv6Address(inside)), _port(after[1:])
        except AddressValueError as error:
            raise BadUrl(f"{_shorten(authority)} is not a valid host name.") from error
    name, _, port = authority.partition(":")
    return _host(name), _port(port)


def _port(text: str) -> int:
    """0 where there is none."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536):
        raise BadUrl(f"{_shorten(text)} is not a valid port; use 1 to 65535.")
    return int(text)


def _host(name: str) -> str:
    # NFKC makes full-width letters and dots and enclosed digits plain, as resolvers and browsers do (UTS 46), and is
    # done before anything is looked at; twice, since lower-casing can undo the form.
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).lower()).replace("。", ".")
    plain = plain.removesuffix(".")
    labels = plain.split(".")
    if not plain or len(plain) > 253 or not all(labels):
        raise BadUrl(f"{_shorten(name)} is not a valid host name.")
    try:
        host = ".".join(_ascii_label(label) for label in labels)
        address = parse_loose_ipv4(host)
    except ValueError as error:
        raise BadUrl(f"{_shorten(name)} is not a valid host name.") from error
    if len(host) > 253:
        raise BadUrl(f"{_shorten(name)} is not a valid host name.")
    return str(address) if address is not None else host


def _ascii_label(label: str) -> str:
    """A label as the DNS has it; raises ValueError for characters that no host has.

    The stricter part of IDNA 2008: letters, marks and digits only. Unlike the standard library's codec (IDNA 2003) it
    keeps ß and ς, as browsers do.
    """
    if label.isascii():
        written = label
    else:
        if any(unicodedata.category(c)[0] not in "LMN" and c != "-" for c in label):
            raise ValueError(label)
        written = "xn--" + label.encode("punycode").decode("ascii").lower()
    if _LABEL.fullmatch(written) is None:
        raise ValueError(label)
    return written


def _encode(text: str, allowed: frozenset[str]) -> str:
    """Percent-encoding in its one form: unreserved characters bare, hexadecimal digits in upper case."""

    def settle(match: re.Match[str]) -> str:
        if match[1] is None:
            return "%25"
        character = chr(int(match[1], 16))
        return character if character in _UNRESERVED else f"%{match[1].upper()}"

    said = _PERCENT.sub(settle, text)
    return "".join(c if c in allowed else "".join(f"%{byte:02X}" for byte in c.encode()) for c in said)


def _without_dots(path: str) -> str:
    """RFC 3986, 5.2.4, for an absolute path."""
    if not path:
        return ""
    kept: list[str] = []
    parts = path.split("/")[1:]
    for part in parts:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    if parts[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)
