"""Questions in one language over documents in another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from quelea_fintext.glossary import gloss_phrases
from quelea_retriever.core.model import Candidate, DocumentFacts, PassageRecord, Reading
from quelea_retriever.core.ranking.language_scales import FEW, foreign, scale_cosines
from quelea_retriever.core.ranking.ranking import rank
from quelea_retriever.core.search_terms import search_vector


def candidate(name: str, language: str, cosine: float, text: str, sparse: float = 0.0) -> Candidate:
    passage = PassageRecord(id=name, document_id=name, ordinal=0, page=1, start=0, end=len(text), text=text)
    return Candidate(passage, DocumentFacts(id=name, language=language), cosine, sparse)


@pytest.mark.parametrize("other", [False, True])
def test_one_language_is_plain_min_max(other: bool) -> None:
    assert np.allclose(scale_cosines([0.8, 0.9, 0.85], np.full(3, other)), [0.0, 1.0, 0.5])
    assert np.allclose(scale_cosines([0.7, 0.7], np.full(2, other)), [0.0, 0.0])


def test_each_language_is_measured_from_its_own_least() -> None:
    own, other = np.linspace(0.84, 0.86, FEW), np.linspace(0.76, 0.80, FEW)
    scores = scale_cosines([*own, *other], np.array([False] * FEW + [True] * FEW))
    assert np.argmax(scores) == 2 * FEW - 1  # it stands out most among its own
    assert (scores.min(), scores.max()) == (0.0, 1.0)


def test_one_document_in_the_questions_language_among_many_others_keeps_its_lead() -> None:
    others = np.array([False] + [True] * 50)
    scores = scale_cosines([0.88, *np.linspace(0.76, 0.84, 50)], others)
    assert np.argmax(scores) == 0


def test_one_document_in_the_other_language_is_measured_by_the_usual_gap() -> None:
    own = np.linspace(0.82, 0.86, 50)
    others = np.array([False] * 50 + [True])
    assert np.argmax(scale_cosines([*own, 0.84], others)) == 50
    assert scale_cosines([*own, 0.77], others)[50] == 0.0


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
    gloss = gloss_phrases(question)
    best = rank(question, [*chatter, *news, answer], Reading(), 3, gloss=gloss)
    assert best[0].candidate.passage.id == "answer"
    # Without knowing of languages it would have come after everything in the question's own.
    alike = [
        replace(one, facts=replace(one.facts, language="")) for one in [*chatter, *news, replace(answer, sparse=0.0)]
    ]
    assert rank(question, alike, Reading(), 1)[0].candidate.passage.id != "answer"


def test_the_gloss_is_searched_with_the_question() -> None:
    question = "英特尔的研发支出"
    plain, glossary = (search_vector(question, Reading(), gloss) for gloss in ((), gloss_phrases(question)))
    assert set(plain[0].tolist()) < set(glossary[0].tolist())
    assert set(search_vector("research and development", Reading())[0].tolist()) <= set(glossary[0].tolist())
