"""Prompts as administrators edit them: versions beside the built-in texts, one of them in force."""

from __future__ import annotations

from dataclasses import dataclass

from quelea_kit import prompt_text
from quelea_kit.errors import Conflict, InvalidInput, NotFound, TooLarge, Unavailable
from quelea_kit.logging import get_logger
from quelea_kit.text_fields import check_length

from quelea_gateway.adapters.stores.prompt_store import PromptStore
from quelea_gateway.core.prompts import (
    LineKind,
    PromptSet,
    PromptSource,
    PromptTemplate,
    PromptVersion,
    collect,
    compare,
    in_force,
    label_prompt,
)

MOST_NOTE = 500

log = get_logger(__name__)


@dataclass(frozen=True)
class ListedVersion:
    """A version with what became of it.

    Attributes:
        version: As answers report it.
        text: All of it.
        is_built_in: Whether it came with the software.
        is_active: Whether it is in force.
        created, author, note, based_on: Empty for the built-in one.
        problems: Why it cannot be put in force in this release.
    """

    version: str
    text: str
    is_built_in: bool
    is_active: bool
    created: str = ""
    author: str = ""
    note: str = ""
    based_on: str = ""
    problems: tuple[str, ...] = ()


class PromptEditor:
    """The templates of all sources, and the versions in the store.

    Args:
        store: Of the versions.
        sources: Of the built-in texts.
    """

    def __init__(self, store: PromptStore, sources: tuple[PromptSource, ...]) -> None:
        self.store = store
        self.sources = sources

    async def templates(self) -> tuple[tuple[PromptTemplate, ...], tuple[str, ...]]:
        """What is in force, and what is wrong with sources and edits."""
        found, problems = await collect(self.sources)
        edits = await self.store.current()
        told = [in_force(one, edits) for one in found]
        return tuple(one for one, _ in told), (*problems, *(problem for _, problem in told if problem))

    async def versions(self, name: str, language: str) -> list[ListedVersion]:
        """Newest first; the built-in one is the last. Raises NotFound; Unavailable: its source is away."""
        built_in = await self._built_in(name, language)
        stored = await self.store.versions(name, language)
        activations = await self.store.activations(name, language)
        active = activations[-1].version if activations else ""
        listed = [_listed(one, built_in, active) for one in stored]
        last = ListedVersion(built_in.version, built_in.text, is_built_in=True, is_active=not active)
        return [*listed, last]

    async def version(self, name: str, language: str, version: str) -> ListedVersion:
        """One of them; "built-in" and "active" name two. Raises NotFound."""
        for one in await self.versions(name, language):
            if version == one.version or (version == "active" and one.is_active):
                return one
            if version == "built-in" and one.is_built_in:
                return one
        raise NotFound(f"There is no version {version[:100]!r} of {name} ({language}).")

    async def add(
        self, name: str, language: str, text: str, *, author: str, note: str = "", based_on: str = ""
    ) -> ListedVersion:
        """Save a version; it is not in force yet. Its label is given here.

        Raises:
            InvalidInput: The text does not fit, with each reason.
            Conflict: That text is there already, as many are kept as may be, or the template cannot be edited.
            NotFound: There is no such template.
        """
        built_in = await self._editable(name, language)
        check_length(note, "note", MOST_NOTE)
        check_fit(text, built_in)
        if based_on:
            based_on = (await self.version(name, language, based_on)).version
        stored = await self.store.add(built_in, _tidy(text), author=author, note=note.strip(), based_on=based_on)
        log.info("prompt_saved", prompt=name, language=language, version=stored.version, by=author)
        return _listed(stored, built_in, "")

    async def activate(self, name: str, language: str, version: str, *, author: str) -> PromptTemplate:
        """Put a version in force, here at once, on other gateways within seconds. Raises NotFound, InvalidInput."""
        built_in = await self._editable(name, language)
        wanted = await self.version(name, language, version)
        if wanted.problems:
            raise InvalidInput(f"{wanted.version} does not fit this release. {' '.join(wanted.problems)}")
        stored = "" if wanted.is_built_in else wanted.version
        await self.store.activate(name, language, stored, author=author)
        log.info("prompt_activated", prompt=name, language=language, version=wanted.version, by=author)
        return in_force(built_in, await self.store.current())[0]

    async def roll_back(self, name: str, language: str, *, author: str) -> PromptTemplate:
        """Put in force what was before. Raises NotFound; Conflict: nothing was."""
        built_in = await self._editable(name, language)
        await self.store.roll_back(name, language)
        now = in_force(built_in, await self.store.current())[0]
        log.info("prompt_rolled_back", prompt=name, language=language, version=now.version, by=author)
        return now

    async def delete(self, name: str, language: str, version: str, *, author: str) -> None:
        """Forget a version. Raises NotFound; Conflict: it is built in, in force, or can be rolled back to."""
        found = await self.version(name, language, version)
        if found.is_built_in:
            raise Conflict("The built-in version cannot be changed or deleted.")
        await self.store.delete(name, language, found.version)
        log.info("prompt_deleted", prompt=name, language=language, version=found.version, by=author)

    async def compare(
        self, name: str, language: str, before: str, after: str
    ) -> tuple[ListedVersion, ListedVersion, list[tuple[LineKind, str]]]:
        """Two versions and their lines. Raises NotFound."""
        one = await self.version(name, language, before)
        other = await self.version(name, language, after)
        return one, other, compare(one.text, other.text)

    async def trial(self, name: str, language: str, text: str, written_with: str) -> PromptSet:
        """The wordings in force with a draft among them, for one question.

        Args:
            written_with: Versions of the built-in prompts of answers, with commas, as the reader's info has them.

        Raises:
            Conflict: Answers are not written with that prompt, so that it cannot be tried with a question.
            InvalidInput: The text does not fit.
        """
        built_in = await self._editable(name, language)
        if built_in.version not in written_with.split(","):
            raise Conflict(
                f"Answers are not written with the prompt {name!r} here, so it cannot be tried with a question; "
                "QUELEA_GENERATOR_PROMPT says which one they are written with."
            )
        check_fit(text, built_in)
        return (await self.store.current()).having(name, language, label_prompt(_tidy(text), built_in, "draft").text)

    async def close(self) -> None:
        """Close the store."""
        await self.store.close()

    async def _editable(self, name: str, language: str) -> PromptTemplate:
        found = await self._built_in(name, language)
        if not found.is_editable:
            raise Conflict(f"The prompt {name} ({language}) is part of the software and cannot be edited.")
        return found

    async def _built_in(self, name: str, language: str) -> PromptTemplate:
        found, problems = await collect(self.sources)
        for one in found:
            if (one.name, one.language) == (name, language):
                return one
        if problems:  # it may be a template of the source that is away
            raise Unavailable(problems[0])
        raise NotFound(f"There is no prompt {name[:100]!r} ({language[:20]}); `quelea prompts list` has them.")


def check_fit(text: str, built_in: PromptTemplate) -> None:
    """Raises InvalidInput, or TooLarge, when a text cannot stand in the place of the built-in one."""
    if len(text) > prompt_text.MOST_CHARS:
        raise TooLarge(
            f"text has {len(text):,} characters; a prompt has at most {prompt_text.MOST_CHARS:,}.",
            details={"field": "text"},
        )
    wrong = prompt_text.misfits(prompt_text.with_label(_tidy(text), "draft"), built_in.text)
    if wrong:
        raise InvalidInput(f"This prompt cannot be used. {' '.join(wrong)}", details={"field": "text"})


def _tidy(text: str) -> str:
    """With the line ends that a template has."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip() + "\n"


def _listed(stored: PromptVersion, built_in: PromptTemplate, active: str) -> ListedVersion:
    return ListedVersion(
        stored.version,
        stored.text,
        is_built_in=False,
        is_active=stored.version == active,
        created=stored.created,
        author=stored.author,
        note=stored.note,
        based_on=stored.based_on,
        problems=tuple(prompt_text.misfits(stored.text, built_in.text)),
    )
