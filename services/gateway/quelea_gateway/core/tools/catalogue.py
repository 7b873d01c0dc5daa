"""The catalogue of tools as the gateway uses it: kept up to date in the background, searched, chosen from."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from quelea_kit.errors import Conflict, NotFound, QueleaError, Unavailable
from quelea_kit.logging import get_logger

from quelea_gateway.core.agent.ports import ApiCandidate, Model
from quelea_gateway.core.tools import choice, descriptions
from quelea_gateway.core.tools.index_texts import index_texts_of, index_version
from quelea_gateway.core.tools.model import Hit, Tool
from quelea_gateway.core.tools.ports import Index, Listing, SearchMode, Source
from quelea_gateway.core.tools.search_text import strip_dates

log = get_logger(__name__)

NO_CATALOGUE = (
    "This deployment has no catalogue of tools. `make tools` makes one; start the sandbox service, or "
    "`python -m quelea_sandbox.registry.serve` where there is none, and set QUELEA_GATEWAY_TOOLS to its address."
)
_NEAREST = 5
_NAME_CHARS = 200


@dataclass(frozen=True)
class ToolRules:
    """Numbers that the settings give."""

    candidates: int = 20
    """M of the paper: tools that the model picks among."""
    whole: int = 25
    """A category of at most so many tools is listed whole."""
    every_seconds: float = 30.0
    """Between two looks at whether the catalogue changed."""
    patience: float = 3600.0
    """Longest work on the index."""


@dataclass(frozen=True)
class Selection:
    """What was selected, and how."""

    tools: tuple[Hit, ...]
    category: str
    """Empty: all."""
    candidates: int
    by: str
    """ "model" or "retrieval"."""


class ToolCatalogue:
    """The catalogue.

    Args:
        source: Where the tools come from; None where this deployment has none.
        index: Where they are searched.
        model: Chooses; may turn out to be no language model.
        rules: Numbers.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        source: Source | None,
        index: Index,
        model: Model | None = None,
        *,
        rules: ToolRules | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._index = index
        self._model = model
        self._rules = rules or ToolRules()
        self._clock = clock
        self._listing: Listing | None = None
        self._by_name: dict[str, Tool] = {}
        self._healthy_at = -1e9
        self._indexed = self._foreign = ""
        self._done = 0
        """Tools that are indexed, while the index is being made."""
        self._loading = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    # Kept up to date

    def start(self) -> None:
        """Keep catalogue and index up to date from now on; nobody waits for it."""
        if self._source is not None and self._task is None:
            self._task = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """Stop that."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def refresh(self) -> None:
        """Read the catalogue if it changed, and index it if the index has another one. Raises QueleaError."""
        source = self._require_source()
        async with self._loading:
            if self._listing is None or await source.version() != self._listing.version:
                self._take(await source.listing())
        await self._sync()

    async def _keep(self) -> None:
        said = ""
        while True:
            try:
                async with asyncio.timeout(self._rules.patience):
                    await self.refresh()
                said = ""
            except (QueleaError, TimeoutError) as error:
                if str(error) != said:  # one line for an outage, not one every half minute
                    log.warning("tools_not_refreshed", why=str(error))
                said = str(error)
            await asyncio.sleep(self._rules.every_seconds)

    def _take(self, listing: Listing) -> None:
        self._listing = listing
        self._by_name = {tool.name: tool for tool in listing.tools}
        self._healthy_at = -1e9
        self._indexed = self._foreign = ""
        log.info("tools_loaded", tools=len(listing.tools), version=listing.version)

    async def _sync(self) -> None:
        """Index this catalogue unless that was done. A replica with another catalogue is not fought over again."""
        assert self._listing is not None  # noqa: S101  # refresh() has just seen to that
        there = await self._index.version()
        if there and there in (self._indexed, self._foreign):
            return
        texts = await asyncio.to_thread(lambda tools: [index_texts_of(tool) for tool in tools], self._listing.tools)
        version = index_version(texts)
        if there and there != version and version == self._indexed:
            log.warning("tools_index_of_another", version=there)
            self._foreign = there
            return
        if there != version and texts:
            started, self._done = self._clock(), 0
            await self._index.put(version, texts, self._note_done)
            log.info("tools_indexed", tools=len(texts), seconds=round(self._clock() - started, 1))
        self._indexed = version

    def _note_done(self, done: int) -> None:
        self._done = done

    def _require_source(self) -> Source:
        if self._source is None:
            raise Conflict(NO_CATALOGUE)
        return self._source

    async def listing(self) -> Listing:
        """The catalogue, read now when it never was, with health of late. Raises QueleaError."""
        source = self._require_source()
        if self._listing is None:
            async with self._loading:
                if self._listing is None:
                    self._take(await source.listing())
        if self._clock() - self._healthy_at > self._rules.every_seconds:
            self._healthy_at = self._clock()
            with contextlib.suppress(QueleaError):  # health is worth less than an answer
                for name, health in (await source.health()).items():
                    if name in self._by_name:
                        self._by_name[name] = replace(self._by_name[name], health=health)
        assert self._listing is not None  # noqa: S101  # read above
        return self._listing

    # What others ask

    async def categories(self) -> Sequence[str]:
        """The categories that have tools; none where there is no catalogue. Raises QueleaError."""
        return () if self._source is None else (await self.listing()).categories

    async def counted(self) -> list[tuple[str, int]]:
        """Every category with how many tools it has. Raises QueleaError."""
        listing = await self.listing()
        counts = Counter(tool.category for tool in listing.tools)
        return [(category, counts[category]) for category in listing.categories]

    async def get(self, name: str) -> Tool:
        """A tool by its name, or by the end of it ("Ticker.history"). Raises NotFound with the nearest names."""
        await self.listing()
        tool = self._by_name.get(name)
        if tool is None:
            ends = [known for known in self._by_name if known.endswith(f".{name}")] if name else []
            if len(ends) == 1:
                return self._by_name[ends[0]]
            near = difflib.get_close_matches(name[:_NAME_CHARS], self._by_name, n=_NEAREST)
            hint = f" Near it: {', '.join(near)}." if near else ""
            raise NotFound(f"There is no tool {name[:_NAME_CHARS]!r}.{hint}", details={"nearest": ", ".join(near)})
        return tool

    async def details(self, name: str) -> str:
        """The tool's document for a prompt. Raises NotFound with the nearest names."""
        return descriptions.details(await self.get(name))

    async def report(self, name: str, *, ok: bool, error: str = "") -> None:
        """Tell what a call of a tool came to. Raises NotFound, QueleaError."""
        await self._require_source().report(name, ok=ok, error=error)
        self._healthy_at = -1e9

    async def in_category(self, category: str) -> list[Tool]:
        """All tools of a category (all there are when empty), by name. Raises NotFound for one that there is not."""
        category = await self._category(category, strict=True)
        return [self._by_name[tool.name] for tool in (await self.listing()).tools if category in ("", tool.category)]

    async def search(self, query: str, *, category: str = "", k: int = 10, mode: SearchMode = "both") -> list[Hit]:
        """The best tools for a need; those that failed lately come later. Raises NotFound, Unavailable."""
        category = await self._category(category, strict=True)
        version, found = await self._index.search(
            strip_dates(query), k=min(200, 3 * k), categories=(category,) if category else (), mode=mode
        )
        if not version:
            tools = len((await self.listing()).tools)
            raise Unavailable(
                f"The index of tools is being built ({self._done:,} of {tools:,} are in it); try again in a minute, or "
                "list a category.",
                details={"indexed": str(self._done), "tools": str(tools)},
                retry_after=15.0,
            )
        hits = [
            Hit(tool, one.score * (0.5 + 0.5 * tool.health.score), one.cosine, one.lexical)
            for one in found
            if (tool := self._by_name.get(one.name)) is not None
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:k]

    async def candidates(self, need: str, *, category: str, limit: int) -> list[Hit]:
        """Tools to pick among: a small category whole, best first; else the best that are found."""
        if category:
            tools = await self.in_category(category)
            if len(tools) <= max(limit, self._rules.whole):
                with contextlib.suppress(Unavailable):
                    hits = await self.search(need, category=category, k=len(tools))
                    rest = {tool.name for tool in tools} - {hit.tool.name for hit in hits}
                    return [*hits, *(Hit(tool, 0.0) for tool in tools if tool.name in rest)]
                return [Hit(tool, 0.0) for tool in tools]
        return await self.search(need, category=category, k=limit)

    async def select(self, category: str, need: str, *, limit: int, language: str = "") -> Sequence[ApiCandidate]:
        """Candidates for the agent, whose own model picks among them. An unknown category means all."""
        hits = await self.candidates(need, category=await self._category(category, strict=False), limit=limit)
        return [ApiCandidate(hit.tool.name, _line(hit.tool), hit.tool.category) for hit in hits]

    async def choose(self, need: str, *, category: str = "", k: int = 5, tenant: str = "") -> Selection:
        """The paper's api-select: category, candidates, pick. What the model cannot do, retrieval does.

        Raises:
            NotFound: there is no such category.
            Conflict: this deployment has no catalogue.
            Unavailable: the catalogue is away, or there is no index yet.
        """
        category = await self._category(category, strict=True)
        model = await self._language_model()
        if model is not None and not category:
            with contextlib.suppress(QueleaError):
                category = await choice.choose_category(model, need, await self.categories(), tenant=tenant)
        limit = max(k, self._rules.candidates)
        hits = await self.candidates(need, category=category, limit=limit)
        picked: list[Tool] = []
        if model is not None and hits:
            with contextlib.suppress(QueleaError):
                picked = await choice.pick(model, need, [hit.tool for hit in hits], most=k, tenant=tenant)
        by_name = {hit.tool.name: hit for hit in hits}
        chosen = [by_name[tool.name] for tool in picked] or hits[:k]
        return Selection(tuple(chosen), category, len(hits), "model" if picked else "retrieval")

    async def _language_model(self) -> Model | None:
        if self._model is None:
            return None
        try:
            info = await self._model.info()
        except QueleaError:
            return None
        return self._model if info.is_language_model else None

    async def _category(self, name: str, *, strict: bool) -> str:
        known = {category.lower(): category for category in (await self.listing()).categories}
        found = known.get(name.strip().lower(), "")
        if name.strip() and not found and strict:
            raise NotFound(f"There is no category {name[:60]!r}; use one of {', '.join(known.values())}.")
        return found


def _line(tool: Tool) -> str:
    return descriptions.line(tool).partition(": ")[2]
