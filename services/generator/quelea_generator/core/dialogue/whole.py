"""A follow-up for the whole of what a part was asked about: "and in total?" after iPhone sales, 总共呢."""

from __future__ import annotations

import re

from quelea_generator.core.dialogue.parts import Part, Parts

TOTAL = re.compile(
    r"(?:(?:the|in)\s+)?(?:total|overall|altogether|all together|all in all|whole company|company[- ]?wide|sum)"
    r"|(?:总共|一共|合计|总计|总额|总的|全部|全公司|整体|总体)(?:加起来)?",
    re.IGNORECASE,
)
"""Of the whole company, where a part of it was asked about."""


def whole(base: Parts, *, chinese: bool) -> str:
    """The former question without the product or segment that it was about; it may have named none."""
    text, item = base.text, base.items[0]
    word = item.text.lower()
    for topic in reversed([one for one in base.topics if one.end <= item.start]):
        end = topic.end + len(text[topic.end :]) - len(text[topic.end :].lstrip())
        text = text[: topic.start] + text[end:]
        item = Part(item.start - (end - topic.start), item.end - (end - topic.start), item.text)
    if re.match(r"total\b|[总合]", word):
        return text
    if chinese:
        part = re.fullmatch(r".+?(?P<item>收入|营收|销售额|利润|成本|费用|毛利)", item.text)
        of = part["item"] if part and part["item"] in ("收入", "营收", "销售额") else item.text
        return f"{text[: item.start]}总{of}{text[item.end :]}"
    of = re.search(r"(?:(?:net|operating|gross)\s+)?\S+$", item.text)
    return f"{text[: item.start]}total {of.group() if of else item.text}{text[item.end :]}"
