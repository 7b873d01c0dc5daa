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
class _Lane(Generic[T]):
    credit: int
    items: deque[tuple[int, T]] = field(default_factory=deque)


class FairQueue(Generic[T]):
    """One lane per tenant; in a round every lane may take out items worth `quantum` tokens.

    A tenant that sends a thousand requests waits behind its own; another tenant's first one is served within a round.

    Args:
        quantum: Tokens per lane and round. A dearer item saves up over several rounds.
        length: Most items in all.
        lane_length: Most items of one lane.
    """

    def __init__(self, *, quantum: int, length: int, lane_length: int) -> None:
        if min(quantum, length, lane_length) < 1:
            raise ValueError("quantum, length and lane_length must be at least 1")
        self._quantum = quantum
        self._length = length
        self._lane_length = lane_length
        self._lanes: OrderedDict[str, _Lane[T]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def length(self, lane: str) -> int:
        """Items that wait in a lane."""
        return len(self._lanes[lane].items) if lane in self._lanes else 0

    def full(self, lane: str) -> bool:
        """Whether an item pushed into this lane now would be refused."""
        if self.length(lane) >= self._lane_length:
            return True
        return self._count >= self._length and self.length(lane) + 1 >= self._longest()[1]

    def push(self, lane: str, cost: int, item: T) -> T | None:
        """Add an item at the lane's end.

        Returns:
            The item that there is no room for: this one; or, when the whole queue is full, the newest one of the
            longest lane, so that one tenant cannot fill the queue for all. None when everything fits.
        """
        if self.full(lane):
            return item
        displaced: T | None = None
        if self._count >= self._length:
            longest, _ = self._longest()
            _, displaced = self._lanes[longest].items.pop()
            self._removed(longest)
        self._lane(lane).items.append((cost, item))
        self._count += 1
        return displaced

    def push_front(self, lane: str, cost: int, item: T) -> None:
        """Put back an item that had its turn already. Beyond the bounds, for it was counted when it came first."""
        self._lane(lane).items.appendleft((cost, item))
        self._count += 1

    def pop(
        self, ready: Callable[[str], bool] = lambda lane: True, *, wanted: Callable[[T], bool] = lambda item: True
    ) -> T | None:
        """The next item in turn that is wanted; None when none is. Lanes that are not ready let the others pass."""
        while (found := self._next(ready, wanted)) is not None:
            name, entry = found
            lane = self._lanes[name]
            if entry[0] <= lane.credit:
                lane.items.remove(entry)
                lane.credit -= entry[0]
                self._removed(name)
                return entry[1]
            lane.credit += self._quantum
            self._lanes.move_to_end(name)
        return None

    def __iter__(self) -> Iterator[T]:
        """All items, lane by lane, the next lane in turn first."""
        for lane in sorted(self._lanes.values(), key=lambda one: one.items[0][0] > one.credit):
            yield from (item for _, item in lane.items)

    def discard(self, lane: str, item: T) -> bool:
        """Take an item out, whose owner has left; False when it is not there any more."""
        for entry in self._lanes[lane].items if lane in self._lanes else ():
            if entry[1] is item:
                self._lanes[lane].items.remove(entry)
                self._removed(lane)
                return True
        return False

    def _next(self, ready: Callable[[str], bool], wanted: Callable[[T], bool]) -> tuple[str, tuple[int, T]] | None:
        for name, lane in self._lanes.items():
            if ready(name) and (entry := next((one for one in lane.items if wanted(one[1])), None)):
                return name, entry
        return None

    def _lane(self, name: str) -> _Lane[T]:
        return self._lanes.setdefault(name, _Lane(self._quantum))

    def _longest(self) -> tuple[str, int]:
        name = max(self._lanes, key=lambda one: len(self._lanes[one].items))
        return name, len(self._lanes[name].items)

    def _removed(self, lane: str) -> None:
        self._count -= 1
        if not self._lanes[lane].items:
            del self._lanes[lane]  # and its credit with it: nobody saves up while having nothing to ask
