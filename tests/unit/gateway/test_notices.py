"""The retriever's reasons for a wider search, in Chinese."""

import pytest
from quelea_gateway.core.notices import in_chinese


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("no document of Tesla; searched everything", "没有Tesla的文档，已检索全部内容"),
        ("no filing for 2031 Q2; searched everything", "没有2031 Q2的财务报告，已检索全部内容"),
        ("no filing of Intel for 2022 Q2", "没有Intel的2022 Q2财务报告"),
        (
            "no filing of Intel for 2022 Q2; FY2023 Q2 shows it for comparison",
            "没有Intel的2022 Q2财务报告，FY2023 Q2列有其对比数",
        ),
        ("no filing of Intel for 2022 Q2; searched all of Intel", "没有Intel的2022 Q2财务报告，已检索Intel的全部文档"),
        (
            "no filing of Intel for 2022 Q2; no document of Tesla, AMD",
            "没有Intel的2022 Q2财务报告；没有Tesla, AMD的文档",
        ),
        ("the newest 4 of 9 filings", "仅使用9份财务报告中最新的4份"),
        (
            "the newest stored 10-Q of Apple is for the quarter ended July 1, 2023; other companies' are newer, so its "
            "latest is probably not stored",
            "所存Apple最新的 10-Q 截至 July 1, 2023；其他公司已有更新的，其最新一期可能尚未入库",
        ),
        ("something new", "something new"),
    ],
)
def test_a_chinese_reader_is_told_in_chinese(english, chinese):
    assert in_chinese(english) == chinese
