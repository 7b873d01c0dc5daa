"""Who a document is about: legal name, display name, ticker, as the document itself writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_fintext.company_names import GROUP_FORM, LEGAL_FORM, UNSPACED_LEGAL_FORM

_MAYBE_KIND = rf"{GROUP_FORM}|trust|bancorp"
"""What a legal name may end with that people say or leave out."""
_SUFFIX = re.compile(
    rf"[,\s]{{1,8}}(?:{LEGAL_FORM}|{_MAYBE_KIND}|and subsidiaries|& co)\.?(?:\s{{0,8}}+\([^()]{{0,60}}\))?$", re.I
)
_LIGHT_SUFFIX = re.compile(rf"[,\s]{{1,8}}(?:{_MAYBE_KIND}|company)$", re.I)
_LEGAL_EN = re.compile(
    rf"^(?P<name>[A-Z0-9][\w&.,'’\-/ ]{{1,70}}?[,\s]{{1,8}}(?:{LEGAL_FORM})\b\.?(?:,?\s{{1,8}}inc\.?)?)"
    rf"(?:\s{{0,8}}+\([^()]{{0,60}}\))?$",
    re.I,
)
_LEGAL_ZH = re.compile(rf"[\u4e00-\u9fffA-Za-z（）()·]{{3,30}}?(?:{UNSPACED_LEGAL_FORM})")
_REGISTRANT = re.compile(
    r"\(?\s{0,8}+(?:exact\s{1,8})?name\s{1,8}of\s{1,8}(?:the\s{1,8})?registrant\s{1,8}as\s{1,8}specified"
    r"|exact\s{1,8}name\s{1,8}of\s{1,8}(?:the\s{1,8})?registrant",
    re.I,
)
_COMMISSION = re.compile(r"commission\s+file\s+(?:number|no)", re.I)
_SYMBOL_HEAD = re.compile(r"trading\s+symbol|ticker", re.I)
_SYMBOL = re.compile(r"[A-Z]{1,5}(?:[.\-/][A-Z]{1,2})?")
EXCHANGE = (
    r"(?:N(?:ASDAQ|asdaq|YSE)|AMEX|LSE|HKEX|SEHK|TSX|OTC)\w{0,6}(?:/[A-Z]{1,4})?(?: [A-Z][A-Za-z]{1,11}){0,3}"
    r"(?:\s{0,4}[:：]| - )"
)
"""Of "(NYSE: JNJ)", in the text's own case."""
_INLINE_SYMBOL = re.compile(rf"\b{EXCHANGE}\s{{0,4}}([A-Z]{{1,5}}(?:\.[A-Z])?|\d{{4,5}})\b")
_CODE = re.compile(
    r"(?:股票|证券|公司)?(?:A股)?代[码號号]\s{0,8}+[:：]?\s{0,8}+(?:A股[:：]?)?\s{0,8}+(\d{6}|\d{5})(?:\.(?:SH|SZ|HK|BJ))?(?!\d)",
    re.I,
)
_SHORT = re.compile(
    r"(?:股票|证券|公司)?(?:A股)?(?:的中文)?简\s{0,8}+称\s{0,8}+[:：]?\s{0,8}+([*A-Za-z0-9\u4e00-\u9fff]{2,10})"
)
_QUOTED = re.compile(r"[(（][^()（）]{0,60}?[“\"']([A-Z][\w.&'\- ]{1,30})[”\"']")
_NOT_NAMES = frozenset(
    {"company", "the company", "we", "us", "our", "registrant", "corporation", "the registrant", "sec", "gaap"}
)
_FILE_NAME_CODE = re.compile(r"(?<!\d)([036489]\d{5})(?!\d)")


@dataclass(frozen=True, slots=True)
class Company:
    """A company's names. Empty where unknown."""

    name: str = ""
    aliases: tuple[str, ...] = ()
    ticker: str = ""


def english_company(lines: Sequence[str], body: str, named: str = "") -> Company:
    """The registrant of an English filing.

    Args:
        lines: Lines of the first page; table cells separated by tabs.
        body: The text, which tells how the company writes its name in a sentence.
        named: The name that the document states by itself; empty where its cover does.
    """
    legal = named or _registrant(lines)
    ticker = _ticker(lines)
    if not legal:
        return Company(ticker=ticker)
    name = display_name(legal, body)
    aliases = [_spell(legal, body)]
    if legal not in aliases and not legal.isupper():
        aliases.append(legal)
    for match in _QUOTED.finditer(body[:60_000]):
        short = match[1].strip()
        if short.lower() not in _NOT_NAMES and name.split()[0].lower() in short.lower() and short not in aliases:
            aliases.append(short)
    return Company(name, tuple(alias for alias in dict.fromkeys(aliases) if alias and alias != name)[:6], ticker)


