"""A verifier decides what the checker leaves open, and an answer does without it when it is late, busy or away."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from quelea.common.v1 import common_pb2
from quelea.retriever.v1 import retriever_pb2
from quelea_checker import CheckPassage, check_answer
from quelea_gateway.adapters.verifiers.cross_encoder_verifier import MOST_PASSAGES, CrossEncoderVerifier
from quelea_gateway.adapters.verifiers.fake_verifier import FakeVerifier
from quelea_gateway.adapters.verifiers.model_verifier import ModelVerifier
from quelea_gateway.core.grounding import ground
from quelea_gateway.core.model import CompletionEnd
from quelea_gateway.core.review.verifier import (
    MOST_ANSWERS,
    MOST_SENTENCES,
    Judgement,
    VerifiedReport,
    VerifyingChecker,
)
from quelea_kit.errors import Conflict, Unavailable
from quelea_kit.testing import wait_until_async

PASSAGE = CheckPassage("Services revenue rose to $5.2 million because of advertising. The board rejected the offer.")
CAUSE = "Services revenue rose to $5.2 million because of advertising."
WRONG = "Services revenue was $7.4 million."
PROSE = "The board of directors rejected the takeover offer."


class Plain:
    """The checker itself."""

    async def check(self, answer: str, passages: Any, *, question: str = "", near: Any = None) -> Any:
        return check_answer(answer, passages, question=question, near=near or {})


async def verified(answer: str, verifier: Any, seconds: float = 5.0) -> Any:
    return await VerifyingChecker(Plain(), verifier, seconds=seconds).check(answer, [PASSAGE])


async def verdicts(answer: str, verifier: Any) -> list[str]:
    return [sentence.verdict for sentence in (await verified(answer, verifier)).sentences]


async def test_figures_that_do_not_hold_keep_their_veto() -> None:
    verifier = FakeVerifier({"Services": Judgement("supported", 1), "board": Judgement("contradicted", 1)})

    report = await verified(f"{WRONG} {PROSE}", verifier)

    assert verifier.asked == [[PROSE]]
    assert [s.verdict for s in report.sentences] == ["contradicted", "contradicted"]
    assert report.verifier == "done"


async def test_a_sentence_whose_figures_hold_can_be_contradicted_but_not_lost() -> None:
    assert await verdicts(CAUSE, FakeVerifier({"cause": Judgement("contradicted")})) == ["contradicted"]
    assert await verdicts(CAUSE, FakeVerifier({"cause": Judgement("not_found")})) == ["supported"]


async def test_a_sentence_in_other_words_gets_the_passage_that_is_named() -> None:
    said = "Directors turned down what had been proposed."
    assert await verdicts(said, FakeVerifier({})) == ["not_found"]
    report = await verified(said, FakeVerifier({"turned": Judgement("supported", 1)}))
    assert [(s.verdict, s.passages) for s in report.sentences] == [("supported", (1,))]
    for unknown in (0, 2):  # a passage that is not there supports nothing
        assert await verdicts(said, FakeVerifier({"turned": Judgement("supported", unknown)})) == ["not_found"]


async def test_a_contradicted_sentence_gets_no_marker_and_is_withheld_in_strict_mode() -> None:
    report = await verified(PROSE, FakeVerifier({"board": Judgement("contradicted")}))
    assert report.markers.missing == ()
    grounding = ground(PROSE, report, [PASSAGE.text], strict=True).grounding
    assert (grounding.withheld, grounding.verifier) == ((PROSE,), "done")


@pytest.mark.parametrize(
    "verifier", [FakeVerifier({}, error=Unavailable("away")), FakeVerifier({}, hangs=True)], ids=["away", "late"]
)
async def test_without_it_the_checkers_verdicts_stand_and_it_is_said(verifier: FakeVerifier) -> None:
    report = await verified(CAUSE, verifier, seconds=0.05)
    assert isinstance(report, VerifiedReport)
    assert (report.sentences, report.verifier) == (check_answer(CAUSE, [PASSAGE]).sentences, "unavailable")


async def test_nothing_is_asked_where_nothing_is_open() -> None:
    verifier = FakeVerifier({})
    report = await verified(WRONG, verifier)
    assert verifier.asked == []
    assert not isinstance(report, VerifiedReport)


async def test_sentences_and_answers_at_once_are_bounded() -> None:
    verifier = FakeVerifier({"board": Judgement("supported", 1)})
    report = await verified(" ".join([PROSE] * (MOST_SENTENCES + 3)), verifier)
    assert (len(verifier.asked[0]), report.verifier) == (MOST_SENTENCES, "partial")

    hanging = FakeVerifier({}, hangs=True)
    checker = VerifyingChecker(Plain(), hanging, seconds=60)
    waiting = [asyncio.create_task(checker.check(PROSE, [PASSAGE])) for _ in range(MOST_ANSWERS)]
    await wait_until_async(lambda: len(hanging.asked) == MOST_ANSWERS)
    report = await checker.check(PROSE, [PASSAGE])
    assert (len(hanging.asked), report.verifier) == (MOST_ANSWERS, "unavailable")
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


class Model:
    """A language model that writes what it is given."""

    def __init__(self, text: str, reason: str = "stop", error: Exception | None = None) -> None:
        self.text, self.reason, self.error = text, reason, error
        self.asked: list[tuple[Any, dict[str, Any]]] = []

    async def complete(self, messages: Any, **more: Any) -> Any:
        self.asked.append((messages, more))
        if self.error:
            raise self.error
        yield self.text
        yield CompletionEnd(self.reason)


def said(*verdicts: tuple[int, str, int]) -> str:
    return json.dumps({"verdicts": [dict(zip(("sentence", "verdict", "passage"), v, strict=True)) for v in verdicts]})


async def test_the_language_model_gives_one_verdict_a_sentence() -> None:
    model = Model(said((2, "contradicted", 1), (1, "supported", 1), (1, "not_found", 0), (9, "supported", 1)))

    found = await ModelVerifier(model).verify([CAUSE, PROSE, "Third."], [PASSAGE])

    assert found == [Judgement("supported", 1), Judgement("contradicted", 1), None]
    messages, more = model.asked[0]
    assert PASSAGE.text in messages[1].text
    assert PROSE in messages[1].text
    assert json.loads(more["json_schema"])["required"] == ["verdicts"]
    assert more["temperature"] == 0.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [("no json", "stop"), ('{"verdicts": [{"sentence": 1, "verdict": "maybe", "passage": 0}]}', "stop"),
     (said((1, "supported", 1)), "length"), ("", "invalid")],
)  # fmt: skip
async def test_what_is_no_list_of_verdicts_is_none(text: str, reason: str) -> None:
    with pytest.raises(Unavailable, match="no verdicts"):
        await ModelVerifier(Model(text, reason)).verify([CAUSE], [PASSAGE])


async def test_a_deployment_without_a_language_model_says_so() -> None:
    report = await verified(CAUSE, ModelVerifier(Model("", error=Conflict("No language model is configured."))))
    assert report.verifier == "unavailable"


class Entailer:
    """A retriever whose cross-encoder gives what each premise's words stand for; of the others it says nothing."""

    def __init__(self, scores: dict[str, tuple[float, float]], *, truncated: str = "", drops: int = 0) -> None:
        self.scores, self.truncated, self.drops = scores, truncated, drops
        self.asked: list[list[tuple[str, str]]] = []

    async def entail(self, pairs: Any) -> retriever_pb2.EntailResponse:
        self.asked.append(list(pairs))
        found = [next((s for words, s in self.scores.items() if words in p), (0.1, 0.1)) for p, _ in pairs]
        scores = [common_pb2.EntailmentScore(entailment=e, neutral=1 - e - c, contradiction=c) for e, c in found]
        cut = [i for i, (premise, _) in enumerate(pairs) if self.truncated and self.truncated in premise]
        return retriever_pb2.EntailResponse(scores=scores[self.drops :], truncated=cut)


