"""Copies documents to another store with vectors of another encoder, while the first store keeps changing.

What is to be copied is told by the records of the two: a document's record is its commit, so the difference between
them is everything that was committed or deleted since, and there is no log of changes to keep. What a copy that was
killed had done is seen the same way, passage by passage.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from quelea_kit.errors import DeadlineExceeded, Overloaded, Unavailable
from quelea_kit.logging import get_logger

from quelea_retriever.adapters.embedder import Embedder, Embedding
from quelea_retriever.adapters.store import DocumentRecord, Store
from quelea_retriever.passage_vectors import vectorise

log = get_logger(__name__)

_LONGEST_PAUSE = 30.0
_SAY_SECONDS = 5.0

Say = Callable[[str], None]


class Copier:
    """See above. Nobody but copiers writes to the target before it takes the source's place.

    Args:
        source: Opened.
        target: Opened, with another profile.
        embedder: Of the target's profile.
        header: Whether contextual headers are indexed.
        seconds: Longest wait for one embedding.
        batch: Passages that are embedded at once; one batch is under way at a time, so that searches get their turn.
        patience: Seconds that an embedder may be away or busy; run again, a copy goes on where it ended.
        say: Told how far it is.
    """

    def __init__(
        self,
        source: Store,
        target: Store,
        embedder: Embedder,
        *,
        header: bool,
        seconds: float,
        batch: int = 64,
        patience: float = 1800.0,
        say: Say = lambda _: None,
    ) -> None:
        self._source = source
        self._target = target
        self._embedder = embedder
        self._header = header
        self._seconds = seconds
        self._batch = batch
        self._patience = patience
        self._say = say
        self._said = self._started = time.monotonic()
        self.passages = 0
        """Embedded so far, by this copier."""

    async def own(self) -> None:
        """Take over what the target has of a time when it was live itself: it may be overwritten and removed."""
        for record in await self._target.records():
            if not record.copied:
                await self._target.put_record(_as_copied(record))

    async def round(self) -> int:
        """Make the target as the source is now; how many documents were another there.

        What somebody else has written to the target stays as it is: then it is live already.
        """
        source = {record.facts.name: record for record in await self._source.records()}
        target = {record.facts.name: record for record in await self._target.records()}
        ours = {uri for uri, record in target.items() if record.copied}
        new = [r for uri, r in source.items() if target.get(uri) != r and (uri in ours or uri not in target)]
        gone = [target[uri] for uri in ours - source.keys()]
        total, done = sum(record.facts.passages for record in new), 0
        for record in gone:
            await self._target.delete_record(record.facts.name)
            await self._target.delete_passages(record.version)
        for record in sorted(new, key=lambda record: record.committed):
            await self._copy(record, target.get(record.facts.name))
            done += record.facts.passages
            self._tell(done, total)
        return len(new) + len(gone)

    async def _copy(self, record: DocumentRecord, before: DocumentRecord | None) -> None:
        wanted = await self._source.passages(record.version)
        if len(wanted) < record.facts.passages and not await self._still(record):
            return  # replaced just now: the next round has what came instead
        here = {passage.ordinal: passage for passage in await self._target.passages(record.version)}
        missing = [passage for passage in wanted if here.get(passage.ordinal) != passage]
        if surplus := here.keys() - {passage.ordinal for passage in wanted}:
            await self._target.delete_passages(record.version, list(surplus))
        for start in range(0, len(missing), self._batch):
            part = missing[start : start + self._batch]
            made = await vectorise(record.facts, part, self._embed, header=self._header, version=record.version)
            await self._target.put_passages(made, written=time.time())
            self.passages += len(part)
        await self._target.put_record(_as_copied(record))
        if before is not None and before.version != record.version:
            await self._target.delete_passages(before.version)

    async def _still(self, record: DocumentRecord) -> bool:
        return record in await self._source.records()

    async def _embed(self, texts: Sequence[str]) -> Embedding:
        """Vectors of one batch, however busy the embedder is, for a while."""
        end, pause = time.monotonic() + self._patience, 0.5
        while True:
            try:
                embedding = await self._embedder.embed(texts, "passage", self._seconds)
            except (Overloaded, Unavailable, DeadlineExceeded, TimeoutError) as error:
                if time.monotonic() > end:
                    raise
                wait = min(max(getattr(error, "retry_after", None) or 0.0, pause), _LONGEST_PAUSE)
                log.info("embedder_not_ready", why=str(error), pause=wait)
                await asyncio.sleep(wait)
                pause *= 2
                continue
            wanted = self._target.profile
            if wanted is not None and embedding.model != wanted.model:
                raise Unavailable(f"The embedder changed its model from {wanted.model} to {embedding.model}.")
            return embedding

    def _tell(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said >= _SAY_SECONDS:
            self._said = now
            rate = self.passages / (now - self._started)
            self._say(f"{done} of {total} passages, {rate:.0f} a second")


def _as_copied(record: DocumentRecord) -> DocumentRecord:
    return DocumentRecord(record.version, record.facts, record.committed, copied=True)
