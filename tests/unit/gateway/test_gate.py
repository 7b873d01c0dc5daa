"""The gate: features, rules, verdicts, reasons, calibration files."""

import json
import math
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_fintext.notices import Note, NoteReason
from quelea_fintext.text import terms
from quelea_gateway.adapters.services.fake_services import GATE_FILE
from quelea_gateway.core.gate.features import FEATURES, features, measure, newest_day
from quelea_gateway.core.gate.gates import CalibratedGate, Calibration, CosineGate
from quelea_gateway.core.model import Passage, Question, Reading, Retrieved, Standalone
from quelea_kit.errors import InvalidInput

PACKAGED = Calibration.parse(
    resources.files("quelea_gateway.core.gate").joinpath("gate.json").read_text("utf-8"), name="gate.json"
)
BY_HAND = Calibration.parse(GATE_FILE.read_text("utf-8"), name="fake_gate.json", base=PACKAGED)
"""Whatever the packaged one is fitted to."""
GATE = CalibratedGate(BY_HAND)
TODAY = "2024-02-01"


def passage(text="Apple's total net sales were $ 81,797 million.", **more):
    given = {
        "document_id": "d1", "page": 1, "start": 0, "end": len(text), "text": text, "company": "Apple",
        "header": "Apple (AAPL) · 10-Q · FY2023 Q3", "published": "2023-08-04", "cosine": 0.89, "score": 1.4,
    }  # fmt: skip
    return Passage(**{**given, **more})


def found(*passages, **reading):
    reading = {"companies": ("Apple",), **reading}
    best = max((p.cosine for p in passages), default=0.0)
    return Retrieved(passages, Reading(**reading), best_cosine=best)


def asked(text="What were Apple's total net sales in 2023?", **more):
    return Question(**{"text": text, "as_of": TODAY, "k": 5, "j": 2, **more})


def test_features_are_those_that_are_described_and_finite():
    for retrieved in (found(passage()), found(), Retrieved(())):
        measured = features("Latest net sales of Apple?", retrieved, TODAY)
        assert set(measured) == set(FEATURES)
        assert all(math.isfinite(value) for value in measured.values())


def test_cosine_is_the_best_of_all_that_was_searched_and_the_margin_is_over_the_others():
    retrieved = Retrieved((passage(cosine=0.80), passage(cosine=0.90), passage(cosine=0.84)), best_cosine=0.9)
    measured = features("net sales", retrieved, TODAY)
    assert measured["cosine"] == pytest.approx(0.9)
    assert measured["cosine_margin"] == pytest.approx(0.08)
    assert features("net sales", Retrieved((passage(cosine=0.8),), best_cosine=0.95), TODAY)["cosine"] == 0.95


def test_terms_are_counted_over_the_best_passages_and_longer_ones_weigh_more():
    retrieved = found(passage("Net sales rose."))
    short = features("net sales of zinc", retrieved, TODAY)["terms_covered"]
    long = features("net sales of semiconductors", retrieved, TODAY)["terms_covered"]
    assert 0 < long < short < 1
    assert features("net sales", retrieved, TODAY)["terms_covered"] == 1


def test_missing_terms_are_told_as_they_were_written():
    measured = measure("Which lithium exports did Apple ship?", found(passage("Apple did ship phones.")), TODAY)
    assert set(measured.missing_terms) == {"lithium", "exports"}


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How many cars did Rivian Automotive deliver?", ("Rivian Automotive",)),
        ("What were Apple's net sales?", ()),
        ("What was Tim Cook's pay at Apple?", ("Tim Cook",)),
        ("Total net sales of the third quarter?", ()),
        ("What were Q3 FY2023 10-Q net sales and EPS?", ()),
        ("宁德时代股份2023年营业收入是多少？", ("宁德时代股份",)),
        ("请问织羽股份的营业收入", ()),
    ],
)
def test_names_that_the_passages_do_not_have(question, missing):
    chinese = passage("织羽股份前三季度营业收入12.36亿元", header="", company="织羽股份")
    assert measure(question, found(passage(), chinese, companies=()), TODAY).missing_names == missing


def test_a_company_that_was_recognised_by_another_name_is_not_missing():
    card = passage("Card member spending rose.", company="American Express", header="American Express")
    retrieved = found(card, companies=("American Express",))
    assert measure("What was AMEX card spending?", retrieved, TODAY).missing_names == ()


