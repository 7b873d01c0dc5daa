"""TLS between services, mutual: one folder a process holds who it is and whom it trusts.

The folder, named by QUELEA_TLS_DIR, has the three files of a Secret as cert-manager writes it: tls.crt (this service's
certificate, with what stands between it and the CA), tls.key, ca.crt. With it every gRPC server of this process wants a
certificate of that CA from its callers, and every channel shows this one and holds the server's DNS names against the
host that it called. Without it everything is plain. The files are read again when they change: new connections have
the new certificate, those that are open live on until the server closes them (max_connection_age_seconds).
"""

from __future__ import annotations

import contextlib
import functools
import ssl
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from prometheus_client import Gauge
from pydantic_settings import BaseSettings, SettingsConfigDict

from quelea_kit.errors import Conflict, PermissionDenied, Unavailable
from quelea_kit.logging import get_logger

log = get_logger(__name__)

EXPIRES = Gauge("quelea_tls_expires_timestamp_seconds", "When this process' certificate expires.", ["folder"])
CERT, KEY, CA = "tls.crt", "tls.key", "ca.crt"
_LOOK_SECONDS = 1.0


class TlsSettings(BaseSettings):
    """QUELEA_TLS_<FIELD>: the same variable in every service, as it is one for the whole process."""

    model_config = SettingsConfigDict(
        env_prefix="QUELEA_TLS_", frozen=True, extra="ignore", use_attribute_docstrings=True
    )

    dir: str = ""
    """Folder with tls.crt, tls.key and ca.crt; empty: services speak without TLS."""


@dataclass(frozen=True)
class Identity:
    """What the files of a folder said when they were read last."""

    cert: bytes
    key: bytes
    ca: bytes
    expires: float
    """Unix time."""


class Folder:
    """A certificate with its key, read again when the files change.

    Args:
        path: The folder.
        mutual: With ca.crt, for both ends of a connection between services. Without: a server for callers from
            outside, who have no certificate.

    Raises:
        Conflict: Something is missing, does not fit together, or has expired.
    """

    def __init__(self, path: Path | str, *, mutual: bool = True) -> None:
        self.path = Path(path)
        self.mutual = mutual
        self._files = [self.path / name for name in ((CERT, KEY, CA) if mutual else (CERT, KEY))]
        self._lock = threading.Lock()
        self._stamp: tuple[tuple[int, int, int], ...] = ()
        self._identity = self._read()
        self._looked = time.monotonic()

    def current(self) -> Identity:
        """The newest that was good; a renewal that does not fit together is logged and not taken."""
        with self._lock:
            if time.monotonic() - self._looked < _LOOK_SECONDS:
                return self._identity
            self._looked = time.monotonic()
            try:
                if self._look() != self._stamp:
                    self._identity = self._read()
                    log.info("certificate_renewed", folder=str(self.path), days=round(self._days(), 1))
            except Conflict as error:
                log.error("certificate_not_renewed", why=error.message)
            return self._identity

    def check(self) -> None:
        """Raises Unavailable once the certificate has expired, as then nobody takes it."""
        if time.time() > self.current().expires:
            raise Unavailable(f"The certificate in {self.path} has expired; renew it, it is read again by itself.")

    def server_credentials(self) -> grpc.ServerCredentials:
        """For a server: each new connection gets the certificate as it is then."""
        told = self.current()

        def made() -> grpc.ServerCertificateConfiguration:
            return grpc.ssl_server_certificate_configuration([(told.key, told.cert)], told.ca if self.mutual else None)

        def fetch() -> Any:  # None for no change, which gRPC documents and its annotations forget
            nonlocal told
            now = self.current()
            if now is told:
                return None
            told = now
            return made()

        return grpc.dynamic_ssl_server_credentials(made(), fetch, require_client_authentication=self.mutual)

    def server_context(self) -> ssl.SSLContext:
        """The same for a server of another protocol, such as HTTP; it asks callers for no certificate."""
        told, newest = self.current(), self._context()

        def greet(connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
            nonlocal told, newest
            now = self.current()
            if now is not told:
                with contextlib.suppress(OSError):  # exchanged again just now: the next connection sees it
                    told, newest = now, self._context()
            connection.context = newest

        first = self._context()
        first.sni_callback = greet  # called for every connection, whether or not it names a host
        return first

    def channel_credentials(self) -> grpc.ChannelCredentials:
        """For a channel, as the files are now."""
        now = self.current()
        return grpc.ssl_channel_credentials(now.ca, now.key, now.cert)

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._files[0], self._files[1])
        return context

    def _days(self) -> float:
        return (self._identity.expires - time.time()) / 86400

    def _look(self) -> tuple[tuple[int, int, int], ...]:
        try:
            return tuple((s.st_mtime_ns, s.st_size, s.st_ino) for s in (file.stat() for file in self._files))
        except OSError as error:
            raise self._cannot(error) from error

    def _read(self) -> Identity:
        for _ in range(5):  # the files may be exchanged while they are read
            self._stamp = self._look()
            try:
                cert, key, *ca = (file.read_bytes() for file in self._files)
            except OSError as error:
                raise self._cannot(error) from error
            expires = self._try(b"".join(ca) or cert)
            if self._look() == self._stamp:
                break
        EXPIRES.labels(str(self.path)).set(expires)
        return Identity(cert, key, b"".join(ca), expires)

    def _cannot(self, error: OSError) -> Conflict:
        wanted = ", ".join(file.name for file in self._files)
        return Conflict(f"TLS: cannot read {error.filename} ({error.strerror}). {self.path} must hold {wanted}.")

    def _try(self, trusted: bytes) -> float:
        """Greet ourselves once in memory, as server and as client; returns when the certificate expires."""
        try:
            server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            client.check_hostname = False  # whether it names the host that is called, each caller sees
            for context in (server, client) if self.mutual else (server,):
                context.load_cert_chain(self._files[0], self._files[1], password=lambda: b"")
            for context in (server, client) if self.mutual else (client,):
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(cadata=trusted.decode())
            if not self.mutual:  # a public CA's, which need not be known here: the certificate vouches for itself
                client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            return _greet(server, client)
        except ssl.SSLCertVerificationError as error:
            raise Conflict(f"TLS: {self._files[0]} is not accepted: {error.verify_message}. {_ADVICE}") from error
        except (ssl.SSLError, ValueError) as error:
            what = "does not belong to" if "KEY_VALUES_MISMATCH" in str(error) else "does not fit together with"
            raise Conflict(f"TLS: {self._files[1]} {what} {CERT} ({error}). {_ADVICE}") from error


