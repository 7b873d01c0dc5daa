"""Questions in one language over documents in another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from quelea_kit.glossary import glossed
from quelea_retriever.core.languages import foreign, scaled
from quelea_retriever.core.model import Candidate, DocumentFacts, PassageRecord, Reading
from quelea_retriever.core.ranking import rank
from quelea_retriever.core.search_terms import search_vector


def candidate(name: str, language: str, cosine: float, text: str, sparse: float = 0.0) -> Candidate:
    passage = PassageRecord(id=name, document_id=name, ordinal=0, page=1, start=0, end=len(text), text=text)
    return Candidate(passage, DocumentFacts(id=name, language=language), cosine, sparse)


def test_one_language_is_plain_min_max() -> None:
    values = [0.8, 0.9, 0.85]
    assert np.allclose(scaled(values, np.zeros(3, dtype=bool)), [0.0, 1.0, 0.5])
    assert np.allclose(scaled(values, np.ones(3, dtype=bool)), [0.0, 1.0, 0.5])
    assert np.allclose(scaled([0.7, 0.7], np.array([True, False])), [0.0, 0.0])


def test_each_language_is_measured_from_its_own_least() -> None:
    own, other = [0.84, 0.86, 0.85], [0.76, 0.80, 0.77]
    others = np.array([False] * 3 + [True] * 3)
    assert np.argmax(scaled(own + other, others)) == 4  # it stands out most among its own
    assert scaled(own + other, others).max() == 1.0


def test_nobody_knows_is_not_another_language() -> None:
    assert foreign(["en", "zh", ""], "en").tolist() == [False, True, False]


def test_the_answer_in_the_other_language_beats_chatter_in_the_questions_own() -> None:
    question = "Why did the central bank cut deposit rates?"
    chatter = [
        candidate(f"own{n}", "en", 0.84 + n / 1000, f"Item {n} of a report on machines and where they are sold.")
        for n in range(20)
    ]
    news = [candidate(f"other{n}", "zh", 0.77 + n / 1000, f"第{n}条新闻谈的是体育赛事。") for n in range(20)]
    answer = candidate("answer", "zh", 0.83, "央行货币政策宽松，存款利率随之下调，减轻银行负债成本。", sparse=4.0)
    gloss = glossed(question)
    best = rank(question, [*chatter, *news, answer], Reading(), 3, gloss=gloss)
    assert best[0].candidate.passage.id == "answer"
    # Without knowing of languages it would have come after everything in the question's own.
    alike = [
        replace(one, facts=replace(one.facts, language="")) for one in [*chatter, *news, replace(answer, sparse=0.0)]
    ]
    assert rank(question, alike, Reading(), 1)[0].candidate.passage.id != "answer"


def test_the_gloss_is_searched_with_the_question() -> None:
    question = "英特尔的研发支出"
    plain, glossary = (search_vector(question, Reading(), gloss) for gloss in ((), glossed(question)))
    assert set(plain[0].tolist()) < set(glossary[0].tolist())
    assert set(search_vector("research and development", Reading())[0].tolist()) <= set(glossary[0].tolist())
