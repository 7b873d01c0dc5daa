"""The catalogue of tools of this deployment, with its clients."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from quelea_gateway.adapters.services.generator import GeneratorClient
from quelea_gateway.adapters.services.tools import ToolClient, ToolIndex
from quelea_gateway.core.agent.decision.chat import Chat
from quelea_gateway.core.tools.catalogue import ToolCatalogue, ToolRules
from quelea_gateway.settings import Settings


@dataclass
class Toolkit:
    """The catalogue; `client` is None where this deployment has none, and every question to it says so."""

    catalogue: ToolCatalogue
    index: ToolIndex
    client: ToolClient | None = None

    @property
    def on(self) -> bool:
        """Whether this deployment has a catalogue."""
        return self.client is not None

    async def close(self) -> None:
        """Stop keeping it up to date, and close the channels."""
        await self.catalogue.close()
        await asyncio.gather(*(one.close() for one in (self.client, self.index) if one is not None))


def build_toolkit(settings: Settings, *, generator: GeneratorClient) -> Toolkit:
    """The catalogue that the settings name; kept up to date from now on. Must be called inside the event loop."""
    target = settings.tools or settings.sandbox
    client, index = ToolClient(target) if target else None, ToolIndex(settings.retriever)
    rules = ToolRules(candidates=settings.tool_candidates)
    catalogue = ToolCatalogue(client, index, Chat(generator), rules=rules)
    catalogue.start()
    return Toolkit(catalogue, index, client)
