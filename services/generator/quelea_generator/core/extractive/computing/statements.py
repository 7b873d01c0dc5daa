"""A computed figure in words: its formula, its operands quoted and cited, what it was rounded to."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType

from quelea_generator.core.extractive.answer_text import one_line, period_phrase, row_label, scale_phrase
from quelea_generator.core.extractive.computing.operands import Cell, Operand
from quelea_generator.core.extractive.scoring import Candidate
from quelea_generator.core.extractive.table_heads import Column

OPENING = MappingProxyType(
    {
        "en": "Computed by the extractive reader from figures that it quotes (no language model wrote this):",
        "zh": "以下由摘录式阅读器用所引原文中的数字计算得出（未使用语言模型）：",
    }
)
HUNDRED = Decimal(100)
_TEN = Decimal(10)
_TENTH, _HUNDREDTH = Decimal("0.1"), Decimal("0.01")


def format_operand(value: Decimal) -> str:
    """A figure in a formula: with thousands separators; brackets around one with a minus."""
    return f"(−{-value:,f})" if value < 0 else f"{value:,f}"


def format_result(value: Decimal) -> str:
    """A result: a minus without brackets."""
    return f"−{-value:,f}" if value < 0 else f"{value:,f}"


def format_percentage(value: Decimal) -> tuple[str, int]:
    """A share of one as a percentage, half away from zero, and its decimals: one, or two where it is below ten."""
    places = 1 if abs(value) * HUNDRED >= _TEN else 2
    rounded = (value * HUNDRED).quantize(_TENTH if places == 1 else _HUNDREDTH, ROUND_HALF_UP)
    return f"{format_result(rounded)}%", places


def format_quotient(value: Decimal) -> str:
    """A ratio with two decimals."""
    return format_result(value.quantize(_HUNDREDTH, ROUND_HALF_UP))


class Statement:
    """The sentences about one computation in one language.

    Args:
        language: "en" or "zh".
    """

    def __init__(self, language: str) -> None:
        self._zh = language == "zh"
        self._language = language

    def change(
        self, operand: Operand, earlier: Cell, *, growth: bool, stated: str = "", only_stated: bool = False
    ) -> str:
        """A row at two times. `stated`: the percentage as the row itself has it, which is then not computed."""
        new, old, row = operand.cell, earlier, operand.row
        difference = (
            f"{format_operand(new.value)} − {format_operand(old.value)} = {format_result(new.value - old.value)}"
        )
        now, before = period_phrase(self._language, new.column.text), self._before(new.column, old.column)
        units = self._units([operand])
        label = row_label(row)
        if new.percent:
            if self._zh:
                return f"{label}（{now}，对比{before}）：变动 {difference} 个百分点，{self._from([row])}"
            return f"{label}, {now} against {before}: change {difference} percentage points, {self._from([row])}"
        parts = [f"变动 {difference}" if self._zh else f"change {difference}"]
        if units:
            parts[0] += f"（{units}）" if self._zh else f" ({units})"
        if stated:
            parts.append(f"资料所列变动幅度为{stated}" if self._zh else f"growth {stated}, as the row itself says")
        elif growth:
            formula = f"({format_operand(new.value)} − {format_operand(old.value)}) / {format_operand(old.value)}"
            result, places = format_percentage((new.value - old.value) / old.value)
            rounded = self._round(places)
            said = f"{formula} = {result}"
            parts.append(f"增长率 {said}（{rounded}）" if self._zh else f"growth {said} ({rounded})")
        if stated and only_stated:
            del parts[0]
        if self._zh:
            return f"{label}（{now}，对比{before}）：{'；'.join(parts)}，{self._from([row])}"
        return f"{label}, {now} against {before}: {'; '.join(parts)}, {self._from([row])}"

    def _before(self, new: Column, old: Column) -> str:
        """The earlier time; by its year alone where only the year is another: its day may stand in no head."""
        if new.text.replace(str(new.year), str(old.year)) == old.text and new.text != old.text:
            return f"{old.year}年同期" if self._zh else f"the same in {old.year}"
        return period_phrase(self._language, old.text)

    def share(self, part: Operand, whole: Operand) -> str:
        """A part of a whole, in percent."""
        result, places = format_percentage(part.cell.value / whole.cell.value)
        said = f"{format_operand(part.cell.value)} / {format_operand(whole.cell.value)} = {result}"
        a, b = row_label(part.row), row_label(whole.row)
        if self._zh:
            said = f"{said}（{self._round(places)}；{self._when(part, whole)}）"
            return f"{a} 占 {b} 的比例：{said}，{self._from([part.row, whole.row])}"
        lead = f"{a} as a percentage of {b}: {said} ({self._round(places)}; {self._when(part, whole)})"
        return f"{lead}, {self._from([part.row, whole.row])}"

    def ratio(self, part: Operand, whole: Operand) -> str:
        """A quotient of two rows."""
        one, other = part.cell.value, whole.cell.value
        said = f"{format_operand(one)} / {format_operand(other)} = {format_quotient(one / other)}"
        a, b = row_label(part.row), row_label(whole.row)
        if self._zh:
            said = f"{said}（{self._round(2)}；{self._when(part, whole)}）"
            return f"{a} 与 {b} 的比率：{said}，{self._from([part.row, whole.row])}"
        lead = f"Ratio of {a} to {b}: {said} ({self._round(2)}; {self._when(part, whole)})"
        return f"{lead}, {self._from([part.row, whole.row])}"

    def total(self, operands: Sequence[Operand]) -> str:
        """A sum of rows."""
        whole = sum((operand.cell.value for operand in operands), Decimal(0))
        said = f"{' + '.join(format_operand(operand.cell.value) for operand in operands)} = {format_result(whole)}"
        labels = " + ".join(row_label(operand.row) for operand in operands)
        rows = [operand.row for operand in operands]
        if self._zh:
            return f"合计 {labels}：{said}（{self._when(*operands)}），{self._from(rows)}"
        return f"Sum of {labels}: {said} ({self._when(*operands)}), {self._from(rows)}"

    def difference(self, one: Operand, other: Operand) -> str:
        """One row less another."""
        a, b = one.cell.value, other.cell.value
        said = f"{format_operand(a)} − {format_operand(b)} = {format_result(a - b)}"
        rows = [one.row, other.row]
        labels = row_label(one.row), row_label(other.row)
        if self._zh:
            return f"{labels[0]} 与 {labels[1]} 的差额：{said}（{self._when(one, other)}），{self._from(rows)}"
        return f"Difference between {labels[0]} and {labels[1]}: {said} ({self._when(one, other)}), {self._from(rows)}"

    def _when(self, *operands: Operand) -> str:
        period = period_phrase(self._language, operands[0].cell.column.text)
        units = self._units(operands)
        return ("；" if self._zh else "; ").join(part for part in (period, units) if part)

    def _round(self, places: int) -> str:
        if self._zh:
            return f"四舍五入到{'一' if places == 1 else '两'}位小数"
        return "rounded to one decimal" if places == 1 else "rounded to two decimals"

    def _units(self, operands: Sequence[Operand]) -> str:
        one = operands[0]
        return "" if one.cell.percent else scale_phrase(self._language, one.row.evidence, one.row.span)

    def _from(self, rows: Sequence[Candidate]) -> str:
        quoted = [f"“{one_line(row.text)}” [{row.evidence.number}]" for row in rows]
        if self._zh:
            return f"见表格行{'、'.join(quoted)}"
        return f"from the row{'s' if len(rows) > 1 else ''} {' and '.join(quoted)}"
