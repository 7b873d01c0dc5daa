"""`quelea fetch`: a company's filings from EDGAR or cninfo, followed until they are in."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Annotated

import typer
from quelea_client import ApiError, Client, TimedOut
from rich.console import Console

from quelea_cli.commands.market import import_file
from quelea_cli.errors import EXIT_FAILED, EXIT_USAGE, CliError, told
from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Into, Url, connect
from quelea_cli.output import Json, consoles, documents_of, print_json, say
from quelea_cli.places import samples

_TICKERS = "https://www.sec.gov/files/company_tickers.json"
_NOT_REACHED = (409, 503, 504)
"""This deployment does not ask the sources, or they do not answer."""
_DOOR = "QUELEA_SEARCH_FILINGS_DOOR"
"""Where it is not set, recordings are refused too."""
_ENDED = ("succeeded", "failed")


def fetch(
    company: Annotated[str, typer.Argument(help="Ticker, name, 简称, code of an A share, or CIK.", show_default=False)],
    forms: Annotated[
        str, typer.Option(help="EDGAR forms, separated by commas: 10-K,10-Q,8-K,20-F. Default: 10-K,10-Q.")
    ] = "",
    reports: Annotated[
        str, typer.Option(help="cninfo reports, separated by commas: 年报,半年报,一季报,三季报. Default: 年报.")
    ] = "",
    years: Annotated[
        int, typer.Option(help="How many years back; 0 uses the default of the service.", min=0, max=20)
    ] = 0,
    replay: Annotated[
        str,
        typer.Option(help="Recording to fetch from instead of the internet: a file, or the id of an imported one."),
    ] = "",
    collection: Into = "",
    wait: Annotated[bool, typer.Option(help="Wait until the documents are in.")] = True,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Fetch a company's filings; what is stored is left alone. EDGAR for US filers, cninfo for A shares."""
    if forms and reports:
        raise CliError("--forms is for EDGAR and --reports for cninfo; use one of them.", EXIT_USAGE)
    body: Json = {"company": company, "forms": [one.strip() for one in (forms or reports).split(",") if one.strip()]}
    body |= {"years": years} if years else {}
    body |= {"collection": collection} if collection else {}
    file = Path(replay).expanduser()
    if replay and ("/" in replay or file.suffix) and not file.is_file():
        raise CliError(f"There is no file {replay!r}; --replay takes a recording, or the id of one.", EXIT_USAGE)
    out, err = consoles()
    with connect(url, api_key) as gateway:
        if replay:
            body["bundle_ids"] = [import_file(gateway, file)["id"] if file.is_file() else replay]
        try:
            found = gateway.request("POST", "/v1/fetch", json=body)
        except ApiError as error:
            if replay or error.status not in _NOT_REACHED or error.details.get("setting") == _DOOR:
                raise
            failure = told(error)
            raise CliError(failure.message + _offer_recording(), failure.code) from error
        if not as_json:
            _show(out, found)
        if wait:
            _follow(gateway, found["filings"], err if as_json else out)
    if as_json:
        print_json(found)
    elif wait:
        say(out, _summary(found["filings"]))
    if any((one["job"] or {}).get("state") == "failed" for one in found["filings"]):
        raise typer.Exit(EXIT_FAILED)


def _offer_recording() -> str:
    """What can be fetched without the internet; empty where the samples are not installed."""
    for file in sorted((samples() / "fetch").glob("*.bundle")):
        tickers = _recorded(file)
        if tickers:
            names = " and ".join(filter(None, (", ".join(tickers[:-1]), tickers[-1])))
            return f" Offline, a recording has {names}: quelea fetch {tickers[0]} --replay {str(file)!r}"
    return ""


def _recorded(file: Path) -> list[str]:
    """Tickers of the companies in a recording of EDGAR."""
    with zipfile.ZipFile(file) as bundle:
        calls = json.loads(bundle.read("manifest.json"))["calls"]
        lists = [bundle.read(f"bodies/{call['sha256']}") for call in calls if call["url"] == _TICKERS]
    return [row["ticker"] for data in lists for row in json.loads(data).values()]


def _show(out: Console, found: Json) -> None:
    place = {"edgar": "EDGAR", "cninfo": "cninfo"}.get(found["source"], found["source"])
    days = f"filed {found['filed_from']} to {found['filed_to']}"
    filings = documents_of(len(found["filings"]))
    say(out, f"{found['company']} ({found['ticker']}), {place}, {days}: {filings}")
    for one in found["filings"]:
        period = f"  {one['period_end']}" if one["period_end"] else ""
        say(out, f"{one['state']}  {one['filed']}  {one['form']}{period}  {one['url']}")
    if found["left_out"]:
        say(out, f"{found['left_out']} older documents were left out; ask for fewer years or forms.")
    say(out, f"fetch {found['run_id']}; `quelea market export {found['run_id']} FILE` records it")


def _follow(gateway: Client, filings: list[Json], console: Console) -> None:
    """Ask after the jobs until all have ended, and put their last state into the filings."""
    waiting = {one["job"]["id"]: one for one in filings if one["job"] and one["job"]["state"] not in _ENDED}
    try:
        for job in gateway.follow(waiting):
            one = waiting[job.id]
            one["job"] = job.model_dump(mode="json")
            if job.state in _ENDED:
                one["document_id"] = job.document_id
                say(console, _line(one), "red" if job.state == "failed" else "")
    except TimedOut as error:
        say(console, f"{error} `quelea jobs` shows what is on its way.", "yellow")


def _line(filing: Json) -> str:
    job = filing["job"]
    name = f"{filing['form']} of {filing['filed']}"
    if job["state"] == "failed":
        return f"failed  {name}: {job['error']}" + ("  (`quelea jobs replay` tries again)" if job["replayable"] else "")
    how = "already there" if job["unchanged"] else f"{job['progress']['total']} pages"
    return f"ready   {name} ({how})"


def _summary(filings: list[Json]) -> str:
    states = [(one["job"] or {}).get("state", "stored") for one in filings]
    parts = [("stored before", "stored"), ("ready", "succeeded"), ("failed", "failed")]
    return ", ".join(f"{states.count(state)} {name}" for name, state in parts if state in states)
