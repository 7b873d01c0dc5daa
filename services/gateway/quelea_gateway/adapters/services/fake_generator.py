"""A reader in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from quelea.generator.v1 import generator_pb2, generator_pb2_grpc
from quelea_fintext.text import language_of, terms
from quelea_kit.errors import Conflict, QueleaError
from quelea_kit.prompt_text import parse

from quelea_gateway.adapters.services.fake_world import World, noting, score

_UNABLE = {
    "en": "Unable to answer the question based on the information provided.",
    "zh": "根据已知信息无法回答该问题。",
}


PROMPTS = (
    ("answer", "en", "en-1.0a", "version: en-1\n---system---\nAnswer.\n---user---\n$context $question\n"),
    ("answer", "zh", "zh-1.0b", "version: zh-1\n---system---\n回答。\n---user---\n$context $question\n"),
    ("short_answer", "en", "en-1.0d", "version: en-1\n---system---\nBe brief.\n---user---\n$context $question\n"),
    ("schema", "en", "en-1.0c", "version: en-1\n---instruction---\n$schema\n"),
)
"""Name, language, version and text of the templates that it lists."""


class FakeGenerator(generator_pb2_grpc.GeneratorServiceServicer):
    """Quotes the line of each of the best two passages that shares most words with the question."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def Generate(  # noqa: N802  # the wire's name
        self, request: generator_pb2.GenerateRequest, context: Any
    ) -> AsyncIterator[generator_pb2.GenerateResponse]:
        """Quotes, deltas, finished."""
        world = self._world
        world.asked.append(request)
        async with noting(world, "Generate"):
            if world.generator_error and not world.error_after_deltas:
                raise world.generator_error
            sent = 0
            for event in world.events if world.events is not None else self._events(request):
                yield event
                sent += event.HasField("delta")
                if world.generator_error and sent >= world.error_after_deltas:
                    raise world.generator_error
                if world.generator_hangs and sent:
                    await asyncio.sleep(3600)
                if world.word_seconds:
                    await asyncio.sleep(world.word_seconds)

    def _events(self, request: generator_pb2.GenerateRequest) -> list[generator_pb2.GenerateResponse]:
        question = set(terms(request.question))
        events: list[generator_pb2.GenerateResponse] = []
        for evidence in request.evidence[:2]:
            lines = [line for line in evidence.text.split("\n") if line.strip()]
            line = max(lines, key=lambda piece: score(question, piece))
            if score(question, line + " " + evidence.header) < 0.3:
                continue
            start = evidence.text.index(line)
            events.append(
                generator_pb2.GenerateResponse(
                    quote=generator_pb2.Quote(
                        number=evidence.number, start=start, end=start + len(line), text=line, score=evidence.score
                    )
                )
            )
            label = " · ".join(part for part in (evidence.company, evidence.period_label or evidence.published) if part)
            statement = f"{label}: {line} [{evidence.number}]\n"
            events.extend(
                generator_pb2.GenerateResponse(delta=generator_pb2.TextDelta(text=word + " "))
                for word in statement.split(" ")
            )
        reason = "stop" if events else "declined"
        if not events:
            text = _UNABLE[language_of(request.question)]
            events.append(generator_pb2.GenerateResponse(delta=generator_pb2.TextDelta(text=text)))
        events.append(
            generator_pb2.GenerateResponse(
                finished=generator_pb2.Finished(
                    reason=reason, reader="extractive", model="extractive-1", prompt_version=_version(request),
                    prompt_tokens=120, completion_tokens=30, total_ms=2,
                )
            )
        )  # fmt: skip
        return events

    async def Complete(  # noqa: N802  # the wire's name
        self, request: generator_pb2.CompleteRequest, context: Any
    ) -> AsyncIterator[generator_pb2.CompleteResponse]:
        """What the world has for this call; "invalid" where a schema is asked for and the text is no JSON."""
        world = self._world
        if not world.completions:
            raise Conflict("This generator has no language model: its reader is extractive.")
        said = world.completions[min(len(world.completion_requests), len(world.completions) - 1)]
        world.completion_requests.append(request)
        async with noting(world, "Complete"):
            if isinstance(said, QueleaError):
                raise said
            if request.functions and world.function_calls is None:
                end = generator_pb2.Completed(reason="no_functions", model="fake")
                world.completion_requests.pop()  # nothing was written, so what it says is still to be said
                yield generator_pb2.CompleteResponse(completed=end)
                return
            for piece in said:
                yield generator_pb2.CompleteResponse(delta=generator_pb2.TextDelta(text=piece))
                if world.completion_hangs:
                    await asyncio.sleep(3600)
                if world.word_seconds:
                    await asyncio.sleep(world.word_seconds)
            reason = "invalid" if request.json_schema and not _is_json("".join(said)) else "stop"
            yield generator_pb2.CompleteResponse(
                completed=generator_pb2.Completed(
                    reason=reason, model="fake", prompt_tokens=100, completion_tokens=len(said), total_ms=2,
                    calls=(world.function_calls or ()) if request.functions else (),
                )
            )  # fmt: skip

    async def Rewrite(  # noqa: N802  # the wire's name
        self, request: generator_pb2.RewriteRequest, context: Any
    ) -> generator_pb2.RewriteResponse:
        """What the world has for the question."""
        world = self._world
        world.rewrite_requests.append(request)
        if world.rewrite_error:
            raise world.rewrite_error
        alone = world.rewrites.get(request.question, "")
        return generator_pb2.RewriteResponse(question=alone or request.question, by="rules" if alone else "")

    async def ListPrompts(  # noqa: N802  # the wire's name
        self, request: generator_pb2.ListPromptsRequest, context: Any
    ) -> generator_pb2.ListPromptsResponse:
        """PROMPTS."""
        return generator_pb2.ListPromptsResponse(
            prompts=[
                generator_pb2.Prompt(name=name, language=language, version=version, text=text)
                for name, language, version, text in PROMPTS
            ]
        )

    async def GetInfo(  # noqa: N802  # the wire's name
        self, request: generator_pb2.GetInfoRequest, context: Any
    ) -> generator_pb2.GetInfoResponse:
        """The reader."""
        return generator_pb2.GetInfoResponse(
            version="fake", reader="openai" if self._world.completions else "extractive", model="extractive-1",
            evidence_tokens=self._world.evidence_tokens, context_tokens=self._world.context_tokens,
            prompt_version=",".join(version for name, _, version, _ in PROMPTS if name == self._world.prompt),
        )  # fmt: skip


def _version(request: generator_pb2.GenerateRequest) -> str:
    """Of the wording that the request brings for its language; else "1"."""
    language = language_of(request.question)
    return next((parse(one.text).version for one in request.prompts if one.language == language), "1")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
