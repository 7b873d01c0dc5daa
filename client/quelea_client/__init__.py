"""Quelea from Python: questions with cited answers, figures as tables, documents in, files out."""

from quelea_client.async_client import AsyncClient
from quelea_client.client import Client
from quelea_client.errors import (
    ApiError,
    Conflict,
    InvalidInput,
    JobFailed,
    MissingExtra,
    NotFound,
    NotRunning,
    PermissionDenied,
    QueleaError,
    RateLimited,
    ServerFailed,
    TimedOut,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
)
from quelea_client.events import Delta, RunEvent, ServerEvent, UploadProgress
from quelea_client.models import Answer, Grounding, Quotes, Started

__all__ = [
    "Answer",
    "ApiError",
    "AsyncClient",
    "Client",
    "Conflict",
    "Delta",
    "Grounding",
    "InvalidInput",
    "JobFailed",
    "MissingExtra",
    "NotFound",
    "NotRunning",
    "PermissionDenied",
    "QueleaError",
    "Quotes",
    "RateLimited",
    "RunEvent",
    "ServerEvent",
    "ServerFailed",
    "Started",
    "TimedOut",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedAnswer",
    "Unreachable",
    "UploadProgress",
]
