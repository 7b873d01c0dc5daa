"""The sentences beside an answer: every one in every language, and those of the retriever's notes."""

import re
from dataclasses import fields

import pytest
from quelea.retriever.v1 import retriever_pb2
from quelea_fintext.languages import LANGUAGES
from quelea_fintext.notices import Note, NoteReason, say, write_notes
from quelea_fintext.text import CJK

INTEL = Note(NoteReason.FILING_LEFT_OUT, ("Intel",), ("2022 Q2",))
OTHERS = Note(NoteReason.COMPANY_LEFT_OUT, ("Tesla", "AMD"))


@pytest.mark.parametrize(
    ("notes", "english", "chinese"),
    [
        (
            [Note(NoteReason.COMPANY_NOT_STORED, ("Tesla",))],
            "no document of Tesla; searched everything",
            "没有Tesla的文档，已检索全部内容",
        ),
        (
            [INTEL, OTHERS],
            "no filing of Intel for 2022 Q2; no document of Tesla, AMD",
            "没有Intel的2022年第2季度财务报告；没有Tesla, AMD的文档",
        ),
        (
            [Note(NoteReason.LATEST_OVERDUE, ("Apple",), document_type="10-Q", end="2023-07-01")],
            "the newest stored 10-Q of Apple is for the period ended July 1, 2023; other companies' are newer, so its "
            "latest is probably not stored",
            "所存Apple最新的 10-Q 截至2023年7月1日；其他公司已有更新的，其最新一期可能尚未入库",
        ),
        (
            [Note(NoteReason.SHOWN_FOR_COMPARISON, ("海翔药业",), ("2018", "2018-12"), ("FY2019", "FY2019 Q3"))],
            "no filing of 海翔药业 for 2018, 2018-12; FY2019, FY2019 Q3 shows it for comparison",
            "没有海翔药业的2018年, 2018-12财务报告，2019财年, 2019财年第3季度的报告列有其对比数",
        ),
        ([Note(NoteReason.NEWEST_ONLY, count=4, total=9)], "the newest 4 of 9 filings", "仅使用9份财务报告中最新的4份"),
        ([], "", ""),
    ],
)
def test_notes_are_written_in_the_language_of_the_question(notes, english, chinese):
    assert (write_notes(notes, "en"), write_notes(notes, "zh")) == (english, chinese)


def test_every_language_has_every_sentence_with_the_same_places():
    every = {code: _sentences(table) for code, table in LANGUAGES.of("notices").items()}
    assert set(every) == set(LANGUAGES.codes)
    for own in every.values():
        assert {key: _places(text) for key, text in own.items()} == {k: _places(t) for k, t in every["en"].items()}
    assert not any(CJK.search(text) for text in every["en"].values())
    assert not any(text.isascii() for text in every["zh"].values())


def test_a_language_without_a_sentence_has_the_english_one():
    assert say("answer.no_web", "de") == say("answer.no_web", "en")
    with pytest.raises(KeyError):
        say("answer.no_such_sentence", "zh")


def test_the_wire_has_every_reason_and_every_field():
    names = {name.removeprefix("REASON_") for name in dict(retriever_pb2.ReadingNote.Reason.items())}
    assert names == {"UNSPECIFIED", *NoteReason.__members__}
    assert [one.name for one in retriever_pb2.ReadingNote.DESCRIPTOR.fields] == [one.name for one in fields(Note)]


@pytest.mark.parametrize("reason", NoteReason)
def test_every_reason_has_a_sentence(reason):
    assert write_notes([Note(reason, ("Foo",), ("FY2020",), ("FY2021",), "10-K", "2020-12-31", 2, 3)], "en")


def _sentences(table):
    return {f"{part}.{key}": text for part, texts in table.items() for key, text in texts.items()}


def _places(text):
    return set(re.findall(r"{(\w+)", text))
