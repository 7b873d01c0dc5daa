"""A prompt template as a file: a line "version: LABEL", then its parts, each after a line "---PART---".

Parts hold $names that are filled in when a model is asked; "$$" is a dollar sign. The version of a text is its label
and the first digits of the SHA-256 of all of it, so that no change goes unrecorded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from string import Template

MOST_CHARS = 12_000
"""Longest template: what is longer leaves a small model no room for evidence."""
_PART = re.compile(r"^---([a-z_]+)---\n", re.MULTILINE)
_HEAD = re.compile(r"version:[^\n]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class PromptText:
    """A template that was read.

    Attributes:
        label: As its first line has it.
        version: LABEL.DIGEST, for example "en-2.1f0c9a44".
        text: The whole file.
        parts: Its parts by name, without surrounding space.
    """

    label: str
    version: str
    text: str
    parts: dict[str, str]


def parse(text: str) -> PromptText:
    """Read a template. Raises ValueError when it has no version, or a part twice."""
    head, *rest = _PART.split(text)
    first, _, between = head.strip().partition("\n")
    label = first.removeprefix("version:").strip()
    if not head.startswith("version:") or not label:
        raise ValueError("It does not begin with a line 'version: LABEL'.")
    if between.strip():
        raise ValueError("There is text before the first part; a part begins with a line such as ---system---.")
    names = rest[::2]
    if len(set(names)) < len(names):
        raise ValueError("It has a part twice.")
    parts = dict(zip(names, (part.strip() for part in rest[1::2]), strict=True))
    return PromptText(label, f"{label}.{sha256(text.encode()).hexdigest()[:8]}", text, parts)


def with_label(text: str, label: str) -> str:
    """The text under another label; one without a version line gets it."""
    return f"version: {label}\n{_HEAD.sub('', text, count=1) if text.startswith('version:') else text}"


def misfits(text: str, built_in: str) -> list[str]:
    """Why a text cannot stand in the place of a built-in one, a sentence each; none: it can.

    It needs the same parts, each with the same $names: one that is missing would keep the question or the evidence
    from the model, one that is unknown cannot be filled in.
    """
    if len(text) > MOST_CHARS:
        return [f"It has {len(text):,} characters; at most {MOST_CHARS:,} are allowed."]
    if not text.isprintable() and any(not sign.isprintable() and sign not in "\n\t" for sign in text):
        return ["It has characters that are not printable; remove them."]
    try:
        given = parse(text)
    except ValueError as error:
        return [str(error)]
    wanted = parse(built_in).parts
    found = [f"The part ---{name}--- is missing." for name in wanted if name not in given.parts]
    found += [f"There is no part ---{name}---." for name in given.parts if name not in wanted]
    for name, part in given.parts.items():
        if name in wanted:
            found += _misfits_of(name, part, wanted[name])
    return found


def _misfits_of(name: str, part: str, wanted: str) -> list[str]:
    if wanted and not part:
        return [f"The part ---{name}--- is empty."]
    given = Template(part)
    if not given.is_valid():
        return [f"The part ---{name}--- has a $ without a name; write $$ for a dollar sign."]
    has, needs = set(given.get_identifiers()), set(Template(wanted).get_identifiers())
    found = [f"The part ---{name}--- lacks ${one}." for one in sorted(needs - has)]
    known = ", ".join(f"${one}" for one in sorted(needs)) or "none"
    found += [f"The part ---{name}--- has ${one}; known there: {known}." for one in sorted(has - needs)]
    return found