_ADVICE = (
    "Issue tls.crt and tls.key anew and together, by a CA that ca.crt holds, for server and client use "
    "(cert-manager: usages server auth, client auth)."
)


def _greet(server: ssl.SSLContext, client: ssl.SSLContext) -> float:
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    there, here = server.wrap_bio(up, down, server_side=True), client.wrap_bio(down, up)
    waiting = [here, there]
    for _ in range(10):
        for end in list(waiting):
            try:
                end.do_handshake()
                waiting.remove(end)
            except ssl.SSLWantReadError:
                pass
        if not waiting:
            return float(ssl.cert_time_to_seconds(str((here.getpeercert() or {})["notAfter"])))
    raise ssl.SSLError("the handshake with ourselves does not end")


def trusting(ca: str) -> ssl.SSLContext | bool:
    """`verify` of an HTTP client of something that is no service of ours: Qdrant, an engine.

    Args:
        ca: File of the CAs that may have signed its certificate; empty: those that the client's library trusts.

    Raises:
        Conflict: There is no such file, or nothing of use in it.
    """
    if not ca:
        return True
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:  # SSLError is one
        raise Conflict(f"TLS: cannot read the CA's certificate {ca} ({error.strerror or error}).") from error


@functools.cache
def folder(path: str) -> Folder:
    """The folder, read once for all servers and channels of a process."""
    return Folder(path)


def from_environment() -> Folder | None:
    """The folder that QUELEA_TLS_DIR names, None when it names none. Raises Conflict as Folder does."""
    path = TlsSettings().dir
    return folder(path) if path else None


class Callers:
    """Who may call a server: DNS names, one of which the caller's certificate must have."""

    def __init__(self, names: tuple[str, ...], tls: Folder | None) -> None:
        if names and not (tls and tls.mutual):
            raise Conflict("ALLOWED_CALLERS names callers, who are known by certificates only: set QUELEA_TLS_DIR.")
        self._names = frozenset(name.lower() for name in names)

    def check(self, context: grpc.aio.ServicerContext[object, object]) -> None:
        """Raises PermissionDenied unless the caller is one of them; nobody is named: all of our CA are."""
        if not self._names:
            return
        names = [bytes(name).decode().lower() for name in context.auth_context().get("peer_dns", ())]
        if self._names.isdisjoint(names):
            raise PermissionDenied(
                f"A caller whose certificate names {', '.join(names) or 'no host'} may not call this service; "
                "its ALLOWED_CALLERS says who may."
            )
