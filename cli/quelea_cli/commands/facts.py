"""`quelea facts`: a company's statements and single figures."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from rich.table import Table

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Url, connect
from quelea_cli.output import Json, consoles, print_json, say

_SCALES = ((Decimal(10) ** 9, "billions"), (Decimal(10) ** 6, "millions"), (Decimal(1000), "thousands"))
_LEAST_DIGITS = Decimal(1000)
_CURRENCY_CODE = 3
_ENDINGS = {"percent": "%", "points": " pp"}


class Statement(StrEnum):
    """Which statement."""

    INCOME = "income"
    BALANCE = "balance"
    CASH_FLOW = "cash_flow"
    COMPREHENSIVE_INCOME = "comprehensive_income"
    BREAKDOWN = "breakdown"


def facts(
    company: Annotated[str, typer.Argument(help="Name or ticker.")],
    concept: Annotated[
        list[str] | None,
        typer.Argument(
            help="Figures to list, by name: 'operating cash flow', capex, 归母净利润. Left out: a statement."
        ),
    ] = None,
    statement: Annotated[
        Statement | None,
        typer.Option(
            help="Which statement to show (breakdown: by industry, product, region, subsidiary); income if left out."
        ),
    ] = None,
    years: Annotated[int, typer.Option(help="How many years back.", min=1, max=20)] = 3,
    quarters: Annotated[bool, typer.Option("--quarters", help="Quarters instead of years.")] = False,
    parent: Annotated[bool, typer.Option("--parent", help="The parent company alone.")] = False,
    doubtful: Annotated[
        bool, typer.Option("--doubtful", help="Include figures that do not add up with the others, or were restated.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    xlsx: Annotated[
        Path | None,
        typer.Option(help="Write a workbook: all statements, unless --statement names one.", dir_okay=False),
    ] = None,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Show a company's statement over the years, or single figures, each with the page that prints it."""
    if as_csv + as_json + bool(xlsx) > 1:
        raise CliError("--csv, --xlsx and --json exclude one another.", EXIT_USAGE)
    params: Json = {"basis": "parent" if parent else "consolidated", "doubtful": doubtful}
    if concept:
        path = "/v1/facts"
        params |= {"company": company, "concept": concept, "page_size": 1000}
    else:
        path = f"/v1/companies/{quote(company, safe='')}/statements"
        params |= {"years": years, **({"period": "quarterly"} if quarters else {})}
    params |= {"statement": statement.value} if statement else {}
    with connect(url, api_key) as gateway:
        if as_csv:
            typer.echo(gateway.download(path, params=params | {"format": "csv"}).decode(), nl=False)
            return
        if xlsx:
            xlsx.write_bytes(gateway.download(path, params=params | {"format": "xlsx"}))
            say(consoles()[0], f"Written to {xlsx}.")
            return
        answer = gateway.request("GET", path, params=params)
    if as_json:
        print_json(answer)
    elif concept:
        _show_figures(answer["facts"], company)
    else:
        _show_statement(answer)


def _show_figures(found: list[Json], company: str) -> None:
    out, _ = consoles()
    if not found:
        say(out, f"No stored document states this of {company}.")
        return
    if not out.is_terminal:
        for one in found:
            say(out, "\t".join((one["period_end"], _name(one), one["value"], one["unit"], one["url"])))
        return
    table = Table("period", "label", "value", "unit", "document", "page")
    for one in found:
        span = f"{one['period_start']} – {one['period_end']}" if one["period_start"] else one["period_end"]
        table.add_row(span, _name(one), f"{Decimal(one['value']):,f}", one["unit"], one["title"], str(one["page"]))
    out.print(table)


def _name(one: Json) -> str:
    """Label, and of a breakdown what its column says, of a figure or a line."""
    return " · ".join(filter(None, (one["label"], one.get("column", ""))))


def _show_statement(answer: Json) -> None:
    out, _ = consoles()
    scale, word = _scale(answer)
    title = f"{answer['company']} · {answer['statement'].replace('_', ' ')} · {answer['basis']}"
    say(out, f"{title}{f' · money and shares in {word}' if word else ''}")
    rows = [
        [_name(line), *("" if cell is None else _shown(cell, scale) for cell in line["cells"])]
        for line in answer["lines"]
    ]
    if not out.is_terminal:
        say(out, "\t".join(["", *answer["periods"]]))
        for row in rows:
            say(out, "\t".join(row))
        return
    table = Table("")
    for period in answer["periods"]:
        table.add_column(period, justify="right")
    for row in rows:
        table.add_row(*row)
    out.print(table)


def _scale(answer: Json) -> tuple[Decimal, str]:
    """The largest of thousands, millions and billions that leaves the largest figure four digits."""
    values = [
        abs(Decimal(cell["value"]))
        for line in answer["lines"]
        for cell in line["cells"]
        if cell is not None and _is_scaled(cell)
    ]
    largest = max(values, default=Decimal(0))
    return next(((by, word) for by, word in _SCALES if largest / by >= _LEAST_DIGITS), (Decimal(1), ""))


def _is_scaled(cell: Json) -> bool:
    """Money and shares; not percentages, amounts per share, tonnes."""
    return cell["unit"] == "shares" or (len(cell["unit"]) == _CURRENCY_CODE and cell["unit"].isupper())


def _shown(cell: Json, scale: Decimal) -> str:
    value = Decimal(cell["value"])
    if not _is_scaled(cell):
        return f"{value:,f}{_ENDINGS.get(cell['unit'], '')}"
    scaled = value / scale
    return f"{scaled:,.0f}" if scaled == scaled.to_integral_value() else f"{scaled:,.1f}"
