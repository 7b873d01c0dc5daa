"""The example of docs/check.md does what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "check.md"


async def test_the_documented_example(web):
    request, told = (
        json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    )

    found = (await web.post("/v1/check", json=request, timeout=120)).raise_for_status().json()

    assert [one["verdict"] for one in found["sentences"]] == told["sentences"]
    assert [[one["text"], one["verdict"], one["passage"]] for one in found["figures"]] == told["figures"]
    assert found["markers"] == told["markers"]
    assert all(request["answer"][one["start"] : one["end"]] == one["text"] for one in found["sentences"])
