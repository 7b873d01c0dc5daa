"""`quelea jobs`: what is on its way into the knowledge base, what failed, and trying that once more."""

from __future__ import annotations

from typing import Annotated

import typer

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Url, connect
from quelea_cli.output import Json, consoles, print_json, say

_REPLAY = "replay"
"""No job has this id: ids are made of hexadecimal digits."""


def jobs(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID | replay ID...]", help="Id of a job; `replay` runs failed jobs again."),
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only failed jobs that can be replayed.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="With replay: all jobs that can be replayed.")] = False,
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=1000)] = 50,
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """List the jobs of uploads and web pages, or show one; `quelea jobs replay` tries failed ones again."""
    given = ids or []
    replaying = bool(given) and given[0] == _REPLAY
    if replaying and bool(given[1:]) == everything:
        raise CliError("Name the jobs to replay, or use --all. `quelea jobs --failed` lists them.", EXIT_USAGE)
    if not replaying and (everything or len(given) > 1):
        raise CliError("Give at most one id; --all and several ids are for `quelea jobs replay`.", EXIT_USAGE)
    with connect(url, api_key) as gateway:
        if replaying:
            found = gateway.request("POST", "/v1/jobs/replay", json={"ids": given[1:]})
        elif given:
            found = gateway.request("GET", f"/v1/jobs/{given[0]}")
        else:
            wanted: Json = {"page_size": limit, **({"replayable": "true"} if failed else {})}
            found = gateway.request("GET", "/v1/jobs", params=wanted)
    if as_json:
        print_json(found)
        return
    out, _ = consoles()
    for one in found.get("jobs", [found]):
        say(out, job_line(one), "red" if one["state"] == "failed" else "")


def job_line(job: Json) -> str:
    """ "j1  running    3/28  a.pdf", with the lane where it is not an upload's, and with what went wrong."""
    pages = job.get("progress") or {}
    name = job.get("filename") or job.get("url") or ""
    line = f"{job['id']}  {job['state']:<9}  {pages.get('done', 0)}/{pages.get('total', 0)}  {name}"
    if job.get("lane") not in (None, "upload"):
        line += f"  [{job['lane']}]"
    if job.get("error"):
        line += f"  {job['error']}"
    return line + ("  (can be replayed)" if job.get("replayable") else "")
