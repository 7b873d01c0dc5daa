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
from quelea_kit import tar_archives

from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.options import DEFAULT_HOME, AsJson, HomeDir
from quelea_cli.output import consoles, print_json, say
from quelea_cli.stack.home import Home

keys_app = typer.Typer(help="API keys of a stack on this machine.", no_args_is_help=True)

_MANIFEST = "quelea-backup.json"
_FORMAT = 1


@keys_app.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="Name of the key.")],
    tenant: Annotated[str, typer.Option(help="Whose key it is: nothing of another tenant is there for it.")] = "",
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
            help="May see metrics, evaluations and recorded market data. Default: only a key of the default tenant "
            "without --right."
        ),
    ] = None,
    home: HomeDir = DEFAULT_HOME,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it; only its hash is kept, so this is the only time it is shown."""
    more = ["--tenant", tenant] if tenant else []
    more += [f"--right={one}" for one in right or ()]
    if administrator is not None:
        more.append("--administrator" if administrator else "--no-administrator")
    key = _keys(home, "create", name, *more).strip()
    if as_json:
        print_json({"name": name, "key": key})
        return
    out, err = consoles()
    say(out, key)
    say(err, "Keep it: only its hash is stored. Use it as QUELEA_API_KEY, or as Bearer token.", "dim")


@keys_app.command("list")
def list_keys(home: HomeDir = DEFAULT_HOME, as_json: AsJson = False) -> None:
    """Names of the keys, when they were made, their tenants and rights."""
    rows = [line.split("\t") for line in _keys(home, "list").splitlines()]
    if as_json:
        shown = [
            {
                "name": name,
                "created": created,
                "tenant": tenant,
                "rights": dict(one.rsplit(":", 1) for one in rights.split()),
                "administrator": bool(more),
            }
            for name, created, tenant, rights, *more in rows
        ]
        print_json({"keys": shown})
        return
    for row in rows:
        say(consoles()[0], "\t".join(row))


@keys_app.command("revoke")
def revoke_key(name: Annotated[str, typer.Argument(help="Name of the key.")], home: HomeDir = DEFAULT_HOME) -> None:
    """Make a key worthless at once."""
    _keys(home, "revoke", name)
    say(consoles()[0], f"The key of {name} no longer opens anything.")


def _keys(home: Path, *arguments: str) -> str:
    place = Home(home)
    place.create()
    command = [sys.executable, "-m", "quelea_gateway.keys", *arguments, "--file", str(place.keys)]
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
