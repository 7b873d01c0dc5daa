"""Commands on a home on this machine: `quelea keys`, `quelea backup`, `quelea restore`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Annotated

import typer
from quelea_kit.files import tar_archives

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import DEFAULT_HOME, AsJson, HomeDir
from quelea_cli.output import consoles, print_json, say
from quelea_cli.stack.home import Home

keys_app = typer.Typer(
    help="Make, list, rotate and revoke the API keys of a stack on this machine.", no_args_is_help=True
)

_MANIFEST = "quelea-backup.json"
_FORMAT = 1


Name = Annotated[str, typer.Argument(help="Name of the key.")]


@keys_app.command("create")
def create_key(
    name: Name,
    tenant: Annotated[str, typer.Option(help="Tenant that the key belongs to; it sees nothing of any other.")] = "",
    right: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTION:RIGHT",
            help="read, write or manage, on a collection or on * for all; repeatable. Default: *:manage.",
        ),
    ] = None,
    administrator: Annotated[
        bool | None,
        typer.Option(
            "--administrator/--no-administrator",
            help="May administer: keys, prompts, usage, metrics, evaluations and recorded market data. Default: only a "
            "key of the default tenant without --right.",
        ),
    ] = None,
    days: Annotated[float, typer.Option(help="Days until it expires; 0: never.")] = 0,
    home: HomeDir = DEFAULT_HOME,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it; only its hash is kept, so this is the only time it is shown."""
    options = [f"--right={one}" for one in right or []]
    if tenant:
        options.append(f"--tenant={tenant}")
    if administrator is not None:
        options.append("--administrator" if administrator else "--no-administrator")
    _show_key(name, _keys(home, "create", name, f"--days={days:g}", *options), as_json)


@keys_app.command("rotate")
def rotate_key(
    name: Name,
    overlap: Annotated[float, typer.Option(metavar="HOURS", help="How long the old secret still works.")] = 24,
    home: HomeDir = DEFAULT_HOME,
    as_json: AsJson = False,
) -> None:
    """Make a new secret for a key and print it; the old one still works for --overlap hours."""
    _show_key(name, _keys(home, "rotate", name, f"--overlap={overlap:g}"), as_json)


def _show_key(name: str, key: str, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "key": key.strip()})
        return
    out, err = consoles()
    say(out, key.strip())
    say(err, "Keep it: only its hash is stored. Use it as QUELEA_API_KEY, or as Bearer token.", "dim")


@keys_app.command("list")
def list_keys(home: HomeDir = DEFAULT_HOME, as_json: AsJson = False) -> None:
    """List the keys: id, tenant, rights, when each was made, expires and was last used."""
    if as_json:
        print_json(json.loads(_keys(home, "list", "--json")))
        return
    for line in _keys(home, "list").splitlines():
        say(consoles()[0], line)


@keys_app.command("revoke")
def revoke_key(name: Name, home: HomeDir = DEFAULT_HOME) -> None:
    """Revoke a key: from now on it opens nothing."""
    _keys(home, "revoke", name)
    say(consoles()[0], f"The key of {name} no longer opens anything.")


