"""The language model chooses: a category for a need, then tools among candidates. Its answers are checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from quelea_fintext.text import language_of

from quelea_gateway.core.agent.ports import Model
from quelea_gateway.core.model import Message
from quelea_gateway.core.tools.descriptions import line
from quelea_gateway.core.tools.model import CATEGORIES_CHINESE, Tool

_TOKENS = 512
_ALL = "All"


def category_schema(categories: Sequence[str]) -> str:
    """One of the categories, or all of them where the need fits none."""
    return _schema({"category": {"type": "string", "enum": [*categories, _ALL]}})


def pick_schema(names: Sequence[str], most: int) -> str:
    """Some of the names."""
    names_field: dict[str, Any] = {
        "type": "array",
        "items": {"type": "string", "enum": list(names)},
        "minItems": 1,
        "maxItems": most,
    }
    return _schema({"names": names_field})


async def choose_category(model: Model, need: str, categories: Sequence[str], *, tenant: str) -> str:
    """The category that a need falls into; empty for all, also when the answer cannot be used. Raises QueleaError."""
    shown = "\n".join(f"- {name} {CATEGORIES_CHINESE.get(name, '')}".rstrip() for name in categories)
    ask = (
        f"下面的问题需要金融数据接口。它属于哪个类别？跨多个类别时答 {_ALL}。\n类别：\n{shown}\n\n问题：{need}"
        if language_of(need) == "zh"
        else f"The question below needs finance data. Which category of APIs does it fall into? Answer {_ALL} when it "
        f"needs several.\nCategories:\n{shown}\n\nQuestion: {need}"
    )
    said = await _answer(model, ask, category_schema(categories), tenant=tenant)
    category = str(said.get("category"))
    return category if category in categories else ""


async def pick(model: Model, need: str, candidates: Sequence[Tool], *, most: int, tenant: str) -> list[Tool]:
    """The tools that the model picks, in its order; none when its answer cannot be used. Raises QueleaError."""
    shown = "\n".join(f"- {line(tool)}" for tool in candidates)
    ask = (
        f"为回答下面的问题，从候选接口中选出需要的（最多 {most} 个），最重要的在前。\n候选：\n{shown}\n\n问题：{need}"
        if language_of(need) == "zh"
        else f"Pick the APIs that are needed to answer the question below, at most {most}, the most important first.\n"
        f"Candidates:\n{shown}\n\nQuestion: {need}"
    )
    said = await _answer(model, ask, pick_schema([tool.name for tool in candidates], most), tenant=tenant)
    names = said.get("names")
    by_name = {tool.name: tool for tool in candidates}
    picked = [name for name in names if isinstance(name, str) and name in by_name] if isinstance(names, list) else []
    return [by_name[name] for name in dict.fromkeys(picked)][:most]


async def _answer(model: Model, ask: str, schema: str, *, tenant: str) -> dict[str, Any]:
    told = "Answer with one JSON object that fits this schema, and nothing else:\n" + schema
    done = await model.complete(
        [Message("system", told), Message("user", ask)],
        json_schema=schema,
        max_tokens=_TOKENS,
        temperature=0.0,
        tenant=tenant,
    )
    if done.reason != "stop":
        return {}
    try:
        said = json.loads(done.text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _schema(properties: dict[str, Any]) -> str:
    return json.dumps(
        {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
        ensure_ascii=False,
    )
