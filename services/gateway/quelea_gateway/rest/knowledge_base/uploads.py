"""POST /v1/documents: files or a page's address come in, jobs go out. The server opens no path that a caller names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import models_json_schema
from quelea.common.v1 import common_pb2
from quelea.search.v1 import search_pb2
from quelea_kit.errors import InvalidInput, QueleaError, TooLarge
from starlette.datastructures import UploadFile

from quelea_gateway.adapters.services.search import PIECE
from quelea_gateway.gateway import Gateway
from quelea_gateway.rest.error_schemas import ERRORS, ErrorInner
from quelea_gateway.rest.fields import Collection
from quelea_gateway.rest.knowledge_base.metadata import MetadataIn, metadata_for
from quelea_gateway.rest.state import gateway_of, key_of, principal_of, write_in
from quelea_gateway.rest.transport.body import read_whole
from quelea_gateway.rest.transport.errors import body_of, error_headers
from quelea_gateway.rest.transport.streams import while_there

router = APIRouter(tags=["documents"])

_LONGEST_NAME = 255


class AcceptedOut(BaseModel):
    """A file that was taken in."""

    id: str
    filename: str


class RefusedOut(BaseModel):
    """A file that was not, while others were."""

    filename: str
    error: ErrorInner


class UploadedOut(BaseModel):
    """One job for each file taken in, in the order of the files; `errors` names the others."""

    jobs: list[AcceptedOut]
    errors: list[RefusedOut]


class UrlIn(BaseModel):
    """A page of the web that is to become a document."""

    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, Field(pattern=r"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]", max_length=2000)]
    metadata: MetadataIn = Field(default=MetadataIn(), description="Every field given wins over what the page says.")
    collection: Collection = ""


def schemas() -> dict[str, Any]:
    """The components of the OpenAPI document that the route's body refers to; FastAPI does not see it by itself."""
    _, found = models_json_schema([(UrlIn, "validation")], ref_template="#/components/schemas/{model}")
    return dict(found["$defs"])


_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/UrlIn"}},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "string", "contentMediaType": "application/octet-stream"},
                        },
                        "metadata": {
                            "type": "string",
                            "description": "JSON: an array in the files' order, an object by file name, or one object "
                            "for all. Fields: title, uri, company, company_aliases, ticker, document_type, period, "
                            "published, language. The field may also be repeated, once for each file.",
                        },
                        "collection": {
                            "type": "string",
                            "maxLength": 40,
                            "description": "Where they go; `default` when left out. The key needs the right to write.",
                        },
                    },
                }
            },
        },
    }
}


def clean_name(name: str | None) -> str:
    """The last part of a file name, without control characters."""
    last = PurePosixPath((name or "").replace("\\", "/")).name
    printable = "".join(c for c in last if c.isprintable()).strip()
    return printable[-_LONGEST_NAME:] if printable.strip(".") else "document"


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    await file.seek(0)
    while piece := await file.read(PIECE):
        yield piece


async def _submit(
    gateway: Gateway, name: str, file: UploadFile, metadata: common_pb2.DocumentMetadata, limit: int
) -> search_pb2.Job:
    if limit and (file.size or 0) > limit:
        raise TooLarge(
            f"{name} has {file.size:,} bytes; the limit for one document is {limit:,}.",
            details={"limit": str(limit), "filename": name},
        )
    info = search_pb2.DocumentInfo(filename=name, metadata=metadata)
    return await gateway.search.submit(info, _pieces(file))


async def _submit_all(
    gateway: Gateway,
    files: list[UploadFile],
    names: list[str],
    metadata: list[MetadataIn],
    uploader: str,
    collection: str,
) -> tuple[list[AcceptedOut], list[tuple[str, QueleaError]]]:
    limit = (await gateway.search.info()).max_document_bytes
    taken: list[AcceptedOut] = []
    refused: list[tuple[str, QueleaError]] = []
    for name, file, given in zip(names, files, metadata, strict=True):
        said = given.wire()
        said.uploader, said.collection = uploader, collection
        try:
            job = await _submit(gateway, name, file, said, limit)
        except QueleaError as error:
            refused.append((name, error))
        else:
            taken.append(AcceptedOut(id=job.id, filename=name))
    return taken, refused


