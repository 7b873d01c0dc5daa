"""A bounded queue in which tenants take turns. Plain data without waiting: whoever owns it asks for the next item."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Tenants are served round robin, so that a tenant with a hundred items waits behind its own.

    Args:
        length: Most items in all.
        tenant_length: Most items of one tenant.
    """

    def __init__(self, *, length: int, tenant_length: int) -> None:
        if min(length, tenant_length) < 1:
            raise ValueError("length and tenant_length must be at least 1")
        self._length = length
        self._tenant_length = tenant_length
        self._tenants: OrderedDict[str, deque[T]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def push(self, tenant: str, item: T) -> T | None:
        """Add an item.

        Returns:
            The item that there is no room for: this one; or, when the whole queue is full, the newest one of the
            longest list, so that one tenant cannot fill the queue for all. None when everything fits.
        """
        items = self._tenants.get(tenant)
        mine = len(items) if items else 0
        if mine >= self._tenant_length:
            return item
        displaced: T | None = None
        if self._count >= self._length:
            longest = max(self._tenants, key=lambda name: len(self._tenants[name]))
            if mine + 1 >= len(self._tenants[longest]):
                return item
            displaced = self._tenants[longest].pop()
            self._count -= 1
        self._tenants.setdefault(tenant, deque()).append(item)
        self._count += 1
        return displaced

    def pop(self, wanted: Callable[[T], bool]) -> T | None:
        """The next item in turn that is wanted; None when none is. Its tenant goes to the back."""
        for tenant, items in self._tenants.items():
            for item in items:
                if wanted(item):
                    self.remove(tenant, item)
                    if tenant in self._tenants:
                        self._tenants.move_to_end(tenant)
                    return item
        return None

    def __iter__(self) -> Iterator[T]:
        """All items, tenant by tenant, the next tenant in turn first."""
        for items in self._tenants.values():
            yield from items

    def remove(self, tenant: str, item: T) -> bool:
        """Take out an item whose owner has left; False when it is not there any more."""
        items = self._tenants.get(tenant)
        if items is None or item not in items:
            return False
        items.remove(item)
        self._count -= 1
        if not items:
            del self._tenants[tenant]
        return True
