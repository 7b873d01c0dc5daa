"""A JSON article that says what it is, is that: a comment on an annual report is no annual report."""

from __future__ import annotations

import json

from quelea_search.adapters.formats import parse
from quelea_search.core.model import ParseLimits


def test_the_type_that_a_record_states_is_kept() -> None:
    record = {
        "title": "舍得酒业（600702）2021年报点评：成长稳健",
        "document_type": "research report",
        "text": "公司成长稳健。" * 20,
    }
    data = json.dumps(record, ensure_ascii=False).encode()
    parsed = parse(data, "x.json", limits=ParseLimits(), on_progress=lambda *_: None)
    assert parsed.stated["document_type"] == "research report"
