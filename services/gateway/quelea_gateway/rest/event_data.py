"""The data of the events of an answer's stream: the pipeline's own objects as JSON, no model made of each citation.

The models of schemas.py are the contract; what is written here is the same JSON for a third of the time
(tests/contract/gateway/test_event_data.py holds the two together).
"""

from __future__ import annotations

from json import JSONEncoder

from pydantic import TypeAdapter

from quelea_gateway.core.model import Answer, Delta, Source, Started
from quelea_gateway.core.verdicts import Grounding
from quelea_gateway.rest.schemas import AnswerOut, StartedOut

_STARTED, _GROUNDING, _ANSWER = TypeAdapter(Started), TypeAdapter(Grounding), TypeAdapter(Answer)
_ANSWER.rebuild(_types_namespace={"Source": Source})  # shown.py names it for type checkers only
_SHOWN_STARTED, _SHOWN_ANSWER = set(StartedOut.model_fields), set(AnswerOut.model_fields)
_plain = JSONEncoder(ensure_ascii=False).encode


def data_of(item: Started | Delta | Grounding | Answer) -> str:
    """The JSON of one event."""
    if isinstance(item, Delta):
        return f'{{"text": {_plain(item.text)}}}'
    if isinstance(item, Grounding):
        return _GROUNDING.dump_json(item).decode()
    if isinstance(item, Started):
        return _STARTED.dump_json(item, include=_SHOWN_STARTED).decode()
    return _ANSWER.dump_json(item, include=_SHOWN_ANSWER).decode()