def test_the_sparse_score_by_word_and_the_passage_with_most_words_wherever_it_stands():
    last = passage("Lithium exports rose in 2021.", sparse=12.0)
    retrieved = found(*(passage("Other.", header="") for _ in range(9)), last)
    measured = features("lithium exports in 2021", retrieved, TODAY)
    assert (measured["sparse_per_term"], measured["words_best"]) == (4.0, 1.0)


def test_years_and_numbers_apart_from_terms():
    retrieved = found(passage("In 2022 sales were 81,797."))
    measured = features("Were sales 81,797 in 2022 or 90,000 in 2025?", retrieved, TODAY)
    assert (measured["years_missing"], measured["numbers_missing"]) == (0.5, 0.5)
    assert measured["terms_covered"] == 1


def test_the_newest_day_counts_fetching_only_for_web_pages():
    kept = passage(published="", fetched="2024-01-31T10:00:00Z", from_web=True)
    upload = passage(published="2023-08-04", fetched="2024-02-01T10:00:00Z")
    assert str(newest_day([upload])) == "2023-08-04"
    assert str(newest_day([upload, kept])) == "2024-01-31"
    assert newest_day([passage(published="")]) is None


def test_good_evidence_passes_and_says_why():
    verdict = GATE.judge(asked(), found(passage(), passage("Other text.", cosine=0.82)))
    assert verdict.passed
    assert verdict.kind == "calibrated"
    assert verdict.probability >= verdict.threshold
    assert any("key terms" in reason for reason in verdict.reasons)


def test_a_missing_company_fails_and_is_the_first_reason():
    verdict = GATE.judge(
        asked("What were Zyxel's net sales?"), found(passage(), companies=("Zyxel",), company_missing=True)
    )
    assert not verdict.passed
    assert verdict.reasons[0] == "no document of Zyxel"


def test_missing_terms_are_a_reason():
    verdict = GATE.judge(
        asked("Which lithium export quota did Apple's supplier get?"), found(passage("Phones.", cosine=0.83))
    )
    assert not verdict.passed
    assert any(reason.startswith("covers 0 of") and "'lithium'" in reason for reason in verdict.reasons)


def test_chinese_questions_get_chinese_reasons():
    verdict = GATE.judge(
        asked("甲乙公司的锂出口配额是多少？"), found(passage(cosine=0.8), companies=("甲乙",), company_missing=True)
    )
    assert verdict.reasons[0] == "没有关于甲乙的文档"


def test_the_first_reason_calls_a_missing_company_as_the_notes_do():
    notes = (Note(NoteReason.COMPANY_NOT_STORED, ("中国神华",)),)
    retrieved = found(passage(), companies=("China Shenhua",), company_missing=True, notes=notes)
    assert GATE.judge(asked("中国神华的煤炭产量？"), retrieved).reasons[0] == "没有关于中国神华的文档"


def test_no_passage_never_passes():
    for gate in (GATE, CosineGate(0.84)):
        assert not gate.judge(asked(), Retrieved(())).passed


@pytest.mark.parametrize("rule", ["asks_latest", "period_newer"])
def test_latest_and_newer_periods_fail_however_good_the_match(rule):
    perfect = found(passage(cosine=0.99), **{rule: True})
    assert GATE.judge(asked(), found(passage(cosine=0.99))).passed
    assert not GATE.judge(asked(), perfect).passed


def test_the_age_of_the_evidence_is_told():
    verdict = GATE.judge(asked(), found(passage(published="2022-12-16"), asks_latest=True))
    assert verdict.reasons[0] == "asks for the latest; the newest evidence is 412 days old"


@pytest.mark.parametrize(
    ("fields", "fresh"),
    [
        ({"published": "2024-02-01"}, True),
        ({"published": "2024-01-31"}, True),
        ({"published": "2024-01-30"}, False),
        ({"published": "", "fetched": "2024-01-31T23:00:00Z", "from_web": True}, True),
        ({"published": "2023-01-01", "fetched": "2024-03-01T00:00:00Z", "from_web": True}, True),
        ({"published": "2023-01-01", "fetched": "2024-02-01T00:00:00Z"}, False),
        ({"published": "2023-01-01", "period_end": "2024-02-01"}, False),
    ],
    ids=["today", "yesterday", "two days", "page fetched", "page looked at later", "upload", "period"],
)
def test_fresh_evidence_is_good_enough_for_the_latest(fields, fresh):
    latest = found(passage(cosine=0.93, **fields), asks_latest=True)
    assert CalibratedGate(BY_HAND, threshold=0.3).judge(asked(), latest).passed is fresh


