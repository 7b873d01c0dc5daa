"""The reasons for declining: each has its sentence in both languages, and its section in the docs."""

import re
from pathlib import Path

import pytest
from quelea.generator.v1 import generator_pb2
from quelea_gateway.adapters.services.generator import _DECLINE_REASONS
from quelea_gateway.core.review.decline import DeclineReason, decline

DOCS = Path(__file__).parents[3] / "docs/howto/why-was-my-answer-declined.md"
PROTO = Path(__file__).parents[3] / "proto/quelea/gateway/v1/gateway.proto"


@pytest.mark.parametrize("reason", DeclineReason)
def test_every_reason_has_a_sentence_in_both_languages(reason):
    english, chinese = decline(reason, "en", "Q5 2023"), decline(reason, "zh", "Q5 2023")
    assert english.reason == chinese.reason == reason
    assert english.detail.endswith(".")
    assert chinese.detail.endswith("。")
    assert "{" not in english.detail + chinese.detail


def test_the_docs_explain_every_reason_and_no_other():
    assert sorted(re.findall(r"^### (\w+)$", DOCS.read_text("utf-8"), re.MULTILINE)) == sorted(DeclineReason)


def test_the_wire_names_every_reason():
    comment = PROTO.read_text("utf-8").split("message Decline {")[1].split("string reason")[0]
    assert re.findall(r'"(\w+)"', comment) == list(DeclineReason)


def test_every_reason_of_the_generator_has_one_here():
    own = {value for value in generator_pb2.DeclineReason.values() if value}
    assert set(_DECLINE_REASONS) == own
