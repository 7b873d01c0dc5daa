"""`quelea eval arena …`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from quelea_evaluation.arena import leaderboard, runs
from quelea_evaluation.arena.arena_folder import Arena, check_name, name_of
from quelea_evaluation.arena.elo import rate_shuffled
from quelea_evaluation.arena.items import UCFE, read_bench
from quelea_evaluation.arena.judge import DEFAULT
from quelea_evaluation.arena.judge import UCFE as UCFE_ORDER
from quelea_evaluation.arena.people import compare_records, compare_with_people, describe_raters
from quelea_evaluation.arena.person import PersonTalks
from quelea_evaluation.arena.person_page import PersonServer
from quelea_evaluation.arena.record import Record, build_record, read_record
from quelea_evaluation.arena.simulator import SEED
from quelea_evaluation.arena.speakers import SECONDS, Speaker, connect
from quelea_evaluation.arena.statistics import describe_arena, failure_notices
from quelea_evaluation.arena.vote_page import VoteServer, write_page
from quelea_evaluation.arena.votes import VoteBox, make_ballot, read_all_votes, shown_questions
from quelea_evaluation.console import STACK_HOME, AsJson, StackHome, say, tell, tell_json
from quelea_evaluation.endpoints.client import Address, read_address
from quelea_evaluation.endpoints.prices import PricesText, read_prices
from quelea_evaluation.endpoints.work import MOST_AT_ONCE, Gone
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.reports.store import BadRun, Row, write_whole

app = typer.Typer(no_args_is_help=True, help="Simulated users, a judge, ratings: which system serves people better.")

ArenaFolder = Annotated[Path, typer.Argument(help="Folder of the arena; made when it is not there.")]
BenchFile = Annotated[Path, typer.Option("--bench", help="Items in UCFE's form (.json, .json.gz); UCFE's own 330.")]
AtOnce = Annotated[int, typer.Option(min=1, max=MOST_AT_ONCE, help="Items under way at once; a kill loses these.")]
Seconds = Annotated[float, typer.Option(min=1, help="Longest wait for one reply.")]
MaxTokens = Annotated[int, typer.Option(min=0, help="Longest reply; 0 leaves it to the endpoint.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped, under the same settings.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="With --resume: do again what failed.")]
_ADDRESS = (
    "MODEL@URL of an OpenAI-compatible endpoint, quelea@http://HOST:PORT for a gateway's /v1/ask, "
    "or stack for the model of the stack on this machine, without retrieval"
)


class Compat(StrEnum):
    """Whose published arithmetic is repeated."""

    ucfe = "ucfe"


@app.callback()
def _main() -> None:
    """Simulated users, a judge, ratings: which system serves people better."""


@contextmanager
def _refusing() -> Iterator[None]:
    """What is refused becomes one line on standard error, and code 2."""
    try:
        yield
    except (BadInput, BadRun, Gone, OSError) as error:  # OSError names the file that cannot be read or written
        say(f"quelea eval arena: {error}")
        raise typer.Exit(2) from error


@app.command()
def items(bench: BenchFile = UCFE, as_json: AsJson = False) -> None:
    """The bench: how many items each task has. A file of your own is checked."""
    with _refusing():
        read = read_bench(bench)
    tasks = [
        {
            "task": task,
            "items": sum(item.task == task for item in read.items),
            "rounds": "one" if next(item for item in read.items if item.task == task).one_round else "up to nine",
        }
        for task in read.tasks
    ]
    if as_json:
        tell_json({"items": len(read.items), "sha256": read.sha256, "tasks": tasks})
        return
    shown = Table("task", "items", "rounds", title=f"{len(read.items)} items in {len(tasks)} tasks")
    for line in tasks:
        shown.add_row(*(str(value) for value in line.values()))
    Console().print(shown)


@app.command()
def talk(
    arena: ArenaFolder,
    system: Annotated[str, typer.Option(help=f"Who is tested, {_ADDRESS}.")],
    user: Annotated[
        str, typer.Option(help="The simulated user, MODEL@URL or stack; only conversations need one.")
    ] = "",
    name: Annotated[str, typer.Option(help="The system's name in the arena; its model's when left out.")] = "",
    bench: BenchFile = UCFE,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; can be repeated.")] = None,
    item: Annotated[list[int] | None, typer.Option(help="Only the item with this id; can be repeated.")] = None,
    most: Annotated[int, typer.Option(min=0, help="At most so many items of each task; 0: all.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of every call.")] = SEED,
    max_tokens: MaxTokens = 0,
    seconds: Seconds = SECONDS,
    at_once: AtOnce = 4,
    home: StackHome = STACK_HOME,
    resume: Resume = False,
    retry_failed: RetryFailed = False,
    as_json: AsJson = False,
) -> None:
    """A simulated user talks with a system about every item; dialogues are stored in the folder of the arena.

    Keys, where endpoints want some: QUELEA_ARENA_USER_KEY, QUELEA_ARENA_SYSTEM_KEY, QUELEA_ARENA_JUDGE_KEY.
    """
    with _refusing():
        read = read_bench(bench)
        chosen = runs.choose_items(read, task or [], item or [], most)
        tested = read_address(system, "--system", home)
        asking = read_address(user, "--user", home) if user else None
        if asking is None and not all(one.one_round for one in chosen):
            raise BadInput("name the simulated user with --user; only tasks whose names begin with 0_ need none")
        called = check_name(name or name_of(tested.model), "--name")

        def make() -> tuple[Any, Any]:
            who = _connect(asking, "USER", max_tokens, seconds) if asking else None
            return who, _connect(tested, "SYSTEM", max_tokens, seconds)

        settings = {
            "system": tested.text,
            "user": asking.text if asking else None,
            "max_tokens": max_tokens,
        }
        going = runs.Going(at_once, resume, retry_failed)
        done = _progress(len(chosen))
        counts = runs.talk(Arena(arena), called, chosen, make, settings, read, seed=seed, going=going, done=done)
    _finish({"system": called, "dialogues": counts}, as_json=as_json, good=counts.get("complete", 0))


def _connect(address: Address, role: str, max_tokens: int, seconds: float) -> Speaker:
    key = address.key or os.environ.get(f"QUELEA_ARENA_{role}_KEY", "")
    return connect(address, key, max_tokens=max_tokens, seconds=seconds)


@app.command()
def judge(
    arena: ArenaFolder,
    judge: Annotated[str, typer.Option(help="Who judges, MODEL@URL or stack.")],
    name: Annotated[str, typer.Option(help="The judge's name in the arena; its model's when left out.")] = "",
    compat: Annotated[
        Compat | None, typer.Option(help="ucfe: one judgement, order by the item's parity, turns without roles.")
    ] = None,
    bench: BenchFile = UCFE,
    max_tokens: MaxTokens = 0,
    seconds: Seconds = SECONDS,
    at_once: AtOnce = 4,
    home: StackHome = STACK_HOME,
    resume: Resume = False,
    retry_failed: RetryFailed = False,
    as_json: AsJson = False,
) -> None:
    """A judge compares every two systems on every item, in both orders; a disagreement of the two is a tie."""
    with _refusing():
        address = read_address(judge, "--judge", home)
        suffix = f"-{compat.value}" if compat else ""
        called = check_name(name or name_of(address.model) + suffix, "--name")
        counts = runs.judge(
            Arena(arena),
            called,
            read_bench(bench),
            address,
            UCFE_ORDER if compat else DEFAULT,
            make=lambda: _connect(address, "JUDGE", max_tokens, seconds),
            going=runs.Going(at_once, resume, retry_failed),
            done=_progress(0),
        )
    _finish({"judge": called, "judgements": counts}, as_json=as_json, good=counts.get("judged", 0))


@app.command()
def rate(
    record: Annotated[
        Path, typer.Argument(help="A JSON file, model → task → opponent → [wins, ties, losses], or an arena's folder.")
    ],
    compat: Annotated[
        Compat | None, typer.Option(help="ucfe: Elo in the order of the file, as UCFE's Table 5 was computed.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Of a folder where several judged: whose judgements.")] = None,
    shuffles: Annotated[
        int,
        typer.Option(min=0, max=1000, help="With --compat: also the games shuffled so often, to see what order does."),
    ] = 0,
    resamples: Annotated[int, typer.Option(min=1, max=100_000, help="Drawings for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the drawings.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Ratings of a record of wins, ties and losses: Bradley-Terry with bootstrap intervals, in no order."""
    with _refusing():
        if record.is_dir():
            table = _rate_arena(Arena(record), judge, compat, resamples, seed)
        elif compat:
            table = leaderboard.published_table(read_record(record))
        else:
            table = leaderboard.rate_table(read_record(record), resamples=resamples, seed=seed)
        if compat and shuffles:
            shuffled = _record_of(Arena(record), table["judge"]) if record.is_dir() else read_record(record)
            table["order"] = rate_shuffled(shuffled, shuffles, seed)
    if as_json:
        tell_json(table)
    else:
        _print_leaderboard(table)


