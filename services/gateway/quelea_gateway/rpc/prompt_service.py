"""Prompts over gRPC: wire <-> the same editor as REST."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import grpc
from quelea.gateway.v1 import prompts_pb2 as pb
from quelea.gateway.v1 import prompts_pb2_grpc as pb_grpc

from quelea_gateway.core.prompts import PromptTemplate
from quelea_gateway.gateway import Gateway
from quelea_gateway.prompt_editor import ListedVersion

SERVICE = "quelea.gateway.v1.PromptService"
_KINDS = {
    "same": pb.PROMPT_LINE_KIND_SAME,
    "removed": pb.PROMPT_LINE_KIND_REMOVED,
    "added": pb.PROMPT_LINE_KIND_ADDED,
}
Context = grpc.aio.ServicerContext[Any, Any]


def _template(one: PromptTemplate) -> pb.PromptTemplate:
    return pb.PromptTemplate(
        name=one.name,
        language=one.language,
        version=one.version,
        text=one.text,
        editable=one.is_editable,
        built_in=one.is_built_in,
    )


def _version(one: ListedVersion) -> pb.PromptVersion:
    return pb.PromptVersion(
        version=one.version,
        text=one.text,
        built_in=one.is_built_in,
        active=one.is_active,
        created=one.created,
        author=one.author,
        note=one.note,
        based_on=one.based_on,
        problems=one.problems,
    )


class PromptServicer(pb_grpc.PromptServiceServicer):
    """The rpcs, for administrators.

    Args:
        gateway: Its editor and rules.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._editor = gateway.prompts

    @contextlib.contextmanager
    def _administrator(self, context: Context) -> Iterator[str]:
        """Who calls. Raises PermissionDenied for anybody who may not administer."""
        with self._gateway.admitted(context) as caller:
            caller.principal.require_administrator()
            yield caller.principal.subject

    async def ListTemplates(  # noqa: N802  # the name of the rpc
        self, request: pb.ListTemplatesRequest, context: Context
    ) -> pb.ListTemplatesResponse:
        """Every template as it is in force."""
        with self._administrator(context):
            found, problems = await self._editor.templates()
            return pb.ListTemplatesResponse(templates=map(_template, found), problems=problems)

    async def ListVersions(  # noqa: N802  # the name of the rpc
        self, request: pb.ListVersionsRequest, context: Context
    ) -> pb.ListVersionsResponse:
        """Newest first; the built-in one is the last."""
        with self._administrator(context):
            found = await self._editor.versions(request.name, request.language)
            return pb.ListVersionsResponse(versions=map(_version, found))

    async def SaveVersion(  # noqa: N802  # the name of the rpc
        self, request: pb.SaveVersionRequest, context: Context
    ) -> pb.SaveVersionResponse:
        """A new version, not in force yet."""
        with self._administrator(context) as author:
            saved = await self._editor.add(
                request.name,
                request.language,
                request.text,
                author=author,
                note=request.note,
                based_on=request.based_on,
            )
            return pb.SaveVersionResponse(version=_version(saved))

    async def DeleteVersion(  # noqa: N802  # the name of the rpc
        self, request: pb.DeleteVersionRequest, context: Context
    ) -> pb.DeleteVersionResponse:
        """Forget a version."""
        with self._administrator(context) as author:
            await self._editor.delete(request.name, request.language, request.version, author=author)
            return pb.DeleteVersionResponse()

    async def CompareVersions(  # noqa: N802  # the name of the rpc
        self, request: pb.CompareVersionsRequest, context: Context
    ) -> pb.CompareVersionsResponse:
        """Two versions, line by line."""
        with self._administrator(context):
            before, after, lines = await self._editor.compare(
                request.name, request.language, request.before or "built-in", request.after or "active"
            )
            told = [pb.PromptLine(kind=_KINDS[kind], text=text) for kind, text in lines]
            return pb.CompareVersionsResponse(before=before.version, after=after.version, lines=told)

    async def ActivateVersion(  # noqa: N802  # the name of the rpc
        self, request: pb.ActivateVersionRequest, context: Context
    ) -> pb.ActivateVersionResponse:
        """Put a version in force."""
        with self._administrator(context) as author:
            now = await self._editor.activate(request.name, request.language, request.version, author=author)
            return pb.ActivateVersionResponse(template=_template(now))

    async def RollBackVersion(  # noqa: N802  # the name of the rpc
        self, request: pb.RollBackVersionRequest, context: Context
    ) -> pb.RollBackVersionResponse:
        """Put in force what was before."""
        with self._administrator(context) as author:
            now = await self._editor.roll_back(request.name, request.language, author=author)
            return pb.RollBackVersionResponse(template=_template(now))
