"""Statements printed in a form with every line, of which many have a figure in one column or in none."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from quelea_fintext.times.periods import ReportingPeriod
from quelea_search.core.layout.blocks import blocks_of
from quelea_search.core.layout.line_order import Style
from quelea_search.core.layout.lines import Cell, RawLine, RawPage
from quelea_search.core.layout.page_assembly import build_page
from quelea_search.core.model import DocumentFacts, ParsedDocument
from quelea_search.core.statements.model import Fact
from quelea_search.core.statements.read import read_statements

YEAR = ReportingPeriod("FY2031", 2031, 0, "2031-12-31")
SIZE = 10.0
FULL, NOTES = 10.0, 250.0
COLUMNS = (420.0, 530.0)
"""Right edges."""


def cell(text: str, x: float) -> Cell:
    """A cell that begins at x."""
    return Cell(text, x, x + FULL * len(text))


def figure(text: str, right: float) -> Cell:
    return Cell(text, right - 5.5 * len(text), right)


class Form:
    """A printed form: rows 14.4 points apart, lines of one label 13.6."""

    def __init__(self) -> None:
        self.lines: list[RawLine] = []
        self.y = 760.0

    def add(self, *cells: Cell, drop: float = 14.4) -> None:
        self.y -= drop
        self.lines.append(RawLine(cells, self.y, SIZE, 400))

    def row(self, label: str, now: str = "", before: str = "", note: str = "", *, wraps: str = "") -> None:
        cells = [Cell(note, NOTES, NOTES + 12)] if note else []
        cells += [figure(one, right) for one, right in zip((now, before), COLUMNS, strict=True) if one]
        if not wraps:
            self.add(cell(label, 100), *cells)
            return
        # A cell is written whole before the next one, which stands level with its first line.
        self.add(cell(label, 100))
        first = self.y
        self.add(cell(wraps, 90), drop=13.6)
        self.lines.append(RawLine(tuple(cells), first, SIZE, 400))

    def read(self) -> list[Fact]:
        page = RawPage(tuple(self.lines), 595.0, 842.0)
        parsed = ParsedDocument((build_page(blocks_of(page, Style.of([page]))),), "pdf")
        found = read_statements(parsed, DocumentFacts(language="zh", period=YEAR))
        for fact in found:
            assert parsed.pages[0].text[fact.start : fact.end] == fact.printed
        return found


def balance() -> Form:
    form = Form()
    form.add(cell("合并资产负债表", 240))
    form.add(cell("单位：元", 90), cell("币种：人民币", 470))
    form.add(
        cell("项目", 130), Cell("附注", NOTES, NOTES + 20), Cell("2031年12月31日", 340, 420),
        Cell("2030年12月31日", 450, 530),
    )  # fmt: skip
    form.row("流动资产：")
    form.row("货币资金", "1,516,034,246.28", "1,108,509,231.31", "1")
    form.row("结算备付金")
    form.row("应收票据", "", "23,855,394.93", "2")
    form.row("应收账款", "605,618,324.94", "576,253,532.88", "3")
    form.row("应收款项融资", "8,036,338.80", "", "4")
    form.row("应收分保合同准备金")
    form.row("其他应收款", "36,001,070.73", "42,711,634.35", "5")
    form.row("买入返售金融资产")
    form.row("存货", "350,661.80", "245,294,801.84", "6")
    form.row("一年内到期的非流动资产")
    form.row("其他流动资产", "10,649,171.13", "11,396,010.32", "7")
    form.row("流动资产合计", "2,176,689,813.68", "2,008,020,605.63")
    form.row("资产总计", "2,176,689,813.68", "2,008,020,605.63")
    return form


def values(facts: list[Fact]) -> dict[tuple[str, int], Decimal]:
    return {(fact.label, fact.period.end.year): fact.value for fact in facts}


def test_a_figure_belongs_to_the_column_under_which_it_stands() -> None:
    found = values(balance().read())
    assert found["应收票据", 2030] == Decimal("23855394.93")
    assert found["应收款项融资", 2031] == Decimal("8036338.80")
    assert {("应收票据", 2031), ("应收款项融资", 2030)}.isdisjoint(found)
    assert len(found) == 16  # and no note's number is a figure


def test_rows_without_figures_are_rows_and_no_beginnings_of_the_next_label() -> None:
    facts = balance().read()
    labels = {fact.label for fact in facts}
    assert {"其他应收款", "存货", "其他流动资产"} <= labels
    assert next(fact for fact in facts if fact.label == "存货").concept == "inventories"
    assert {fact.group for fact in facts} == {"流动资产："}


def test_a_label_of_two_lines_is_one() -> None:
    form = Form()
    form.add(cell("合并利润表", 240))
    form.add(cell("单位：元", 90), cell("币种：人民币", 470))
    form.add(cell("项目", 130), Cell("2031年度", 380, 420), Cell("2030年度", 490, 530))
    form.row("一、营业总收入", "1,581,905,632.48", "1,126,782,253.35")
    form.row("二、营业总成本", "1,142,129,546.10", "843,148,056.14")
    form.row("税金及附加", "23,238,233.57", "18,496,446.13")
    form.row("公允价值变动收益（损失以", "8,476,372.38", "", wraps="“－”号填列）")
    form.row("信用减值损失（损失以", "", "-26,214,199.19", wraps="“-”号填列）")
    form.row("四、净利润", "422,390,078.91", "226,894,960.80")
    found = values(form.read())
    assert found["公允价值变动收益（损失以“－”号填列）", 2031] == Decimal("8476372.38")
    assert found["信用减值损失（损失以“-”号填列）", 2030] == Decimal("-26214199.19")


def test_the_same_in_a_pdf(make_pdf: Callable[..., bytes], parse_it: Callable[..., ParsedDocument]) -> None:
    rows = [
        ("Cash and cash equivalents", "10,250", "9,125"), ("Notes receivable", "", "355"), ("Goodwill", "7,400", ""),
        ("Inventories", "4,100", "3,200"), ("Other assets", "900", "800"), ("Total assets", "22,650", "13,480"),
    ]  # fmt: skip
    page: list[Any] = [(180, 740, "CONSOLIDATED BALANCE SHEETS", "bold", 12), (240, 724, "(in millions)")]
    page += [(90, 704, "December 31,"), (380, 704, "2031"), (480, 704, "2030")]
    for place, (label, now, before) in enumerate(rows):
        y = 688 - 16 * place
        page.append((90, y, label))
        page += [(x - 5 * len(text), y, text) for x, text in ((405, now), (505, before)) if text]
    parsed = parse_it(make_pdf([page, [(90, 700, "Notes to the statements follow on these pages.")]]), "filing.pdf")
    found = values(read_statements(parsed, DocumentFacts(language="en", period=YEAR)))
    assert found["Notes receivable", 2030] == 355_000_000
    assert found["Goodwill", 2031] == 7_400_000_000
    assert {("Goodwill", 2030), ("Notes receivable", 2031)}.isdisjoint(found)
