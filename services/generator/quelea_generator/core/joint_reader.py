"""A small language model and the extractive reader, asked together, with one answer."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from dataclasses import replace

from quelea_fintext.languages import REFUSALS
from quelea_fintext.text import language_of

from quelea_generator.core.chat.citations import quote_citations
from quelea_generator.core.chat.reader import ModelReader
from quelea_generator.core.extractive.reader import Answer, ExtractiveReader
from quelea_generator.core.joint_answer import JointAnswer, Preparation
from quelea_generator.core.model import Delta, Event, Finished, Quote, Task
from quelea_generator.core.reader import WriterBehind


class JointReader(WriterBehind):
    """Reader whose model writes about what the extractive reader found; see core/joint_answer.py for what is shown.

    Args:
        writer: Asks the model.
        prepare: Reads the evidence beforehand; None: it could not, the writer has whole passages then.
    """

    _writer: ModelReader

    def __init__(self, writer: ModelReader, prepare: Callable[[Task], Awaitable[Preparation | None]]) -> None:
        super().__init__(writer)
        self._prepare = prepare

    async def read(self, task: Task) -> AsyncGenerator[Event, None]:
        """The model's sentences one at a time, or the extractive reader's lines; then quotes, then Finished."""
        prepared = await self._prepare(task) if task.evidence else None
        if prepared is None:
            async with contextlib.aclosing(self._writer.read(task)) as events:
                async for event in events:
                    yield event
        elif why := prepared.quoted.decline:
            yield Delta(REFUSALS[language_of(task.question)])
            yield Finished("declined", task.model or self.model, self.prompt_version, decline=why)
        elif not prepared.needs_model:
            for index, line in enumerate(prepared.quoted.lines):
                yield Delta(line if index == 0 else f"\n{line}")
            for event in _end_of_quotes(prepared.quoted):
                yield event
        else:
            async with contextlib.aclosing(self._join(task, prepared)) as events:
                async for event in events:
                    yield event

    async def _join(self, task: Task, prepared: Preparation) -> AsyncGenerator[Event, None]:
        joint = JointAnswer(prepared)
        own: list[Quote] = []
        async with contextlib.aclosing(self._writer.read(task, prepared.task)) as events:
            async for event in events:
                if isinstance(event, Quote):
                    own.append(event)
                    continue
                text = joint.feed(event.text, event.sureness) if isinstance(event, Delta) else joint.finish()
                if text:
                    yield Delta(text)
                if isinstance(event, Finished) and event.decline:  # a refusal beside an answer takes nothing from it
                    own = list(quote_citations(task.question, joint.said, task.evidence))
                if joint.by_quotes or isinstance(event, Finished):
                    for last in _end(event if isinstance(event, Finished) else None, joint, own):
                        yield last
                    return


def _end(finished: Finished | None, joint: JointAnswer, own: list[Quote]) -> Iterator[Event]:
    """Quotes in the order of their markers, and who answered."""
    if finished is None or joint.by_quotes:
        yield from _end_of_quotes(joint.quoted, finished)
        return
    beside = joint.quoted.quotes if joint.shows_quotes else ()
    yield from (*beside, *own) if joint.quotes_lead else (*own, *beside)
    yield finished if finished.decline is None else replace(finished, reason="stop", decline=None)


def _end_of_quotes(found: Answer, asked: Finished | None = None) -> Iterator[Event]:
    """The end of an answer that is the extractive reader's, with what the model has cost."""
    yield from found.quotes
    yield Finished(
        "stop",
        ExtractiveReader.model,
        prompt_tokens=asked.prompt_tokens if asked else 0,
        completion_tokens=asked.completion_tokens if asked else 0,
        reader=ExtractiveReader.name,
    )
