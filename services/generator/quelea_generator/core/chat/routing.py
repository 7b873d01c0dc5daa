"""Which replica of the engine answers: the one that has most of the prompt cached, unless its work outweighs that."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from quelea_generator.core.chat.prompt import Message

BLOCK_CHARS = 256
"""Characters that are remembered together: some four of vLLM's blocks of 16 tokens."""
_MOST_BLOCKS = 512
"""Of one prompt that are looked at."""
_HOME_BLOCKS = 3
"""Blocks that say where a prompt nobody remembers goes: past a template's words, into the first passage."""
_TEMPLATE_BLOCKS = 1
"""Blocks that a template's words may fill: to share no more than those is to share nothing, or one replica that
was the first would be preferred for everything."""
_REMEMBERED = 16_384
"""Blocks of a replica: about a million tokens, which is what a large GPU caches."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a replica has to do.

    Attributes:
        name: Of the replica; the same one after a restart has the same name.
        outstanding: Tokens that it still has to read or write for us, estimated.
        in_flight: Requests that it works on for us.
        slots: Most of them.
    """

    name: str
    outstanding: int
    in_flight: int
    slots: int


@dataclass(frozen=True, slots=True)
class PromptKey:
    """A prompt as routing sees it.

    Attributes:
        blocks: One key per whole block, of all the text up to its end: two prompts share as many as they begin alike.
            The rules (the system's message) are in each key and have none of their own: every replica knows them soon.
        home: The same for prompts that begin alike, whichever process asks.
        prompt_tokens: Of the prompt.
    """

    blocks: tuple[bytes, ...]
    home: bytes
    prompt_tokens: int


def prompt_key(model: str, messages: Sequence[Message], prompt_tokens: int) -> PromptKey:
    """What routing needs to know of a prompt to this model."""
    rules = "".join(message.content for message in messages if message.role == "system")
    text = "".join(f"\0{message.role}\0{message.content}" for message in messages if message.role != "system")
    blocks: list[bytes] = []
    key = blake2b(f"{model}\0{rules}".encode("utf-8", "replace"), digest_size=8).digest()
    for at in range(0, min(len(text) - BLOCK_CHARS + 1, _MOST_BLOCKS * BLOCK_CHARS), BLOCK_CHARS):
        key = blake2b(key + text[at : at + BLOCK_CHARS].encode("utf-8", "replace"), digest_size=8).digest()
        blocks.append(key)
    if len(blocks) >= _HOME_BLOCKS:
        home = blocks[_HOME_BLOCKS - 1]
    else:
        home = blake2b(f"{model}\0{rules}{text}".encode("utf-8", "replace"), digest_size=8).digest()
    return PromptKey(tuple(blocks), home, prompt_tokens)


@dataclass(frozen=True, slots=True)
class Choice:
    """A replica by its name, and how many tokens of the prompt it need not read, as far as known and believed."""

    name: str
    cached: int = 0


class Policy(Protocol):
    """Says which replica takes a prompt."""

    def choose(self, loads: Sequence[Load], prompt: PromptKey) -> Choice | None:
        """One of the replicas that work; None: no slot anywhere. Whoever is named gets the prompt."""
        ...

    def forget(self, name: str) -> None:
        """A replica lost what it had cached."""
        ...


def rank_replicas(key: bytes, names: Sequence[str]) -> list[str]:
    """The replicas in this key's order of preference (rendezvous hashing, Thaler and Ravishankar, 1998).

    When a replica goes, only its own keys move.
    """
    return sorted(names, key=lambda name: blake2b(key + name.encode(), digest_size=8).digest(), reverse=True)


class ByAffinity:
    """The least of outstanding tokens less `factor` times those of the prompt that the replica has cached.

    So a replica that has more of it cached is taken as long as it has no more to do than that saves, which bounds its
    load by that of the least loaded one, and a prompt that nobody has goes to the least loaded. What each replica was
    sent is remembered by blocks, as the caches themselves do it. Where all is equal the prompt's own order of
    replicas decides, which is the same in every process.
    """

    def __init__(self, factor: float = 1.0) -> None:
        self._factor = factor
        self._sent: dict[str, OrderedDict[bytes, None]] = {}

    def choose(self, loads: Sequence[Load], prompt: PromptKey) -> Choice | None:
        """See Policy."""
        free = {load.name: load for load in loads if load.in_flight < load.slots}
        if not free:
            return None
        cached = {name: self._cached_tokens(name, prompt) for name in rank_replicas(prompt.home, list(free))}
        name = min(cached, key=lambda one: free[one].outstanding - self._factor * cached[one])
        self._remember(name, prompt)
        # Who gives nothing for what is cached has engines that cache nothing: all of the prompt is work then.
        return Choice(name, round(min(1.0, self._factor) * cached[name]))

    def forget(self, name: str) -> None:
        """See Policy."""
        self._sent.pop(name, None)

    def _cached_tokens(self, name: str, prompt: PromptKey) -> int:
        """Tokens of the prompt that the replica should have cached."""
        sent = self._sent.get(name)
        if not sent:
            return 0
        alike = next((n for n, block in enumerate(prompt.blocks) if block not in sent), len(prompt.blocks))
        if alike <= _TEMPLATE_BLOCKS:
            return 0
        return prompt.prompt_tokens * alike // len(prompt.blocks)

    def _remember(self, name: str, prompt: PromptKey) -> None:
        sent = self._sent.setdefault(name, OrderedDict())
        for block in reversed(prompt.blocks):  # a beginning outlives its continuations
            sent[block] = None
            sent.move_to_end(block)
        while len(sent) > _REMEMBERED:
            sent.popitem(last=False)


class RoundRobin:
    """One after the other, whatever they have cached: what ByAffinity is measured against."""

    def __init__(self) -> None:
        self._turn = 0

    def choose(self, loads: Sequence[Load], prompt: PromptKey) -> Choice | None:
        """See Policy."""
        for step in range(len(loads)):
            load = loads[(self._turn + step) % len(loads)]
            if load.in_flight < load.slots:
                self._turn = (self._turn + step + 1) % len(loads)
                return Choice(load.name)
        return None

    def forget(self, name: str) -> None:
        """It remembers nothing."""
