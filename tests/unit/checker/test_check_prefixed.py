"""A word denied by its prefix, and the same word without it."""

from __future__ import annotations

import pytest
from quelea_checker import UNSUPPORTED, CheckPassage, check_answer

EN = CheckPassage(
    "The office leases are non-cancellable. The senior notes are unsecured and redeemable. Interest income is taxable. "
    "The profit estimate was not audited. Large customers were dissatisfied. Goodwill is an intangible asset. "
    "Management informed the board of the invoice form."
)
ZH = CheckPassage("该租赁合同不可撤销。相关政府补助收入属于非经常性收入。公司为非关联方提供担保。")


@pytest.mark.parametrize(
    ("answer", "passage", "is_true"),
    [
        ("The office leases are noncancelable.", EN, True),
        ("The senior notes are not secured.", EN, True),
        ("The profit estimate was unaudited.", EN, True),
        ("Management informed the board of the form.", EN, True),
        ("租赁合同不可撤销。", ZH, True),
        ("政府补助收入为非经常性收入。", ZH, True),
        ("The office leases are cancellable.", EN, False),
        ("The senior notes are secured.", EN, False),
        ("Interest income is non-taxable.", EN, False),
        ("Large customers were satisfied.", EN, False),
        ("Goodwill is a tangible asset.", EN, False),
        ("租赁合同可撤销。", ZH, False),
        ("政府补助收入为经常性收入。", ZH, False),
        ("公司为关联方提供了担保。", ZH, False),
    ],
)
def test_a_prefix_turns_a_word_round(answer: str, passage: CheckPassage, is_true: bool) -> None:
    assert (check_answer(answer, [passage]).sentences[0].verdict in UNSUPPORTED) is not is_true
