"""Follow-ups: what a question means that leans on the turns before it."""

from __future__ import annotations

import re

from quelea_kit.errors import QueleaError

from quelea_gateway.core.model import Question, Standalone, Turn
from quelea_gateway.core.ports import Generator, Retriever

_TURNS, _NAMES = 8, 200
_CHARACTERS = 2000
"""Of each turn that is looked into for companies."""
_LEANS = re.compile(
    r"^\s*(?:and|but|or|what about|how about|compared?|versus|vs)\b"
    r"|\b(?:it|its|they|their|them|that|those|these|this|same|the company|previous|former|latter)\b"
    r"|^\s*(?:那|那么|还有|另外|而|与之)|(?:该|它|其|此|上述|同期|这家|这个|前者|后者)|呢\s*[?？]?\s*$",
    re.IGNORECASE,
)
_LONGEST = 160


async def standing_alone(question: Question, retriever: Retriever, generator: Generator) -> Standalone | None:
    """The question as it stands alone, by the companies that the knowledge base knows; None when it does already.

    Raises:
        QueleaError: the generator cannot say. Without the retriever names are guessed.
    """
    asked = [turn.text for turn in question.history if turn.role == "user"][-_TURNS:]
    try:
        companies = await retriever.companies([text[:_CHARACTERS] for text in (*asked, question.text)])
    except QueleaError:
        companies = ()
    return await generator.rewrite(question, companies[:_NAMES])


def query_for(question: str, history: tuple[Turn, ...]) -> str:
    """What to search for: the question, with the user's last one before it when the question leans on it.

    "And in the second quarter?" names no company; the retriever can only read one out of the words it is given.
    """
    earlier = [turn.text for turn in history if turn.role == "user"]
    if earlier and len(question) <= _LONGEST and _LEANS.search(question):
        return f"{earlier[-1]}\n{question}"
    return question
