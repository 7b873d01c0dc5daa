"""How much may run: limits of a process, and budgets of a tenant over a day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from quelea_kit.errors import Overloaded

from quelea_gateway.core.agent.model import ENDED, Run


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How much may run.

    Attributes:
        running, running_per_tenant: Runs at once in this process.
        queued, queued_per_tenant: Runs that wait; of one more the caller is told to come back.
        tenant_runs, tenant_steps, tenant_tokens, tenant_seconds, tenant_calls: Of one tenant in 24 hours, over all
            gateways that share the store; 0: no such limit.
        kept, kept_per_tenant, kept_seconds: Sessions of finished runs that wait for a follow-up in this process, and
            for how long; 0: none does.
        beat_seconds: How often a running run says that it lives; silent for four beats it counts as interrupted.
    """

    running: int = 4
    running_per_tenant: int = 2
    queued: int = 64
    queued_per_tenant: int = 16
    tenant_runs: int = 0
    tenant_steps: int = 0
    tenant_tokens: int = 0
    tenant_seconds: float = 0.0
    tenant_calls: int = 0
    kept: int = 2
    kept_per_tenant: int = 1
    kept_seconds: float = 600.0
    beat_seconds: float = 5.0

    @property
    def daily(self) -> dict[str, float]:
        """The tenant's limits that are set."""
        limits = {
            "runs": self.tenant_runs,
            "steps": self.tenant_steps,
            "tokens": self.tenant_tokens,
            "seconds": self.tenant_seconds,
            "calls": self.tenant_calls,
        }
        return {name: limit for name, limit in limits.items() if limit}


def check_queue(waiting: int, own: int, limits: RunLimits) -> None:
    """Whether one more may wait. Raises Overloaded."""
    if waiting < limits.queued and own < limits.queued_per_tenant:
        return
    limit = limits.queued_per_tenant if own >= limits.queued_per_tenant else limits.queued
    raise Overloaded(
        f"{limit} runs are waiting already; try again when one has ended.",
        details={"limit": str(limit)},
        retry_after=10.0,
    )


def check_day(runs: Sequence[Run], limits: RunLimits, now: datetime) -> None:
    """Whether a tenant's budget of the last 24 hours is used up by its runs. Raises Overloaded."""
    since = now - timedelta(days=1)
    recent = [one for one in runs if datetime.fromisoformat(one.created) > since]
    for name, limit in limits.daily.items():
        if name == "runs":
            used = float(len(recent))
        else:  # what runs now counts with all that it may still use
            used = float(sum(getattr(one.usage if one.state in ENDED else one.budget, name) for one in recent))
        if used >= limit:
            oldest = min(datetime.fromisoformat(one.created) for one in recent)
            raise Overloaded(
                f"The agent's budget of 24 hours is used up: {used:,.0f} of {limit:,.0f} {name}.",
                details={"limit": str(limit), "used": str(used), "of": name},
                retry_after=max(1.0, (oldest - since).total_seconds()),
            )
