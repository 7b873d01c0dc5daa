"""One look for the pages of all reports: a file that opens without a network, in a browser that runs no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif; color: #1d2733;
  max-width: 1200px; margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid #d8dee6; padding: .3rem .55rem; text-align: right; vertical-align: top; }
th { background: #f3f5f8; font-weight: 600; } th:first-child, th.text, td.text { text-align: left; }
td.none { background: #f3f5f8; color: #8a95a3; } small { color: #5a6675; } .margin { border-left: 2px solid #5a6675; }
tr.margin td, tr.margin th { border-top: 2px solid #5a6675; }
.warn { background: #fff4d6; border-left: 4px solid #d59a00; padding: .4rem .8rem; }
details { margin: .4rem 0; } summary { cursor: pointer; } pre { white-space: pre-wrap; font: inherit; margin: .2rem 0; }
article { border-left: 3px solid #d8dee6; padding-left: .8rem; margin: .8rem 0; }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page of HTML; the parts are HTML."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head>\n<body>{body}</body></html>\n'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of HTML cells; a cell that begins with <td or <th is taken as it is."""
    lines = ["<table><thead><tr>", *(_cell(one, "th") for one in head), "</tr></thead><tbody>"]
    for row in rows:
        lines += ["<tr>", *(_cell(one, "th" if not at else "td") for at, one in enumerate(row)), "</tr>"]
    return "".join([*lines, "</tbody></table>"])


def _cell(inner: str, tag: str) -> str:
    return inner if inner.startswith(("<td", "<th")) else f"<{tag}>{inner}</{tag}>"


def warning(text: str) -> str:
    """A paragraph that is not overlooked."""
    return f'<p class="warn">{escape(text)}</p>'


def colour_of(value: float, *, lower_is_better: bool) -> str:
    """Background of a cell on a page, red over yellow to green, light enough for black text."""
    share = min(1.0, max(0.0, 1 - value if lower_is_better else value))
    return f"hsl({share * 120:.0f} 65% 82%)"
