"""Jobs that cannot work are refused when the chart is rendered, in words."""

from __future__ import annotations

import re

import pytest
from helm_python.errors import HelmError
from support.chart_render import MATRIX, Object, merged, render

EMBEDDED = MATRIX["embedded"]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (merged(EMBEDDED, {"jobs": {"backup": {"enabled": True}}}), "leave `retriever` out of parts"),
        (merged(EMBEDDED, {"jobs": {"reembed": {"run": "a"}}}), "README.md, Backup"),
        ({"jobs": {"restore": {"run": "a", "from": "qdrant-20260101T000000Z"}}}, "names one backup"),
        ({"jobs": {"restore": {"run": "A day"}}}, "run"),
        ({"jobs": {"restore": {"run": "a", "from": "../x"}}}, "from"),
        ({"jobs": {"backup": {"keep": 0}}}, "keep"),
        ({"jobs": {"backup": {"parts": []}}}, "parts"),
        ({"jobs": {"backup": {"schedule": "daily"}}}, "schedule"),
        ({"jobs": {"migrate": {"seconds": 1}}}, "seconds"),
        ({"jobs": {"reembedd": {}}}, "reembedd"),
    ],
)
def test_what_cannot_work_is_refused(values: Object, says: str) -> None:
    with pytest.raises(HelmError, match=re.escape(says)):
        render(values)
