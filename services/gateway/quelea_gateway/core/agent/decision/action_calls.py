"""The many ways in which models write a call of an action, made one: {"action": ..., and its fields}."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from quelea_gateway.core.agent.actions import all_actions
from quelea_gateway.core.agent.decision import loose_json
from quelea_gateway.core.agent.decision.parsing import LONGEST, Misfit, json_value, without_thinking
from quelea_gateway.core.agent.model import FINISH

_REACT = re.compile(
    r"^\W{0,20}(?:Action|行动|动作|下一步行动)\W{0,20}[:：]\s{0,20}[`*\"“]?([\w-]+)"
    r"(?:(?:(?!\n\W{0,20}(?:Action|行动|动作)\W{0,20}[:：])[\s\S])*?"
    r"^\W{0,20}(?:Action Input|Arguments?|Input|参数|行动输入|输入)\W{0,20}[:：]\s{0,20}"
    r"(\{[\s\S]*|[^\n]*))?",
    re.MULTILINE | re.IGNORECASE,
)
_LISTS = ("actions", "tool_calls", "calls", "steps")
_INNER = ("action", "function", "function_call", "tool_call", "tool_use", "next_action", "call")
_ARGUMENTS = ("arguments", "args", "parameters", "params", "action_input", "action_args", "input", "fields")
_NAMES = ("action", "name", "tool", "tool_name", "function", "type")
_ENDS = ("final-answer", "final", "answer", "done", "stop", "end", "conclude")


def action_of(value: dict[str, Any]) -> str:
    """The action that an object names; empty when it names none."""
    given = value.get("action")
    return re.sub(r"[_\s]+", "-", given.strip().lower()) if isinstance(given, str) else ""


def unwrap(text: str, actions: Sequence[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(the answer's object, the calls of actions in it, one at least). Raises Misfit when there is none."""
    value = json_value(text)
    if isinstance(value, list):
        value = {_LISTS[0]: value}
    if not isinstance(value, dict) or not value or not _is_call(value, actions):
        value = _react(text) or value
    if not isinstance(value, dict) or not value:
        raise Misfit("The answer is no JSON object. Answer with one JSON object and nothing else.")
    return value, [_fill_aliases(_find_call(one, actions)) for one in _calls(value)]


def _calls(value: dict[str, Any]) -> list[dict[str, Any]]:
    for key in _LISTS:
        inner = value.get(key)
        if isinstance(inner, list) and (calls := [one for one in inner if isinstance(one, dict)]):
            return calls
    return [value]


def _is_call(value: dict[str, Any], actions: Sequence[str]) -> bool:
    return action_of(_find_call(value, actions)) in actions


def _find_call(value: dict[str, Any], actions: Sequence[str], depth: int = 0) -> dict[str, Any]:
    """The object without what is around it."""
    if depth < 4:
        for key in _LISTS:
            inner = value.get(key)
            if isinstance(inner, list) and inner and isinstance(inner[0], dict):
                return _find_call(inner[0], actions, depth + 1)
        for key in _INNER:
            inner = value.get(key)
            if isinstance(inner, dict):
                return _find_call(inner, actions, depth + 1)
    named = next((key for key in _NAMES if action_of({"action": value.get(key)}) in (*actions, *_ENDS)), "")
    if not named:
        return value
    given: Any = next((value[key] for key in _ARGUMENTS if value.get(key) not in (None, "")), {})
    action = action_of({"action": value[named]})
    if action in _ENDS and action not in actions:
        action = FINISH
    if isinstance(given, str):
        read = loose_json.loads(given) if given.lstrip().startswith("{") else None
        field = next(iter(_fields(action)), "")
        given = read if isinstance(read, dict) else ({field: given} if field else {})
    rest = {key: one for key, one in value.items() if key not in (*_ARGUMENTS, named)}
    return {**rest, **(given if isinstance(given, dict) else {}), "action": action}


def _fields(action: str) -> Mapping[str, tuple[str, ...]]:
    known = all_actions().get(action)
    return known.fields if known else {}


def _fill_aliases(value: dict[str, Any]) -> dict[str, Any]:
    """Fields that came under another name."""
    found = dict(value)
    for field, others in _fields(action_of(value)).items():
        if found.get(field):
            continue
        other = next((found[key] for key in others if found.get(key)), None)
        if other is not None:
            found[field] = other[0] if field == "name" and isinstance(other, list) and other else other
    return found


def _react(text: str) -> dict[str, Any] | None:
    """Thought, action and input as lines."""
    match = _REACT.search(without_thinking(text[:LONGEST]))
    if match is None:
        return None
    given = (match[2] or "").strip()
    read = loose_json.loads(given) if given.startswith("{") else None
    if not isinstance(read, dict):
        read = {"action_input": given} if given and not given.startswith("{") else {}
    return {**json.loads(json.dumps(read)), "action": match[1]} if read else {"action": match[1]}
