"""The digest of new filings by mail: one for each look that found some, through the operator's own mail server."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

import aiosmtplib
import stamina
from quelea_kit.logging import get_logger

from quelea_search.filings.settings import FilingSettings

log = get_logger(__name__)
_TRIES = 3
_LINES = 200
_NAMED = 3
_TRANSIENT = range(400, 500)
"""Replies that a mail server gives when a later try may succeed (RFC 5321, 4.2.1)."""


class Mail:
    """A mail server that the operator named.

    Args:
        settings: filings_mail_*; without a host nobody is told.
        tls: Which certificates are trusted; None: those of this machine (SSL_CERT_FILE names others).
    """

    def __init__(self, settings: FilingSettings, tls: ssl.SSLContext | None = None) -> None:
        self._settings = settings
        self._tls = tls

    async def tell(self, filings: Sequence[Mapping[str, str]]) -> bool:
        """Send one mail; False when there is nobody to tell, or it could not be sent, which the log says.

        A server that breaks off after it took the mail may deliver it twice.
        """
        if not self._settings.filings_mail_host or not filings:
            return False
        message = make_message(filings, self._settings.filings_mail_from, self._settings.mail_recipients)
        seconds = self._settings.filings_mail_seconds
        refused = 0
        try:
            async with asyncio.timeout(_TRIES * seconds):
                async for attempt in stamina.retry_context(
                    on=_is_passing, attempts=_TRIES, timeout=None, wait_initial=0.5, wait_max=5.0
                ):
                    with attempt:
                        async with asyncio.timeout(seconds):
                            refused = await self._send(message)
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:  # a TimeoutError is an OSError
            # Only the kind and the code: a server may repeat what it was sent.
            log.warning("mail_not_sent", why=type(error).__name__, code=getattr(error, "code", 0), filings=len(filings))
            return False
        if refused:
            log.warning("mail_recipients_refused", recipients=refused)
        log.info("mail_sent", filings=len(filings))
        return True

    async def _send(self, message: EmailMessage) -> int:
        """Send it once; how many recipients were refused. Raises SMTPException, OSError."""
        settings = self._settings
        password = settings.filings_mail_password.get_secret_value()
        refused, _ = await aiosmtplib.send(
            message,
            hostname=settings.filings_mail_host,
            port=settings.filings_mail_port,
            username=settings.filings_mail_user or None,
            password=password or None,
            use_tls=settings.filings_mail_security == "tls",
            start_tls=settings.filings_mail_security == "starttls",
            tls_context=self._tls,
            timeout=settings.filings_mail_seconds,
        )
        return len(refused)


def list_filings(filings: Sequence[Mapping[str, str]]) -> list[str]:
    """A line for each filing."""
    return [f"{one['company']} {one['form']}, filed {one['filed']}: {one['url']}" for one in filings]


def make_message(filings: Sequence[Mapping[str, str]], sender: str, recipients: Sequence[str]) -> EmailMessage:
    """The mail: companies in its subject, a line for each of the first 200 filings."""
    companies = list(dict.fromkeys(" ".join(one["company"].split()) for one in filings))
    named = ", ".join(companies[:_NAMED]) + (", …" if len(companies) > _NAMED else "")
    lines = [" ".join(line.split()) for line in list_filings(filings[:_LINES])]
    if len(filings) > _LINES:
        lines.append(f"… and {len(filings) - _LINES} more")
    message = EmailMessage()
    message["Subject"] = f"{len(filings)} new filing{'' if len(filings) == 1 else 's'}: {named}"
    message["From"] = sender
    message["To"] = ", ".join(recipients)
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("\n".join(lines) + "\n")
    return message


def _is_passing(error: Exception) -> bool:
    """Whether the next try may succeed: the server was away, broke off, or said "later"."""
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return error.code in _TRANSIENT
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        return all(one.code in _TRANSIENT for one in error.recipients)
    if isinstance(error, ssl.SSLError):
        return False
    return isinstance(error, OSError | aiosmtplib.SMTPServerDisconnected)
