"""The page on which people vote: one file that opens offline, or served on loopback."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from quelea_evaluation.arena.votes import Ballot, VoteBox
from quelea_evaluation.reports.page_server import PageServer, fill_page


def write_page(ballot: Ballot, questions: Iterable[dict[str, Any]], *, send: bool) -> str:
    """The whole page, with every dialogue and no name of a system.

    Args:
        ballot: Its id goes along with each vote.
        questions: What is shown of each comparison.
        send: Votes go to the server of the page; else they are kept in the browser and downloaded.
    """
    shown = {"id": ballot.id, "send": send, "questions": list(questions)}
    return fill_page(Path(__file__).parent / "vote.html", "ballot", shown)


class VoteServer(PageServer):
    """Serves the page on loopback and stores votes.

    Args:
        page: The page's HTML.
        box: Where votes go.
        port: 0 takes a free one.
    """

    def __init__(self, page: str, box: VoteBox, port: int = 0) -> None:
        super().__init__(lambda: page, "/votes", lambda vote: {"number": box.add(vote)["number"]}, port)
