"""The reach of a call (reach.py) in its metadata, sent by channels and received by servers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import grpc

from quelea_kit import reach
from quelea_kit.errors import InvalidInput
from quelea_kit.reach import Reach
from quelea_kit.rpc.channels import MetadataChannel, Metadatum

_KEY = "quelea-reach"


def read_reach(context: grpc.aio.ServicerContext[Any, Any]) -> Reach:
    """The reach that a call came with. Raises InvalidInput when what it carries is none."""
    told = dict(context.invocation_metadata() or ()).get(_KEY)
    if told is None:
        return Reach()
    try:
        said = json.loads(told)
        return Reach.of(said["tenant"], said.get("collections"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"The metadata {_KEY} must be a JSON object with a tenant.") from error


class ReachChannel(MetadataChannel):
    """Sends the reach of the task that calls along with each call."""

    def metadata(self) -> Iterable[Metadatum]:
        """The reach; nothing where nobody set one."""
        told = reach.current_or_none()
        if told is None:
            return ()
        said: dict[str, Any] = {"tenant": told.tenant}
        if told.collections is not None:
            said["collections"] = told.collections
        return ((_KEY, json.dumps(said)),)
