"""Citation markers in a stream of text: [n] stays when evidence n exists, and is removed when it does not.

The outcome depends on the whole text only, never on where the stream cut it: text that may be the beginning of a
marker is held back until it is known.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_OPEN, _CLOSE, _BETWEEN = r"\[［【", r"\]］】", ",，、;；"  # full-width forms, as models write in Chinese
_LONGEST = 48
_MARKER = re.compile(
    rf"(?P<space>[ \t]{{0,4}})[{_OPEN}](?=[^{_CLOSE}]{{1,{_LONGEST}}}[{_CLOSE}])"
    rf"(?P<numbers>[ \t]*\d{{1,3}}(?:[ \t]*[{_BETWEEN}][ \t]*\d{{1,3}})*[ \t]*)[{_CLOSE}]"
)
_MAYBE = re.compile(rf"[ \t]{{0,4}}(?:[{_OPEN}][\d \t{_BETWEEN}]{{0,{_LONGEST}}})?\Z")


class MarkerFilter:
    """Feed it the pieces of an answer; it returns the pieces to show.

    Args:
        known: The numbers that evidence has.

    Attributes:
        cited: Known numbers in the order in which the text first cites them.
        removed: Markers, or numbers inside one, that cited nothing.
    """

    def __init__(self, known: Collection[int]) -> None:
        self._known = frozenset(known)
        self._held = ""
        self.cited: list[int] = []
        self.removed = 0

    def feed(self, text: str) -> str:
        """The text that is certain now."""
        self._held += text
        match = _MAYBE.search(self._held)
        cut = match.start() if match else len(self._held)
        certain, self._held = self._held[:cut], self._held[cut:]
        return _MARKER.sub(self._replace, certain)

    def finish(self) -> str:
        """What was held back, at the end of the stream."""
        rest, self._held = self._held, ""
        return _MARKER.sub(self._replace, rest)

    def _replace(self, match: re.Match[str]) -> str:
        kept: list[int] = []
        for digits in re.findall(r"\d+", match["numbers"]):
            number = int(digits)
            if number not in self._known:
                self.removed += 1
            elif number not in kept:
                kept.append(number)
                if number not in self.cited:
                    self.cited.append(number)
        return match["space"] + "".join(f"[{number}]" for number in kept) if kept else ""
