"""Indexing everything again from the stored texts, after the encoder has changed. The service must be stopped."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from quelea_kit.errors import InvalidInput

from quelea_retriever.adapters import edge_files
from quelea_retriever.adapters.edge_shard import EdgeShard
from quelea_retriever.adapters.embedder import Embedder, Embedding
from quelea_retriever.adapters.store import Profile
from quelea_retriever.vectorising import vectorise

_BATCH = 256
_MODEL_SECONDS = 10.0


async def run(folder: Path, embedder: Embedder, *, header: bool, seconds: float) -> str:
    """Make a shard with new vectors beside the old one, then put it in its place; what to tell the user.

    Passages that were never committed are left behind. A failure leaves the old shard as it was.
    """
    lock = edge_files.FolderLock(folder)
    try:
        current = edge_files.current_shard(folder)
        if current is None:
            raise InvalidInput(f"{folder} holds no knowledge base.")
        info = await embedder.model(_MODEL_SECONDS)
        target = edge_files.next_shard(folder)
        shutil.rmtree(target, ignore_errors=True)
        old = EdgeShard.load(current)
        new = EdgeShard.create(target, Profile(info.model, info.dimension, header))
        try:
            count = await _copy(old, new, embedder, header=header, seconds=seconds)
        finally:
            old.close()
            new.close()
        edge_files.set_current(folder, target)
        edge_files.remove_others(folder)
    finally:
        lock.release()
    return f"{count} passages were indexed again with {info.model}"


async def _copy(old: EdgeShard, new: EdgeShard, embedder: Embedder, *, header: bool, seconds: float) -> int:
    async def embed(texts: Sequence[str]) -> Embedding:
        return await embedder.embed(texts, "passage", seconds)

    count = 0
    for record in old.records():
        passages = old.passages(record.version)
        for start in range(0, len(passages), _BATCH):
            made = await vectorise(
                record.facts, passages[start : start + _BATCH], embed, header=header, version=record.version
            )
            new.put_passages(made, time.time())
        new.put_record(record)
        count += len(passages)
    return count
