"""What an answer must have: the thing that is asked for and not its period, a figure where one is counted."""

from datetime import date

import pytest
from quelea_generator.core.extractive.question import read_question
from quelea_generator.core.model import Evidence, Task
from support.generator import lines_and_quotes

DAY = date(2031, 6, 1)


def words(question: str, company: str = "Kestrel") -> list[str]:
    evidence = (Evidence(1, "Nothing of it.", company=company),)
    return [" ".join(facet.own) for facet in read_question(Task(question, evidence, DAY)).facets]


@pytest.mark.parametrize(
    ("question", "company", "expected"),
    [
        ("How fast did Ferries grow in the quarter ended March 31, 2031?", "Kestrel", ["ferri", "grow"]),
        ("What ferries did Kestrel buy in the March 2031 quarter?", "Kestrel", ["ferri", "buy"]),
        ("红隼2031年前五大客户贡献了多少？", "红隼", ["前", "五大", "客户", "贡献"]),
        ("红隼2031年末货币资金是多少？", "红隼", ["货币资金"]),
    ],
)
def test_a_period_is_no_word_to_look_for(question: str, company: str, expected: list[str]) -> None:
    assert words(question, company) == expected


@pytest.mark.parametrize("question", ["What drove ferry growth?", "What squeezed the margin?", "And what led to it?"])
def test_what_did_it_asks_for_a_reason(question: str) -> None:
    assert read_question(Task(question, (), DAY)).reason


@pytest.mark.parametrize("question", ["What was the operating margin?", "What revenue did ferries bring?"])
def test_what_it_was_does_not(question: str) -> None:
    assert not read_question(Task(question, (), DAY)).reason


def answered(question: str, *texts: str, company: str = "") -> str:
    evidence = tuple(
        Evidence(number, text, header=f"{company} · report", company=company, period_label="FY2030")
        for number, text in enumerate(texts, 1)
    )
    return "\n".join(lines_and_quotes(Task(question, evidence, DAY))[0])


def test_how_many_is_answered_with_a_number() -> None:
    said = answered(
        "How many people work for Kestrel?",
        "Our employees, our staff and the people who work for Kestrel enjoy a range of benefits.",
        "At the end of fiscal 2030, Kestrel employed approximately 470,100 people.",
        company="Kestrel",
    )
    assert "470,100" in said
    assert "benefits" not in said


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Ferry revenue decreased 30%, driven by a lower number of ferries sold.", False),
        ("Ferry revenue decreased $800 million in 2030 as fewer ferries were sold.", False),
        ("Kestrel sold 1,204 ferries.", True),
        ("Kestrel sold three ferries.", True),
    ],
)
def test_money_and_percentages_count_nothing(text: str, counts: bool) -> None:
    other = "Kestrel sold its 17 buses and the depots that belong to them."
    said = answered("How many ferries did Kestrel sell?", text, other, company="Kestrel")
    assert (text in said) is counts


def test_a_figure_beside_the_name_that_is_asked_about() -> None:
    charge = "Kestrel recorded an impairment charge of $760 million related to our Puffin trademark."
    question = "How large was the write-down of the Puffin brand at Kestrel?"
    assert "$760 million" in answered(question, charge, company="Kestrel")
    assert answered(question, charge.replace("Puffin", "Gannet"), company="Kestrel") == ""


def test_a_paper_that_never_says_what_a_chinese_question_begins_with_is_about_another() -> None:
    risks = "公司面临的主要风险包括原材料价格波动风险和汇率风险。"
    assert answered("蓝鹊科技面临哪些主要风险？", risks, company="红隼股份") == ""
    assert "汇率风险" in answered("红隼股份面临哪些主要风险？", risks, company="红隼股份")
    assert "汇率风险" in answered("渡轮面临哪些主要风险？", f"渡轮业务稳定。\n{risks}", company="红隼股份")
