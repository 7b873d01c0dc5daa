"""Ends the answers of an engine that would never end: too many tokens, endless white space, the same words for ever."""

from __future__ import annotations

_CHARS_PER_TOKEN = 24
"""More than the longest words of the usual vocabularies have, on average over an answer."""
_SLACK_CHARS = 256
_SPACE = 256
"""White space at a stretch after which an answer is over."""
_REPEATED = 480
"""Characters that must be one phrase over and over; a line of a table's rule or of dots is shorter."""
_REPEATS = 4
_LONGEST_PHRASE = 400
_TAIL = _REPEATS * _LONGEST_PHRASE
_SAMPLE = 32


class AnswerBounds:
    """Feed it every piece of an answer; it says what to show, and when to stop.

    Pieces of nothing but white space are held back until text follows: an endless run of them is never shown.

    Args:
        max_tokens: What the engine was asked for; an engine that keeps to it is never stopped by the two counts.

    Attributes:
        stopped: Why the answer was ended: "" while it goes on, "tokens", "characters", "white space" or "repeats".
    """

    def __init__(self, max_tokens: int) -> None:
        self.stopped = ""
        self._chars = _CHARS_PER_TOKEN * max_tokens + _SLACK_CHARS
        self._pieces = 4 * max_tokens + 64  # special and half characters make pieces without text
        self._space = ""
        self._tail = ""
        self._unchecked = 0

    def feed(self, text: str) -> str:
        """The text to show now; empty once stopped."""
        if self.stopped:
            return ""
        self._pieces -= 1
        if self._pieces < 0:
            self.stopped = "tokens"
            return ""
        if len(text) > self._chars:
            text, self.stopped = text[: self._chars], "characters"
        self._chars -= len(text)
        if not text.strip():
            self._hold(text)
            return ""
        shown = self._space + text
        self._space = ""
        if len(shown) - len(shown.rstrip()) > _SPACE:
            shown, self.stopped = shown.rstrip(), self.stopped or "white space"
        self._tail = (self._tail + shown)[-_TAIL:]
        self._unchecked += len(shown)
        if self._unchecked >= _SAMPLE:
            self._unchecked = 0
            if self._repeats():
                self.stopped = self.stopped or "repeats"
        return shown

    def _hold(self, space: str) -> None:
        self._space += space
        if len(self._space) > _SPACE:
            self._space = ""
            self.stopped = self.stopped or "white space"

    def _repeats(self) -> bool:
        """The end of the text is one phrase, at least _REPEATS times and _REPEATED characters long."""
        tail = self._tail
        before = tail.rfind(tail[-_SAMPLE:], 0, len(tail) - 1)
        if before < 0:
            return False
        phrase = len(tail) - _SAMPLE - before
        length = max(_REPEATED, _REPEATS * phrase)
        return phrase <= _LONGEST_PHRASE and len(tail) >= length and tail[-length:-phrase] == tail[-length + phrase :]
