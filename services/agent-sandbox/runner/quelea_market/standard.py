"""The standard library: http.client (which urllib and urllib3 use), urllib's errors, sockets that lead nowhere."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from quelea_market import door
from quelea_market.errors import ONLY_HTTP, MarketError, NoNetwork, NoRoute


def target_of(connection: Any) -> str:
    """Where a connection of http.client or urllib3 is meant to go, tunnel or not."""
    tunnel = getattr(connection, "_tunnel_host", None)
    if tunnel:
        return door.upstream("https", tunnel, getattr(connection, "_tunnel_port", None))
    scheme = "https" if getattr(connection, "default_port", 80) == 443 else "http"
    return door.upstream(scheme, connection.host, connection.port)


def connect(connection: Any) -> None:
    """In place of a connection to the host: one to the door."""
    connection.sock = door.dial(connection.timeout)


def patch_http_client(module: ModuleType) -> None:
    """Connections go to the door, requests say where they are meant to go, refusals are raised."""
    plain, tls = module.HTTPConnection, module.HTTPSConnection
    end_headers, get_response = plain.endheaders, plain.getresponse

    def endheaders(self: Any, *args: Any, **options: Any) -> Any:
        self.putheader("X-Quelea-Token", door.token())
        self.putheader("X-Quelea-Upstream", target_of(self))
        return end_headers(self, *args, **options)

    def getresponse(self: Any, *args: Any, **options: Any) -> Any:
        response = get_response(self, *args, **options)
        door.check(response, target_of(self))
        return response

    plain.connect = connect
    tls.connect = connect
    plain.endheaders = endheaders
    plain.getresponse = getresponse


def patch_urllib(module: ModuleType) -> None:
    """What the door says becomes urllib's own error; FTP leads nowhere."""
    handler = module.AbstractHTTPHandler
    original = handler.do_open

    def do_open(self: Any, *args: Any, **options: Any) -> Any:
        try:
            return original(self, *args, **options)
        except MarketError as error:
            raise module.URLError(error) from error

    def ftp_open(self: Any, request: Any) -> Any:
        raise module.URLError(NoNetwork(ONLY_HTTP))

    handler.do_open = do_open
    module.FTPHandler.ftp_open = ftp_open


def patch_socket(module: ModuleType) -> None:
    """Sockets that would leave the container say why they cannot, instead of a bare "operation not permitted"."""
    originals = {name: getattr(module, name) for name in ("create_connection", "getaddrinfo")}
    original = module.socket.__init__

    def create_connection(address: Any, *args: Any, **options: Any) -> Any:
        if door.leads_over_tcp():
            return originals["create_connection"](address, *args, **options)
        raise NoRoute(f"{ONLY_HTTP} (asked for {address!r})")

    def getaddrinfo(host: Any, *args: Any, **options: Any) -> Any:
        if door.leads_over_tcp():
            return originals["getaddrinfo"](host, *args, **options)
        raise module.gaierror(module.EAI_FAIL, f"{ONLY_HTTP} (asked for {host!r})")

    def initialise(self: Any, *args: Any, **options: Any) -> None:
        try:
            original(self, *args, **options)
        except PermissionError as error:
            raise NoRoute(error.errno, ONLY_HTTP) from error

    module.socket.__init__ = initialise
    module.create_connection = create_connection
    module.getaddrinfo = getaddrinfo
