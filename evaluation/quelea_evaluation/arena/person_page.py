"""The page on which a person takes the user's place, served on loopback."""

from __future__ import annotations

from pathlib import Path

from quelea_evaluation.arena.person import LONGEST, PersonTalks
from quelea_evaluation.reports.page_server import PageServer, fill_page

_MOST_BYTES = 8 * LONGEST + 4096
"""Of a message with its escapes."""


class PersonServer(PageServer):
    """Serves the page and passes on what a person says.

    Args:
        talks: The dialogues.
        port: 0 takes a free one.
    """

    def __init__(self, talks: PersonTalks, port: int = 0) -> None:
        page = fill_page(Path(__file__).parent / "person.html", "limits", {"longest": LONGEST})
        super().__init__(lambda: page, "/talk", talks.take, port, _MOST_BYTES)
