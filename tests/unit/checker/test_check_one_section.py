"""What a computation that is stated outright is made of, and which figures of a sentence are of one thing."""

from quelea_checker import CheckPassage, check_answer

ORCHARD = CheckPassage(
    "Orchard Lane\n(In millions)\n\t2024\t2023\nCosts:\nHarvesting\t410\t380\nPacking\t230\t205\nHaulage\t95\t88\n"
    "Growth in percent:\nHarvesting\t8\t4\nPacking\t12\t7\nHaulage\t8\t3\n"
)
FLEET = CheckPassage(
    "Net revenue and operating income of each line\n(In millions)\n\t2024\t2023\nNet revenue:\nFerries\n"
    "Cars\t310\t290\nCabins\t190\t170\n\t500\t460\nCoaches\t200\t180\nOperating income (loss):\nFerries\t60\t55\n"
    "Coaches\t(30)\t(12)\n"
)
PROFIT = CheckPassage(
    "Marlowe's operating income fell to $3.5 billion in the second quarter of 2024 from $6.9 billion a year earlier. "
    "Net sales grew to $84.1 billion in the second quarter of 2024."
)
NINE = CheckPassage("Harrow Mills\n\t2024\t2023\nNet income\t41,360\t44,720\nWe spent 12 million on seeds.")


def verdicts(answer: str, *passages: CheckPassage) -> list[str]:
    return [figure.verdict for figure in check_answer(answer, passages).figures if not figure.text.startswith("2024")]


def test_from_and_to_are_of_one_thing():
    said = "Operating income fell to $3.5 billion from $6.9 billion a year earlier, as net sales grew to $84.1 billion."
    assert verdicts(said, PROFIT) == ["supported"] * 3
    assert (
        verdicts("Operating income rose from $6.9 billion a year earlier to $3.5 billion.", PROFIT) == ["not_found"] * 2
    )


def test_a_scale_of_another_language_is_a_translation():
    assert verdicts("净利润为413.6亿美元。", NINE) == ["supported"]


MILLS = CheckPassage(
    "东桥（包括北坊）位居第三，出货量达3310万台，市场份额为11%。南渡（包括小渡和渡口两个品牌，以及去年收购的西塘）继续保持第四的位置，"
    "延续了上一季度的强劲势头，出货量达3150万台，成功捍卫前四名的地位。"
)


def test_what_a_long_sentence_says_besides_does_not_hide_that_two_subjects_are_exchanged():
    assert verdicts("东桥出货3310万台，南渡出货3150万台。", MILLS) == ["supported"] * 2
    assert verdicts("东桥出货3150万台，南渡出货3310万台。", MILLS) == ["contradicted"] * 2


TAXES = CheckPassage(
    "We recognized an income tax benefit of $58 million in 2024 and an expense of $163 million in 2023."
)
TAX_TABLE = CheckPassage(
    "(In millions)\n\t2024\nOperating expenses\t900\nIncome tax expense (benefit)\t(58)\nNet income\t310"
)


def test_two_figures_are_set_against_each_other_in_one_table_or_text():
    said = "It booked an income tax benefit of $58 million in 2024, against an expense of $163 million a year earlier."
    assert verdicts(said, TAXES, TAX_TABLE) == ["supported"] * 2