def _registrant(lines: Sequence[str]) -> str:
    for i, line in enumerate(lines):
        if _REGISTRANT.search(line):
            for above in reversed(lines[max(0, i - 3) : i]):
                name = above.strip(" _\t")
                if name and not _COMMISSION.search(name) and any(c.isalpha() for c in name):
                    return name.split("\t")[0]
    for i, line in enumerate(lines):
        if _COMMISSION.search(line):
            for below in lines[i + 1 : i + 4]:
                if _LEGAL_EN.match(below.strip()):
                    return below.strip()
    for line in lines[:40]:
        match = _LEGAL_EN.match(line.strip().split("\t")[0])
        if match and len(line.split()) <= 8:
            return match["name"].strip()
    return ""


def display_name(legal: str, body: str) -> str:
    """ "MICROSOFT CORPORATION" → "Microsoft": without the legal form, spelled as the text spells it."""
    name = re.sub(r"^the\s+(?=\S+\s)", "", legal.strip().rstrip(","), flags=re.I)
    while True:
        shorter = _SUFFIX.sub("", name).rstrip(", &")
        if shorter == name or not shorter or (_LIGHT_SUFFIX.search(name) and not _is_called(shorter, body)):
            break
        name = shorter
    bare = re.sub(r"\.(?:com|net|org)$", "", name, flags=re.I)
    if bare != name and len(re.findall(rf"\b{re.escape(bare)}\b(?!\.(?:com|net))", body, re.I)) > 5:
        name = bare
    return _spell(name, body)


def _is_called(name: str, body: str) -> bool:
    """Whether the text calls the company so, more than in passing."""
    return len(re.findall(rf"\b{re.escape(name)}\b", body[:200_000], re.I)) >= 3


def _spell(name: str, body: str) -> str:
    """A name in capitals as the text writes it in sentences, else with capital initials; others unchanged."""
    if not name.isupper():
        return name
    counts: dict[str, int] = {}
    for match in re.finditer(rf"\b{re.escape(name)}(?!\w)", body, re.I):
        counts[match.group()] = counts.get(match.group(), 0) + 1
    mixed = {text: n for text, n in counts.items() if not text.isupper() and not text.islower()}
    if mixed and max(mixed.values()) * 20 >= counts.get(name, 0):
        return max(mixed, key=lambda text: mixed[text])
    if counts.get(name, 0) >= 10 and " " not in name:
        return name  # NVIDIA, IBM: it writes itself so
    words = [_spell_word(word, body) for word in name.split(" ")]
    return " ".join(words)


def _spell_word(word: str, body: str) -> str:
    capital = word.capitalize()
    if (
        len(word) <= 3
        and word.isalpha()
        and len(re.findall(rf"\b{word}\b", body)) > len(re.findall(rf"\b{capital}\b", body))
    ):
        return word
    return capital


def _ticker(lines: Sequence[str]) -> str:
    for i, line in enumerate(lines):
        if not _SYMBOL_HEAD.search(line):
            continue
        cells = line.split("\t")
        column = next((k for k, cell in enumerate(cells) if _SYMBOL_HEAD.search(cell)), 0)
        for below in lines[i + 1 : i + 8]:
            held = below.split("\t")
            candidates = [held[column]] if column < len(held) else []
            candidates += held[1:] if len(held) > 1 else below.split()
            for cell in candidates:
                first = cell.strip().split(",")[0].strip()
                if _SYMBOL.fullmatch(first) and first not in ("LLC", "NYSE", "N/A", "NONE", "PAR", "INC", "THE"):
                    return first
    match = _INLINE_SYMBOL.search("\n".join(lines))
    return match[1] if match else ""


def chinese_company(cover: str, filename: str) -> Company:
    """The issuer of a Chinese report: its cover and company profile first, then the file's name."""
    legal = _LEGAL_ZH.search(filename) or _LEGAL_ZH.search(cover)
    legal_name = legal.group() if legal else ""
    short = ""
    parts = [part.strip() for part in re.split(r"__+|\s{1,8}-\s{1,8}", re.sub(r"\.\w{2,5}$", "", filename))]
    for i, part in enumerate(parts):
        if _FILE_NAME_CODE.fullmatch(part) and i + 1 < len(parts):
            short = parts[i + 1]
    found = _SHORT.search(cover)
    if not short and found:
        short = found[1]
    code = _CODE.search(cover)
    in_name = _FILE_NAME_CODE.search(filename)
    ticker = code[1] if code else (in_name[1] if in_name else "")
    name = short or re.sub(rf"(?:{UNSPACED_LEGAL_FORM})$", "", legal_name)
    aliases = [alias for alias in (legal_name, found[1] if found else "") if alias and alias != name]
    return Company(name, tuple(dict.fromkeys(aliases)), ticker)
