"""What a caller sends, checked and filled in: the same rules for REST, the OpenAI route and gRPC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from quelea_kit.errors import InvalidInput, TooLarge
from quelea_kit.text_fields import check_day, check_length, normalised_length

from quelea_gateway.core.model import Filters, Question, Route, Turn

MAX_K = 200
MAX_J = 100
_EVERYTHING = Filters()


@dataclass(frozen=True)
class Limits:
    """What may be asked, and what is taken when the caller does not say."""

    question_chars: int = 4000
    history_turns: int = 40
    history_chars: int = 40_000
    k: int = 20
    j: int = 8


def check_text(text: str, limits: Limits, name: str = "question") -> str:
    """The text without surrounding space. Raises InvalidInput when empty or no Unicode, TooLarge when too long."""
    check_length(text, name, limits.question_chars)
    stripped = text.strip()
    if not stripped:
        raise InvalidInput(f"The {name} is empty.", details={"field": name})
    return stripped


def check_history(history: Sequence[Turn], limits: Limits) -> tuple[Turn, ...]:
    """The conversation so far. Raises TooLarge, InvalidInput for what is no Unicode."""
    if len(history) > limits.history_turns:
        raise TooLarge(
            f"history has {len(history)} turns; the limit is {limits.history_turns}. Send the last turns only.",
            details={"field": "history", "limit": str(limits.history_turns)},
        )
    check_length([turn.text for turn in history], "history", limits.history_chars)
    return tuple(turn for turn in history if turn.text.strip())


def trim_history(history: Sequence[Turn], limits: Limits) -> tuple[Turn, ...]:
    """The last turns that the limits allow."""
    kept: list[Turn] = []
    chars = 0
    for turn in reversed(history):
        chars += normalised_length(turn.text) if len(turn.text) <= limits.history_chars else len(turn.text)
        if len(kept) == limits.history_turns or chars > limits.history_chars:
            break
        kept.append(turn)
    return tuple(reversed(kept))


def check_as_of(as_of: str) -> str:
    """YYYY-MM-DD; today (UTC) when empty. Raises InvalidInput, for days that nowhere on Earth have begun too."""
    today = datetime.now(UTC).date()
    day = check_day(as_of, "as_of") or today
    if day > today + timedelta(days=1):  # east of Greenwich it is tomorrow already
        raise InvalidInput(
            f"as_of must not be in the future, got {as_of}; leave it out for today.",
            details={"field": "as_of"},
        )
    return day.isoformat()


def check_k(k: int, default: int, name: str = "k", most: int = MAX_K) -> int:
    """How many; the default when 0. Raises InvalidInput."""
    if not 0 <= k <= most:
        raise InvalidInput(f"{name} must be 1 to {most}.", details={"field": name, "limit": str(most)})
    return k or default


def check_route(route: str) -> Route:
    """The route; auto when empty. Raises InvalidInput."""
    if route in ("", "auto"):
        return "auto"
    if route == "local":
        return "local"
    if route == "web":
        return "web"
    raise InvalidInput("route must be auto, local or web.", details={"field": "route"})


def build(
    text: str,
    limits: Limits,
    *,
    history: Sequence[Turn] = (),
    as_of: str = "",
    route: str = "",
    k: int = 0,
    j: int = 0,
    filters: Filters = _EVERYTHING,
    model: str = "",
    max_tokens: int = 0,
    temperature: float | None = None,
    stop: tuple[str, ...] = (),
    top_p: float | None = None,
    seed: int | None = None,
    tenant: str = "",
    strict: bool = False,
    may_fetch: bool = True,
) -> Question:
    """A question that may be asked.

    Raises:
        InvalidInput: a value is wrong; details name the field.
        TooLarge: a value is over its limit.
    """
    wanted = check_route(route)
    question = check_text(text, limits)
    j_wanted = check_k(j, 0, "j", MAX_J)
    k_wanted = check_k(k, max(limits.k, j_wanted))
    if j_wanted > k_wanted:
        raise InvalidInput(f"j must not be more than k, got j={j_wanted} and k={k_wanted}.", details={"field": "j"})
    return Question(
        text=question,
        as_of=check_as_of(as_of),
        k=k_wanted,
        j=j_wanted or min(limits.j, k_wanted),
        history=check_history(history, limits),
        filters=filters,
        route=wanted,
        model=model,
        max_tokens=max_tokens,
        temperature=temperature,
        stop=stop,
        top_p=top_p,
        seed=seed,
        tenant=tenant,
        strict=strict,
        may_fetch=may_fetch,
    )
