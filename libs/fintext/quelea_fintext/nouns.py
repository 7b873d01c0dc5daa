"""What a question asks in a verb, said with the noun of reports: "how much did X sell" asks for its net sales.

Each pattern belongs to one way of turning a sentence round, so both stand here and not in the languages' data.
"""

from __future__ import annotations

import re

_SELL = re.compile(
    r"\bhow much (?:did|does|has|have) (?P<who>[^?,.]{1,60}?) (?:sell|sold)\b"
    r"(?! (?:(?:its|their|the|an?|of) )?(?:\w+ )?"
    r"(?:shares?|stock|stake|bonds?|notes|debt|securities|assets|units?|business))",
    re.IGNORECASE,
)
_MAI = re.compile(r"卖(?:出)?了?多少(?:钱|亿|万)?(?=[?？。了]|$)")
_ZHUAN = re.compile(r"(?:赚|挣)了?多少(?:钱|亿|万)?(?=[?？。了]|$)")


_PROFIT_OR_LOSS = re.compile(
    r"\b(?:did|does|has|have) (?P<who>[^?,.]{1,60}?) (?:make|made|report(?:ed)?|post(?:ed)?|record(?:ed)?|earn(?:ed)?)"
    r" (?:an? )?(?:net )?(?:profit or (?:an? )?(?:net )?loss|loss or (?:an? )?(?:net )?profit)",
    re.IGNORECASE,
)
_YING = re.compile(r"是?(?:盈利|盈)还是(?:亏损|亏)(?:了)?|是?(?:赚|赚钱)还是(?:亏|亏钱|亏损)(?:了)?|盈亏(?:如何|情况)")


def in_nouns(question: str) -> str:
    """The question with the noun in place of its verb; any other question is left as it is."""
    question = _SELL.sub(r"what were the net sales of \g<who>", question)
    question = _PROFIT_OR_LOSS.sub(r"what was the net income of \g<who>", question)
    question = _YING.sub("的净利润是多少", question)
    return _ZHUAN.sub("的净利润是多少", _MAI.sub("的销售额是多少", question))
