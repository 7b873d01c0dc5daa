"""An answer as Markdown: what stands in it, and that nothing of a document becomes Markdown."""

from typing import Any

from quelea_gateway.core.answers.export import markdown

CITED = {
    "number": 1,
    "document_id": "d1",
    "title": "A [title]\nin two lines",
    "uri": "upload:a.pdf",
    "page": 4,
    "published": "2023-08-03",
    "quote": "Total net sales 81,797",
    "start": 3,
    "end": 25,
    "fetched": "",
}


def answer(**more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "answer": "81,797 [1], and again 81,797 [1].",
        "citations": [CITED, CITED, {**CITED, "start": 30, "quote": "Another row"}],
        "further_reading": [],
        "route": "local",
        "as_of": "2026-01-02",
        "reader": "openai",
        "model": "m",
        "prompt_version": "en-2.5dfffbaf",
        "checks": [],
        "reading": {"text": "Apple · FY2023 Q3"},
        "declined": None,
        "language": "en",
        "notices": [],
        "gate": {"kind": "calibrated", "probability": 0.976, "threshold": 0.6},
        "standalone": {"question": "And Q3 of Apple?", "by": "rules"},
        "evidence": [{"number": 1, "document_id": "d1", "page": 4, "start": 0, "end": 90}],
    }
    return plain | more


def made(**more: Any) -> str:
    return markdown("And Q3?", answer(**more), lambda one: f"http://here/{one['document_id']}")


def test_a_source_that_two_markers_cite_stands_once():
    assert made().count("> Total net sales 81,797") == 1
    assert made().count("> Another row") == 1


def test_the_record_has_what_is_needed_to_ask_again():
    record = made().split("## Record\n\n")[1]
    for line in (
        "- Understood as: And Q3 of Apple?",
        "- Searched: Apple · FY2023 Q3",
        "- Written by m, prompt en-2.5dfffbaf",
        "- Gate calibrated: 0.98, threshold 0.60",
        r"- Shown to the reader, of document d1: \[1\] p. 4 (0–90)",
    ):
        assert f"{line}\n" in record


def test_an_answer_of_before_evidence_was_kept_is_exported_too():
    old = answer()
    del old["evidence"]
    assert "Shown to the reader" not in markdown("q", old, lambda one: "http://here")


def test_a_chinese_record():
    record = made(language="zh").split("## 记录\n\n")[1]
    assert "- 由 m 撰写，提示词版本 en-2.5dfffbaf\n" in record
