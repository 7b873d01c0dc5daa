"""Who calls, and what he may do: a principal of one tenant, with rights on collections of it."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from quelea_kit.errors import InvalidInput, NotFound, PermissionDenied
from quelea_kit.reach import DEFAULT_COLLECTION, DEFAULT_TENANT, Reach, check_name

EVERY = "*"
"""In place of a collection's name: every collection of the tenant, also those that come later."""


class Right(enum.IntEnum):
    """What may be done with a collection; each has those below it."""

    READ = 1
    """Ask, search, open documents and pages."""
    WRITE = 2
    """Add, replace and remove documents."""
    MANAGE = 3
    """Make and remove the collection."""

    @staticmethod
    def parse(word: str) -> Right:
        """The right of a word: read, write or manage. Raises InvalidInput."""
        try:
            return Right[word.upper()]
        except KeyError:
            raise InvalidInput(f"A right must be read, write or manage, got {word[:40]!r}.") from None

    @property
    def word(self) -> str:
        """As people write it."""
        return self.name.lower()


@dataclass(frozen=True)
class Principal:
    """A caller who was let in. How he proved who he is (a key, a token, a login) is no part of it."""

    subject: str
    """Unique in the deployment: the name of a key, or what a token says who it is for."""
    tenant: str = DEFAULT_TENANT
    rights: Mapping[str, Right] = field(default_factory=dict)
    """Collection, or EVERY, to the highest right on it."""
    administrator: bool = False
    """Runs the deployment: metrics, evaluations, recorded market data. Sees no other tenant's documents."""

    @staticmethod
    def unbounded(subject: str) -> Principal:
        """With every right in the default tenant, as every caller had before there were tenants."""
        return Principal(subject, rights={EVERY: Right.MANAGE}, administrator=True)

    @property
    def owner(self) -> str:
        """Under which his runs, conversations, feedback and budgets are kept. In the default tenant the subject, as
        it was before there were tenants; a subject is printable, so those of two tenants never meet."""
        return self.subject if self.tenant == DEFAULT_TENANT else f"{self.tenant}\x1f{self.subject}"

    def right_on(self, collection: str) -> Right | None:
        """The highest right on a collection."""
        found = [right for name, right in self.rights.items() if name in (EVERY, collection)]
        return max(found, default=None)

    def may(self, right: Right, collection: str) -> bool:
        """Whether he has the right on a collection."""
        has = self.right_on(collection)
        return has is not None and has >= right

    def reach(self, right: Right = Right.READ, collections: Iterable[str] = ()) -> Reach:
        """What he has the right on; of the named collections, when some are.

        Raises:
            NotFound: One is named that he may not read: for him it does not exist.
            PermissionDenied: One that he may read, without the right.
        """
        named = set(collections)
        for name in sorted(named):
            self.require(right, name)
        if named:
            return Reach.of(self.tenant, named)
        if EVERY in self.rights and self.rights[EVERY] >= right:
            return Reach(self.tenant)
        return Reach.of(self.tenant, [name for name in self.rights if name != EVERY and self.may(right, name)])

    def require(self, right: Right, collection: str = DEFAULT_COLLECTION) -> None:
        """Raises NotFound where he may not read the collection, PermissionDenied where only the right is missing."""
        check_name(collection, "collection")
        has = self.right_on(collection)
        if has is None:
            raise no_collection(collection)
        if has < right:
            raise PermissionDenied(
                f"This needs the right to {right.word} collection {collection!r}; you may only {has.word} it.",
                details={"collection": collection, "right": right.word},
            )

    def require_administrator(self) -> None:
        """Raises PermissionDenied."""
        if not self.administrator:
            raise PermissionDenied("This needs an administrator's key.", details={"right": "administrator"})


def no_collection(name: str) -> NotFound:
    """What is said of a collection that is not there, and of one that the caller may not see."""
    return NotFound(f"There is no collection {name!r}.", details={"collection": name})
