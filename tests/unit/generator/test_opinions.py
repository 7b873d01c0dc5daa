"""Questions for advice or a forecast: told apart from those for facts, and answered with facts alone."""

from __future__ import annotations

import csv
import json
from datetime import date
from pathlib import Path

import pytest
from quelea_fintext.text import normalise
from quelea_generator.core.extractive.opinions import opinion_asked
from quelea_generator.core.model import Evidence, Task
from support.generator import lines_and_quotes

DATA = Path(__file__).parents[4] / "shared" / "data"
MOST_FALSE = 0.002
"""Share of questions for facts that may be taken for questions of opinion: 1 of 500."""
INCOME = Evidence(
    1,
    "Three Months Ended\nMarch 30, 2024\tApril 1, 2023\nNet sales\t$ 81,797\t$ 82,959\nNet income\t19,881\t19,442",
    header="Norbert Mills (NBM) · 10-Q · FY2024 Q3 · quarter ended March 30, 2024 · Statements of operations",
    is_table=True,
    company="Norbert Mills",
    period_end="2024-03-30",
    period_label="FY2024 Q3",
)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Is Norbert Mills a good buy?", "advice"),
        ("Should I sell my shares of Norbert Mills?", "advice"),
        ("Is the stock undervalued?", "advice"),
        ("Would you recommend buying it?", "advice"),
        ("Is now the right time to invest in mills?", "advice"),
        ("该不该买入英伟达？", "advice"),
        ("这只股票值得投资吗？", "advice"),
        ("英伟达被高估了吗？", "advice"),
        ("Will its revenue grow next year?", "forecast"),
        ("What will the share price be in 2030?", "forecast"),
        ("How high will the stock go?", "forecast"),
        ("微软的股价明年会涨吗？", "forecast"),
        ("预测一下英伟达明年的收入", "forecast"),
        ("How much did it invest in research?", ""),
        ("What did the company buy back in Q3 2023?", ""),
        ("What was the price target of the report?", ""),
        ("Should inventories be measured at cost or net realisable value?", ""),
        ("公司是否持有投资性房地产？", ""),
        ("投资者应该关注哪些风险？", ""),
        ("净利润是否增长？", ""),
    ],
)
def test_opinions_are_told_from_facts(question: str, kind: str) -> None:
    assert opinion_asked(normalise(question)) == kind


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Given its net income in Q3 2024, should I buy Norbert Mills?",
            "gives no recommendation to buy, hold or sell",
        ),
        ("Will the net income of Norbert Mills grow?", "makes no forecast"),
        ("考虑到 Norbert Mills 2024年第三季度的净利润，现在该不该买入？", "不提供买入、持有或卖出的建议"),
        ("Norbert Mills 的净利润还会增长吗？", "不作预测"),
    ],
)
def test_the_answer_says_that_it_gives_none_and_quotes_the_item_that_is_named(question: str, said: str) -> None:
    lines, quotes = lines_and_quotes(Task(question, (INCOME,), date(2024, 6, 1)))
    assert said in lines[0]
    assert lines[0].endswith((":", "："))
    assert [quote.text for quote in quotes] == ["Net income\t19,881\t19,442"]


@pytest.mark.parametrize("question", ["Is Norbert Mills a good buy?", "Norbert Mills 值得投资吗？"])
def test_where_no_item_is_named_there_is_nothing_to_quote(question: str) -> None:
    assert lines_and_quotes(Task(question, (INCOME,), date(2024, 6, 1))) == ([], [])


def _questions() -> dict[str, list[str]]:
    with (DATA / "docugami_sec10q" / "qna_data.csv").open(encoding="utf-8-sig", newline="") as file:
        found = {"docugami": [row["Question"] for row in csv.DictReader(file)]}
    contexts = json.loads((DATA / "tatqa" / "tatqa_dataset_dev.json").read_text("utf-8"))
    found["tatqa"] = [one["question"] for context in contexts for one in context["questions"]]
    disc = json.loads((DATA / "disc_finllm" / "retriever_eval.json").read_text("utf-8"))
    found["disc"] = [text for one in disc for text in _named(one)]
    lines = (DATA / "fintextqa" / "regulation_qa_aligned.jsonl").read_text("utf-8").splitlines()
    found["fintextqa"] = [text for line in lines for text in _named(json.loads(line))]
    return found


def _named(item: dict[str, object]) -> list[str]:
    return [str(value) for name, value in item.items() if name.lower() in {"question", "query", "instruction"}]


def test_questions_of_the_data_sets_are_not_taken_for_opinions() -> None:
    if not DATA.is_dir():
        pytest.skip(f"FALSE ALARMS ARE NOT COUNTED: there is no {DATA}")
    found = _questions()
    assert all(len(questions) >= 50 for questions in found.values()), {n: len(q) for n, q in found.items()}
    asked = [question for questions in found.values() for question in questions]
    false = [question for question in asked if opinion_asked(normalise(question))]
    assert len(false) <= MOST_FALSE * len(asked), false
