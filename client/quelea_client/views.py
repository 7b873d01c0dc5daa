"""What the models can do beside holding fields: tables, files, and how they look in a notebook."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, PrivateAttr
from pydantic_core import CoreSchema, core_schema

from quelea_client.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd

    from quelea_client.models import Answer, AskedFigure, Citation, Comparison, Fact, Fetched, Filing, Job, Statement

T = TypeVar("T")

_SHOWN_QUOTE = 300
_FIGURE_COLUMNS = (
    "company", "label", "metric", "value", "unit", "period_start", "period_end", "fiscal_year", "growth", "formula",
    "operands", "sources",
)  # fmt: skip


class Record(BaseModel):
    """Something of the gateway's. It cannot be changed, and has what a newer gateway adds as it came."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Tabular:
    """What has a table, and is shown as one in a notebook."""

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:
        """The table.

        Args:
            exact: Figures as `Decimal` instead of as floats.

        Raises:
            MissingExtra: pandas is not installed.
        """
        raise NotImplementedError

    def _repr_html_(self) -> str | None:
        try:
            return cast("str", self.to_frame().to_html(max_rows=60, notebook=True))
        except MissingExtra:
            return None  # shown as text then


class Rows(list[T], Tabular, Generic[T]):
    """A list of records that can be a table: a row for each, a column for each field."""

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:  # noqa: D102  # as of Tabular
        return frame(self._rows(), list(self._columns()), exact=exact)

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        return [dict(cast("Record", one)) for one in self]

    def _columns(self) -> Iterable[str]:
        return type(cast("Record", self[0])).model_fields if self else ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        item = (get_args(source) or (Any,))[0]
        return core_schema.no_info_after_validator_function(cls, core_schema.list_schema(handler.generate_schema(item)))


class Figures(Rows[T]):
    """The figures of an answer, each with what it was made from."""

    def _columns(self) -> Iterable[str]:
        return _FIGURE_COLUMNS

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:  # noqa: D102  # as of Tabular
        return super().to_frame(exact=exact).astype({"fiscal_year": "Int64"})

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        for one in cast("Figures[AskedFigure]", self):
            first = one.operands[0] if one.operands else None
            yield {
                **{name: getattr(one, name) for name in _FIGURE_COLUMNS if hasattr(one, name)},
                "fiscal_year": one.fiscal_year or None,
                "label": first.label if first and not one.metric else one.metric,
                "formula": one.formula if one.metric else "",  # of a stated one it is "{0}"
                "operands": "; ".join(f"{operand.label} {operand.value} {operand.unit}" for operand in one.operands),
                "sources": [operand.number for operand in one.operands],
            }


class AnswerView(Record):
    """What an answer can do."""

    _question: str = PrivateAttr(default="")
    _export: Callable[..., Path] | None = PrivateAttr(default=None)
    _page_url: Callable[[Citation], str] | None = PrivateAttr(default=None)

    @property
    def text(self) -> str:
        """The answer's text, with markers such as [1]."""
        return cast("Answer", self).answer

    @property
    def question(self) -> str:
        """As it was asked; empty of an answer that came by another way than a client's `ask`."""
        return self._question

    def bind(self, question: str, client: Any) -> None:
        """Tell an answer its question and the way back to its gateway; a client does this."""
        self._question, self._page_url = question, client.page_url
        self._export = None if inspect.iscoroutinefunction(client.export) else client.export

    def export(self, path: str | Path, file_format: str = "") -> Path:
        """Save the answer with its sources; the gateway makes the file.

        Args:
            path: Where to.
            file_format: markdown, xlsx, docx or pdf; by the path's ending when left out.

        Raises:
            TypeError: The answer came from an AsyncClient: `await client.export(answer, path)`.
            ApiError: The gateway refused.
        """
        if self._export is None:
            raise TypeError("This answer has no Client; use client.export(answer, path), awaited with an AsyncClient.")
        return self._export(self, path, file_format)

    def export_xlsx(self, path: str | Path) -> Path:
        """The answer, its figures and its sources as a workbook; raises as `export` does."""
        return self.export(path, "xlsx")

    def _repr_markdown_(self) -> str:
        lines = [self.text, ""]
        for one in cast("Answer", self).citations:
            where = _flat(f"{one.title or one.uri}, p. {one.page}")
            lines.append(f"[{one.number}] " + (f"[{where}]({self._page_url(one)})" if self._page_url else where) + "  ")
            lines.append(f"> {_flat(one.quote)[:_SHOWN_QUOTE]}\n")
        return "\n".join(lines)


