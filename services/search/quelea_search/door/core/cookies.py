"""The cookies of one session: what upstreams set on the way, also between redirects. No session sees another's."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime

from quelea_search.core.web.urls import WebUrl, host_matches

_MOST = 200
_LONGEST = 4096
_PAIR = re.compile(r"\s{0,8}+([A-Za-z0-9!#$%&'*+.^_`|~-]{1,200})=([\x21\x23-\x3a\x3c-\x7e\" ]*)\s{0,8}+")


class CookieJar:
    """Cookies by the domain they are for; their paths are ignored, since the hosts here are APIs.

    Args:
        covers: Whether a domain lies within the allow-list; a cookie for a wider one ("com.cn") is for its host only.
        clock: Seconds since 1970.
    """

    def __init__(self, covers: Callable[[str], bool], clock: Callable[[], float] = time.time) -> None:
        self._covers = covers
        self._now = clock
        self._kept: dict[tuple[str, bool, str], tuple[str, bool]] = {}

    def store(self, url: WebUrl, headers: Sequence[str]) -> tuple[str, ...]:
        """Keep what Set-Cookie headers say.

        Returns:
            The same headers for the code, without their domains: its own jar knows the host.
        """
        shown = []
        for header in headers:
            pair, *attributes = header.split(";")
            found = _PAIR.fullmatch(pair) if len(header) <= _LONGEST else None
            if found is None:
                continue
            said = {}
            for attribute in attributes:
                name, _, value = attribute.partition("=")
                said[name.strip().lower()] = value.strip()
            shown.append(";".join([pair, *(each for each in attributes if not _is_domain(each))]))
            self._keep(url, found[1], found[2], said)
        return tuple(shown)

    def _keep(self, url: WebUrl, name: str, value: str, said: dict[str, str]) -> None:
        domain = said.get("domain", "").lower().strip(".")
        wide = bool(domain) and host_matches(url.host, (domain,)) and self._covers(domain)
        key = (domain if wide else url.host, wide, name)
        self._kept.pop(key, None)
        if self._is_over(said):
            return
        self._kept[key] = (value, "secure" in said)
        while len(self._kept) > _MOST:
            del self._kept[next(iter(self._kept))]

    def _is_over(self, said: dict[str, str]) -> bool:
        age = said.get("max-age", "")
        if age.lstrip("-").isdigit():
            return int(age[:12]) <= 0
        try:
            return "expires" in said and parsedate_to_datetime(said["expires"]).timestamp() <= self._now()
        except (ValueError, TypeError, OverflowError):
            return False

    def header(self, url: WebUrl, own: str) -> str:
        """The Cookie header for an address: the code's own cookies, then those of the jar that it does not have."""
        pairs = [part.strip() for part in own.split(";") if part.strip()]
        names = {part.partition("=")[0] for part in pairs}
        for (domain, wide, name), (value, secure) in self._kept.items():
            fits = host_matches(url.host, (domain,)) if wide else url.host == domain
            if fits and name not in names and (url.scheme == "https" or not secure):
                pairs.append(f"{name}={value}")
                names.add(name)
        return "; ".join(pairs)


def _is_domain(attribute: str) -> bool:
    return attribute.partition("=")[0].strip().lower() == "domain"
