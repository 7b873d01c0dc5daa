"""An HTML document as it came in, for a reader's browser: looks kept, whatever runs or loads removed, a quote marked.

Run in processes of their own (originals/). Ammonia (nh3) has the last word on every tag, attribute and property; what
is done before it only finds the quote. A browser is told to run and load nothing as well: see the gateway.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import accumulate, pairwise
from typing import Any

import nh3
from lxml import etree

from quelea_search.adapters.formats.encoding import decode
from quelea_search.adapters.formats.html import HIDDEN, read_tree
from quelea_search.core.errors import TooLarge, Unreadable
from quelea_search.core.layout.alignment import align, fold

_MOST_BYTES = 32 * 1024 * 1024
_MOST_CHARACTERS = 4_000_000
"""That a quote is looked for in: filings have some hundred thousand."""
_QUOTE = "quote"
_DROPPED = frozenset(
    """script style noscript template head title svg math iframe frame frameset object embed applet audio video canvas
    button select option textarea input ix:header""".split()
)
_TAGS = frozenset(
    """a abbr address article b blockquote br caption center cite code col colgroup dd del div dl dt em figcaption
    figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins li main mark ol p pre q s section small span strike strong
    sub sup table tbody td tfoot th thead tr tt u ul""".split()
)
_ATTRIBUTES = {
    "*": {"align", "bgcolor", "class", "dir", "height", "id", "lang", "title", "valign", "width"},
    "a": {"href", "name"},
    "font": {"color", "face", "size"},
    "img": {"alt", "src"},
    "li": {"value"},
    "ol": {"start", "type"},
    "table": {"border", "cellpadding", "cellspacing"},
    "td": {"colspan", "nowrap", "rowspan"},
    "th": {"colspan", "nowrap", "rowspan", "scope"},
}
_PROPERTIES = frozenset(
    """background-color border border-bottom border-bottom-color border-bottom-style border-bottom-width border-collapse
    border-color border-left border-left-color border-left-style border-left-width border-right border-right-color
    border-right-style border-right-width border-spacing border-style border-top border-top-color border-top-style
    border-top-width border-width clear color direction display float font font-family font-size font-style font-variant
    font-weight height letter-spacing line-height list-style-type margin margin-bottom margin-left margin-right
    margin-top max-width min-width overflow padding padding-bottom padding-left padding-right padding-top text-align
    text-decoration text-indent text-transform vertical-align visibility white-space width word-break
    word-spacing""".split()
)
_MOST_STYLES = 5_000
"""Different ones, of a document."""
_CLASS = re.compile(r"s\d+")
_STYLE = re.compile(r'style="([^"]*)"')
_NO_LOOK = re.compile(r"[\\(<{}@]")
"""What loads, runs or ends a declaration early."""
_COLOUR = re.compile(r"\b(?:rgb|rgba|hsl|hsla)\([\d\s.,%/]{0,60}\)", re.I)
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*+", re.I)


@dataclass(frozen=True, slots=True)
class AsFiled:
    """The document.

    Attributes:
        html: All of it, with one head of ours.
        found: Share of the quote's characters, spaces aside, that are marked; 0 to 1.
    """

    html: str
    found: float


def render(data: bytes, text: str, start: int, end: int) -> AsFiled:
    """The document with text[start:end] marked; the first mark has the id "quote".

    Args:
        data: The HTML.
        text: Of the page of the span, as it was stored.
        start: First character of the span.
        end: Character after it; no more than start: nothing is marked.

    Raises:
        EmptyDocument, Unreadable, TooLarge.
    """
    if len(data) > _MOST_BYTES:
        raise TooLarge(f"The HTML has {len(data):,} bytes, {_MOST_BYTES:,} are shown; download it instead.")
    said = decode(data)
    if said is None:
        raise Unreadable("The document is not text; download it instead.")
    root = read_tree(said)
    etree.strip_elements(root, *_DROPPED, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    etree.strip_tags(root, "mark")
    for element in root.xpath("//*[@id='quote' or @name='quote']"):
        element.attrib.pop("id", None)
        element.attrib.pop("name", None)
    found = _mark(root, text, start, end) if start < end else 0.0
    looks = _Looks()
    looks.take_from(root)
    body = nh3.clean(
        etree.tostring(root, encoding="unicode", method="html"),
        tags=set(_TAGS),
        clean_content_tags=set(_DROPPED) - _TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_keep,
        url_schemes={"data"},
        link_rel=None,
    )
    head = f'<meta charset="utf-8"><style>{looks.sheet()}</style>'
    return AsFiled(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>", found)


def _keep(tag: str, attribute: str, value: str) -> str | None:
    """What may stay of an attribute: links within the document, pictures that it carries, classes of ours."""
    if attribute == "href":
        return value if value.startswith("#") else None
    if attribute == "src":
        return value if _PICTURE.fullmatch(value) else None
    if attribute == "class":
        return value if _CLASS.fullmatch(value) else None
    return value


class _Looks:
    """The style attributes of a document as one style sheet: a filing repeats a few hundred of them a hundred times.

    A page whose policy forbids style attributes can still give its frame the sheet.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def take_from(self, root: Any) -> None:
        """Put classes in the place of style attributes, and of the document's own classes."""
        known: dict[str, str] = {}
        for element in root.iter(etree.Element):
            element.attrib.pop("class", None)
            style = element.attrib.pop("style", "")
            if not style or (style not in known and len(known) >= _MOST_STYLES):
                continue
            if style not in known:
                harmless = _harmless(style)
                known[style] = self._names.setdefault(harmless, f"s{len(self._names)}") if harmless else ""
            if known[style]:
                element.set("class", known[style])

    def sheet(self) -> str:
        """The style sheet; it has no "<"."""
        return "".join(f".{name}{{{style}}}" for style, name in self._names.items())


