"""Settings of the market-data door: QUELEA_MARKET_<FIELD>."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from quelea_kit.settings import ServiceSettings, settings_config

from quelea_search.door.core.hosts import HostTable, table

_LOOPBACK = ("127.0.0.1:", "[::1]:", "localhost:")


class DoorSettings(ServiceSettings):
    """Settings of the door; one process, one folder."""

    model_config = settings_config("market")

    data_dir: Path = Path(".quelea/market")
    """Log, cache and bundles; one door owns it."""

    socket: str = ".quelea/market-socket/door.sock"
    """UNIX socket for sandboxes; empty: none. Its folder is mounted into them."""

    socket_mode: int = Field(0o666, ge=0, le=0o777)
    """File mode of the socket. The code runs as another user; the session's token is what admits it."""

    http_listen: str = ""
    """host:port for sandboxes that share no folder with the door; empty: none."""

    hosts: tuple[str, ...] = ()
    """Hosts that code may reach, instead of the list that comes with the door (hosts.json); "sec.gov" covers its
    subdomains. As JSON."""

    extra_hosts: tuple[str, ...] = ()
    """Hosts beside that list."""

    deny: tuple[str, ...] = ()
    """Hosts that are refused even if a list names them."""

    calls_per_minute: dict[str, int] = Field(default_factory=dict)
    """Host pattern -> calls a minute; JSON."""

    fresh_seconds: dict[str, float] = Field(default_factory=dict)
    """Host pattern -> seconds for which an answer is given again; 0: never. JSON."""

    user_agents: dict[str, str] = Field(default_factory=dict)
    """Host pattern -> User-Agent. The SEC wants a name and a mail address: {"sec.gov": "Example me@example.com"}."""

    user_agent: str = "Quelea/0.1"
    """User-Agent when neither the code nor user_agents gives one."""

    connect_seconds: float = Field(5.0, gt=0)
    """Deadline of a connection."""

    read_seconds: float = Field(15.0, gt=0)
    """Longest silence of an upstream."""

    call_seconds: float = Field(30.0, gt=0)
    """Deadline of a whole call: waiting, redirects and retries."""

    retries: int = Field(2, ge=0, le=5)
    """Retries of GET and HEAD after a broken connection, 429 or 5xx, with a random pause."""

    redirects: int = Field(5, ge=0, le=20)
    """Redirects followed, within the allow-list."""

    budget_wait_seconds: float = Field(5.0, ge=0)
    """How long a call may wait for its host's budget before it is refused."""

    failures: int = Field(5, gt=0)
    """Failures in a row after which a host is not called for rest_seconds."""

    rest_seconds: float = Field(30.0, gt=0)
    """How long a failing host is not called."""

    body_bytes: int = Field(16 * 1024 * 1024, gt=0)
    """Largest answer, unpacked."""

    request_bytes: int = Field(1024 * 1024, gt=0)
    """Largest body that code may send."""

    upstream_calls: int = Field(24, gt=0)
    """Calls to upstreams at once, over all hosts."""

    waiting_calls: int = Field(128, ge=0)
    """Calls that may wait. Further ones are refused with 429."""

    connections: int = Field(256, gt=0)
    """Open connections of the data side."""

    max_sessions: int = Field(500, gt=0)
    """Sessions open at once."""

    session_calls: int = Field(300, gt=0)
    """Calls of one session when OpenSession does not say."""

    session_bytes: int = Field(256 * 1024 * 1024, gt=0)
    """Bytes given to one session when OpenSession does not say."""

    session_seconds: float = Field(1800.0, gt=0)
    """Life of a session when OpenSession does not say."""

    session_concurrent: int = Field(8, gt=0)
    """Calls of one session at once; as many again may wait."""

    longest_session_seconds: float = Field(24 * 3600.0, gt=0)
    """The longest life that OpenSession may ask for."""

    log_days: float = Field(90.0, gt=0)
    """Runs older than this are removed from the log."""

    log_calls: int = Field(1_000_000, gt=0)
    """Most lines of the log; beyond them the oldest runs are removed."""

    data_bytes: int = Field(4 * 1024**3, gt=0)
    """Most bytes of stored bodies. Cached answers that no run cites go first, then the oldest runs; bundles stay."""

    max_bundles: int = Field(1000, gt=0)
    """Most imported bundles."""

    bundle_bytes: int = Field(512 * 1024 * 1024, gt=0)
    """Largest bundle, unpacked and packed."""

    bundle_calls: int = Field(20_000, gt=0)
    """Most calls of one bundle."""

    tidy_seconds: float = Field(60.0, gt=0)
    """Seconds between clean-ups."""

    environment: Literal["production", "test"] = "production"
    """test allows test_hosts, and only while gRPC and data side are on loopback."""

    test_hosts: dict[str, str] = Field(default_factory=dict)
    """Host -> loopback address (127.0.0.1:port) that stands for it in spite of the address checks; JSON. The host must
    be allowed too. Refused in production."""

    @model_validator(mode="after")
    def _test_hosts_only_in_tests(self) -> Self:
        if self.test_hosts:
            if self.environment != "test":
                raise ValueError("test_hosts requires environment=test, because it bypasses the address checks")
            if not self.listen.startswith(_LOOPBACK) or not (self.http_listen or _LOOPBACK[0]).startswith(_LOOPBACK):
                raise ValueError("test_hosts requires that the door listens on loopback")
            for host, address in self.test_hosts.items():
                if not address.startswith(_LOOPBACK):
                    raise ValueError(f"test_hosts may only name loopback addresses, not {address!r} for {host!r}")
        if not self.socket and not self.http_listen:
            raise ValueError("set socket or http_listen")
        if any(number <= 0 for number in self.calls_per_minute.values()):
            raise ValueError("calls_per_minute must be above 0; to block a host, add it to deny")
        return self

    def table(self) -> HostTable:
        """The allow-list with the numbers that hold."""
        return table(
            self.hosts,
            self.extra_hosts,
            per_minute=self.calls_per_minute,
            fresh_seconds=self.fresh_seconds,
            user_agents=self.user_agents,
        )

    # What the guard is told (guard.AddressRules).

    @property
    def page_ports(self) -> Sequence[int]:
        """80, 443 and those that the allow-list names; which host may have which is the list's matter."""
        return (80, 443, *{port for rule in self.table().rules for port in rule.ports})

    @property
    def deny_hosts(self) -> Sequence[str]:
        """Hosts that are refused."""
        return self.deny

    @property
    def web_test_hosts(self) -> Mapping[str, str]:
        """Host -> loopback address."""
        return self.test_hosts
