"""A simulated user talks with the tested system: UCFE's arrangement, with instructions of our own.

Rounds, sampling, seed and the end marker are those of UCFE's `run_ckpt.py`; its instructions to the user are said anew.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from quelea_evaluation.arena.arena_folder import dialogue_id
from quelea_evaluation.arena.items import Item
from quelea_evaluation.arena.speakers import Speaker, Usage, describe
from quelea_evaluation.endpoints.chat import Message, Reply, Sampling, milliseconds_since
from quelea_evaluation.endpoints.client import EndpointError

VERSION = "arena-talk-1"
"""Changes with the instructions, so that dialogues of two versions are never mixed."""
MOST_ROUNDS = 9
END = "Consultation Ended"
MAY_END_FROM = 3
SEED = 123

_GO_ON = (
    "(Instruction, not part of the conversation: you are still the user described at the beginning. Take up what the "
    "assistant just said: ask for what your needs still lack, or say what you doubt. Write only your next message.)"
)
_MAY_END = (
    "(Instruction, not part of the conversation: you are still the user described at the beginning. If something that "
    "you need is still missing, ask for it and write only your next message. If your needs are met, "
    f"please reply with <{END}>.)"
)


@dataclass(frozen=True)
class Temperatures:
    """UCFE's: the opening, the tested system, the user afterwards."""

    opening: float = 0.1
    system: float = 0.5
    user: float = 0.7


def sampling(temperature: float, seed: int = SEED) -> Sampling:
    """With UCFE's penalties."""
    return Sampling(temperature, seed, frequency_penalty=0.5, presence_penalty=0.5)


async def hold_dialogue(
    item: Item, user: Speaker | None, system: Speaker, *, name: str, seed: int = SEED, most_rounds: int = MOST_ROUNDS
) -> dict[str, Any]:
    """One whole dialogue as a line of JSON; where a call fails, what there is until then, and why.

    Args:
        item: What it is about.
        user: The simulated user; not needed for an item of one round.
        system: Who is tested.
        name: The system's name in the arena.
        seed: Of every call.
        most_rounds: Answers of the system, at most.
    """
    started, begun = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    talk = _Talk(seed)
    ended_by, error, down = "failure", None, False
    try:
        if item.one_round:
            await talk.ask_once(item, system)
            ended_by = "one round"
        elif user is None:
            raise EndpointError("a conversation needs a simulated user", passing=False)
        else:
            ended_by = await talk.converse(item, user, system, most_rounds)
    except EndpointError as problem:
        error, down = str(problem), problem.passing
    return {
        "id": dialogue_id(item.id),
        "item": item.id,
        "task": item.task,
        "system": name,
        "status": "failed" if error else "complete",
        "error": error,
        "down": down,
        "ended_by": ended_by,
        "rounds": sum(turn["role"] == "assistant" for turn in talk.turns),
        "turns": talk.turns,
        "usage": {"user": talk.usage["user"].line(), "system": talk.usage["assistant"].line()},
        "seed": seed,
        "version": VERSION,
        "started": started,
        "milliseconds": milliseconds_since(begun),
    }


class _Talk:
    """The turns so far, and what they took."""

    def __init__(self, seed: int) -> None:
        self.turns: list[dict[str, Any]] = []
        self.usage: Mapping[str, Usage] = {"user": Usage(), "assistant": Usage()}
        self._seed = seed
        self._temperatures = Temperatures()

    async def ask_once(self, item: Item, system: Speaker) -> None:
        """The system is told its task, and asked the same text again, as UCFE does it."""
        asked = item.system_message
        self.turns.append({"role": "user", "content": asked})
        messages = [{"role": "system", "content": asked}, {"role": "user", "content": asked}]
        self._note("assistant", await system.reply(messages, sampling(self._temperatures.system, self._seed)))

    async def converse(self, item: Item, user: Speaker, system: Speaker, most_rounds: int) -> str:
        """Rounds until the user ends them, or until there were enough; returns which."""
        to_user: list[Message] = [{"role": "system", "content": item.user_message}]
        to_system: list[Message] = [{"role": "system", "content": item.system_message}]
        said = await self._user(user, to_user, self._temperatures.opening)
        for number in range(1, most_rounds + 1):
            to_system.append({"role": "user", "content": said})
            reply = await system.reply(to_system, sampling(self._temperatures.system, self._seed))
            self._note("assistant", reply)
            to_system.append({"role": "assistant", "content": reply.text})
            instruction = _MAY_END if number >= MAY_END_FROM else _GO_ON
            to_user.append({"role": "user", "content": f"{reply.text}\n\n{instruction}"})
            said = await self._user(user, to_user, self._temperatures.user)
            if END in said:
                return "user"
        return "rounds"

    async def _user(self, user: Speaker, messages: list[Message], temperature: float) -> str:
        reply = await user.reply(messages, sampling(temperature, self._seed))
        self._note("user", reply)
        messages.append({"role": "assistant", "content": reply.text})
        return reply.text

    def _note(self, role: str, reply: Reply) -> None:
        self.usage[role].add(reply)
        self.turns.append({"role": role, "content": reply.text, **describe(reply)})
