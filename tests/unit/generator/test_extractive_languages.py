"""The extractive reader over evidence in the other language: it answers what is said there, and nothing else."""

from __future__ import annotations

from datetime import date

import pytest
from quelea_fintext.text import terms
from quelea_generator.core.extractive.glosses import find_glosses, is_foreign_text
from quelea_generator.core.extractive.question import read_question
from quelea_generator.core.model import Evidence, Quote, Task
from support.generator import lines_and_quotes

COPPER = "【财经快讯】受智利港口停运影响，周三铜价上涨，期货收报每吨八千九百美元。交易商表示库存下降。"
BANK = "央行周二开展逆回购操作，规模为1200亿元。央行称将保持流动性合理充裕。"
HOUSES = "上月全国房价环比持平，一线城市新房成交量回升。"
TRADE = "中国的产业发展受全球经济影响较小，外资企业在中国市场的发展机会增加。"
JAPAN = "日本股市周一休市。"
REPORT = "报告期内公司研发费用为3.6亿元，较上年增加。毛利率下降，主要由于原材料涨价。"
NORBERT = """The Group opened a plant in Leeds in May. Gross margin decreased to 31% because raw material prices rose.
Research and development expense was $ 3,604 million. The Group had 1,204 employees at the end of March 2024."""
WEATHER = "The river rose two metres over night. Ferries were held in the harbour until noon."
TABLE = """Three Months Ended
March 30, March 31,
2024 2023
Total net sales 81,797 82,959
Research and development 7,442 6,797
Net income 19,881 19,442"""


def ask(question: str, *texts: str, company: str = "", table: bool = False, incomplete: bool = False) -> list[Quote]:
    evidence = tuple(
        Evidence(number=n, text=text, header=f"{company} · 10-Q" if company else "", company=company, is_table=table)
        for n, text in enumerate(texts, 1)
    )
    return lines_and_quotes(Task(question, evidence, date(2024, 6, 1), evidence_incomplete=incomplete))[1]


@pytest.mark.parametrize(
    ("question", "texts", "said"),
    [
        ("Why did copper futures rise?", (HOUSES, COPPER), "铜价上涨"),
        ("How large was the reverse repo of the central bank?", (COPPER, BANK), "1200亿元"),
        ("What were the research and development expenses?", (BANK, REPORT), "3.6亿元"),
        ("Why did the gross margin decrease?", (BANK, REPORT), "毛利率下降"),
        ("How did house prices develop?", (COPPER, HOUSES), "房价环比持平"),
        ("毛利率为什么下降？", (WEATHER, NORBERT), "Gross margin decreased"),
        ("研发费用是多少？", (WEATHER, NORBERT), "3,604 million"),
        ("集团有多少员工？", (WEATHER, NORBERT), "1,204 employees"),
    ],
)
def test_what_the_evidence_says_in_the_other_language_is_quoted(
    question: str, texts: tuple[str, ...], said: str
) -> None:
    quotes = ask(question, *texts)
    assert quotes
    assert said in quotes[0].text.replace("\n", " ")
    assert quotes[0].text == texts[quotes[0].number - 1][quotes[0].start : quotes[0].end]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Why did copper futures rise?", (HOUSES, BANK)),
        ("How large was the reverse repo of the central bank?", (COPPER, HOUSES)),
        ("What were the research and development expenses?", (COPPER, BANK)),
        ("What did Ferrovane announce about copper?", (COPPER,)),
        ("How did the chess tournament in Oslo end?", (COPPER, BANK, HOUSES)),
        ("How does the rain in Japan affect the industry and the market of China?", (TRADE, JAPAN)),
        ("How much gold does the central bank hold?", (REPORT, HOUSES)),
        ("毛利率为什么下降？", (WEATHER,)),
        ("铜价为什么上涨？", (WEATHER, NORBERT)),
        ("央行的逆回购规模是多少？", (WEATHER, NORBERT)),
        ("围棋比赛的结果怎么样？", (WEATHER, NORBERT)),
    ],
)
def test_what_it_does_not_speak_of_is_declined(question: str, texts: tuple[str, ...]) -> None:
    assert ask(question, *texts) == []


def test_a_row_of_the_other_language() -> None:
    (quote, *_) = ask("苹果的研发费用是多少？", TABLE, company="Apple", table=True)
    assert quote.text == "Research and development 7,442 6,797"