@app.command()
def report(
    arena: Annotated[Path, typer.Argument(help="An arena's folder, or a record.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the report; `report` in the arena's own.")] = None,
    compat: Annotated[Compat | None, typer.Option(help="ucfe: ratings as UCFE computed them.")] = None,
    judge: Annotated[str | None, typer.Option(help="Where several judged: whose judgements.")] = None,
    most: Annotated[int, typer.Option(min=0, help="Comparisons that are shown with their dialogues.")] = 50,
    resamples: Annotated[int, typer.Option(min=1, max=100_000, help="Drawings for the intervals.")] = 1000,
    prices: PricesText = "",
) -> None:
    """A page that opens offline: leaderboard, wins heat map, radar by task, failures, votes; with PNGs beside it."""
    from quelea_evaluation.arena.report import (  # noqa: PLC0415  matplotlib, which no other command needs
        show_comparisons,
        write_report,
    )

    with _refusing():
        if arena.is_dir():
            place = Arena(arena)
            table = _rate_arena(place, judge, compat, resamples, 0, prices)
            record = _record_of(place, table["judge"])
            shown = show_comparisons(place, table["judge"], most)
            agreement = _agreement(place, table["judge"]) if read_all_votes(place) else None
        else:
            record, shown, agreement = read_record(arena), iter(()), None
            table = (
                leaderboard.published_table(record) if compat else leaderboard.rate_table(record, resamples=resamples)
            )
        page = write_report(
            out or (arena if arena.is_dir() else arena.parent) / "report", table, record, shown, agreement
        )
    tell(f"{page}")


