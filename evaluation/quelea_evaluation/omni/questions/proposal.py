"""`quelea eval omni topics`: a tree of topics that a model proposes from the operator's documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quelea_evaluation.endpoints.chat import Chat, Sampling, Unparseable, parse_object
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.matrix import Matrix, parse_matrix
from quelea_evaluation.omni.prompts import language_of, load_prompts
from quelea_evaluation.omni.questions.knowledge import Section

_OPENING = 300
_DOCUMENTS = 60
_TEXT = {"type": "string", "minLength": 1, "maxLength": 80}


async def propose_topics(openings: Sequence[Section], chat: Chat, least: int, most: int) -> Matrix:
    """The tree, checked like one of a file; a model that fails is asked once more.

    Args:
        openings: A section of each document; of many, some that are spread evenly are shown.

    Raises:
        BadInput: The model proposed none that can be used.
        EndpointError: It did not answer.
    """
    step = max(1, -(-len(openings) // _DOCUMENTS))
    shown = "\n\n".join(f"- {one.place.title}: {one.place.text[:_OPENING]}" for one in openings[::step])
    language = language_of(shown)
    messages = load_prompts(language).messages("topics", least=least, most=most, documents=shown)
    identifier = {"type": "string", "pattern": "^[a-z0-9_]{1,60}$"}
    topic = {
        "type": "object",
        "properties": {"id": identifier, "area": _TEXT, "name": _TEXT},
        "required": ["id", "area", "name"],
        "additionalProperties": False,
    }
    topics = {"type": "array", "items": topic, "minItems": least, "maxItems": most}
    schema = {"type": "object", "properties": {"topics": topics}, "required": ["topics"], "additionalProperties": False}
    problem = ""
    for seed in range(2):
        reply = await chat.complete(messages, schema=schema, sampling=Sampling(seed=seed))
        try:
            return parse_matrix(_in(language, parse_object(reply.text)), "the model's tree")
        except (Unparseable, BadInput) as error:
            problem = str(error)
    raise BadInput(f"{chat.model} proposed no tree that can be used: {problem}")


def _in(language: str, document: dict[str, Any]) -> dict[str, Any]:
    rows = document.get("topics")
    if isinstance(rows, list):
        for one in rows:
            if isinstance(one, dict):
                one |= {field: {language: one[field]} for field in ("area", "name") if isinstance(one.get(field), str)}
    return {"name": "proposed", **document}