def test_the_companys_name_in_the_other_language_is_context() -> None:
    evidence = (Evidence(number=1, text=TABLE, company="Apple", is_table=True),)
    asked = read_question(Task("苹果的研发费用是多少？", evidence, date(2024, 6, 1)))
    assert [unit.own for unit in asked.facets] == [("研发", "费用")] or len(asked.facets) == 1
    other = (Evidence(number=1, text=REPORT, company="贵州茅台"),)
    assert read_question(Task("What was Moutai's gross margin?", other, date(2024, 6, 1))).known


def test_evidence_in_the_questions_language_is_read_without_a_gloss() -> None:
    evidence = (Evidence(number=1, text=REPORT),)
    asked = read_question(Task("公司的毛利率为什么下降？", evidence, date(2024, 6, 1)))
    assert asked.facets
    assert not any(unit.gloss for unit in asked.facets)


@pytest.mark.parametrize("question", ["苹果上个季度的研发费用是多少？", "苹果去年的研发费用是多少？"])
def test_a_relative_period_that_is_not_there_is_not_answered_from_another(question: str) -> None:
    assert ask(question, TABLE, company="Apple", table=True)
    assert ask(question, TABLE, company="Apple", table=True, incomplete=True) == []
    english = "What was Norbert's net income last quarter?"
    assert ask(english, TABLE, company="Norbert", table=True)
    assert ask(english, TABLE, company="Norbert", table=True, incomplete=True) == []


def test_the_words_of_one_phrase_share_its_gloss() -> None:
    found = dict(zip(kept := terms("the central bank and copper"), find_glosses(kept), strict=True))
    assert found["central"] == found["bank"]
    assert any("".join(one) == "央行" for one in found["bank"])
    assert any("".join(one) == "铜" for one in found["copper"])
    assert find_glosses(["zzyzx"]) == [()]


def test_a_passage_of_figures_is_of_no_language() -> None:
    assert not is_foreign_text("zh", "81,797 82,959")
    assert not is_foreign_text("en", "")
    assert is_foreign_text("zh", NORBERT)
    assert is_foreign_text("en", COPPER)


REGIONS = """Three Months Ended
July 1, June 25,
2023 2022
Americas $ 35,383 $ 37,472
Europe 20,205 19,287
Greater China 15,758 14,604
Rest of Asia Pacific 5,630 5,446
Total net sales $ 81,797 $ 82,959"""


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("苹果大中华区的收入是多少？", "15,758"),
        ("苹果在美洲的销售额是多少？", "35,383"),
        ("苹果欧洲地区的净销售额", "20,205"),
    ],
)
def test_a_region_is_known_by_its_name_in_the_other_language(question: str, figure: str) -> None:
    quotes = ask(question, REGIONS, company="Apple", table=True)
    assert figure in quotes[0].text


BUYBACKS = """Period Total Number of Shares Purchased (In millions)
August 28, 2023 - September 24, 2023 2.6 $ 456.81
September 25, 2023 - October 29, 2023 3.5 $ 436.44"""
RICE = "8月我国大米出口12.4万吨，同比增长三成。来自海关的消息，前8个月大米出口延续增长势头。"
SHEEP = "今年前三季度，内蒙古累计接待游客1.9亿人次，旅游收入达2100多亿元。"
SALES = """Three Months Ended
September 24, 2023 September 25, 2022
Total revenue 5,931 7,103"""


def test_the_name_of_a_month_ties_no_passage_of_another_subject_to_a_question() -> None:
    quotes = ask("How much rice did China export in August 2023?", BUYBACKS, RICE)
    assert quotes[0].text.startswith("8月我国大米出口12.4万吨")
    assert {quote.number for quote in quotes} == {2}


def test_of_passages_in_two_languages_those_with_the_name_are_quoted() -> None:
    quotes = ask("What was Inner Mongolia's tourism revenue in the first three quarters?", SALES, SHEEP)
    assert {quote.number for quote in quotes} == {2}
    assert "2100多亿元" in quotes[0].text


@pytest.mark.parametrize(
    ("question", "part"), [("诺伯特汽车收入是多少？", "Automotive"), ("诺伯特疫苗收入是多少？", "Vaccines")]
)
def test_the_whole_companys_row_is_no_answer_to_what_a_part_earned(question: str, part: str) -> None:
    assert ask(question, SALES, company="Norbert", table=True) == []
    quotes = ask(question, f"{SALES}\n{part} 612 540", company="Norbert", table=True)
    assert [quote.text for quote in quotes][:1] == [f"{part} 612 540"]
