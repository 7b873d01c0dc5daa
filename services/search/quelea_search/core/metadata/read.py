"""What a document says of itself: read from its first pages, its signature, its container and its file's name."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import date, timedelta
from pathlib import PurePosixPath

from quelea_fintext.dates import find_dates, parse_iso, write_date
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.text import language_of
from quelea_fintext.times.periods import ReportingPeriod

from quelea_search.core.layout.headings import is_name
from quelea_search.core.metadata import letterheads
from quelea_search.core.metadata.companies import Company, chinese_company, english_company
from quelea_search.core.metadata.periods import chinese_period, english_period, file_label
from quelea_search.core.model import DocumentFacts, LineKind, ParsedDocument

COVER_PAGES = 3
COVER_CHARACTERS = 16_000
BODY_CHARACTERS = 600_000

_FORM = re.compile(r"\bform\s+(10-[QK]|8-K|20-F|6-K|40-F|S-1|S-3|S-4|F-1|DEF\s?14A|N-CSR|11-K)(?:T|SB)?(?:/A)?\b", re.I)
_TYPES: dict[str, list[tuple[str, re.Pattern[str]]]] = {
    language: [(kind, re.compile(title, re.I)) for kind, title in types.items()]
    for language, types in LANGUAGES.of("documents.types").items()
}
PRESS_RELEASE, CALL, CURRENT = "press release", "earnings call", "8-K"
_FILED = re.compile(r"securities\s+and\s+exchange\s+commission", re.I)
_PROXY = re.compile(r"\bschedule\s+14A\b", re.I)
_RESULTS = re.compile(r"\bitem\s+2\.02\b", re.I)
_REGULATION = re.compile(
    r"\bCFR\b|\beCFR\b|\bRegulation\s+[A-Z]{1,2}\b|\bOrdinance\b|\bGuidelines?\b|\bCode\s+of\s+(?:Practice|Banking|Conduct|Federal)|"
    r"\bSupervisory\s+Policy\s+Manual\b|\bstatutory\s+(?:guideline|instrument)|\bDirective\s+\(?E[UC]|\bCircular\b|§\s*\d+\.\d+|\bAuthorized\s+Institutions\b",
    re.I,
)
_SIGNATURE = re.compile(r"^\s{0,40}+signatures?\s{0,40}$|^\s{0,40}+签署", re.I | re.M)
_DATED = LANGUAGES.pattern("documents.dated", r"(?:^|\n|\t)\s{0,40}+<>\s{0,8}+[:：]?\s{0,8}+(?:on\s{1,8})?")
_FILE_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)")
_GENERIC = frozenset(LANGUAGES.words("documents.generic_titles"))
_POOR_TITLE = re.compile(
    r"microsoft\s+word|untitled|\.(?:docx?|pdf|xlsx?|pptx?|indd|qxd|html?|txt)\b|^\s*(?:document|presentation)\d*\s*$|^[\d\W_]*$|_|^\S*[\d-]\S*$",
    re.I,
)


def read_metadata(parsed: ParsedDocument, filename: str, given: DocumentFacts | None) -> DocumentFacts:
    """What the document says of itself, overlaid by what the uploader says: each given field that is not empty wins."""
    found = _read(parsed, filename)
    return _overlay(found, given) if given is not None else found


def _overlay(found: DocumentFacts, given: DocumentFacts) -> DocumentFacts:
    values = {}
    for field in fields(DocumentFacts):
        theirs, ours = getattr(given, field.name), getattr(found, field.name)
        values[field.name] = theirs or ours
    names = [field.name for field in fields(ReportingPeriod)]
    period = {name: getattr(given.period, name) or getattr(found.period, name) for name in names}
    values["period"] = ReportingPeriod(**period)
    return DocumentFacts(**values)


def _read(parsed: ParsedDocument, filename: str) -> DocumentFacts:
    name = PurePosixPath(filename.replace("\\", "/")).name
    cover = "\n".join((*(page.text for page in parsed.pages[:COVER_PAGES]), *parsed.running))[:COVER_CHARACTERS]
    body = "\n".join(page.text for page in parsed.pages)[:BODY_CHARACTERS]
    middle = parsed.pages[len(parsed.pages) // 2].text
    language = language_of(cover[:6000] + middle[:4000])
    kind = _document_type(parsed, name, cover, language)
    company = _company(parsed, name, cover, body, language, kind)
    if language == "zh":
        period = chinese_period(name) if chinese_period(name).label else _chinese_period(cover, kind)
    else:
        period = _english_period(parsed, kind, cover, body)
    period = ReportingPeriod(period.label, period.fiscal_year, period.fiscal_quarter, period.end_date, file_label(name))
    published = _find_published(parsed, name, kind, period)
    return DocumentFacts(
        title=_title(parsed, name, company, kind, period, published, language),
        language=language,
        company=company.name,
        company_aliases=company.aliases,
        ticker=company.ticker,
        document_type=kind,
        period=period,
        published=published,
    )


def _document_type(parsed: ParsedDocument, filename: str, cover: str, language: str) -> str:
    if parsed.stated.get("document_type"):
        return parsed.stated["document_type"]
    form = _FORM.search(cover[:4000])
    is_filed = _FILED.search(cover[:1500]) is not None
    if language == "en" and not is_filed and letterheads.is_release(parsed.pages[0].text):
        return PRESS_RELEASE
    if is_filed and _PROXY.search(cover[:1500]):
        return "DEF 14A"
    if form:
        return form[1].upper()
    opening = f"{filename.rsplit('.', 1)[0]}\n{parsed.stated.get('title', '')}\n{_first_lines(parsed, 12)}"
    if language == "zh":
        for kind, pattern in _TYPES["zh"]:
            if any(pattern.search(line.strip()) for line in opening.splitlines() if len(line) < 60):
                return kind
    else:
        for kind, pattern in _TYPES["en"]:
            if pattern.search(opening):
                return kind
        if len(_REGULATION.findall(opening + cover[:6000])) >= 2 or _REGULATION.search(filename):
            return "regulation"
    return "news" if parsed.stated.get("published") and parsed.format in ("json", "html") else ""


def _english_period(parsed: ParsedDocument, kind: str, cover: str, body: str) -> ReportingPeriod:
    if kind == CURRENT and not _RESULTS.search(body):
        return ReportingPeriod()  # of an event; the years that it mentions are those of somebody's salary
    found = english_period(kind, cover, body)
    if kind == CURRENT:
        return ReportingPeriod(end_date=found.end_date)
    if kind not in (PRESS_RELEASE, CALL):
        return found
    day = letterheads.dateline(parsed.pages[0].text)
    return letterheads.headline_period(parsed.pages[0].text, found, day.day if day else None)


def _chinese_period(cover: str, kind: str) -> ReportingPeriod:
    return chinese_period(cover[:3000]) if kind.endswith("report") and kind != "research report" else ReportingPeriod()


def _company(parsed: ParsedDocument, filename: str, cover: str, body: str, language: str, kind: str) -> Company:
    if parsed.stated.get("company") or parsed.stated.get("ticker"):
        return Company(parsed.stated.get("company", ""), (), parsed.stated.get("ticker", ""))
    if kind in ("regulation", "news"):
        return Company()
    if language == "zh":
        filing = kind in ("annual report", "half-year report", "quarterly report", "prospectus", "announcement")
        return chinese_company(cover, filename) if filing else Company()
    filing = _FORM.fullmatch(f"form {kind}") is not None or kind.endswith("report") or kind in (PRESS_RELEASE, CALL)
    first = parsed.pages[0].text
    named = {PRESS_RELEASE: letterheads.release_name, CALL: letterheads.call_name}.get(kind)
    return english_company(first.splitlines(), body, named(first) if named else "") if filing else Company()


def _first_lines(parsed: ParsedDocument, count: int) -> str:
    return "\n".join(parsed.pages[0].text.splitlines()[:count])


def _find_published(parsed: ParsedDocument, filename: str, kind: str, period: ReportingPeriod) -> str:
    stated = parsed.stated.get("published", "")
    if parse_iso(stated):
        return stated
    event = letterheads.report_day(parsed.pages[0].text) if kind == CURRENT else None
    signed = _signature_day(parsed, event - timedelta(days=1) if event else parse_iso(period.end_date))
    signed = signed or event
    if signed and _FORM.fullmatch(f"form {kind}"):
        return signed.isoformat()
    match = _FILE_DATE.search(filename)
    if match and (day := parse_iso(f"{match[1]}-{match[2]}-{match[3]}")):
        return day.isoformat()
    if signed:
        return signed.isoformat()
    if kind == PRESS_RELEASE and (told := letterheads.dateline(parsed.pages[0].text)):
        return told.day.isoformat()
    opening = parsed.pages[0].text[:1500]
    for dated in _DATED.finditer(opening):
        found = next(find_dates(opening[dated.end() : dated.end() + 40]), None)
        if found is not None and found.start < 14:
            return found.day.isoformat()
    if kind in ("news", CALL, "research report", "announcement", ""):
        first = next(find_dates(opening[:400]), None)
        return first.day.isoformat() if first and kind else ""
    return ""


def _signature_day(parsed: ParsedDocument, end: date | None) -> date | None:
    """The day of the signature: after the period's end, under the heading "Signatures", else after "Date:"."""
    if end is None:
        return None

    def after_end(text: str) -> date | None:
        days = [f.day for f in find_dates(text) if timedelta(0) < f.day - end < timedelta(days=240)]
        return days[0] if days else None

    last = [page.text for page in parsed.pages[len(parsed.pages) // 2 :]]
    for text in reversed(last):
        match = _SIGNATURE.search(text)
        if match and (day := after_end(text[match.end() : match.end() + 2500])):
            return day
    for text in reversed(last):
        for match in _DATED.finditer(text):
            if day := after_end(text[match.end() : match.end() + 40]):
                return day
    return None


def _title(
    parsed: ParsedDocument,
    filename: str,
    company: Company,
    kind: str,
    period: ReportingPeriod,
    published: str,
    language: str,
) -> str:
    if company.name and kind and period.end_date and kind != CURRENT:
        return _filing_title(company.name, kind, period, language)
    if company.name and kind in (PRESS_RELEASE, CALL, CURRENT):
        return letterheads.title_of(company.name, kind, published, letterheads.items(parsed.pages[0].text))
    stated = parsed.stated.get("title", "")
    if 4 <= len(stated) <= 200 and not _POOR_TITLE.search(stated) and stated.lower() not in _GENERIC:
        return stated
    stem = re.sub(r"[_\s]+", " ", filename.rsplit(".", 1)[0]).strip() or filename
    heading = _heading(parsed, kind)
    described = len(re.findall(r"[A-Za-z]{3,}|[\u4e00-\u9fff]{2,}", stem)) >= 3
    return stem if described and (not heading or kind == "regulation") else heading or stem


def _heading(parsed: ParsedDocument, kind: str) -> str:
    """The first heading that could name the document; of a regulation, its first part or chapter."""
    for page in parsed.pages[: COVER_PAGES if kind == "regulation" else 1]:
        for line in page.lines if kind == "regulation" else page.lines[:12]:
            text = page.text[line.start : line.end]
            if line.kind is not LineKind.HEADING or not 4 <= len(text) <= 160 or is_name(text):
                continue
            if text.lower().strip(" :：") in _GENERIC or any(True for _ in find_dates(text)):
                continue
            if kind != "regulation" or line.level == 1:
                return text
    return ""


def _filing_title(name: str, kind: str, period: ReportingPeriod, language: str) -> str:
    if language == "zh":
        said = {"annual report": "年度报告", "half-year report": "半年度报告", "quarterly report": "季度报告"}.get(
            kind, kind
        )
        if kind == "quarterly report" and period.fiscal_quarter:
            said = f"第{'一二三四'[period.fiscal_quarter - 1]}季度报告"
        return f"{name} {period.fiscal_year}年{said}"
    end = date.fromisoformat(period.end_date)
    what = "quarter ended" if period.fiscal_quarter else "fiscal year ended" if period.fiscal_year else "period ended"
    return f"{name} {kind}, {what} {write_date(end, 'en')}"
