"""POST /v1/check on the running product, where answer and evidence are in different languages: its encoder judges."""

from __future__ import annotations

from typing import Any

import pytest

ENGLISH = [
    "Demand from car makers strengthened during the quarter. We hired additional engineers for our plant in Texas.",
    "The Company announced a partnership with a university to train data scientists.",
]
CHINESE = ["受疫情影响，公司部分门店暂停营业，线上渠道销售良好。", "公司与多所高校签署了人才培养合作协议。"]


@pytest.mark.parametrize(
    ("passages", "true", "false"),
    [
        (ENGLISH, "本季度汽车制造商的需求走强。", "公司关闭了全部海外门店。"),
        (ENGLISH, "公司宣布与一所大学合作培养数据科学家。", "董事会批准了新的股票回购计划。"),
        (CHINESE, "Some of the company's stores were closed because of the pandemic.", "The chairman resigned in May."),
        (CHINESE, "The company signed training agreements with universities.", "It was fined for accounting errors."),
    ],
)
def test_a_sentence_in_another_language(stack: Any, passages: list[str], true: str, false: str) -> None:
    space = "" if passages is ENGLISH else " "
    body = {"answer": f"{true}{space}{false}", "passages": passages}
    last: list[str] = []

    def judged() -> bool:
        checked = stack.http.post("/v1/check", json=body).raise_for_status().json()
        last[:] = [one["verdict"] for one in checked["sentences"]]
        return last == ["partly", "not_found"]

    # The encoder has three seconds, else a glossary decides: a busy machine may need a second try.
    stack.wait_until(judged, 60, lambda: f"the encoder's verdicts, and not {last}")
