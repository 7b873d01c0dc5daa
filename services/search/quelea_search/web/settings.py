"""Settings of web search: QUELEA_SEARCH_<FIELD>, in the same class as the other settings."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator
from quelea_kit.settings import ServiceSettings

Provider = Literal["searxng", "brave", "google", "serpapi", "tavily", "ddgs"]
_LOOPBACK = ("127.0.0.1:", "[::1]:", "localhost:")


class WebSettings(ServiceSettings):
    """The web: providers, the page reader, what flows back into the knowledge base."""

    web: bool = False
    """Whether questions may leave this deployment at all. Off: air-gapped, every answer is local."""

    web_providers: tuple[Provider, ...] = ("searxng", "brave", "google", "serpapi", "tavily", "ddgs")
    """In the order in which they are tried, as JSON. One whose address or key is missing is left out."""

    searxng_url: str = ""
    """Address of a SearXNG instance with the JSON format enabled, for example http://searxng:8080."""

    brave_key: SecretStr = SecretStr("")
    """Subscription token of the Brave Search API."""

    google_key: SecretStr = SecretStr("")
    """Key of Google's Programmable Search (Custom Search JSON API); google_engine is needed with it."""

    google_engine: str = ""
    """Id of the programmable search engine (cx)."""

    serpapi_key: SecretStr = SecretStr("")
    """Key of SerpAPI."""

    tavily_key: SecretStr = SecretStr("")
    """Key of Tavily."""

    provider_seconds: float = Field(4.0, gt=0)
    """Deadline of one call to one provider."""

    provider_results: int = Field(10, gt=0, le=50)
    """Results asked for."""

    provider_calls_per_minute: int = Field(30, ge=0)
    """Calls to each provider, counted in Redis over all replicas; 0: no limit."""

    provider_calls_per_day: int = Field(0, ge=0)
    """Likewise for a day; 0: no limit."""

    provider_cache_seconds: float = Field(900.0, ge=0)
    """How long a list of results is used again; 0 turns the cache off."""

    provider_failures: int = Field(3, gt=0)
    """Failures in a row after which a provider is not asked for provider_rest_seconds (circuit breaker)."""

    provider_rest_seconds: float = Field(60.0, gt=0)
    """How long a failing provider is not asked."""

    web_pages: int = Field(5, gt=0, le=20)
    """Pages read for one question when the caller does not say."""

    web_passages: int = Field(24, gt=0, le=200)
    """Passages given for one question when the caller does not say; the encoder's work grows with them."""

    web_seconds: float = Field(10.0, gt=0)
    """Budget of a whole web search; what has not arrived by then is left out and named."""

    page_seconds: float = Field(5.0, gt=0)
    """Deadline of one page, from its address to its last byte."""

    page_bytes: int = Field(5 * 1024 * 1024, gt=0)
    """Largest page, unpacked; a longer one is cut off and left out."""

    page_redirects: int = Field(5, ge=0, le=20)
    """Redirects followed; each is checked like the first address."""

    page_ports: tuple[int, ...] = (80, 443)
    """Ports that pages may be on."""

    user_agent: str = "QueleaBot/0.1"
    """User-Agent sent to web servers, and the name looked up in their robots.txt."""

    robots: bool = True
    """Whether robots.txt is honoured."""

    robots_seconds: float = Field(3600.0, gt=0)
    """How long a robots.txt is remembered."""

    allow_hosts: tuple[str, ...] = ()
    """Hosts whose useful pages enter the knowledge base without waiting; "sec.gov" covers its subdomains. As JSON."""

    deny_hosts: tuple[str, ...] = ()
    """Hosts whose pages are never read."""

    quarantine: bool = True
    """Whether pages of other hosts wait for approval or a second use. Off: every useful page enters at once."""

    max_pending_pages: int = Field(2000, gt=0)
    """Pages in quarantine; the oldest leave when there are more."""

    page_cache_hours: float = Field(72.0, gt=0)
    """How long a page that was read for an answer can be opened from its citation."""

    page_fresh_seconds: float = Field(600.0, ge=0)
    """A page fetched so recently is not fetched again for another question."""

    news_days: float = Field(1.0, gt=0)
    """Time to live of a kept news page, in days; then it is fetched again."""

    page_days: float = Field(7.0, gt=0)
    """Time to live of a page of unknown kind, in days."""

    reference_days: float = Field(30.0, gt=0)
    """Time to live of a regulation or a reference page, in days."""

    filing_days: float = Field(365.0, gt=0)
    """Time to live of a filing or a report, which does not change, in days."""

    reread_seconds: float = Field(300.0, gt=0)
    """Seconds between looks for pages whose time to live is over."""

    rereads_per_look: int = Field(50, gt=0)
    """Most pages queued at one look."""

    environment: Literal["production", "test"] = "production"
    """test allows web_test_hosts, and only while the server listens on loopback."""

    web_test_hosts: dict[str, str] = Field(default_factory=dict)
    """Host -> loopback address (127.0.0.1:port) that may be read in spite of the address checks; JSON. For tests and
    the sample web; refused in production."""

    @model_validator(mode="after")
    def _test_hosts_only_in_tests(self) -> Self:
        if self.web_test_hosts:
            if self.environment != "test":
                raise ValueError("web_test_hosts requires environment=test, because it bypasses the address checks")
            if not self.listen.startswith(_LOOPBACK):
                raise ValueError("web_test_hosts requires that the server listens on loopback")
            for host, address in self.web_test_hosts.items():
                if not address.startswith(_LOOPBACK):
                    raise ValueError(f"web_test_hosts may only name loopback addresses, not {address!r} for {host!r}")
        return self
