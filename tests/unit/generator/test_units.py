"""The unit that a row's figures are in, read from the lines above it."""

import pytest
from quelea_generator.core.extractive.spans import find_spans
from quelea_generator.core.extractive.table_heads import read_scale
from quelea_generator.core.model import Evidence

APPLE_LIKE = "(In millions, except number of shares, which are reflected in thousands, and per-share amounts)"
SHORTER = "(In millions, except number of shares which are reflected in thousands and par value)"


def unit(row: str, head: str, above: str = "") -> str:
    evidence = Evidence(number=1, text=f"{above}\n{row}".lstrip(), table_head=head, is_table=True)
    return read_scale(evidence, find_spans(evidence.text, is_table=True)[-1])


@pytest.mark.parametrize(
    ("row", "head", "expected"),
    [
        ("Total net sales\t$ 81,797\t$ 82,959", SHORTER, "in millions"),
        ("Share-based compensation\t$ 2,617\t$ 2,243", SHORTER, "in millions"),
        ("Weighted shares, basic\t15,697,614\t16,162,945", APPLE_LIKE, "in thousands"),
        ("Diluted earnings per share\t$ 1.26\t$ 1.20", APPLE_LIKE, ""),
        ("Net income\t19,881\t19,442", "(in thousands, except per share amounts)", "in thousands"),
        ("Shares issued\t19,881\t19,442", "(in millions, except per share amounts)", "in millions"),
        ("Revenue\t8,288\t7,192", "($ in millions)", "in millions"),
        ("Revenue\t8,288\t7,192", "RMB'000", "RMB'000"),
        ("Revenue\t8,288\t7,192", "Three months ended", ""),
        ("营业收入\t15.8\t11.2", "单位：元 币种：人民币", "单位：元"),
        ("营业收入\t15.8\t11.2", "单位:万元", "单位：万元"),
        ("营业收入\t15.8\t11.2", "(除特别注明外，金额单位均为人民币百万元)", "单位：人民币百万元"),
        ("营业收入\t15.8\t11.2", "2023年 2022年 人民币千元", "单位：人民币千元"),
        ("基本每股收益（元/股）\t0.58\t0.42", "单位：万元", ""),
        ("研发投入占营业收入比例（%）\t13.09\t12.10", "单位：元", ""),
        ("营业收入（元）\t2,941,412,770.30\t2,718,608,796.51", "单位：万元", ""),  # its own is the nearer
        ("员工人数（万人）\t1.13\t1.10", "单位：千元", ""),
        ("营业收入（百万美元）\t941.4\t718.6", "单位：千元", ""),
        ("其他权益工具（优先股）\t5,000\t5,000", "单位：百万元", "单位：百万元"),
        ("贷款（个人）\t8,288\t7,192", "单位：百万元", "单位：百万元"),
        ("股本（A股）\t8,288\t7,192", "单位：百万元", "单位：百万元"),
        ("研发人员的数量\t269\t255", "单位：元", ""),
        ("Operating margin (%)\t12.1\t11.0", "(in millions)", ""),
        ("Number of employees\t12.1\t11.0", "(in thousands)", "in thousands"),
        ("其他（注1）\t15.8\t11.2", "单位：元", "单位：元"),
    ],
)
def test_the_unit_of_a_row(row: str, head: str, expected: str) -> None:
    assert unit(row, head) == expected


def test_the_line_nearest_above_the_row_decides() -> None:
    assert unit("Total\t8,288\t7,192", "", "(in thousands)\nSales\t1,234\t2,345\n(in millions)") == "in millions"


def test_a_bare_label_takes_its_meaning_from_the_heading() -> None:
    assert unit("Basic\t$ 1.27\t$ 1.20", "(In millions, except per share amounts)", "Earnings per share:") == ""
