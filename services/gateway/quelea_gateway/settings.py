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

    public_tls_dir: str = ""
    """Folder with tls.crt and tls.key (a Secret as cert-manager writes it): HTTP and gRPC speak TLS to callers from
    outside, who need no certificate. Read again when it changes. Empty: neither does, an Ingress or a proxy has to."""

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

    max_question_chars: int = 4000
    """Longest question or query, in characters. The retriever's MAX_QUERY_CHARS is as large."""

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

    verifier: Literal["none", "model"] = "none"
    """Who judges what words and figures cannot: none, or the configured language model."""

    verifier_seconds: float = Field(5.0, gt=0, le=8)
    """How long an answer waits for the verifier, of the 10 seconds that its check has; then the checker's verdicts
    stand, and the grounding says so."""

    sandbox: str = ""
    """gRPC address of the sandbox, which runs the agent's code; empty: this deployment has no agent."""

    tools: str = ""
    """gRPC address of the catalogue of tools (ToolService); empty: that of the sandbox."""

    tool_candidates: int = Field(20, gt=0, le=100)
    """Tools among which the model picks."""

    market: str = ""
    """gRPC address of the market-data door; empty: the agent's code has no network."""

    runs_url: str = ".quelea/runs"
    """Where runs of the agent are kept: a folder, or s3://bucket/prefix (quelea_kit.storage)."""

    trajectories: str = ""
    """Folder for supervised examples of the agent's sub-tasks (docs/trajectories.md); empty: none are recorded."""

    agent_steps: int = Field(10, gt=1, le=50)
    """Actions of a run when the caller does not say; the paper's L."""

    agent_tokens: int = Field(200_000, gt=0)
    """Tokens of a run, prompts and completions together."""

    agent_seconds: float = Field(300.0, gt=0)
    """Time of a run, from its start."""

    agent_calls: int = Field(100, ge=0)
    """Calls of a run to data providers."""

    agent_max_steps: int = Field(20, gt=1, le=50)
    """Most steps that a caller may ask for."""

    agent_max_tokens: int = Field(1_000_000, gt=0)
    """Most tokens that a caller may ask for."""

    agent_max_seconds: float = Field(1800.0, gt=0)
    """Longest time that a caller may ask for."""

    agent_max_calls: int = Field(1000, gt=0)
    """Most calls to data providers that a caller may ask for."""

    agent_running: int = Field(4, gt=0)
    """Runs at once in this process."""

    agent_running_per_key: int = Field(2, gt=0)
    """Runs of one key at once in this process; the next waits, and lets others pass."""

    agent_queue: int = Field(128, ge=0)
    """Runs that may wait; one more is answered 429."""

    agent_queue_per_key: int = Field(128, ge=0)
    """Runs of one key that may wait."""

    agent_day_runs: int = Field(0, ge=0)
    """Runs that one key may start in 24 hours; 0: no such limit."""

    agent_day_steps: int = Field(0, ge=0)
    """Steps of one key's runs in 24 hours; 0: no such limit."""

    agent_day_tokens: int = Field(0, ge=0)
    """Tokens of one key's runs in 24 hours; 0: no such limit."""

    agent_day_seconds: float = Field(0.0, ge=0)
    """Time of one key's runs in 24 hours; 0: no such limit."""

    agent_day_calls: int = Field(0, ge=0)
    """Calls to data providers of one key's runs in 24 hours; 0: no such limit."""

    agent_model_seconds: float = Field(90.0, gt=0)
    """Deadline of one question to the model, with its repairs."""

    agent_code_seconds: float = Field(60.0, gt=0)
    """Deadline of one run of code."""

    agent_repairs: int = Field(2, ge=0, le=5)
    """How often an answer of the model that does not fit its schema is asked for again."""

    agent_code_repairs: int = Field(2, ge=0, le=5)
    """How often code that failed is written again within a step."""

    agent_context_tokens: int = Field(8192, ge=512)
    """Tokens of a prompt and its answer, where the generator does not tell (GetInfo)."""

    agent_beat_seconds: float = Field(5.0, gt=0)
    """How often a run is marked as alive; after four of them without, it counts as interrupted."""

    upload_seconds: float = 300.0
    """Deadline of handing one file over."""

    max_calls_per_key: int = 64
    """Calls of one key under way at once; one more is answered 429."""

    calls_per_minute_per_key: int = 0
    """Calls that one key may begin in a minute, evenly refilled; 0: no such limit."""

    keep_alive_seconds: float = 15.0
    """A silent event stream sends a comment this often, so that proxies keep it open."""
