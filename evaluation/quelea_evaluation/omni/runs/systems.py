"""Systems that are measured: Quelea over REST, or any chat endpoint, with the relevant passages or without."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from quelea_evaluation.endpoints.chat import Chat, Message
from quelea_evaluation.endpoints.client import Client
from quelea_evaluation.omni.matrix import LANGUAGES
from quelea_evaluation.omni.prompts import load_prompts
from quelea_evaluation.omni.questions.model import Passage, Question


@dataclass(frozen=True)
class Answered:
    """What a system said to one question.

    Args:
        retrieved: What it found, best first; None where the system does not retrieve.
        documents: What it had to read: of Quelea what it cited and lists, of a chat endpoint what it was given.
    """

    text: str
    retrieved: tuple[Passage, ...] | None
    documents: tuple[Passage, ...]
    declined: bool
    model: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float


class System(Protocol):
    """Something that answers."""

    name: str

    async def answer(self, question: Question, turn: int, said: Sequence[str]) -> Answered:
        """Answer a turn; `said` is what the system itself answered to the turns before it.

        Raises:
            EndpointError: It did not answer.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class Quelea:
    """A gateway's POST /v1/ask.

    Retrieved is what it cites, then what else its reader was shown, then its further reading; each place once. The
    markers of its citations are taken out of the text.
    """

    def __init__(self, url: str, key: str = "", route: str = "local", seconds: float = 300.0) -> None:
        self.name = "quelea"
        self.route = route
        self._client = Client(url, key, seconds)

    async def answer(self, question: Question, turn: int, said: Sequence[str]) -> Answered:
        """See `System`."""
        history = [
            {"role": role, "content": text}
            for before, reply in zip(question.turns[:turn], said, strict=True)
            for role, text in (("user", before.question), ("assistant", reply or "…"))
        ]
        body = {"question": question.turns[turn].question, "history": history, "route": self.route}
        found, _ = await self._client.ask(body)
        quoted = [_passage(one) for name in ("citations", "further_reading") for one in found.get(name) or ()]
        cited = len(found.get("citations") or ())
        shown = [_passage(one) for one in found.get("evidence") or ()]
        retrieved: list[Passage] = []
        for one in (*quoted[:cited], *shown, *quoted[cited:]):
            if not any(one.overlaps(other) for other in retrieved):
                retrieved.append(one)
        return Answered(
            text=_without_markers(found["answer"], found.get("citations") or ()),
            retrieved=tuple(retrieved),
            documents=tuple(dict.fromkeys(quoted)),
            declined=found.get("declined") is not None,
            model=" ".join(str(found.get(name) or "") for name in ("reader", "model")).strip(),
            prompt_tokens=0,
            completion_tokens=0,
            seconds=round(float((found.get("timings") or {}).get("total", 0.0)) / 1000, 3),
        )

    async def close(self) -> None:
        """See `System`."""
        await self._client.close()


def _without_markers(answer: str, citations: Iterable[dict[str, Any]]) -> str:
    """The answer without the markers of its citations, which no reference answer has."""
    numbers = {str(one.get("number")) for one in citations}
    return re.sub(r" ?\[(\d{1,4})\]", lambda found: "" if found[1] in numbers else found[0], answer).strip()


def _passage(row: dict[str, Any]) -> Passage:
    return Passage(
        document_id=str(row.get("document_id", "")),
        page=int(row.get("page") or 0),
        start=int(row.get("start") or 0),
        end=int(row.get("end") or 0),
        text=str(row.get("quote") or ""),
        title=str(row.get("title") or ""),
    )


class ChatSystem:
    """A chat endpoint: closed book, or with the passages that are relevant to the question (`given`)."""

    def __init__(self, chat: Chat, *, given: bool) -> None:
        self.name = f"{chat.model}{' with passages' if given else ' closed book'}"
        self._chat = chat
        self._given = given

    async def answer(self, question: Question, turn: int, said: Sequence[str]) -> Answered:
        """See `System`."""
        prompts = load_prompts(next((one for one in LANGUAGES if one == question.language), "en"))
        system = prompts.text("answer", "system")
        documents = question.passages if self._given else ()
        if documents:
            system += "\n\n" + prompts.text("answer", "given", passages=as_text(documents))
        messages: list[Message] = [{"role": "system", "content": system}]
        for before, reply in zip(question.turns[:turn], said, strict=True):
            messages += [{"role": "user", "content": before.question}, {"role": "assistant", "content": reply}]
        messages.append({"role": "user", "content": question.turns[turn].question})
        wrote = await self._chat.reply(messages)
        return Answered(
            text=wrote.text.strip(),
            retrieved=None,
            documents=tuple(documents),
            declined=False,
            model=self._chat.model,
            prompt_tokens=wrote.prompt_tokens,
            completion_tokens=wrote.completion_tokens,
            seconds=round(wrote.milliseconds / 1000, 3),
        )

    async def close(self) -> None:
        """See `System`."""
        await self._chat.close()


def as_text(passages: Sequence[Passage], longest: int = 12_000) -> str:
    """Passages for a prompt, numbered, with titles; cut at so many characters."""
    parts = [f"[{at}] {one.title}\n{one.text}".strip() for at, one in enumerate(passages, 1)]
    return "\n\n".join(parts)[:longest]