OTHERS = [CheckPassage("Filler."), CheckPassage("says so"), CheckPassage("otherwise"), CheckPassage("surely otherwise")]


@pytest.mark.parametrize(
    ("scores", "judged"),
    [
        ({"says so": (0.6, 0.1), "otherwise": (0.0, 0.9)}, Judgement("supported", 2)),  # one passage is enough
        ({"surely": (0.1, 0.9), "otherwise": (0.1, 0.6)}, Judgement("contradicted", 4)),
        ({"says so": (0.5, 0.5)}, Judgement("not_found")),  # neither has the larger part
        ({}, Judgement("not_found")),
    ],
)
async def test_a_cross_encoders_scores_make_the_verdict(scores: Any, judged: Judgement) -> None:
    assert await CrossEncoderVerifier(Entailer(scores)).verify([PROSE], OTHERS) == [judged]


async def test_every_sentence_is_compared_with_the_passages_that_share_its_words() -> None:
    entailer = Entailer({"offer": (0.9, 0.0)})
    many = [CheckPassage(f"Filler {number}.") for number in range(MOST_PASSAGES)]
    headed = CheckPassage("rejected the takeover offer", header="Board", table_head="of directors")

    found = await CrossEncoderVerifier(entailer).verify([PROSE, "Costs fell."], [*many, headed])

    assert found == [Judgement("supported", MOST_PASSAGES + 1), None]  # the passage left out may say that costs fell
    (pairs,) = entailer.asked
    assert [sentence for _, sentence in pairs] == [PROSE] * MOST_PASSAGES + ["Costs fell."] * MOST_PASSAGES
    assert pairs[0][0] == "Board\nof directors\nrejected the takeover offer"


async def test_what_was_not_read_to_its_end_is_not_called_missing() -> None:
    assert await CrossEncoderVerifier(Entailer({}, truncated="otherwise")).verify([PROSE], OTHERS) == [None]
    assert await CrossEncoderVerifier(Entailer({})).verify([PROSE], [CheckPassage("word " * 5000)]) == [None]


async def test_a_cross_encoder_without_passages_or_whole_answers_judges_nothing() -> None:
    entailer = Entailer({})
    assert await CrossEncoderVerifier(entailer).verify([PROSE], []) == [None]
    assert entailer.asked == []
    with pytest.raises(Unavailable, match="did not score"):
        await CrossEncoderVerifier(Entailer({}, drops=1)).verify([PROSE], OTHERS)
