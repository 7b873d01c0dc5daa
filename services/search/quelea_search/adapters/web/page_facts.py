"""What the markup of an HTML page says of it: titles, site, published date (lxml)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import lxml.html
from lxml import etree

from quelea_search.core.layout.text_cleanup import clean
from quelea_search.core.web.dates import stated_date
from quelea_search.core.web.facts import PageFacts

_DATE_META = frozenset(
    """article:published_time article:published og:published_time og:article:published_time datepublished date dc.date
    dc.date.issued dc.date.created dcterms.date dcterms.issued dcterms.created pubdate pub_date publishdate publish-date
    publish_date publishtime publish_time publicationdate publication_date publication-date parsely-pub-date
    sailthru.date bt:pubdate weibo:article:create_at citation_publication_date citation_date citation_online_date
    releasedate release_date""".split()
)
_ARTICLES = ("article", "newsarticle", "reportagenewsarticle", "analysisnewsarticle", "blogposting", "report")
_TIMES = (
    "//*[@itemprop='datePublished']",
    "//time[@pubdate]",
    "(//article | //main)//time[@datetime][not(ancestor::aside or ancestor::nav or ancestor::footer)]",
)
_LD_CHARACTERS = 200_000
_LD_DEPTH = 6


def page_facts(text: str) -> PageFacts:
    """Read a page's markup; a page too broken for that says nothing."""
    try:
        root = lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=_parser())
    except (etree.LxmlError, ValueError):
        return PageFacts()
    linked = list(_linked_data(root))
    metas: dict[str, str] = {}
    for meta in root.xpath("//meta[@content]"):
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").strip().lower()
        metas.setdefault(name, clean(meta.get("content")))
    headings = [said for said in (clean(" ".join(h.itertext())) for h in root.xpath("//h1")) if said]
    titles = root.xpath("//head/title/text() | //title[not(ancestor::svg)]/text()")
    return PageFacts(
        og_title=(metas.get("og:title") or metas.get("twitter:title", ""))[:300],
        heading=headings[0][:300] if headings else "",
        title=clean(titles[0])[:300] if titles else "",
        site=(metas.get("og:site_name") or metas.get("application-name", ""))[:100],
        published=_find_published(root, metas, linked),
        is_article=metas.get("og:type", "").lower() == "article" or any(_is_article(item) for item in linked),
    )


def _parser() -> Any:
    return lxml.html.HTMLParser(encoding="utf-8", huge_tree=False)


def _find_published(root: Any, metas: dict[str, str], linked: list[dict[str, Any]]) -> str:
    """Linked data of an article, then meta elements, then time elements, then other linked data."""
    said = [item.get("datePublished") for item in linked if _is_article(item)]
    said += [value for name, value in metas.items() if name in _DATE_META]
    for path in _TIMES:
        said += [
            element.get("datetime") or element.get("content") or " ".join(element.itertext())
            for element in root.xpath(path)[:3]
        ]
    said += [item.get("datePublished") for item in linked]
    return next((day for value in said if isinstance(value, str) and (day := stated_date(value))), "")


def _is_article(item: dict[str, Any]) -> bool:
    kinds = item.get("@type")
    names = kinds if isinstance(kinds, list) else [kinds]
    return any(isinstance(name, str) and name.lower() in _ARTICLES for name in names)


def _linked_data(root: Any) -> Iterator[dict[str, Any]]:
    """Objects of JSON-LD, outer ones first. What is no JSON is passed over: many pages write it carelessly."""
    for script in root.xpath("//script[translate(@type, 'ADJLNPOTIC', 'adjlnpotic')='application/ld+json']"):
        said = (script.text or "")[:_LD_CHARACTERS]
        try:
            yield from _objects(json.loads(said, strict=False), 0)
        except (ValueError, RecursionError):
            continue


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _LD_DEPTH:
        return
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            if isinstance(inner, dict | list):
                yield from _objects(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner, depth + 1)
