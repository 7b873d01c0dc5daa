"""`from quelea import Client, AsyncClient`: the client's names.

The services' wire (distribution quelea-proto) has its modules under this package too, in another folder or beside this
file: `extend_path` finds both. The client is imported when a name of it is asked for, so that what imports the wire
alone does not load an HTTP library.
"""

from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quelea_client import *  # noqa: F403

__path__ = extend_path(__path__, __name__)  # noqa: F405  # every package has it


def __getattr__(name: str) -> Any:
    import quelea_client  # noqa: PLC0415  # see above

    if name in quelea_client.__all__:
        return getattr(quelea_client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
