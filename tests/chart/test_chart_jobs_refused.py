"""No job is there unless it is asked for, and one that cannot work is refused in words when the chart is rendered."""

from __future__ import annotations

import re

import pytest
import yaml
from helm_python.errors import HelmError
from support.chart_render import CHART, MATRIX, Object, merged, render

EMBEDDED = MATRIX["embedded"]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (merged(EMBEDDED, {"jobs": {"backup": {"enabled": True}}}), "leave `retriever` out of parts"),
        (merged(EMBEDDED, {"jobs": {"reembed": {"enabled": True}}}), "README.md, Backup"),
        ({"jobs": {"restore": {"enabled": True, "from": "qdrant-20260101T000000Z"}}}, "names one backup"),
        ({"jobs": {"restore": {"run": "monday"}}}, "run"),
        ({"jobs": {"restore": {"enabled": True, "from": "../x"}}}, "from"),
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


def test_the_defaults_are_those_that_the_readme_shows() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))["jobs"]
    assert values["backup"]["enabled"] is False
    assert (values["restore"]["enabled"], values["reembed"]["enabled"]) == (False, False)
    readme = (CHART / "README.md").read_text(encoding="utf-8")
    for word in ("jobs.backup.enabled", "jobs.restore.enabled", "jobs.reembed.enabled", "NEXT_EMBEDDER"):
        assert word in readme
