"""`quelea facts`: what is asked of the gateway, and what is shown or written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quelea_cli.errors import EXIT_NOT_FOUND, EXIT_USAGE

if TYPE_CHECKING:
    from .conftest import FakeGateway

Run = Callable[..., tuple[int, str, str]]
ADDRESS = "/v1/companies/KO/statements"


def cell(value: str, unit: str = "USD") -> dict[str, Any]:
    return {"value": value, "unit": unit}


STATEMENT = {
    "company": "Coca Cola", "statement": "income", "basis": "consolidated", "periods": ["2031-12-31", "2030-12-31"],
    "lines": [
        {"label": "Net Operating Revenues", "cells": [cell("47061000000"), cell("45754500000")]},
        {"label": "Basic net income per share", "cells": [cell("2.47", "USD/share"), None]},
    ],
}  # fmt: skip


def test_a_statement_is_shown_in_one_scale(gateway: FakeGateway, run: Run) -> None:
    gateway.answer(ADDRESS, (200, STATEMENT))
    code, out, err = run("facts", "KO", "--years", 2, "--doubtful")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "Coca Cola · income · consolidated · money and shares in millions",
        "\t2031-12-31\t2030-12-31",
        "Net Operating Revenues\t47,061\t45,754.5",
        "Basic net income per share\t2.47\t",
    ]
    asked = gateway.seen[-1][2]
    assert (asked["years"], asked["doubtful"], asked.get("period")) == (["2"], ["true"], None)
    assert "statement" not in asked


def test_parts_are_shown_with_what_is_said_of_them(gateway: FakeGateway, run: Run) -> None:
    lines = [
        {"label": "渡轮", "column": "营业收入", "cells": [cell("47061000000", "CNY")]},
        {"label": "渡轮", "column": "毛利率", "cells": [cell("12.5", "percent")]},
        {"label": "渡轮", "column": "销售量", "cells": [cell("900000000", "吨")]},
    ]
    gateway.answer(ADDRESS, (200, STATEMENT | {"statement": "breakdown", "periods": ["2031-12-31"], "lines": lines}))
    code, out, _ = run("facts", "KO", "--statement", "breakdown")
    assert (code, gateway.seen[-1][2]["statement"]) == (0, ["breakdown"])
    assert out.splitlines()[2:] == ["渡轮 · 营业收入\t47,061", "渡轮 · 毛利率\t12.5%", "渡轮 · 销售量\t900,000,000"]
    figure = lines[0] | cell("1", "CNY") | {"period_end": "2031-12-31", "url": "u"}
    gateway.answer("/v1/facts", (200, {"facts": [figure], "total": 1}))
    code, out, _ = run("facts", "KO", "渡轮", "--statement", "breakdown")
    assert gateway.seen[-1][2]["statement"] == ["breakdown"]
    assert out.splitlines() == ["2031-12-31\t渡轮 · 营业收入\t1\tCNY\tu"]


def test_a_workbook_is_written(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    gateway.answer(ADDRESS, (200, STATEMENT))
    file = tmp_path / "ko.xlsx"
    code, out, _ = run("facts", "KO", "--quarters", "--statement", "cash_flow", "--xlsx", file)
    assert (code, out.strip()) == (0, f"Written to {file}.")
    assert b"Coca Cola" in file.read_bytes()
    asked = gateway.seen[-1][2]
    assert (asked["format"], asked["statement"], asked["period"]) == (["xlsx"], ["cash_flow"], ["quarterly"])


def test_what_excludes_one_another_and_what_is_not_there(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "ko.xlsx"
    assert run("facts", "KO", "--xlsx", file, "--csv")[0] == EXIT_USAGE
    gateway.answer(ADDRESS, (404, {"error": {"code": "NOT_FOUND", "message": "No stored document."}}))
    code, _, err = run("facts", "KO", "--xlsx", file)
    assert (code, "No stored document." in err) == (EXIT_NOT_FOUND, True)
    assert not file.exists()
