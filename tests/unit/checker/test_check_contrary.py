"""Sentences of the evidence's own words that say the contrary."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

PASSAGE = CheckPassage(
    "In May 2025 Larkfield Foods acquired Penrose Dairies. The board did not approve the spin-off of the bakery unit. "
    "Penrose Dairies was sued by Oakhurst Farms over a supply contract. Larkfield renewed its credit facility, and "
    "no impairment of goodwill was recorded. The chairman will retire in autumn."
)
ZH = CheckPassage("松涛食品收购了竹溪乳业。公司未计提商誉减值。董事会没有批准分拆烘焙业务。竹溪乳业被榆林农场起诉。")


def verdict(answer, passage):
    (sentence,) = check_answer(answer, [passage]).sentences
    return sentence.verdict


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Larkfield Foods acquired Penrose Dairies in May 2025.", PASSAGE),
        ("Penrose Dairies was acquired by Larkfield Foods in May 2025.", PASSAGE),
        ("The board did not approve the spin-off of the bakery unit.", PASSAGE),
        ("Oakhurst Farms sued Penrose Dairies over a supply contract.", PASSAGE),
        ("No impairment of goodwill was recorded.", PASSAGE),
        ("The chairman will retire in autumn.", PASSAGE),
        ("松涛食品收购了竹溪乳业。", ZH),
        ("竹溪乳业被松涛食品收购。", ZH),
        ("公司未计提商誉减值。", ZH),
    ],
)
def test_what_the_evidence_says_is_supported(answer, passage):
    assert verdict(answer, passage) == "supported"


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("Penrose Dairies acquired Larkfield Foods in May 2025.", PASSAGE),
        ("Larkfield Foods was acquired by Penrose Dairies in May 2025.", PASSAGE),
        ("The board approved the spin-off of the bakery unit.", PASSAGE),
        ("Penrose Dairies sued Oakhurst Farms over a supply contract.", PASSAGE),
        ("An impairment of goodwill was recorded.", PASSAGE),
        ("The chairman will not retire in autumn.", PASSAGE),
        ("竹溪乳业收购了松涛食品。", ZH),
        ("公司计提商誉减值。", ZH),
        ("董事会批准分拆烘焙业务。", ZH),
    ],
)
def test_its_contrary_is_not(answer, passage):
    assert verdict(answer, passage) in UNSUPPORTED


REPORT = CheckPassage(
    "Segment\tQ2 2021\tQ2 2020\nBoats revenue\t$ 412\t$ 380\nTrucks revenue\t903\t1,120\n\n"
    "Revenue was $1.3 billion, down $185 million from Q2 2020. Income was below the $90 million of Q2 2020."
)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Boats' revenue rose to $412 in Q2 2021 from $380 in Q2 2020.", "supported"),
        ("Revenue rose to $1.3 billion in Q2 2021.", "contradicted"),
    ],
)
def test_beside_figures_what_fell_elsewhere_is_no_opposite(answer, verdict):
    assert check_answer(answer, [REPORT]).sentences[0].verdict == verdict
