"""Numbers that are no figures: markers, list numbers, sections, forms, products, file names."""

from __future__ import annotations

import re

MARKER = re.compile(r"\[(?P<n>\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\]")
"""[2], and [1, 3] as language models write it."""

_NAMES = (
    r"Windows|Office|Microsoft|Model|Series|Galaxy|Pixel|Watch|Version|Phase|Tier|Level|Class|Boeing|Airbus|Gen|"
    r"Generation|Route|Form|Forms|Item|Items|Part|Note|Notes|Exhibit|Section|Sections|Topic|Subtopic|Rule|Rules|Table|"
    r"Figure|Page|Pages|Step|Chapter|Article|Schedule|Appendix|Annex|Regulation|Title|Chart|Question|Answer|Tab|Volume|"
    r"ASC|ASU|IFRS|IAS|SFAS|FAS|FASB|SAB|ISO|Basel|RTX|GTX|MI|GPT|Llama|Fortune|Nasdaq|NASDAQ|Russell|Stoxx|CSI|"
    r"Nikkei|FTSE|CAC|DAX|Euro|S&P|Passage|Source|Document|Doc|Evidence|Footnote|Pillar|Stage|Scope|Category|Type"
)
_BEFORE_FILE = (
    r"(?m)"
    r"(?P<marker>\[\d{1,3}(?:\s*[,，、]\s*\d{1,3})*\])"
    r"|(?P<list>^[ \t>#*_-]*(?:\(?\d{1,2}[.)、)](?=\s|\*|[^\d\s.,%])|\(\d{1,2}\)\s))"
    r"|(?P<section>^[ \t#*]*\d{1,2}(?:\.\d{1,2}){1,3}[ \t]+(?=[A-Z\u4e00-\u9fff]))"
    r"|(?P<form>\b(?:10-[KQ]s?|8-K|20-F|6-K|40-F|11-K|S-[1-8]|F-[1-4]|13[FDG]|424B\d?|N-1A|10-[KQ]/A)\b)"
    r"|(?P<named>\b(?:" + _NAMES + r")s?[ -]?(?:No\. ?)?\d+(?:[.-]\d+)*[A-Za-z]?\b(?!\s?(?:%|million|billion|thousand))"
    r"(?:(?:\s?(?:,|and|&|through|to|-)\s?)\d{1,2}(?![\d.,]*\d|\s?%)\b)?)"
    r"|(?P<inner>\b[a-z]+[A-Z]\w*\s(?:\d{1,2}|X|SE)(?:\.\d)?(?![\d,.%]*\d|\s?(?:%|million|billion)))"
)
_FILE = r"|(?P<file>[\"“(]?[\w .&-]{1,60}\.(?:pdf|docx?|xlsx?|html?|txt|csv|pptx?)\b)"
_BEHIND_FILE = (
    r"|(?P<url>https?://\S+|\bwww\.\S+)"
    r"|(?P<ordinal>\b\d+(?:st|nd|rd|th)\b)"
    r"|(?P<stretch>\b\d{1,2}[- ](?:years?|quarters?|months?) (?:period|span|from)\b|\b(?:all|both"
    r"|across|over) (?:the )?(?:last |past )?\d (?:years|quarters|months)\b)"
    r"|(?P<number_sign>(?:\bNos?\.\s?|#)\d+)"
    r"|(?P<clock>\b\d{1,2}:\d\d(?::\d\d)?\s?(?:[ap]\.?m\.?)?\b|\b24/7\b)"
    r"|(?P<code>\b(?:COVID|SARS|GPT|Web|Level|Tier|MI|RTX)-\d+\b|\b401\(k\)|\b403\(b\))"
    r"|(?P<zh>第\s?[\d一二三四五六七八九十百]+\s?[章节条款项部分页号期批次名位届轮代]"
    r"|附注[\s\d一二三四五六七八九十、]+|表\s?\d+|图\s?\d+"
    r"|注释?\s?\d+|\d+(?:号|楼|室)(?!\w))"
)
_PLAIN = re.compile(_BEFORE_FILE + _BEHIND_FILE)
_WITH_FILES = re.compile(_BEFORE_FILE + _FILE + _BEHIND_FILE)
_ENDING = re.compile(r"\.(?:pdf|docx?|xlsx?|html?|txt|csv|pptx?)\b")
"""Names of files take long to look for: only where one ends."""


def hidden(text: str) -> bytearray:
    """One byte for each code point of a plain() text: 1 where no figure can be."""
    mask = bytearray(len(text))
    for match in (_WITH_FILES if _ENDING.search(text) else _PLAIN).finditer(text):
        if match.lastgroup == "file" and not re.search(r"\d", match.group()):
            continue
        mask[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return mask
