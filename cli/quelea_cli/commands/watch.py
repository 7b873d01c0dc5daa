"""`quelea watch`: companies whose new filings come by themselves."""

from __future__ import annotations

from typing import Annotated

import typer

from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Into, Url, connect
from quelea_cli.output import Json, consoles, documents_of, minute, print_json, say

WATCHES = "/v1/watches"
watch = typer.Typer(help="Watch companies: their new filings are fetched as they appear.", no_args_is_help=True)


@watch.command("add")
def add(
    companies: Annotated[list[str], typer.Argument(help="As for `quelea fetch`; several at once.", show_default=False)],
    forms: Annotated[str, typer.Option(help="Separated by commas, as for `quelea fetch --forms` or `--reports`.")] = "",
    years: Annotated[int, typer.Option(help="How many years back to fetch at once.", min=1, max=20)] = 1,
    collection: Into = "",
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Fetch a company's filings now, and its new ones from now on."""
    wanted = [one.strip() for one in forms.split(",") if one.strip()]
    with connect(url, api_key) as gateway:
        body: Json = {"forms": wanted, "years": years, **({"collection": collection} if collection else {})}
        made = [gateway.request("POST", WATCHES, json={"company": company, **body}) for company in companies]
    if as_json:
        print_json({"watches": made})
        return
    for one in made:
        queued = sum(filing["state"] == "queued" for filing in (one["fetch"] or {"filings": []})["filings"])
        say(consoles()[0], f"{_line(one['watch'])}  {documents_of(queued)} on {'its' if queued == 1 else 'their'} way")


@watch.command("list")
def list_(url: Url = DEFAULT_URL, api_key: ApiKey = "", as_json: AsJson = False) -> None:
    """List the watched companies, with how the last look went."""
    with connect(url, api_key) as gateway:
        found = gateway.items(WATCHES, "watches")
    if as_json:
        print_json({"watches": found})
        return
    out, _ = consoles()
    for one in found:
        news = f"  {one['new']} new {minute(one['new_at'])}" if one["new"] else ""
        trouble = f"  {one['error']}" if one["error"] else ""
        say(out, f"{_line(one)}  looked {minute(one['looked'])}{news}{trouble}", "red" if one["error"] else "")
    if not found:
        say(out, "No company is watched; `quelea watch add AAPL` adds one.")


@watch.command("remove")
def remove(
    ids: Annotated[list[str], typer.Argument(help="Ids; `quelea watch list` shows them.", show_default=False)],
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
) -> None:
    """Stop watching companies; their documents stay."""
    with connect(url, api_key) as gateway:
        for one in ids:
            gateway.request("DELETE", f"{WATCHES}/{one}")
            say(consoles()[0], f"removed  {one}")


def _line(watch: Json) -> str:
    return f"{watch['id']}  {watch['company']} ({watch['ticker']})  {','.join(watch['forms'])}"
