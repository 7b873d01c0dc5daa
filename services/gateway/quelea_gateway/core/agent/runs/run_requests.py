"""What a caller asks of the agent, checked and filled in: the same rules for REST, the OpenAI route and gRPC."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_fintext.text import language_of
from quelea_kit.errors import Conflict, InvalidInput

from quelea_gateway.core.agent.model import Budget, Run, RunRequest
from quelea_gateway.core.asking.question import Limits, check_as_of, check_text

_MOST_BUNDLES = 20
_LONGEST_NAME = 200
_DEFAULT = Budget(steps=0, tokens=0, seconds=0.0, calls=0)
"""0 is the default of the deployment."""


@dataclass(frozen=True, slots=True)
class BudgetRules:
    """The budget of a run when the caller does not say, and the most that a caller may ask for."""

    default: Budget
    most: Budget


def build(
    question: str,
    limits: Limits,
    rules: BudgetRules,
    *,
    tenant: str,
    as_of: str = "",
    model: str = "",
    budget: Budget = _DEFAULT,
    bundle_ids: Sequence[str] = (),
    follows: Run | None = None,
) -> RunRequest:
    """A run that may be started; 0 and empty stand for the defaults.

    Args:
        follows: The run that it goes on from; its day, where it was given one, and its bundles are the defaults then.

    Raises:
        Conflict: the run that it follows has no answer.
        InvalidInput: a value is wrong; details name the field.
        TooLarge: the question is too long.
    """
    if follows is not None:
        check_followed(follows)
        is_pinned = follows.as_of < follows.created[: len(follows.as_of)]
        as_of = as_of or (follows.as_of if is_pinned else "")
        bundle_ids = bundle_ids or follows.bundle_ids
    today = check_as_of("")
    day = check_as_of(as_of)
    if day > today:
        raise InvalidInput("as_of must be today or earlier.", details={"field": "as_of"})
    if len(bundle_ids) > _MOST_BUNDLES or any(not one or len(one) > _LONGEST_NAME for one in bundle_ids):
        raise InvalidInput(
            f"bundle_ids must hold at most {_MOST_BUNDLES} ids, none of them empty.", details={"field": "bundle_ids"}
        )
    text = check_text(question, limits)
    return RunRequest(
        question=text,
        as_of=day,
        tenant=tenant,
        language=language_of(text),
        model=model,
        budget=Budget(
            steps=int(_within("steps", budget.steps, rules.default.steps, rules.most.steps, least=2)),
            tokens=int(_within("tokens", budget.tokens, rules.default.tokens, rules.most.tokens)),
            seconds=_within("seconds", budget.seconds, rules.default.seconds, rules.most.seconds),
            calls=int(_within("calls", budget.calls, rules.default.calls, rules.most.calls)),
        ),
        bundle_ids=tuple(bundle_ids),
        pinned=bool(as_of) and day != today,
        follows=follows.id if follows else "",
    )


def check_followed(run: Run) -> None:
    """Whether a run can be gone on from. Raises Conflict."""
    if run.state != "finished" or run.answer is None:
        raise Conflict(f"Only a finished run can be followed; {run.id} is {run.state}.", details={"field": "follows"})


def _within(name: str, given: float, default: float, most: float, least: float = 0) -> float:
    if not math.isfinite(given) or given < 0 or given > most or 0 < given < least:
        raise InvalidInput(
            f"limits.{name} must be {least or 1:g} to {most:g}.",
            details={"field": f"limits.{name}", "limit": f"{most:g}"},
        )
    return given or default
