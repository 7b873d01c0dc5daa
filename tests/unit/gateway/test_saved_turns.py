"""What a saved answer says of a document that is to be forgotten: nothing, wherever it stood."""

import json

from quelea_gateway.core.chats.conversations import SavedTurn, without

SHOWN = {"number": 1, "document_id": "d1", "title": "Kestrel 10-K"}
CITED = {**SHOWN, "quote": "Turnover 900.10", "source": "local"}
ANSWER = {
    "answer": "Turnover was 900.10 [1].", "language": "en", "citations": [CITED], "further_reading": [],
    "evidence": [SHOWN], "figures": [{"value": "900.10"}], "grounding": {"text": "Turnover was 900.10 [1]."},
    "checks": [{"name": "figures_supported", "passed": False, "detail": "not in the evidence: 900.10"}],
    "notices": ["The evidence does not bear out a figure of this answer: 900.10."],
}  # fmt: skip


def test_checks_and_notices_go_with_the_answer_whose_figures_they_name():
    turn = SavedTurn("1", "2031-01-01T00:00:00Z", "What was turnover?", ANSWER)
    assert "900.10" not in json.dumps(without(turn, "d1").as_dict())
    assert without(turn, "d2").answer == ANSWER
