"""The pages of the sample web: read from samples/web, where each text is kept once, and rendered as HTML."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.sample_web.furniture import article_page, index_page

HOSTS = ("news.localhost", "reports.localhost", "filings.localhost")
"""Every host of the sample web."""

TRUSTED = ("reports.localhost", "filings.localhost")
"""Those that `quelea up --sample-web` allows; pages of the others wait in quarantine."""

ROBOTS = "User-agent: *\nDisallow: /members/\n"


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is served and as the search finds it."""

    host: str
    path: str
    title: str
    text: str
    """What the search reads; of a PDF its summary."""
    published: str
    """YYYY-MM-DD."""
    media_type: str
    """With the charset, where the header tells it."""
    body: bytes
    category: str = "general"
    told: bool = False
    """Whether the search tells the date; it leaves it out where the page itself tells it best."""

    @property
    def etag(self) -> str:
        """A strong validator: changes with the bytes."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'

    @property
    def last_modified(self) -> str:
        """As HTTP has dates."""
        return format_datetime(datetime.fromisoformat(self.published).replace(tzinfo=UTC), usegmt=True)


@dataclass
class Site:
    """All pages by host and path. A test may change it while it is served."""

    pages: dict[tuple[str, str], Page] = field(default_factory=dict)

    def add(self, page: Page) -> None:
        """Put a page under its address, in the place of what was there."""
        self.pages[page.host, page.path] = page

    def of(self, host: str) -> list[Page]:
        """The pages of a host, by path."""
        return sorted((page for page in list(self.pages.values()) if page.host == host), key=lambda page: page.path)


def load(folder: Path) -> Site:
    """Read samples/web.

    Raises:
        CliError: there is no site.json, or a file that it needs is missing or malformed.
    """
    try:
        plan: dict[str, Any] = json.loads((folder / "site.json").read_text(encoding="utf-8"))
        given: list[tuple[Path, str, dict[str, Any]]] = []
        for host, usual in plan["hosts"].items():
            for file in sorted((folder / usual["folder"]).glob("*.*")):
                own = plan["pages"].get(f"{usual['folder']}/{file.name}", {})
                given.append((file, host, {**usual, **own}))
        for name, own in plan["pages"].items():
            if "host" in own:
                given.append((folder / name, own["host"], {**plan["hosts"][own["host"]], **own}))
        site = Site()
        titles = {host: _titles(folder / usual["folder"]) for host, usual in plan["hosts"].items()}
        for file, host, how in given:
            site.add(_pdf(file, host, how) if file.suffix == ".pdf" else _html(file, host, how, titles[host]))
        for host, usual in plan["hosts"].items():
            links = [(page.path, page.title) for page in site.of(host)]
            body = index_page(usual["name"], usual["language"], links).encode()
            site.add(Page(host, "/", usual["name"], "", "2023-11-01", "text/html; charset=utf-8", body))
    except (OSError, ValueError, KeyError) as error:
        raise CliError(f"{folder} is not a sample web: {error}.", EXIT_USAGE) from error
    return site


def _titles(folder: Path) -> list[str]:
    return [json.loads(file.read_text(encoding="utf-8"))["title"] for file in sorted(folder.glob("*.json"))][:6]


def _path(file: Path, how: dict[str, Any], published: str) -> str:
    year, month, day = published.split("-")
    number = file.stem.rpartition("-")[2].replace(" ", "-")
    return str(how["path"]).format(year=year, month=month, day=day, number=number)


def _pdf(file: Path, host: str, how: dict[str, Any]) -> Page:
    path = _path(file, how, how["published"])
    return Page(
        host, path, how["title"], how["summary"], how["published"], "application/pdf", file.read_bytes(), told=True
    )


def _html(file: Path, host: str, how: dict[str, Any], titles: list[str]) -> Page:
    record = json.loads(file.read_text(encoding="utf-8"))
    charset = how.get("charset", "utf-8")
    html = article_page(
        record,
        site=how["name"],
        language=record.get("language", how["language"]),
        date=how["date"],
        charset=charset,
        related=[title for title in titles if title != record["title"]][:4],
    )
    # A page in GBK names its charset in its own head only, as many do.
    media_type = "text/html; charset=utf-8" if charset == "utf-8" else "text/html"
    return Page(
        host,
        _path(file, how, record["published"]),
        record["title"],
        record["text"],
        record["published"],
        media_type,
        html.encode(charset, "xmlcharrefreplace"),
        category=how["category"],
    )
