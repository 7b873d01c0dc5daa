"""What a web page is: its title without the site's name, its kind, and whether it is no page but a barrier."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from quelea_fintext.languages import LANGUAGES

from quelea_search.core.web.urls import host_matches


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What the markup of a page says of it. Empty where it does not."""

    og_title: str = ""
    heading: str = ""
    """Its only or first h1."""
    title: str = ""
    """Of the title element."""
    site: str = ""
    """Name of the site."""
    published: str = ""
    """YYYY-MM-DD."""
    is_article: bool = False
    """Whether it calls itself an article or news."""


FORMS = frozenset("10-Q 10-K 8-K 20-F 6-K 40-F S-1 S-3 S-4 F-1 N-CSR 11-K DEF14A".split()) | {"DEF 14A"}
FILING_TYPES = FORMS | {"prospectus", "announcement", "annual report", "half-year report", "quarterly report"}
_FILING_HOSTS = (
    "sec.gov", "cninfo.com.cn", "sse.com.cn", "szse.cn", "bse.cn", "hkexnews.hk", "sedarplus.ca",
    "find-and-update.company-information.service.gov.uk", "edinet-fsa.go.jp", "disclosure.edinet-fsa.go.jp",
)  # fmt: skip
_FILING_PATHS = re.compile(r"/archives/edgar/data/|/listedco/|/disclosure/|/finalpage/|/sec-filings?/", re.I)
_COVER = re.compile(r"securities\s+and\s+exchange\s+commission", re.I)
_REGISTRANT = re.compile(r"exact\s+name\s+of\s+registrant|commission\s+file\s+(?:number|no)", re.I)
_COVER_CHARACTERS = 6000
_REFERENCE_HOSTS = (
    "wikipedia.org", "investopedia.com", "ecfr.gov", "federalregister.gov", "law.cornell.edu", "govinfo.gov",
    "legislation.gov.uk", "eur-lex.europa.eu", "elegislation.gov.hk", "flk.npc.gov.cn", "ifrs.org", "fasb.org",
    "bis.org", "baike.baidu.com", "wiki.mbalib.com", "arxiv.org",
)  # fmt: skip
_REFERENCE_PATHS = re.compile(
    r"/(?:wiki|glossary|dictionary|terms|definitions?|encyclopedia|laws?|regulations?|rules|statutes?|standards|guidelines"
    r"|faqs?|help|docs|reference)(?:/|$)",
    re.I,
)
_NEWS_HOSTS = (
    "reuters.com", "bloomberg.com", "cnbc.com", "ft.com", "wsj.com", "apnews.com", "marketwatch.com", "barrons.com",
    "finance.yahoo.com", "businesswire.com", "prnewswire.com", "globenewswire.com", "nasdaq.com", "seekingalpha.com",
    "finance.sina.com.cn", "xinhuanet.com", "news.cn", "caixin.com", "yicai.com", "stcn.com", "cs.com.cn", "cls.cn",
    "cnstock.com", "eastmoney.com", "jiemian.com", "thepaper.cn", "163.com", "sohu.com", "people.com.cn",
)  # fmt: skip
_NEWS_WORDS = re.compile(
    r"(?:^|[./_-])(?:news|newsroom|article|articles|story|stories|press-releases?|xinwen)(?:[./_-]|$)"
)
_NEWS_TYPES = ("news", "press release")

_SEPARATOR = re.compile(
    r"\s{1,8}[|｜–—»·:-]{1,2}\s{1,8}|\s{0,8}+[|｜_]\s{0,8}+|\s{0,8}+::\s{0,8}+|(?<=[\u4e00-\u9fff）)”\d])\s{0,8}+-+\s{0,8}+(?=[\u4e00-\u9fff])"
)
_SURE = frozenset("|｜_")
_SITE_LIKE = LANGUAGES.pattern("documents.sites", r"<>\s*$")
_BARRIER = LANGUAGES.pattern("documents.barriers", r"^<>")
_BARRIER_CHARACTERS = 800


def page_title(facts: PageFacts, host: str) -> str:
    """The title of a page without the name of its site; empty where there is none."""
    for said in (facts.og_title, facts.title):
        if said:
            if len(facts.heading) >= 4 and facts.heading in said:
                return facts.heading
            return without_site(said, facts.site, host)
    return facts.heading


def without_site(title: str, site: str, host: str) -> str:
    """A title without what follows it for the site's sake: "… | Sample Wire", "…_新浪财经_新浪网"."""
    kept = title.strip()
    while True:
        found = [match for match in _SEPARATOR.finditer(kept) if match.start() > 0]
        if not found:
            return kept
        last = found[-1]
        head, tail = kept[: last.start()].strip(), kept[last.end() :].strip()
        if _width(head) < 8 or not _is_site(tail, last[0].strip(), site, host):
            return kept
        kept = head


def _width(text: str) -> int:
    """Characters, of which a wide one says as much as two."""
    return sum(2 if ord(c) > 0x2E7F else 1 for c in text)


def _is_site(tail: str, separator: str, site: str, host: str) -> bool:
    if not tail:
        return True
    if site and tail.casefold() in site.casefold():
        return True
    squeezed = re.sub(r"[^a-z0-9]", "", tail.casefold())
    if len(squeezed) >= 2 and squeezed in re.sub(r"[^a-z0-9]", "", host):
        return True
    if len(tail) > 40:
        return False
    return separator in _SURE or _SITE_LIKE.search(tail) is not None


def has_cover(text: str) -> bool:
    """Whether a text begins with the cover page of a form of the SEC: then it is the form, wherever it is kept."""
    first = text[:_COVER_CHARACTERS]
    return bool(_COVER.search(first) and _REGISTRANT.search(first))


def is_told(url: str, host: str, *, is_article: bool, dated_path: bool) -> bool:
    """Whether a page tells of something, as news and comments do, and is not the thing itself: where filings are kept
    it is, elsewhere a page that calls itself an article, stands among news or under a date is not."""
    path = urlsplit(url).path
    if _FILING_PATHS.search(path) or host_matches(host, _FILING_HOSTS):
        return False
    return is_article or dated_path or _says_news(host, path)


def _says_news(host: str, path: str) -> bool:
    return host_matches(host, _NEWS_HOSTS) or _NEWS_WORDS.search(f"{host}{path}".lower()) is not None


def page_kind(url: str, host: str, document_type: str, *, published: str, is_article: bool, dated_path: bool) -> str:
    """ "filing", "reference", "news" or "page".

    Args:
        document_type: As `read_metadata` names it.
        published: The page's date, or empty.
        dated_path: Whether the address names a day.
    """
    path = urlsplit(url).path
    told = is_told(url, host, is_article=is_article, dated_path=dated_path)
    if _FILING_PATHS.search(path) or (document_type in FILING_TYPES and not told):
        return "filing"
    if document_type == "regulation" or host_matches(host, _REFERENCE_HOSTS):
        return "reference"
    if host_matches(host, _FILING_HOSTS) and path.lower().endswith((".pdf", ".htm", ".html")):
        return "filing" if "news" not in path.lower() else "news"
    if document_type == "press release" or (published and (told or document_type in _NEWS_TYPES)):
        return "news"
    return "reference" if _REFERENCE_PATHS.search(path) else "page"


def is_barrier(titles: Sequence[str], characters: int) -> bool:
    """Whether a page only asks for a proof that a person reads it."""
    return characters <= _BARRIER_CHARACTERS and any(_BARRIER.match(title.strip()) for title in titles)
