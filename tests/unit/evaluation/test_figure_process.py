"""Figures are checked in a process of its own, without a stack, on items that were kept."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from quelea_evaluation.figures.items import Item
from quelea_evaluation.figures.process import checking_process, keep, load_items
from quelea_gateway.check_lines import check_lines


def test_a_process_answers_as_the_route_does() -> None:
    with checking_process() as post:
        for answer, verdict in (
            ("Revenue was $5.2 million.", "supported"),
            ("Revenue was $6.2 million.", "contradicted"),
        ):
            found = post({"answer": answer, "passages": ["Revenue was $5.2 million."], "question": ""})
            assert [figure["verdict"] for figure in found["figures"]] == [verdict]
        with pytest.raises(RuntimeError, match="passages is empty"):
            post({"answer": "Revenue was $5.2 million.", "passages": []})


def test_a_line_that_is_no_body_is_answered_with_why() -> None:
    (line,) = check_lines(["no json"])
    assert line.startswith('{"error": ')


def test_items_come_back_as_they_were_kept(tmp_path: Path) -> None:
    item = Item("a-1", "docugami", "development", "How much?", "5 million.", ({"text": "5 million", "header": "H"},))
    keep([item], tmp_path)
    assert load_items(tmp_path) == [item]
    with pytest.raises(typer.BadParameter, match="run `quelea eval figures` once"):
        load_items(tmp_path / "other")
