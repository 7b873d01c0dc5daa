"""What is asked of a Qdrant server, in its words, and its failures in ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
from qdrant_client import models
from qdrant_client.http.exceptions import ApiException
from quelea_kit.errors import Unavailable

from quelea_retriever.adapters.points import COLLECTION, KIND, LANGUAGE, PASSAGE_KIND, SECTION, TENANT, VERSION
from quelea_retriever.adapters.store import Scope, SparseVector


@contextlib.contextmanager
def failures() -> Iterator[None]:
    """Errors of the client and of the server as Unavailable."""
    try:
        yield
    except (ApiException, grpc.RpcError, OSError) as error:
        raise Unavailable(f"Unexpected answer from Qdrant: {error}") from error


def sparse(vector: SparseVector) -> models.SparseVector:
    """A sparse vector as the client takes it."""
    return models.SparseVector(indices=vector[0].tolist(), values=vector[1].tolist())


def keyword(field: str, values: Sequence[str]) -> models.FieldCondition:
    """A field has any of these values."""
    return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))


def has_id(ids: set[str]) -> models.Filter:
    """These points."""
    return models.Filter(must=[models.HasIdCondition(has_id=list(ids))])


def without_tenant() -> models.Filter:
    """Passages that were written before there were tenants."""
    empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=TENANT))
    return models.Filter(must=[keyword(KIND, [PASSAGE_KIND]), empty])


def without_language(version: str = "") -> models.Filter:
    """Passages that were written before a passage had a language; of one version if it is given."""
    must: list[Any] = [models.IsEmptyCondition(is_empty=models.PayloadField(key=LANGUAGE))]
    return models.Filter(must=[*must, keyword(VERSION, [version])] if version else must)


def scope_filter(scope: Scope) -> models.Filter | None:
    """Where to search; None for everywhere."""
    must: list[Any] = [] if scope.only is None else [keyword(VERSION, scope.only)]
    if scope.sections is not None:
        must.append(keyword(SECTION, scope.sections))
    if scope.languages is not None:
        must.append(keyword(LANGUAGE, scope.languages))
    if scope.reach is not None:
        must.append(keyword(TENANT, [scope.reach.tenant]))
        if scope.reach.collections is not None:
            must.append(keyword(COLLECTION, scope.reach.collections))
    if not must and not scope.exclude:
        return None
    return models.Filter(
        must=must or None,
        must_not=[keyword(VERSION, scope.exclude)] if scope.exclude else None,
    )