def audit(
    subject: Annotated[
        str, typer.Option(help="Only by this key (its name), or by this person who signed in (person:…).")
    ] = "",
    tenant: Annotated[str, typer.Option(help="Only of this tenant.")] = "",
    act: Annotated[
        str, typer.Option(help="Only this kind: asked, saw, exported, uploaded, changed, deleted, ran, refused, …")
    ] = "",
    objects: Annotated[
        str, typer.Option("--object", help="Only about this document, run or job (its id), or this company (its name).")
    ] = "",
    outcome: Annotated[str, typer.Option(help="Only what ended so: ok, refused, failed, ended or cut.")] = "",
    request: Annotated[str, typer.Option(help="Only this call: its id, as X-Request-Id has it.")] = "",
    since: Annotated[str, typer.Option(help="From this time on: 2026-11-27, 2026-11-27T09:00.")] = "",
    until: Annotated[str, typer.Option(help="Before this time.")] = "",
    last: Annotated[int, typer.Option(help="Show at most this many, the newest; 0: all.")] = 0,
    directory: Annotated[Path | None, typer.Option("--dir", help="Folder of the log; default: the home's.")] = None,
    home: HomeDir = DEFAULT_HOME,
    as_json: AsJson = False,
) -> None:
    """Read the audit log: who asked, saw and changed what."""
    wanted = {"subject": subject, "tenant": tenant, "act": act, "object": objects, "outcome": outcome}
    wanted |= {"request": request, "since": since, "until": until}
    command = [sys.executable, "-m", "quelea_gateway.audit", f"--dir={directory or Home(home).audit}", f"--last={last}"]
    command += [f"--{name}={value}" for name, value in wanted.items() if value]
    command += ["--json"] if as_json else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own command line
    if done.returncode:
        raise CliError(done.stderr.strip() or "The audit log could not be read.")
    sys.stdout.write(done.stdout)


def _keys(home: Path, *arguments: str) -> str:
    place = Home(home)
    place.create()
    command = [sys.executable, "-m", "quelea_gateway.keys", *arguments]
    command += [f"--file={place.keys}", f"--audit={place.audit}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own command line
    if done.returncode:
        raise CliError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "The key could not be made.")
    return done.stdout


def backup(
    file: Annotated[Path, typer.Argument(help="The archive to write, for example quelea.tar.gz.")],
    home: HomeDir = DEFAULT_HOME,
    as_json: AsJson = False,
) -> None:
    """Write everything of a stopped stack into one archive: index, documents, jobs and keys' hashes."""
    place = Home(home)
    if not place.root.is_dir():
        raise CliError(f"No such home: {place.root}.", EXIT_USAGE)
    fresh = file.with_name(file.name + ".part")
    with place.locked():
        manifest = json.dumps({"format": _FORMAT, "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}).encode()
        try:
            with tarfile.open(fresh, "w:gz", compresslevel=1) as archive:
                entry = tarfile.TarInfo(_MANIFEST)
                entry.size = len(manifest)
                archive.addfile(entry, io.BytesIO(manifest))
                for folder in place.data:
                    archive.add(folder, arcname=folder.name)
            fresh.replace(file)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise CliError(f"Cannot write {file}: {error.strerror}.") from error
    size = file.stat().st_size
    if as_json:
        print_json({"file": str(file), "bytes": size})
    else:
        say(consoles()[0], f"{file}: {size / 1e6:.1f} MB. Keep it as safe as the documents themselves.")


def restore(
    file: Annotated[Path, typer.Argument(help="An archive that `quelea backup` wrote.")],
    home: HomeDir = DEFAULT_HOME,
    as_json: AsJson = False,
) -> None:
    """Fill an empty home from an archive."""
    place = Home(home)
    with place.locked():
        if any(next(folder.iterdir(), None) for folder in place.data):
            raise CliError(f"{place.root} already holds data; restore into a new --home.", EXIT_USAGE)
        try:
            with tarfile.open(file, "r:gz") as archive:
                first = archive.next()
                inside = archive.extractfile(first) if first and first.name == _MANIFEST else None
                if inside is None or json.load(inside).get("format") != _FORMAT:
                    raise CliError(f"{file} is not a backup that this version of quelea can read.")
                names = {folder.name for folder in place.data}
                wanted = (member for member in archive if member.name.partition("/")[0] in names)
                tar_archives.extract(archive, wanted, place.root)
        except (OSError, tarfile.TarError, ValueError, EOFError) as error:
            raise CliError(f"Cannot read {file}: {error}.") from error
    if as_json:
        print_json({"home": str(place.root)})
    else:
        say(consoles()[0], f"Restored into {place.root}. Start it with `quelea up --home {place.root}`.")
