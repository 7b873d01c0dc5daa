"""Backup, restore and re-embedding of the embedded store: `python -m quelea_retriever.admin --help`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from quelea_kit.errors import Conflict, InvalidInput, QueleaError

from quelea_retriever import live_backup, migrating, reembed
from quelea_retriever.adapters import edge_files
from quelea_retriever.adapters.embedder import GrpcEmbedder
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.qdrant_points import make_client
from quelea_retriever.adapters.store import SCHEMA
from quelea_retriever.settings import Settings


def backup(folder: Path, out: Path, seconds: float) -> str:
    """Write the store of a folder as FILE.tar.gz, whether its service runs or not; what to tell the user."""
    try:
        lock = edge_files.FolderLock(folder)
    except Conflict as error:
        if not error.details.get("pid"):
            raise
        live_backup.ask(folder, int(error.details["pid"]), out, seconds)
        return f"{out} ({out.stat().st_size / 1e6:.1f} MB), from the running service"
    try:
        shard = edge_files.current_shard(folder)
        if shard is None:
            raise InvalidInput(f"{folder} holds no knowledge base.")
        edge_files.pack(shard, out)
    finally:
        lock.release()
    return f"{out} ({out.stat().st_size / 1e6:.1f} MB)"


def restore(folder: Path, archive: Path) -> str:
    """Put a backup in the place of what the folder holds; Conflict while a service uses it."""
    if not archive.is_file():
        raise InvalidInput(f"There is no file {archive}.")
    lock = edge_files.FolderLock(folder)
    try:
        edge_files.unpack(archive, folder)
    finally:
        lock.release()
    return f"{folder} now holds {archive}"


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when it worked."""
    settings = Settings()
    parser = argparse.ArgumentParser(prog="python -m quelea_retriever.admin", description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=settings.data_dir, help="folder of the embedded store")
    commands = parser.add_subparsers(dest="command", required=True)
    out = commands.add_parser("backup", help="write everything to one file; the service may be running")
    out.add_argument("--out", type=Path, required=True, metavar="FILE.tar.gz")
    out.add_argument("--seconds", type=float, default=600.0, help="longest wait for a running service")
    back = commands.add_parser("restore", help="replace everything by a backup; the service must be stopped")
    back.add_argument("--from", dest="archive", type=Path, required=True, metavar="FILE.tar.gz")
    again = commands.add_parser(
        "reembed", help="index again with the embedder's model; a service on an embedded store must be stopped"
    )
    again.add_argument(
        "--embedder", default=settings.next_embedder or settings.embedder, help="address of the embedder with the model"
    )
    again.add_argument("--into", default="", metavar="NAME", help="server: the new collection; named after its encoder")
    again.add_argument(
        "--drop-old", action="store_true", help="server: then remove the collection that was live before"
    )
    commands.add_parser("migrate", help="bring what an older release wrote to this one's schema; may be run again")
    options = parser.parse_args(arguments)
    try:
        if options.command == "migrate":
            said = asyncio.run(_migrate(options.data_dir, settings))
        elif options.command == "reembed":
            said = asyncio.run(_reembed(options, settings))
        elif settings.store != "qdrant_edge":
            raise InvalidInput("The knowledge base is on a Qdrant server: use the server's own snapshots.")
        elif options.command == "backup":
            said = backup(options.data_dir, options.out, options.seconds)
        else:
            said = restore(options.data_dir, options.archive)
    except QueleaError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    sys.stdout.write(f"{said}\n")
    return 0


async def _migrate(folder: Path, settings: Settings) -> str:
    if settings.store == "qdrant":
        client = make_client(settings)
        try:
            return "\n".join(await migrating.migrate(settings, client))
        finally:
            await client.close()
    store = QdrantEdgeStore(folder)
    try:
        await store.open()  # which does it
    finally:
        await store.close()
    return f"{folder} has schema {SCHEMA}"


async def _reembed(options: argparse.Namespace, settings: Settings) -> str:
    embedder, seconds = GrpcEmbedder(options.embedder), settings.embed_timeout_seconds
    try:
        if settings.store != "qdrant":
            return await reembed.in_folder(
                options.data_dir, embedder, header=settings.header, seconds=seconds, say=_say
            )
        client = make_client(settings)
        try:
            return await reembed.on_server(
                settings, client, embedder, into=options.into, drop_old=options.drop_old, say=_say
            )
        finally:
            await client.close()
    finally:
        await embedder.close()


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
