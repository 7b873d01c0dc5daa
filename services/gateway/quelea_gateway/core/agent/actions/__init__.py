"""The agent's actions, one file each, found by themselves: a file with a subclass of Action is an action."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache

from quelea_gateway.core.agent.action import Action


@cache
def all_actions() -> Mapping[str, Action]:
    """Every action by its name, in the order in which the model sees them."""
    found: list[Action] = []
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        classes = (one for one in vars(loaded).values() if isinstance(one, type) and issubclass(one, Action))
        found += [one() for one in classes if one.__module__ == loaded.__name__]
    return {one.name: one for one in sorted(found, key=lambda one: (one.place, one.name))}


def describe(actions: Sequence[str], categories: Sequence[str], language: str) -> str:
    """The actions in a list, for a prompt in "en" or "zh"."""
    return "\n".join(f"- {one}: {describe_one(one, categories, language)}" for one in actions)


def describe_one(action: str, categories: Sequence[str], language: str) -> str:
    """What an action does, in "en" or "zh"."""
    return all_actions()[action].description[language].replace("$categories", ", ".join(categories) or "any")