def _rate_arena(
    arena: Arena, judge: str | None, compat: Compat | None, resamples: int, seed: int, prices: str = ""
) -> dict[str, Any]:
    chosen = arena.only_judge(judge)
    games = arena.games(chosen)
    run = describe_arena(arena, chosen, read_prices(prices))
    if not games:
        raise BadInput(
            f"no judgement of {chosen} has a score, so there is nothing to rate: {run['judgements']['statuses']}, "
            f"{run['judgements']['errors'] or 'no error'}"
        )
    if compat:
        table = leaderboard.published_table(_record_of(arena, chosen))
    else:
        table = leaderboard.rate_games_table(games, resamples=resamples, seed=seed)
    return {**table, **run, "notices": [*failure_notices(run), *table["notices"]]}


def _record_of(arena: Arena, judge: str) -> Record:
    return build_record((game.task, game.first, game.second, game.score) for game in arena.games(judge))


@app.command()
def vote(
    arena: ArenaFolder,
    page: Annotated[Path | None, typer.Option(help="Write the page into this file in place of serving it.")] = None,
    add: Annotated[Path | None, typer.Option(help="Store the votes of a file that such a page wrote.")] = None,
    most: Annotated[int, typer.Option(min=0, help="At most so many comparisons; 0: all.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Of the order, and of who stands left.")] = 0,
    port: Annotated[int, typer.Option(min=0, max=65535, help="On loopback; 0 takes a free one.")] = 0,
    bench: BenchFile = UCFE,
) -> None:
    """A page where people read two dialogues blind and vote: served on loopback until Ctrl-C, or one HTML file."""
    with _refusing():
        place = Arena(arena)
        with VoteBox(place) as box:
            if add:
                tell(f"{box.add_file(add)} votes stored")
                return
            read = read_bench(bench)
            ballot = make_ballot(place, read, most=most, seed=seed)
            html = write_page(ballot, shown_questions(place, read, ballot), send=page is None)
            if page:
                write_whole(page, html)
                tell(f"{len(ballot.questions)} comparisons in {page}; store votes with --add FILE")
                return
            with VoteServer(html, box, port) as server:
                tell(f"{len(ballot.questions)} comparisons at {server.url} (Ctrl-C ends)")
                sys.stdout.flush()
                with suppress(KeyboardInterrupt):
                    server.serve_forever()


@app.command()
def converse(
    arena: ArenaFolder,
    system: Annotated[list[str], typer.Option(help=f"Who is tested, {_ADDRESS}; can be repeated.")],
    name: Annotated[
        list[str] | None,
        typer.Option(help="The systems' names in the arena, in their order; their models' if left out."),
    ] = None,
    bench: BenchFile = UCFE,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; can be repeated.")] = None,
    item: Annotated[list[int] | None, typer.Option(help="Only the item with this id; can be repeated.")] = None,
    most: Annotated[int, typer.Option(min=0, help="At most so many items of each task; 0: all.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of the order, and of every call.")] = SEED,
    max_tokens: MaxTokens = 0,
    seconds: Seconds = SECONDS,
    port: Annotated[int, typer.Option(min=0, max=65535, help="On loopback; 0 takes a free one.")] = 0,
    home: StackHome = STACK_HOME,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Hold again the dialogues that failed.")] = False,
) -> None:
    """A page where a person takes the user's place, blind to who answers: served on loopback until Ctrl-C.

    Dialogues are stored like simulated ones; called again it goes on, also in the middle of a dialogue. The key, where
    systems want one: QUELEA_ARENA_SYSTEM_KEY.
    """
    with _refusing():
        read = read_bench(bench)
        addresses = [read_address(one, "--system", home) for one in system]
        if name and len(name) != len(addresses):
            raise BadInput(f"there are {len(addresses)} --system and {len(name)} --name; give each one a name, or none")
        names = [check_name(one, "--name") for one in name or [name_of(one.model) for one in addresses]]
        if twice := [one for one in names if names.count(one) > 1]:
            raise BadInput(f"two systems are called {twice[0]}; tell them apart with --name")
        called = dict(zip(names, addresses, strict=True))
        settings = {one: {"system": address.text, "max_tokens": max_tokens} for one, address in called.items()}
        with PersonTalks(
            Arena(arena),
            read,
            runs.choose_items(read, task or [], item or [], most),
            settings,
            lambda one: _connect(called[one], "SYSTEM", max_tokens, seconds),
            seed=seed,
            retry_failed=retry_failed,
        ) as talks:
            with PersonServer(talks, port) as server:
                tell(f"{sum(talks.counts().values())} conversations at {server.url} (Ctrl-C ends)")
                sys.stdout.flush()
                with suppress(KeyboardInterrupt):
                    server.serve_forever()
            tell(", ".join(f"{count} {what.replace('_', ' ')}" for what, count in talks.counts().items()))