def _answer(
    taken: list[AcceptedOut], refused: list[tuple[str, QueleaError]], path: str
) -> tuple[dict[str, Any], QueleaError | None]:
    errors = [{"filename": name, **body_of(error, path)} for name, error in refused]
    if taken:
        return {"jobs": [job.model_dump() for job in taken], "errors": errors}, None
    first = refused[0][1]
    body = body_of(first, path)
    if len(errors) > 1:
        body["error"]["details"]["errors"] = errors
    return body, first


def _url_of(data: bytes) -> UrlIn:
    """Raises InvalidInput with the first fault."""
    try:
        submitted = UrlIn.model_validate_json(data)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in fault["loc"]) or "body"
        raise InvalidInput(f"{where}: {fault['msg']}", details={"field": where}) from error
    if any(not c.isprintable() or c.isspace() for c in submitted.url) or not _has_host(submitted.url):
        raise InvalidInput("url must be the address of a web page, for example https://example.com/page.", details=_URL)
    if submitted.metadata.uri:
        raise InvalidInput(
            "Leave metadata.uri out: the uri of a web page is its address.", details={"field": "metadata.uri"}
        )
    return submitted


_URL = {"field": "url"}


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


async def _add_page(request: Request, gateway: Gateway) -> Response:
    submitted = _url_of(await read_whole(request.headers, request.receive, gateway.settings.max_body_bytes))
    await write_in(request, submitted.collection)
    said = submitted.metadata.wire(common_pb2.PROVENANCE_WEB)
    said.collection = submitted.collection
    wanted = search_pb2.SubmitUrlRequest(url=submitted.url, metadata=said)
    gateway.usage.count(key_of(request), uploads=1)
    job = await while_there(request, gateway.search.submit_url(wanted))
    taken = UploadedOut(jobs=[AcceptedOut(id=job.id, filename=job.filename or submitted.url)], errors=[])
    return JSONResponse(taken.model_dump(), 202)


@router.post(
    "/v1/documents",
    status_code=202,
    response_model=UploadedOut,
    responses=ERRORS,
    openapi_extra=_BODY,
    summary="Upload documents or add a web page",
)
async def upload(request: Request) -> Response:
    """Hands every file, or the page under an address, over to the ingestion and answers with one job for each.

    When some files are refused and others are not, the answer is 202 and `errors` says which and why. When none was
    taken in, the answer is the first file's error.
    """
    gateway = gateway_of(request)
    kind = request.headers.get("content-type", "").lower()
    if "application/json" in kind:
        return await _add_page(request, gateway)
    if "multipart/form-data" not in kind:
        message = 'Send files as multipart/form-data, in fields named files; or as JSON {"url": "https://…"}.'
        raise InvalidInput(message, details={"field": "files"})
    most = gateway.settings.max_upload_files
    async with request.form(max_files=most, max_fields=most + 10) as form:
        files = [item for item in form.getlist("files") if isinstance(item, UploadFile)]
        unknown = sorted(set(form) - {"files", "metadata", "collection"})
        if unknown:
            raise InvalidInput(
                f"Unknown form field {unknown[0]!r}; use files, metadata and collection.", details={"field": "files"}
            )
        if not files or len(files) != len(form.getlist("files")):
            raise InvalidInput("No file was sent; send files in the form field files.", details={"field": "files"})
        submitted = [item for item in form.getlist("metadata") if isinstance(item, str)]
        if len(submitted) != len(form.getlist("metadata")):
            raise InvalidInput("metadata must be a text field, not a file.", details={"field": "metadata"})
        collection = form.get("collection", "")
        if not isinstance(collection, str):
            raise InvalidInput("collection must be a text field, not a file.", details={"field": "collection"})
        await write_in(request, collection)
        names = [clean_name(file.filename) for file in files]
        metadata, uploader = metadata_for(names, submitted), principal_of(request).subject
        gateway.usage.count(key_of(request), uploads=len(files))
        handing = _submit_all(gateway, files, names, metadata, uploader, collection)
        taken, refused = await while_there(request, handing)
    body, failed = _answer(taken, refused, request.url.path)
    if failed is None:
        return JSONResponse(body, 202)
    return JSONResponse(body, failed.http_status, headers=error_headers(failed))
