"""The digest by mail, against a mail server on loopback."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import ValidationError
from quelea_search.filings.adapters.digest import make_digest
from quelea_search.filings.adapters.mail import Mail, make_message
from quelea_search.settings import SearchSettings
from structlog.testing import capture_logs

PASSWORD = "correct horse"
FILING = {
    "company": "Netflix, Inc.", "ticker": "NFLX", "id": "1", "form": "10-K", "title": "Annual report",
    "filed": "2025-01-27", "url": "https://www.sec.gov/nflx.htm",
}  # fmt: skip


class Box:
    """Takes mail, and may refuse first."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.seen: list[Envelope] = []
        self.tries = 0
        self.secure: list[bool] = []
        self.signed_in: list[bool] = []

    async def handle_DATA(self, _: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802  # aiosmtpd's name
        self.tries += 1
        if self.replies:
            return self.replies.pop(0)
        self.seen.append(envelope)
        self.secure.append(session.ssl is not None)
        self.signed_in.append(bool(session.authenticated))
        return "250 taken"

    async def handle_RCPT(  # noqa: N802
        self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        if address.startswith("gone"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    def check(self, _: SMTP, __: Session, ___: Envelope, ____: str, data: Any) -> AuthResult:
        ok = isinstance(data, LoginPassword) and (data.login, data.password) == (b"quelea", PASSWORD.encode())
        return AuthResult(success=ok, handled=False)


@asynccontextmanager
async def serving(make: Callable[[], asyncio.Protocol], tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server on loopback; its port."""
    server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def settings(port: int, **more: Any) -> SearchSettings:
    mail: dict[str, Any] = {
        "filings_mail_host": "127.0.0.1", "filings_mail_port": port, "filings_mail_from": "quelea@example.com",
        "filings_mail_to": "desk@example.com, risk@example.com", "filings_mail_seconds": 2,
    }  # fmt: skip
    return SearchSettings(**{**mail, **more})


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context, and a client's that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder: Path = tmp_path_factory.mktemp("tls")
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return server, ssl.create_default_context(cafile=str(folder / "cert.pem"))


def encrypted(box: Box, context: ssl.SSLContext) -> Callable[[], SMTP]:
    """A server that wants STARTTLS and a password."""
    return lambda: SMTP(
        box, tls_context=context, require_starttls=True, auth_required=True, authenticator=box.check, hostname="box"
    )


async def test_a_mail_goes_out_under_starttls_with_a_password(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    box = Box()
    async with serving(encrypted(box, tls[0])) as port:
        own = settings(port, filings_mail_user="quelea", filings_mail_password=PASSWORD)
        with capture_logs() as logs:
            assert await Mail(own, tls[1]).tell([FILING])
    (envelope,) = box.seen
    assert (box.secure, box.signed_in) == ([True], [True])
    assert envelope.mail_from == "quelea@example.com"
    assert envelope.rcpt_tos == ["desk@example.com", "risk@example.com"]
    assert isinstance(envelope.content, bytes)
    assert b"Subject: 1 new filing: Netflix, Inc." in envelope.content
    assert b"Netflix, Inc. 10-K, filed 2025-01-27: https://www.sec.gov/nflx.htm" in envelope.content
    assert PASSWORD not in str(logs) + repr(own)


async def test_tls_from_the_beginning(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    box = Box()
    async with serving(lambda: SMTP(box, hostname="box"), tls[0]) as port:
        assert await Mail(settings(port, filings_mail_security="tls"), tls[1]).tell([FILING])
    assert len(box.seen) == 1


async def test_a_wrong_password_is_told_once_and_not_tried_again(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    box = Box()
    async with serving(encrypted(box, tls[0])) as port:
        own = settings(port, filings_mail_user="quelea", filings_mail_password="wrong battery")
        with capture_logs() as logs:
            assert not await Mail(own, tls[1]).tell([FILING])
    (line,) = [one for one in logs if one["event"] == "mail_not_sent"]
    assert (line["why"], line["code"]) == ("SMTPAuthenticationError", 535)
    assert "battery" not in str(logs)
    assert not box.seen


async def test_without_starttls_nothing_is_said(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    box = Box()
    async with serving(lambda: SMTP(box, hostname="box")) as port:
        assert not await Mail(settings(port), tls[1]).tell([FILING])
        assert await Mail(settings(port, filings_mail_security="none")).tell([FILING])
    assert box.tries == 1


async def test_a_certificate_that_nobody_knows_is_refused(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    box = Box()
    async with serving(encrypted(box, tls[0])) as port:
        assert not await Mail(settings(port)).tell([FILING])
    assert box.tries == 0


@pytest.mark.parametrize(("replies", "sent", "tries"), [(["451 later"], True, 2), (["554 never"], False, 1)])
async def test_later_is_tried_again_and_never_is_not(replies: list[str], sent: bool, tries: int) -> None:
    box = Box(*replies)
    async with serving(lambda: SMTP(box, hostname="box")) as port:
        assert await Mail(settings(port, filings_mail_security="none")).tell([FILING]) is sent
    assert box.tries == tries


async def test_one_recipient_who_is_gone_costs_the_others_nothing() -> None:
    box = Box()
    async with serving(lambda: SMTP(box, hostname="box")) as port:
        some = settings(port, filings_mail_security="none", filings_mail_to="gone@example.com,desk@example.com")
        with capture_logs() as logs:
            assert await Mail(some).tell([FILING])
        assert {"mail_recipients_refused", "mail_sent"} <= {one["event"] for one in logs}
        none = settings(port, filings_mail_security="none", filings_mail_to="gone@example.com")
        assert not await Mail(none).tell([FILING])
    assert [one.rcpt_tos for one in box.seen] == [["desk@example.com"]]


async def test_a_silent_server_and_one_that_is_away_end_by_the_deadline() -> None:
    begun = asyncio.get_running_loop().time()
    async with serving(asyncio.Protocol) as port:  # takes connections and says nothing
        own = settings(port, filings_mail_security="none", filings_mail_seconds=0.2)
        with capture_logs() as logs:
            assert not await Mail(own).tell([FILING])
    assert not await Mail(own).tell([FILING])
    assert asyncio.get_running_loop().time() - begun < 10
    assert "Timeout" in next(one["why"] for one in logs if one["event"] == "mail_not_sent")


async def test_nothing_new_or_nobody_named_sends_nothing() -> None:
    assert not await Mail(settings(1)).tell([])
    assert not await Mail(SearchSettings()).tell([FILING])
    assert not await make_digest(SearchSettings()).tell([FILING])


async def test_a_webhook_that_fails_does_not_keep_the_mail_back() -> None:
    box = Box()
    async with serving(lambda: SMTP(box, hostname="box")) as port:
        both = settings(port, filings_mail_security="none", filings_webhook="not an address")
        assert await make_digest(both).tell([FILING])
    assert len(box.seen) == 1


def test_a_long_digest_is_cut_and_no_name_makes_a_header() -> None:
    odd = {**FILING, "company": "贵州茅台\r\nBcc: thief@example.com"}
    message = make_message([odd, *[FILING] * 300], "a@example.com", ["b@example.com"])
    read: EmailMessage = message
    assert read["Bcc"] is None
    assert str(read["Subject"]) == "301 new filings: 贵州茅台 Bcc: thief@example.com, Netflix, Inc."
    lines = read.get_content().splitlines()
    assert len(lines) == 201
    assert lines[0].startswith("贵州茅台 Bcc: thief@example.com 10-K")
    assert lines[-1] == "… and 101 more"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"filings_mail_to": ""}, "need mail addresses"),
        ({"filings_mail_to": "desk"}, "need mail addresses"),
        ({"filings_mail_from": "a@example.com\nBcc: b@example.com"}, "need mail addresses"),
        ({"filings_mail_user": "quelea"}, "together"),
        ({"filings_mail_user": "q", "filings_mail_password": "p", "filings_mail_security": "none"}, "in the clear"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_the_start(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        settings(25, **wrong)
