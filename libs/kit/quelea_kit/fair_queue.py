"""A bounded queue in which tenants take turns: deficit round robin (Shreedhar and Varghese, 1995) over token costs.

Plain data without waiting: whoever owns it asks for the next item when there is room for one.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Turns(Generic[T]):
    """What one tenant has waiting, and what it may still take out in this round."""

    credit: int
    items: deque[tuple[int, T]] = field(default_factory=deque)


class FairQueue(Generic[T]):
    """Each tenant waits behind itself; in a round it may take out items worth `quantum` tokens.

    A tenant that sends a thousand requests waits behind its own; another tenant's first one is served within a round.

    Args:
        quantum: Tokens per tenant and round. A dearer item saves up over several rounds.
        length: Most items in all.
        tenant_length: Most items of one tenant.
    """

    def __init__(self, *, quantum: int, length: int, tenant_length: int) -> None:
        if min(quantum, length, tenant_length) < 1:
            raise ValueError("quantum, length and tenant_length must be at least 1")
        self._quantum = quantum
        self._length = length
        self._tenant_length = tenant_length
        self._tenants: OrderedDict[str, _Turns[T]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def length(self, tenant: str) -> int:
        """Items of a tenant that wait."""
        return len(self._tenants[tenant].items) if tenant in self._tenants else 0

    def full(self, tenant: str) -> bool:
        """Whether an item of this tenant pushed now would be refused."""
        if self.length(tenant) >= self._tenant_length:
            return True
        return self._count >= self._length and self.length(tenant) + 1 >= self._longest()[1]

    def push(self, tenant: str, cost: int, item: T) -> T | None:
        """Add an item behind the tenant's others.

        Returns:
            The item that there is no room for: this one; or, when the whole queue is full, the newest one of the
            tenant that has most, so that one tenant cannot fill the queue for all. None when everything fits.
        """
        if self.full(tenant):
            return item
        displaced: T | None = None
        if self._count >= self._length:
            longest, _ = self._longest()
            _, displaced = self._tenants[longest].items.pop()
            self._count_out(longest)
        self._turns(tenant).items.append((cost, item))
        self._count += 1
        return displaced

    def push_front(self, tenant: str, cost: int, item: T) -> None:
        """Put back an item that had its turn already. Beyond the bounds, for it was counted when it came first."""
        self._turns(tenant).items.appendleft((cost, item))
        self._count += 1

    def pop(
        self, ready: Callable[[str], bool] = lambda tenant: True, *, wanted: Callable[[T], bool] = lambda item: True
    ) -> T | None:
        """The next item in turn that is wanted; None when none is. Tenants that are not ready let the others pass."""
        while (found := self._next(ready, wanted)) is not None:
            tenant, entry = found
            turns = self._tenants[tenant]
            if entry[0] <= turns.credit:
                turns.items.remove(entry)
                turns.credit -= entry[0]
                self._count_out(tenant)
                return entry[1]
            turns.credit += self._quantum
            self._tenants.move_to_end(tenant)
        return None

    def __iter__(self) -> Iterator[T]:
        """All items, tenant by tenant, the next in turn first."""
        for turns in sorted(self._tenants.values(), key=lambda one: one.items[0][0] > one.credit):
            yield from (item for _, item in turns.items)

    def discard(self, tenant: str, item: T) -> bool:
        """Take an item out, whose owner has left; False when it is not there any more."""
        for entry in self._tenants[tenant].items if tenant in self._tenants else ():
            if entry[1] is item:
                self._tenants[tenant].items.remove(entry)
                self._count_out(tenant)
                return True
        return False

    def _next(self, ready: Callable[[str], bool], wanted: Callable[[T], bool]) -> tuple[str, tuple[int, T]] | None:
        for tenant, turns in self._tenants.items():
            if ready(tenant) and (entry := next((one for one in turns.items if wanted(one[1])), None)):
                return tenant, entry
        return None

    def _turns(self, tenant: str) -> _Turns[T]:
        return self._tenants.setdefault(tenant, _Turns(self._quantum))

    def _longest(self) -> tuple[str, int]:
        name = max(self._tenants, key=lambda one: len(self._tenants[one].items))
        return name, len(self._tenants[name].items)

    def _count_out(self, tenant: str) -> None:
        self._count -= 1
        if not self._tenants[tenant].items:
            del self._tenants[tenant]  # and its credit with it: nobody saves up while having nothing to ask