@app.command()
def agree(
    arena: Annotated[Path, typer.Argument(help="An arena's folder with votes; or a record, with --people.")],
    people: Annotated[Path | None, typer.Option(help="A record of people's wins, ties and losses.")] = None,
    judge: Annotated[str | None, typer.Option(help="Where several judged: whose judgements.")] = None,
    as_json: AsJson = False,
) -> None:
    """Agreement of raters (Krippendorff's alpha), and of the judge with them (Pearson, Spearman), with intervals."""
    with _refusing():
        if people:
            table = {"people": {"systems": compare_records(read_record(arena), read_record(people))}}
        else:
            table = _agreement(Arena(arena), judge)
    if as_json:
        tell_json(table)
        return
    if raters := table.get("raters"):
        sys.stdout.write(
            f"{raters['votes']} votes of {len(raters['raters'])} raters on {raters['units']} comparisons\n"
        )
        for name in ("alpha_nominal", "alpha_ordinal"):
            tell(f"raters, Krippendorff's {name.replace('_', ', ')}: {_interval(raters[name])}")
    for name in ("verdicts", "systems"):
        for measure, value in table.get("people", {}).get(name, {}).items():
            if isinstance(value, dict):
                tell(f"judge and people, {name}, {measure}: {_interval(value)}")


def _agreement(arena: Arena, judge: str | None) -> dict[str, Any]:
    votes = read_all_votes(arena)
    if not votes:
        raise BadInput(f"{arena.path} has no votes; `quelea eval arena vote` collects them")
    table: dict[str, Any] = {"raters": describe_raters(votes)}
    if arena.judges:
        chosen = arena.only_judge(judge)
        table |= {"judge": chosen, "people": compare_with_people(arena.games(chosen), votes)}
    return table


def _interval(value: Mapping[str, float | None]) -> str:
    if value["value"] is None:
        return "– (too few values, or all the same)"
    ends = "no interval" if value["low"] is None else f"{value['low']:.3f} to {value['high']:.3f}"
    return f"{value['value']:.3f} ({ends})"


def _progress(total: int) -> Any:
    """Tells on standard error what has been done, and what failed."""
    count = 0

    def done(line: Row) -> None:
        nonlocal count
        count += 1
        told = f"{count}{f' of {total}' if total else ''}: item {line['item']} {line['status']}"
        say(f"{told}{': ' + line['error'] if line['error'] else ''}")

    return done


def _finish(result: dict[str, Any], *, as_json: bool, good: int) -> None:
    if as_json:
        tell_json(result)
    else:
        for name, value in result.items():
            shown = ", ".join(f"{count} {status}" for status, count in value.items()) if name.endswith("s") else value
            tell(f"{name}: {shown}")
    if not good:
        raise typer.Exit(1)


def _print_leaderboard(table: dict[str, Any]) -> None:
    lines = table["leaderboard"]
    shown = Table(title=table["method"])
    for head in lines[0]:
        shown.add_column(head.replace("_", " "), justify="left" if head == "model" else "right", no_wrap=True)
    for line in lines:
        shown.add_row(*(_cell(name, value) for name, value in line.items()))
    console = Console()
    console.width = max(console.width, 120)  # else a narrow terminal, or a pipe, hides figures
    console.print(shown)
    for notice in table["notices"]:
        console.print(notice, markup=False)
    if order := table.get("order"):
        first = ", ".join(f"{model} {count} times" for model, count in order["first"].items())
        told = (
            f"In {order['shuffles']} other orders of the same games ratings are {order['difference']:.1f} points away "
        )
        console.print(f"{told}on average; first: {first}.", markup=False)


def _cell(name: str, value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if name == "score" else f"{value:.2f}"
    return str(value)