def test_a_follow_up_is_judged_as_it_stands_alone():
    alone_as = Standalone("What were Zyxel's net sales in 2022?", "rules")
    alone = GATE.judge(asked("And in 2022?"), found(passage(), companies=())).features
    leaning = GATE.judge(asked("And in 2022?", standalone=alone_as), found(passage(), companies=())).features
    assert (alone["names_missing"], leaning["names_missing"]) == (0, 1)


@pytest.mark.parametrize(("cosine", "passed"), [(0.8399, False), (0.84, False), (0.8401, True)])
def test_the_papers_gate_is_the_best_cosine_above_c_and_nothing_else(cosine, passed):
    retrieved = found(passage(cosine=cosine), asks_latest=True, company_missing=True)
    verdict = CosineGate(0.84).judge(asked(), retrieved)
    assert (verdict.passed, verdict.probability, verdict.threshold) == (passed, cosine, 0.84)
    assert set(verdict.features) == set(FEATURES)


@given(st.text(max_size=120), st.text(max_size=200), st.floats(-1, 1))
def test_no_text_breaks_the_gate(question, text, cosine):
    verdict = GATE.judge(asked(question), found(passage(text, cosine=cosine)))
    assert 0 <= verdict.probability <= 1
    assert len(verdict.reasons) <= 4


def test_a_file_with_the_cosine_alone_takes_the_rest_from_the_packaged_one():
    made = Calibration.parse('{"encoder": "mine", "cosine": 0.5}', name="x", base=PACKAGED)
    assert (made.encoder, made.cosine, made.features) == ("mine", 0.5, PACKAGED.features)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"cosine": "high"}',
        json.dumps({"features": {"cosine": {"mean": 0, "scale": 0, "weight": 1}}}),
        json.dumps({"features": {"colour": {"mean": 0, "scale": 1, "weight": 1}}}),
        '{"features": {"cosine": {"mean": NaN, "scale": 1, "weight": 1}}}',
    ],
)  # fmt: skip
def test_what_is_no_calibration_is_refused(text):
    with pytest.raises(InvalidInput):
        Calibration.parse(text, name="gate.json", base=None if text == "{}" else PACKAGED)


def test_a_best_passage_in_the_other_language_is_measured_from_where_its_language_lies():
    abroad = passage(language="en", cosine=0.85)
    question = "苹果2023年的总净销售额是多少？"
    gap = PACKAGED.foreign_gap
    assert gap > 0
    assert measure(question, found(abroad), TODAY, gap).features["cosine"] == pytest.approx(0.85 + gap)
    assert measure(question, found(abroad), TODAY).features["cosine"] == pytest.approx(0.85)
    assert measure("Apple's net sales?", found(abroad), TODAY, gap).features["cosine"] == pytest.approx(0.85)
    unknown = passage(language="", cosine=0.85)
    assert measure(question, found(unknown), TODAY, gap).features["cosine"] == pytest.approx(0.85)


def test_the_gap_is_that_of_the_encoder_it_was_measured_with():
    assert Calibration.parse('{"cosine": 0.5}', name="x", base=PACKAGED).foreign_gap == PACKAGED.foreign_gap
    assert Calibration.parse('{"encoder": "mine", "cosine": 0.5}', name="x", base=PACKAGED).foreign_gap == 0
    assert Calibration.parse('{"encoder": "mine", "foreign_gap": 0.1}', name="x", base=PACKAGED).foreign_gap == 0.1
    for wrong in ("-0.1", "1", '"wide"', "NaN"):
        with pytest.raises(InvalidInput):
            Calibration.parse(f'{{"foreign_gap": {wrong}}}', name="x", base=PACKAGED)


WORDS = """hoping hope dying die company’s don't 1,234 2023 2,023.5 营业收入 stability Sales sale relational
    o'neil's ies ﬁscal net a 苹果公司""".split()


@given(
    st.lists(st.sampled_from(WORDS), max_size=6),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=5), max_size=12),
    st.sampled_from([" ", ", ", "。", "\n"]),
)
def test_the_passage_with_most_words_is_found_without_cutting_up_every_one(question, passages, between):
    said = " ".join(question)
    retrieved = found(*(passage(between.join(words), company="", header="", published="") for words in passages))
    wanted = dict.fromkeys(terms(said))
    weights = {term: min(2.0, max(0.5, len(term) / (6.0 if term.isascii() else 2.0))) for term in wanted}
    shares = [
        sum(weight for term, weight in weights.items() if term in set(terms(between.join(words)))) for words in passages
    ]
    whole = sum(weights.values())
    best = max(shares, default=0.0) / whole if whole else float(bool(passages))
    assert features(said, retrieved, TODAY)["words_best"] == round(best, 4)
