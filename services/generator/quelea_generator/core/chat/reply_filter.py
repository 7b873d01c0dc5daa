"""What a model writes that no reader should get: thoughts before its answer, and characters that steer a terminal."""

from __future__ import annotations

import re

from quelea_fintext.instructions import strip_invisible

_OPEN = ("<think>", "<thinking>")
_LONGEST = max(map(len, _OPEN))
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and newline


def strip_unseen(text: str) -> str:
    """The text without control characters, and without those that are read but not seen."""
    if text.isascii() and text.isprintable():
        return text
    return strip_invisible(_CONTROL.sub("", text))


class ThoughtFilter:
    """Feed it the pieces of an answer; it returns them without a block of thoughts at their beginning.

    That is how reasoning models answer at an endpoint that does not tell thoughts and answer apart. A block without an
    end is all thoughts. Thoughts whose beginning stands in the prompt's template, so that only their end comes, cannot
    be told from an answer while they stream.
    """

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""
        self._passing = False

    def feed(self, text: str) -> str:
        """The text that is certain to be no thought."""
        if self._passing:
            return text
        self._held += text
        if not self._closing:
            begun = self._held.lstrip()
            tag = next((tag for tag in _OPEN if begun.startswith(tag)), "")
            if tag:
                self._closing = f"</{tag[1:]}"
            elif any(tag.startswith(begun[:_LONGEST]) for tag in _OPEN):
                return ""
            else:
                return self._pass(self._held)
        before, closing, answer = self._held.partition(self._closing)
        if not closing:
            self._held = before[-len(self._closing) :]
            return ""
        answer = answer.lstrip()
        if not answer:
            self._held = self._closing  # white space after the thoughts goes, however it is cut
            return ""
        return self._pass(answer)

    def finish(self) -> str:
        """What was held back, at the end of the stream."""
        held, self._held = self._held, ""
        return "" if self._closing else held

    def _pass(self, text: str) -> str:
        self._passing, self._held = True, ""
        return text