def _harmless(style: str) -> str:
    """The declarations of a style attribute that only look."""
    stay = ";".join(part for part in style.split(";") if not _NO_LOOK.search(_COLOUR.sub("", part)))
    cleaned = nh3.clean(
        f'<p style="{escape(stay)}">',
        tags={"p"},
        attributes={"p": {"style"}},
        filter_style_properties=set(_PROPERTIES),
    )
    found = _STYLE.search(cleaned)
    said = unescape(found[1]) if found else ""
    return "" if set("<{}") & set(said) else said


@dataclass(frozen=True, slots=True)
class _Words:
    """A text node: before an element's children, or after the element."""

    element: Any
    after: bool
    text: str


def _mark(root: Any, text: str, start: int, end: int) -> float:
    """Put marks around the span; share of its characters that were found."""
    nodes = _words(root)
    starts = [0, *accumulate(len(node.text) for node in nodes)]
    printed = fold("".join(node.text for node in nodes)[:_MOST_CHARACTERS])
    wanted = fold(text)
    places = align(wanted.text, printed.text)
    span = places[bisect_left(wanted.places, start) : bisect_left(wanted.places, end)]
    found = sorted(printed.places[place] for place in span if place >= 0)
    pieces: dict[int, list[tuple[int, int]]] = {}
    for first, last in _stretches(found, "".join(node.text for node in nodes)):
        for number in range(bisect_right(starts, first) - 1, bisect_left(starts, last)):
            node = nodes[number]
            a, b = max(first - starts[number], 0), min(last - starts[number], len(node.text))
            if node.text[a:b].strip():
                pieces.setdefault(number, []).append((a, b))
    for order, number in enumerate(sorted(pieces)):
        _wrap(nodes[number], pieces[number], first=order == 0)
    return len(found) / len(span) if span else 0.0


def _stretches(found: Sequence[int], text: str) -> list[tuple[int, int]]:
    """Characters in order as stretches, from to, over the spaces between them."""
    if not found:
        return []
    cuts = [(left + 1, right) for left, right in pairwise(found) if right > left + 1 and text[left + 1 : right].strip()]
    edges = [found[0], *(edge for cut in cuts for edge in cut), found[-1] + 1]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _words(root: Any) -> list[_Words]:
    """All text nodes that show, in order."""
    found: list[_Words] = []
    hidden: Any = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            if hidden is None and HIDDEN.search(element.get("style", "")):
                hidden = element
            if hidden is None and element.text:
                found.append(_Words(element, False, element.text))
            continue
        if hidden is element:
            hidden = None
        if hidden is None and element.tail:
            found.append(_Words(element, True, element.tail))
    return found


def _wrap(node: _Words, pieces: Sequence[tuple[int, int]], *, first: bool) -> None:
    """Put marks around pieces of a text node."""
    element = node.element
    parent, position = (element.getparent(), element.getparent().index(element) + 1) if node.after else (element, 0)
    before = node.text[: pieces[0][0]]
    if node.after:
        element.tail = before
    else:
        element.text = before
    ends = [*(start for start, _ in pieces[1:]), len(node.text)]
    for step, ((start, end), following) in enumerate(zip(pieces, ends, strict=True)):
        mark = etree.Element("mark", {"id": _QUOTE} if first and step == 0 else {})
        mark.text, mark.tail = node.text[start:end], node.text[end:following]
        parent.insert(position + step, mark)
