"""Settings of fetching filings: QUELEA_SEARCH_FILINGS_<FIELD>, in the same class as the other settings."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator
from quelea_kit.settings import ServiceSettings

_ADDRESS = re.compile(r"[!-+\--?A-~]{1,64}@[0-9A-Za-z.-]{1,255}")
"""What goes into the headers From and To as it is: a part of printable ASCII without commas, and a domain."""


class FilingSettings(ServiceSettings):
    """EDGAR and cninfo, through the market-data door."""

    filings_door: str = ""
    """gRPC address of the market-data door; empty: filings are not fetched."""

    filings_door_data: str = ""
    """The door's data side: the path of its UNIX socket, or http://host:port."""

    filings_contact: str = ""
    """Who calls, for the User-Agent: a name and a mail address, "Example Ltd admin@example.com". The SEC refuses calls
    without one; without it EDGAR is only replayed from recordings."""

    filings_years: int = Field(3, ge=1, le=20)
    """Years back that a fetch reaches when it does not say."""

    filings_per_fetch: int = Field(60, gt=0, le=500)
    """Most documents of one fetch, the newest first; the others are counted in its answer."""

    filings_list_seconds: float = Field(90.0, gt=0)
    """Deadline of finding out what there is: the company, its filings, their exhibits."""

    filings_fetch_seconds: float = Field(180.0, gt=0)
    """Deadline of bringing one document, with its retries."""

    filings_watches: int = Field(200, gt=0)
    """Companies that may be watched."""

    filings_watch_hours: float = Field(6.0, gt=0)
    """Hours between two looks at a watched company."""

    filings_look_seconds: float = Field(900.0, gt=0)
    """Seconds between looks for watches that are due, and the longest that a look may take."""

    filings_webhook: SecretStr = SecretStr("")
    """Address that is told of new filings of watched companies: a POST of JSON, `text` for chats and `filings`."""

    filings_mail_host: str = ""
    """Mail server that sends the digest of new filings; empty: no mail is sent."""

    filings_mail_port: int = Field(587, gt=0, le=65535)
    """Its port for submission: 587 with starttls, 465 with tls."""

    filings_mail_security: Literal["starttls", "tls", "none"] = "starttls"
    """starttls: the connection is encrypted before anything is told, or nothing is sent. tls: from its beginning. none:
    for a server on this machine or a network of its own, without a password."""

    filings_mail_from: str = ""
    """Mail address of the sender."""

    filings_mail_to: str = ""
    """Mail addresses of the recipients, separated by commas."""

    filings_mail_user: str = ""
    """Name to sign in with; empty: without signing in."""

    filings_mail_password: SecretStr = SecretStr("")
    """Password of that name."""

    filings_mail_seconds: float = Field(20.0, gt=0, le=120)
    """Deadline of one try of three."""

    @property
    def mail_recipients(self) -> list[str]:
        """The addresses of filings_mail_to."""
        return [one for one in (part.strip() for part in self.filings_mail_to.split(",")) if one]

    @model_validator(mode="after")
    def _mail_is_whole(self) -> Self:
        if not self.filings_mail_host:
            return self
        for one in (self.filings_mail_from, *(self.mail_recipients or [""])):
            if not _ADDRESS.fullmatch(one):
                raise ValueError(f"filings_mail_from and filings_mail_to need mail addresses, got {one!r}")
        if bool(self.filings_mail_user) != bool(self.filings_mail_password.get_secret_value()):
            raise ValueError("set filings_mail_user and filings_mail_password together")
        if self.filings_mail_user and self.filings_mail_security == "none":
            raise ValueError("filings_mail_security=none would send the password in the clear: use starttls or tls")
        return self

    @model_validator(mode="after")
    def _the_door_has_two_sides(self) -> Self:
        if bool(self.filings_door) != bool(self.filings_door_data):
            raise ValueError("set filings_door and filings_door_data together: one opens sessions, the other has data")
        if self.filings_contact and "@" not in self.filings_contact:
            raise ValueError('filings_contact needs a mail address: "Example Ltd admin@example.com"')
        if not self.filings_contact.isascii() or not self.filings_contact.isprintable():
            raise ValueError("filings_contact is sent as a header: printable ASCII only")
        return self

    @property
    def filings_user_agent(self) -> str:
        """The User-Agent that sources see."""
        return self.filings_contact or "Quelea/0.1"
