"""The inputs of the checker's cost: so many sentences and passages, and no passage twice."""

from __future__ import annotations

from quelea_evaluation.figures.cost import Cost, check_inputs, make_inputs
from quelea_evaluation.figures.items import Item


def items(contexts: int, answers: int, passages: int) -> list[Item]:
    return [
        Item(
            id=f"{context}-{number}",
            group="tatqa",
            half="development",
            question="",
            answer=f"Sales of shop {number} were $1,2{number}4 million.",
            passages=tuple({"text": f"Passage {n} of context {context}"} for n in range(passages)),
        )
        for context in range(contexts)
        for number in range(answers)
    ]


def test_an_input_has_twenty_sentences_and_eight_passages_of_its_own() -> None:
    made = list(make_inputs(items(contexts=4, answers=10, passages=5)))
    assert [len(one["answer"].splitlines()) for one in made] == [20, 20]
    assert [len(one["passages"]) for one in made] == [8, 8]
    texts = [passage["text"] for one in made for passage in one["passages"]]
    assert len(set(texts)) == len(texts)


def test_contexts_with_too_few_answers_make_none() -> None:
    assert list(make_inputs(items(contexts=2, answers=1, passages=4))) == []


def test_each_input_is_checked_on_the_clock_of_its_process() -> None:
    (one,) = make_inputs(items(contexts=2, answers=10, passages=4))
    (seconds,) = check_inputs([one])
    assert seconds >= 0.0
    assert Cost("ms", [1.0, 3.0, 8.0]).summary()["median"] == 3.0
