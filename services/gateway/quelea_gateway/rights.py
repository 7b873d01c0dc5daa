"""What a caller may do in a call, and what the rest of it is bounded by (quelea_kit.reach)."""

from __future__ import annotations

from collections.abc import Sequence

from quelea_kit.errors import NotFound, PermissionDenied
from quelea_kit.reach import DEFAULT_COLLECTION, Reach, check_name, within

from quelea_gateway.adapters.services.retriever import RetrieverClient
from quelea_gateway.adapters.services.search import SearchClient
from quelea_gateway.core.callers.access import Principal, Right, no_collection


async def readable(search: SearchClient, principal: Principal, collections: Sequence[str] = ()) -> Reach:
    """What a call may see: the named collections, or all that the caller may read.

    Raises:
        NotFound: A collection that is not there, or that the caller may not read.
    """
    reach = principal.reach(Right.READ, collections)
    if collections:
        await _check(search, principal, collections)
    return reach


async def writable(search: SearchClient, principal: Principal, collection: str = "") -> Reach:
    """What a call may write to: one collection, the default one when none is named.

    Raises:
        NotFound: It is not there, or the caller may not read it.
        PermissionDenied: He may read it, and no more.
    """
    named = collection or DEFAULT_COLLECTION
    reach = principal.reach(Right.WRITE, [named])
    await _check(search, principal, [named])
    return reach


async def deletable(retriever: RetrieverClient, principal: Principal, document_id: str) -> Reach:
    """What a call may remove that names a document.

    A document that is not indexed yet, or no longer, is looked for where the caller may write.

    Raises:
        PermissionDenied: He may see the document, and not remove it.
    """
    try:
        found = await retriever.document(document_id)
    except NotFound:
        return principal.reach(Right.WRITE)
    return principal.reach(Right.WRITE, [found.metadata.collection or DEFAULT_COLLECTION])


def check_manage(principal: Principal, name: str) -> None:
    """Raises PermissionDenied, whether there is such a collection or not."""
    if not principal.may(Right.MANAGE, check_name(name, "name")):
        raise PermissionDenied(
            f"This needs the right to manage collection {name!r}.",
            details={"collection": name, "right": Right.MANAGE.word},
        )


async def _check(search: SearchClient, principal: Principal, collections: Sequence[str]) -> None:
    if all(name == DEFAULT_COLLECTION for name in collections):
        return
    with within(principal.reach()):
        there = {one.name for one in await search.collections()}
    for name in sorted(collections):
        if name not in there:
            raise no_collection(name)
