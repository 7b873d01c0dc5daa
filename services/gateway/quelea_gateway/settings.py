"""What the gateway can be told: QUELEA_GATEWAY_<FIELD>."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from quelea_kit.settings import ServiceSettings, settings_config


class Settings(ServiceSettings):
    """Addresses, keys, limits."""

    model_config = settings_config("gateway")

    http_listen: str = "127.0.0.1:8080"
    """Address of the HTTP server, host:port (IPv6 as [::1]:8080)."""

    retriever: str = "127.0.0.1:7402"
    """gRPC address of the retriever."""

    search: str = "127.0.0.1:7403"
    """gRPC address of search."""

    generator: str = "127.0.0.1:7404"
    """gRPC address of the generator."""

    public_url: str = ""
    """Address under which callers reach the gateway, for links in answers; empty: as the request came."""

    auth: Literal["keys", "off"] = "keys"
    """keys: every call to the API needs a key. off: none does; only accepted while every listener is loopback."""

    keys_file: str = "keys.json"
    """File of the hashed keys (`python -m quelea_gateway.keys`). It is read again whenever it changes."""

    cors_origins: tuple[str, ...] = ()
    """Origins of web pages elsewhere that may call the API, as JSON: ["https://desk.example.com"]; none by default."""

    max_body_bytes: int = 1024 * 1024
    """Largest request body but for uploads."""

    max_upload_bytes: int = 1024 * 1024 * 1024
    """Largest upload request, all its files together. The limit of one file is search's (GetInfo)."""

    max_upload_files: int = 200
    """Files in one upload request."""

    max_question_chars: int = 8000
    """Longest question or query, in characters."""

    max_history_turns: int = 40
    """Turns of a conversation that may be given; on the OpenAI route older ones are left out."""

    max_history_chars: int = 40_000
    """Characters of a conversation that the reader is given."""

    k: int = 20
    """Passages retrieved when the caller does not say."""

    j: int = 8
    """Passages shown to the reader when the caller does not say."""

    strict: bool = False
    """Whether sentences with a figure that the evidence does not support are withheld when the caller does not say."""

    gate: Literal["calibrated", "cosine"] = "calibrated"
    """calibrated: the probability that the local evidence answers the question. cosine: the paper's gate, the best
    cosine above c and nothing else."""

    gate_file: str = ""
    """Calibration of the gate as JSON, written by `quelea calibrate` or `quelea eval gate --fit`; empty: the packaged
    one, which is for the bundled encoder."""

    gate_cosine: float | None = Field(None, gt=-1, lt=1)
    """c of the paper's gate; None: that of the calibration."""

    keep_cosine: float = Field(0.84, gt=-1, lt=1)
    """Above it the best passage of a web page makes the page worth keeping. The paper takes c for this too; with the
    bundled encoder c (0.794) lets in nearly every page that is read, so it is higher: nine of ten positive pairs."""

    gate_threshold: float | None = Field(None, ge=0, le=1)
    """From this probability on the calibrated gate passes; None: that of the calibration. Higher: more web searches."""

    fresh_days: float = Field(1.0, ge=0)
    """Evidence published, or as a web page fetched, so many days before the day of the question is good enough for
    "latest"."""

    web_pages: int = Field(5, gt=0, le=20)
    """Pages of the web read for one question."""

    web_passages: int = Field(24, gt=0, le=200)
    """Passages of them that are ranked; the encoder's work, and so the time of the web route, grows with them."""

    web_seconds: float = Field(12.0, gt=0)
    """Deadline of a web search with the reading of its pages; after it the answer is local and says so."""

    rank_seconds: float = Field(15.0, gt=0)
    """Deadline of ranking web passages together with the local ones; likewise."""

    keep_seconds: float = Field(20.0, gt=0)
    """Deadline of telling search, in the background, which pages were useful."""

    keep_queue: int = Field(256, gt=0)
    """Answers whose useful pages wait to be told; of one more nothing is kept."""

    evidence_tokens: int = 3000
    """Token budget of the evidence while the generator has not told its own."""

    retrieve_seconds: float = 30.0
    """Deadline of a retrieval."""

    generate_seconds: float = 180.0
    """Deadline of an answer's writing."""

    call_seconds: float = 30.0
    """Deadline of any other call to a service."""

    check_processes: int = Field(2, gt=0, le=32)
    """Large checks of figures under way at once, each in a process of its own that starts when it is first needed."""

    check_queue: int = Field(16, ge=0)
    """Large checks that may wait for a process; one more is answered 429."""

    check_seconds: float = Field(30.0, gt=0)
    """Deadline of a check of figures, its waiting counted in."""

    upload_seconds: float = 300.0
    """Deadline of handing one file over."""

    max_calls_per_key: int = 64
    """Calls of one key under way at once; one more is answered 429."""

    calls_per_minute_per_key: int = 0
    """Calls that one key may begin in a minute, evenly refilled; 0: no such limit."""

    keep_alive_seconds: float = 15.0
    """A silent event stream sends a comment this often, so that proxies keep it open."""
