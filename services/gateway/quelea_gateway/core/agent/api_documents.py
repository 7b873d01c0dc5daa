"""Documents of APIs, read once and kept for the code."""

from __future__ import annotations

from quelea_kit.errors import NotFound, QueleaError

from quelea_gateway.core.agent.lookup_actions import within
from quelea_gateway.core.agent.work import Work


async def read_document(work: Work, name: str) -> str:
    """The document of an API, which becomes the newest that is known; empty where there is none or it does not come."""
    if work.ports.tools is None:
        return ""
    try:
        document = await within(work, work.ports.tools.details(name))
    except NotFound:
        return ""
    except (QueleaError, TimeoutError):
        return ""
    work.documents.pop(name, None)
    work.documents[name] = document
    return document
