import pytest
from quelea_evaluation.judging.figures import amounts_of, figures_of, holds, holds_rounded
from quelea_evaluation.judging.passages import by_document, by_figure, by_page, density_floor
from quelea_evaluation.metrics.rankings import Judged, measure
from quelea_evaluation.sets.model import Found, Question

GOLD = Question("q", "What?", "single", frozenset({"a"}), frozenset({"81797"}), page=3)
FOUND = [Found("b", 3, "81,797"), Found("a", 1, "nothing"), Found("a", 3, "net sales $ 81,797"), Found("b", 1, "")]


@pytest.mark.parametrize(
    ("answer", "figures"),
    [
        ("Net sales were $81,797 million. SOURCE(S): 2023 Q3 AAPL.pdf", {"81797"}),
        ("For the quarter ended July 1, 2023, the rate was 12.5%.", {"12.5"}),
        ("In Q3 2022 it rose by 5% to $46.2 billion", {"46.2"}),
        ("In 2022, 2023 and 2024 nothing changed (10-Q).", set()),
        ("It is $1,452.4 and 0.5%", {"1452.4"}),
    ],
)
def test_figures_of_an_answer(answer: str, figures: set[str]) -> None:
    assert figures_of(answer) == figures


def test_a_passage_holds_a_figure_only_as_a_whole_number() -> None:
    assert holds("total $ 81,797 (a)", GOLD.figures)
    assert not holds("total 181,797 or 81,7970", GOLD.figures)


def test_an_amount_may_be_rounded_and_scaled() -> None:
    amounts = amounts_of("Revenue was $14.51 billion, or 5 million a day.")
    assert amounts == {("14.51", 10**9)}
    assert holds_rounded("Data Center $ 14,514", frozenset(), amounts)
    assert holds_rounded("Data Center $ 14.51", frozenset({"14.51"}), amounts)
    assert not holds_rounded("Data Center $ 14,524", frozenset(), amounts)
    assert not holds_rounded("14,514,000 units in billions", frozenset(), frozenset({("14.51", 10**3)}))


def test_documents_count_at_their_first_passage() -> None:
    assert by_document(GOLD, FOUND).relevant == (False, True)


def test_a_figure_counts_only_in_a_right_document() -> None:
    assert by_figure(GOLD, FOUND).relevant == (False, False, True, False)


def test_a_page_counts_only_in_a_right_document() -> None:
    assert by_page(GOLD, FOUND).relevant == (False, False, True, False)


def test_the_floor_orders_by_digits_alone() -> None:
    passages = [Found("a", 1, "words words 81,797 words"), Found("a", 2, "1 2 3 4 5 6"), Found("b", 1, "81,797")]
    assert density_floor(GOLD, passages).relevant == (False, True)


def test_measures() -> None:
    values = measure([Judged("1", (True, False), 1), Judged("2", (False, True), 2), Judged("3", (), 1)])
    assert values["questions"] == 3
    assert values["hit@1"] == pytest.approx(1 / 3)
    assert values["hit@5"] == pytest.approx(2 / 3)
    assert values["MRR@10"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert values["MAP@5"] == pytest.approx((1 + 0.25 + 0) / 3)
