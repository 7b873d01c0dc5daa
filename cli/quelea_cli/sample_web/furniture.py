"""Pages as news sites have them: the text between navigation, related links, a cookie notice and a footer."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

_SENTENCE = re.compile(r"[^。！？\n]+[。！？]?|\n+")
_PARAGRAPH = 160
"""Characters from which a paragraph ends with its sentence; the sources have lost theirs."""

_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="{charset}">
<title>{title} - {site}</title>
{head}</head>
<body>
<header><a href="/">{site}</a>
<nav><ul><li><a href="/">{home}</a></li><li><a href="/markets/">{markets}</a></li>
<li><a href="/login">{login}</a></li></ul></nav>
</header>
<main>
{main}
</main>
<aside class="cookie-notice" role="dialog"><p>{cookies}</p><button>OK</button></aside>
<footer><p>{footer}</p><p><a href="/about">{about}</a> <a href="/privacy">{privacy}</a></p></footer>
</body>
</html>
"""
_WORDS = {
    "zh": {
        "home": "首页", "markets": "市场", "login": "登录", "cookies": "本站使用 Cookie 改善浏览体验。",
        "footer": "样例网站，仅供测试。", "about": "关于我们", "privacy": "隐私政策", "related": "相关阅读",
        "share": "分享到", "source": "来源",
    },
    "en": {
        "home": "Home", "markets": "Markets", "login": "Log in", "cookies": "This site uses cookies.",
        "footer": "A sample site, for tests only.", "about": "About", "privacy": "Privacy", "related": "Related",
        "share": "Share", "source": "Source",
    },
}  # fmt: skip


def paragraphs(text: str) -> list[str]:
    """The text in pieces that end with a sentence."""
    found, now = [], ""
    for piece in _SENTENCE.findall(text):
        if piece.startswith("\n"):
            found.append(now)
            now = ""
            continue
        now += piece
        if len(now) >= _PARAGRAPH and piece[-1] in "。！？":
            found.append(now)
            now = ""
    return [piece.strip() for piece in (*found, now) if piece.strip()]


def _page(language: str, site: str, title: str, main: str, *, head: str = "", charset: str = "utf-8") -> str:
    words = _WORDS["zh" if language.startswith("zh") else "en"]
    shown = {name: escape(value) for name, value in words.items()}
    return _PAGE.format(
        language=language, charset=charset, title=escape(title), site=escape(site), head=head, main=main, **shown
    )


def article_page(
    record: dict[str, Any], *, site: str, language: str, date: str, charset: str, related: list[str]
) -> str:
    """A record of samples/web as a page.

    Args:
        record: title, published, text; company, ticker and source where it has them.
        site: The site's name.
        language: Of the page.
        date: Where the page tells its date: "json-ld", "meta", "text"; anything else: nowhere on the page.
        charset: Named in the head.
        related: Titles shown beside the text.
    """
    words = _WORDS["zh" if language.startswith("zh") else "en"]
    title, published = record["title"], record["published"]
    head, byline = "", f"{words['source']}：{record.get('source') or site}"
    if date == "json-ld":
        what = {
            "@context": "https://schema.org", "@type": "NewsArticle", "headline": title,
            "datePublished": f"{published}T08:30:00+08:00",
        }  # fmt: skip
        about = json.dumps(what, ensure_ascii=False).replace("<", "\\u003c")
        head = f'<script type="application/ld+json">{about}</script>\n'
    elif date == "meta":
        head = f'<meta property="article:published_time" content="{published}T08:30:00+08:00">\n'
    elif date == "text":
        year, month, day = published.split("-")
        byline = f"{year}年{int(month)}月{int(day)}日 08:30 {byline}"
    facts = ""
    if record.get("company"):
        facts = f"<p>{escape(record['company'])}（{escape(record.get('ticker', ''))}）</p>\n"
    text = "\n".join(f"<p>{escape(piece)}</p>" for piece in paragraphs(record["text"]))
    links = "".join(f'<li><a href="/">{escape(other)}</a></li>' for other in related)
    main = (
        f'<article>\n<h1>{escape(title)}</h1>\n<p class="byline">{escape(byline)}</p>\n{facts}{text}\n</article>\n'
        f'<div class="share">{words["share"]}：<a href="#">A</a> <a href="#">B</a></div>\n'
        f'<section class="related"><h2>{words["related"]}</h2><ul>{links}</ul></section>'
    )
    return _page(language, site, title, main, head=head, charset=charset)


def index_page(site: str, language: str, links: list[tuple[str, str]]) -> str:
    """A host's first page: what there is."""
    items = "".join(f'<li><a href="{escape(path)}">{escape(title)}</a></li>' for path, title in links)
    return _page(language, site, site, f"<h1>{escape(site)}</h1><ul>{items}</ul>")
