"""finish: conclude."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from quelea_gateway.core.agent.action import Action, Known
from quelea_gateway.core.agent.model import FINISH, Choice, Observation
from quelea_gateway.core.agent.work import Work


class Finish(Action):
    """Ends the loop; the conclusion is written from what there is."""

    name = FINISH
    place = 100
    description: ClassVar = {"en": "conclude: {}", "zh": "得出结论：{}"}

    def schema(self, known: Known) -> dict[str, Any]:
        """No fields."""
        return {}

    def read(self, value: Mapping[str, Any], known: Known) -> Choice:
        """Whatever else was said."""
        return Choice(FINISH)

    async def run(self, work: Work, choice: Choice) -> Observation:
        """Nothing is left to do: the loop ends with this choice."""
        return Observation("")
