"""Migration, backup, restore and re-embedding: `python -m quelea_retriever.admin --help`.

The same verbs for both stores; which one it is, and where, is told by the service's settings (QUELEA_RETRIEVER_*).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from qdrant_client import AsyncQdrantClient
from quelea_kit.errors import QueleaError

from quelea_retriever.adapters.embedder import GrpcEmbedder
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.qdrant_points import make_client
from quelea_retriever.adapters.store import SCHEMA
from quelea_retriever.maintenance import backup_folder, backup_server, migration, reembed
from quelea_retriever.settings import Settings


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when it worked."""
    settings = Settings()
    options = parser(settings).parse_args(arguments)
    try:
        said = (_on_server if settings.store == "qdrant" else _in_folder)(options, settings)
    except QueleaError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    sys.stdout.write(f"{said}\n")
    return 0


def parser(settings: Settings) -> argparse.ArgumentParser:
    """What the command line takes; the settings give its defaults."""
    made = argparse.ArgumentParser(prog="python -m quelea_retriever.admin", description=__doc__)
    made.add_argument("--data-dir", type=Path, default=settings.data_dir, help="folder of the embedded store")
    commands = made.add_subparsers(dest="command", required=True)
    commands.add_parser("migrate", help="bring what an older release wrote to this one's schema; may be run again")
    out = commands.add_parser("backup", help="write everything to a new backup; the service may be running")
    out.add_argument("--to", required=True, metavar="PLACE", help="folder of backups, or an fsspec URL")
    out.add_argument("--keep", type=int, default=0, metavar="N", help="then remove all but the newest N; 0 keeps all")
    out.add_argument("--seconds", type=float, default=600.0, help="embedded: longest wait for a running service")
    back = commands.add_parser(
        "restore", help="replace everything by a backup; a service on an embedded store must be stopped"
    )
    back.add_argument("--from", dest="path", required=True, metavar="PLACE", help="a backup, or where the newest is")
    for command in (out, back):
        command.add_argument(
            "--node",
            action="append",
            default=[],
            metavar="URL",
            help="server: address of a node, for each; else its peers are asked for theirs",
        )
    again = commands.add_parser(
        "reembed", help="index again with the embedder's model; a service on an embedded store must be stopped"
    )
    target = settings.next_embedder or settings.embedder
    again.add_argument("--embedder", default=target, help="address of the embedder with the wanted model")
    again.add_argument("--into", default="", metavar="NAME", help="server: the new collection; named after its encoder")
    again.add_argument(
        "--drop-old", action="store_true", help="server: then remove the collection that was live before"
    )
    return made


def _in_folder(options: argparse.Namespace, settings: Settings) -> str:
    folder: Path = options.data_dir
    if options.command == "migrate":
        return asyncio.run(_open(folder))
    if options.command == "backup":
        return backup_folder.backup(folder, options.to, number=options.keep, seconds=options.seconds)
    if options.command == "restore":
        return backup_folder.restore(folder, options.path)

    async def again() -> str:
        embedder, seconds = GrpcEmbedder(options.embedder), settings.embed_timeout_seconds
        try:
            return await reembed.in_folder(folder, embedder, header=settings.header, seconds=seconds, say=_say)
        finally:
            await embedder.close()

    return asyncio.run(again())


async def _open(folder: Path) -> str:
    store = QdrantEdgeStore(folder)
    try:
        await store.open()  # which migrates it
    finally:
        await store.close()
    return f"{folder} has schema {SCHEMA}."


def _on_server(options: argparse.Namespace, settings: Settings) -> str:
    async def migrate(client: AsyncQdrantClient) -> str:
        return "\n".join(await migration.migrate(settings, client))

    async def backup(client: AsyncQdrantClient) -> str:
        nodes = tuple(options.node)
        return await backup_server.backup(settings, client, options.to, number=options.keep, nodes=nodes, say=_say)

    async def restore(client: AsyncQdrantClient) -> str:
        return await backup_server.restore(settings, client, options.path, nodes=tuple(options.node), say=_say)

    async def again(client: AsyncQdrantClient) -> str:
        embedder = GrpcEmbedder(options.embedder)
        try:
            return await reembed.on_server(
                settings, client, embedder, into=options.into, drop_old=options.drop_old, say=_say
            )
        finally:
            await embedder.close()

    verbs: dict[str, Callable[[AsyncQdrantClient], Awaitable[str]]] = {
        "migrate": migrate,
        "backup": backup,
        "restore": restore,
        "reembed": again,
    }

    async def run() -> str:
        client = make_client(settings)
        try:
            return await verbs[options.command](client)
        finally:
            await client.close()

    return asyncio.run(run())


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
