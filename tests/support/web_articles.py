"""Small pages as news sites make them, with their frame, and how a test reads one."""

from __future__ import annotations

from quelea_search.core.model import ParseLimits
from quelea_search.core.web.model import Fetched, WebDocument
from quelea_search.web.page_parsing import parse_web_page

TODAY = "2023-11-01"
ENGLISH = """<html><head><title>Acme Corp raises full-year outlook | Sample Wire</title>{head}</head><body>
<div class="header"><ul><li><a href="/">Home</a></li><li><a href="/markets">Markets</a></li></ul></div>
<div class="cookie">We use cookies to improve your experience. <button>Accept</button></div>
<div class="story"><h1>Acme Corp raises full-year outlook</h1>{date}{body}</div>
<div class="sidebar"><h2>Most read</h2><ul><li><a href="/a">Oil slips as dollar firms</a></li></ul></div>
<div class="footer"><p>(c) 2023 Sample Wire. All rights reserved. Terms of service.</p></div></body></html>"""
CHINESE = """<!doctype html><html><head>{head}<title>央行宣布降准0.25个百分点_样例财经_样例网</title></head><body>
<div class="top nav"><a href="/">首页</a> <a href="/stock">股票</a> <a href="/fund">基金</a></div>
<div id="content"><h1>央行宣布降准0.25个百分点</h1><div class="info">2023年9月14日 18:05 来源：样例财经</div>
<p>中国人民银行决定下调金融机构存款准备金率0.25个百分点（不含已执行5%存款准备金率的金融机构）。</p></div>
<div class="related"><h3>相关阅读</h3><ul><li><a href="/1">A股三大指数收涨</a></li></ul></div>
<div class="footer">关于我们 | 联系我们 | 广告服务</div></body></html>"""
ARTICLE = '<script type="application/ld+json">{"@graph": [{"@type": "NewsArticle", "datePublished": "%s"}]}</script>'
BODY = "<p>Acme Corp raised its full-year revenue forecast to $4.2 billion on Friday.</p>"
URL = "https://www.example.com/a/1.html"


def read(
    data: str | bytes, url: str = URL, media_type: str = "text/html", charset: str = "", **more: str
) -> WebDocument:
    raw = data.encode() if isinstance(data, str) else data
    fetched = Fetched(url, url, url, 200, media_type, charset, raw, 0.0)
    return parse_web_page(fetched, ParseLimits(), **{"today": TODAY, **more})


def english(head: str = "", date: str = "", body: str = BODY) -> str:
    return ENGLISH.format(head=head, date=date, body=body)
