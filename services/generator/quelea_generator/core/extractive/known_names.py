"""Which words of a question name the companies that its evidence is about: context, not content."""

from __future__ import annotations

import re

from quelea_fintext.text import terms

from quelea_generator.core.model import Task

_FULL_NAME = re.compile(r"[\u3400-\u9fff（）()]{2,40}?(?:股份有限公司|有限责任公司|有限公司|集团公司)")


def known_names(task: Task) -> frozenset[str]:
    """Words of the companies that the evidence is about.

    A full Chinese name is one of them when the short one is its characters in order: 平安银行 of 平安银行股份有限公司.
    """
    known: set[str] = set()
    short = {item.company for item in task.evidence if item.company}
    for full in _FULL_NAME.findall(task.question):
        if any(_in_order(name, full) for name in short):
            known.update(terms(full))
    for item in task.evidence:
        known.update(terms(item.company))
        known.update(terms(item.header.split("·")[0]) if item.company and "·" in item.header else ())
    return frozenset(known)


def _in_order(name: str, full: str) -> bool:
    rest = iter(full)
    return len(name) > 1 and all(letter in rest for letter in name)
