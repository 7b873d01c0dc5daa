"""Thoughts before an answer, and control characters in it: gone, however the stream is cut."""

import asyncio
from datetime import date

import pytest
from quelea_fintext.languages import REFUSALS
from quelea_generator.adapters.fake_endpoint import FakeEndpoint
from quelea_generator.core.chat.reader import ModelReader
from quelea_generator.core.chat.reply_filter import ThoughtFilter, strip_unseen
from quelea_generator.core.model import Delta, Evidence, Finished, Task

TEXTS = {
    "Sales rose.": "Sales rose.",
    "<think>hm\n1 < 2 </b></think>\n\nSales rose.": "Sales rose.",
    "\n <thinking>hm</think></thinking> Sales rose.": "Sales rose.",
    "<think></think>Sales rose.": "Sales rose.",
    "<think>hm without an end": "",
    "<think>": "",
    "<thi": "<thi",
    "<table> of sales": "<table> of sales",
    "Sales <think>rose</think>.": "Sales <think>rose</think>.",  # only at the beginning
    "  ": "  ",
    "": "",
}


@pytest.mark.parametrize(("said", "shown"), TEXTS.items())
def test_thoughts_at_the_beginning_are_not_shown_however_they_are_cut(said: str, shown: str) -> None:
    for size in (1, 2, 5, 7, 1000):
        thoughts = ThoughtFilter()
        pieces = [said[at : at + size] for at in range(0, len(said), size)]
        assert "".join(map(thoughts.feed, pieces)) + thoughts.finish() == shown


def test_what_cannot_be_a_thought_is_not_held_back() -> None:
    thoughts = ThoughtFilter()
    assert thoughts.feed("S") == "S"
    assert thoughts.feed("<think>") == "<think>"


def test_endless_thoughts_are_not_kept() -> None:
    thoughts = ThoughtFilter()
    for _ in range(1000):
        assert thoughts.feed("<think>and so on, " * 10) == ""
    assert len(thoughts._held) < 20


def test_control_characters_go_and_text_stays() -> None:
    assert strip_unseen("\x1b]0;owned\x07a\x1b[2Jb\x9b31mc\r\nd\te\u202ef\u200b") == "]0;owneda[2Jb31mc\nd\tef"
    for text in (
        "Net sales rose 5%.\n\n| a | b |\t",
        "营业收入为5740万部，同比增长20%。",
        "naïve — “quoted” €5 😀",
        "<b>bold</b>",
    ):
        assert strip_unseen(text) == text


async def read(*pieces: str) -> tuple[str, Finished]:
    chat = FakeEndpoint(pieces)
    reader = ModelReader(chat, evidence_tokens=1000, history_tokens=100, max_tokens=100, temperature=0.0)
    text, end = "", None
    async with asyncio.timeout(60):
        async for event in reader.read(Task("Why?", (Evidence(1, "Sales rose."),), date(2024, 6, 1))):
            text += event.text if isinstance(event, Delta) else ""
            end = event if isinstance(event, Finished) else end
    assert end is not None
    return text, end


async def test_the_reader_shows_neither_and_declines_when_nothing_is_left() -> None:
    text, end = await read("<think>[7] ", "hm</think>", "\n\n\x1b[31mSales rose ", "[1]", "[2].")
    assert (text, end.reason, end.removed_markers) == ("[31mSales rose [1].", "stop", 1)
    for pieces in (["<think>hm"], ["\x00\x01", "\x1b"], ["<think>hm</think>", " \n"]):
        text, end = await read(*pieces)
        assert (text.strip(), end.reason) == (REFUSALS["en"], "declined")
