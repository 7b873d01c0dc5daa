"""A bounded queue in which tenants take turns. Plain data without waiting: whoever owns it asks for the next item."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class TurnQueue(Generic[T]):
    """One lane per tenant, served round robin: who sends a hundred waits behind their own, not others behind them.

    Args:
        length: Most items in all.
        lane_length: Most items of one tenant.
    """

    def __init__(self, *, length: int, lane_length: int) -> None:
        if min(length, lane_length) < 1:
            raise ValueError("length and lane_length must be at least 1")
        self._length = length
        self._lane_length = lane_length
        self._lanes: OrderedDict[str, deque[T]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def push(self, tenant: str, item: T) -> T | None:
        """Add an item.

        Returns:
            The item that there is no room for: this one; or, when the whole queue is full, the newest one of the
            longest lane, so that one tenant cannot fill the queue for all. None when everything fits.
        """
        lane = self._lanes.get(tenant)
        mine = len(lane) if lane else 0
        if mine >= self._lane_length:
            return item
        displaced: T | None = None
        if self._count >= self._length:
            longest = max(self._lanes, key=lambda name: len(self._lanes[name]))
            if mine + 1 >= len(self._lanes[longest]):
                return item
            displaced = self._lanes[longest].pop()
            self._count -= 1
        self._lanes.setdefault(tenant, deque()).append(item)
        self._count += 1
        return displaced

    def pop(self, wanted: Callable[[T], bool]) -> T | None:
        """The next item in turn that is wanted; None when none is. Its tenant goes to the back."""
        for tenant, lane in self._lanes.items():
            for item in lane:
                if wanted(item):
                    self.remove(tenant, item)
                    if tenant in self._lanes:
                        self._lanes.move_to_end(tenant)
                    return item
        return None

    def __iter__(self) -> Iterator[T]:
        """All items, tenant by tenant, the next tenant in turn first."""
        for lane in self._lanes.values():
            yield from lane

    def remove(self, tenant: str, item: T) -> bool:
        """Take out an item whose owner has left; False when it is not there any more."""
        lane = self._lanes.get(tenant)
        if lane is None or item not in lane:
            return False
        lane.remove(item)
        self._count -= 1
        if not lane:
            del self._lanes[tenant]
        return True
