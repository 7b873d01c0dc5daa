"""What an action of the agent consists of. Each is one file of actions/; docs/howto/add-an-agent-tool.md shows one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from quelea_gateway.core.agent.model import Choice, Observation

if TYPE_CHECKING:
    from quelea_gateway.core.agent.work import Work

QUERY = 300
"""Most characters of a query."""


@dataclass(frozen=True, slots=True)
class Known:
    """What schemas and readers go by.

    Attributes:
        categories: Of the catalogue of APIs.
        names: APIs that were found in this run.
    """

    categories: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class Action(ABC):
    """Something that the model can decide to do.

    Attributes:
        name: As the model writes it, lower case with hyphens.
        place: The lower, the earlier in the list that the model sees.
        description: Line of the prompt by language ("en", "zh"), with the fields in braces; $categories is filled in.
        fields: Name of a field to other names that models give it; the first field is what a bare string means.
        in_usual_plan: Part of the plan that is followed when the model makes none.
        reports_output: It writes its own `output` events; otherwise the loop writes one with the observation.
    """

    name: ClassVar[str]
    place: ClassVar[int] = 50
    description: ClassVar[Mapping[str, str]]
    fields: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    in_usual_plan: ClassVar[bool] = True
    reports_output: ClassVar[bool] = False

    async def is_offered(self, work: Work) -> bool:
        """Whether this deployment has what it needs; asked once when a run begins. A QueleaError means no."""
        return True

    def is_possible(self, work: Work) -> bool:
        """Whether it makes sense at this step."""
        return True

    @abstractmethod
    def schema(self, known: Known) -> dict[str, Any]:
        """JSON schema of each of its fields."""

    @abstractmethod
    def read(self, value: Mapping[str, Any], known: Known) -> Choice:
        """The choice in the model's JSON object. Raises Misfit, whose message the model is told."""

    def planned(self, work: Work, task: str) -> Choice | None:
        """What a step of the plan stands for when the model gives no usable action; None: nothing."""
        return None

    @abstractmethod
    async def run(self, work: Work, choice: Choice) -> Observation:
        """Do it. Raises ModelAway when the language model stopped answering."""


def text_schema(longest: int) -> dict[str, Any]:
    """JSON schema of a text that is not empty."""
    return {"type": "string", "minLength": 1, "maxLength": longest}