class Grid(Record, Tabular):
    """Lines of cells, one cell for each period."""

    @property
    def cells(self) -> Rows[Fact]:
        """The figures one after the other, each with its own days and the link that opens its cell."""
        own = cast("Statement | Comparison", self)
        return Rows(cell for line in own.lines for cell in line.cells if cell)


class StatementTable(Grid):
    """The table of a statement: lines down, periods across, indexed by the line's label."""

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:  # noqa: D102  # as of Tabular
        own = cast("Statement", self)
        rows = [{"line": one.label, **_by_period(own.periods, one.cells)} for one in own.lines]
        return frame(rows, ["line", *own.periods], exact=exact).set_index("line")


class ComparisonTable(Grid):
    """The table of a comparison: a row for each concept and company, a column for each period."""

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:  # noqa: D102  # as of Tabular
        own = cast("Comparison", self)
        head = ("concept", "company", "unit")
        rows = [
            {**{name: getattr(one, name) for name in head}, **_by_period(own.periods, one.cells)} for one in own.lines
        ]
        return frame(rows, [*head, *own.periods], exact=exact).set_index(["concept", "company"])


class FetchView(Record, Tabular):
    """The filings of a fetch as a table, and those that could not be taken in."""

    def to_frame(self, *, exact: bool = False) -> pd.DataFrame:
        """A row for each filing: form, days, how it stands (stored, queued, succeeded, failed), why it failed."""
        columns = ["form", "filed", "period_end", "state", "error", "title", "url", "document_id"]
        rows = [
            {
                **{name: getattr(one, name) for name in columns if hasattr(one, name)},
                "state": one.job.state if one.job else one.state,
                "error": one.job.error if one.job else None,
            }
            for one in cast("Fetched", self).filings
        ]
        return frame(rows, columns, exact=exact)

    def with_jobs(self, jobs: Mapping[str, Job]) -> Fetched:
        """The same with jobs, by id, as they are now."""
        own = cast("Fetched", self)
        filings: Rows[Filing] = Rows()
        for one in own.filings:
            job = jobs.get(one.job.id) if one.job else None
            filings.append(one.model_copy(update={"job": job, "document_id": job.document_id}) if job else one)
        return own.model_copy(update={"filings": filings})

    @property
    def failed(self) -> list[Filing]:
        """Those whose job has failed; `job.error` says why."""
        return [one for one in cast("Fetched", self).filings if one.job and one.job.state == "failed"]


def frame(rows: Iterable[Mapping[str, Any]], columns: list[str], *, exact: bool) -> pd.DataFrame:
    """Rows as a DataFrame. Raises MissingExtra."""
    try:
        import pandas as pd  # noqa: PLC0415  # only where a table is asked for
    except ImportError as error:
        raise MissingExtra("Tables need pandas: pip install 'quelea-client[pandas]'.") from error
    if exact:
        return pd.DataFrame(list(rows), columns=columns)
    return pd.DataFrame([{name: _float(value) for name, value in row.items()} for row in rows], columns=columns)


def _by_period(periods: list[str], cells: Iterable[Any]) -> dict[str, Decimal | None]:
    return {period: cell.value if cell else None for period, cell in zip(periods, cells, strict=True)}


def _float(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _flat(text: str) -> str:
    return " ".join(text.split())
