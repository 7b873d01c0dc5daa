"""Settings of the gateway: the environment variable QUELEA_GATEWAY_<FIELD> sets each."""

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
    """Folder with tls.crt and tls.key, as cert-manager writes them. HTTP and gRPC then use TLS; callers need no
    certificate. Read again when it changes. Empty: no TLS here; put an Ingress or a proxy in front."""

    retriever: str = "127.0.0.1:7402"
    """gRPC address of the retriever."""

    search: str = "127.0.0.1:7403"
    """gRPC address of search."""

    generator: str = "127.0.0.1:7404"
    """gRPC address of the generator."""

    public_url: str = ""
    """Base URL of the links in answers; empty: the host of the request."""

    auth: Literal["keys", "off"] = "keys"
    """keys: every call to the API needs a key. off: no key is needed; allowed only on loopback addresses."""

    keys_file: str = "keys.json"
    """File with the hashed keys (`quelea keys`). Read again when it changes."""

    openid_file: str = ""
    """TOML file of an OpenID provider (docs/howto/sign-in.md): whose tokens are taken beside keys, who may sign in to
    the page, and which group may do what. Empty: keys alone."""

    redis_url: str = ""
    """Redis for sessions of the page and for limits of calls, which all gateways with it share: redis://… or
    unix:///path?db=0. Empty: each gateway has its own."""

    audit_dir: str = ""
    """Folder of the audit log (docs/howto/audit-log.md): who asked, saw and changed what. Empty: none is kept."""

    audit_failure: Literal["serve", "refuse"] = "serve"
    """What happens to calls while the audit log cannot be written. serve: they are served, and their entries kept in
    memory until the disk takes them, 10,000 at most. refuse: status 503, and no answer leaves before its entry is on
    the disk."""

    audit_questions: bool = False
    """Record the text of questions, not only that one was asked."""

    audit_addresses: Literal["hashed", "plain", "none"] = "hashed"
    """How callers' addresses are recorded. Behind a proxy name it in FORWARDED_ALLOW_IPS, else they are all its own."""

    audit_file_bytes: int = Field(64 * 1024 * 1024, ge=4096)
    """Size of a file of the audit log at which a new one is begun."""

    audit_keep_days: int = Field(0, ge=0)
    """Files of the audit log are deleted so many days after their last entry; 0: never."""

    cors_origins: tuple[str, ...] = ()
    """Origins allowed to call the API from a browser (CORS), as JSON: ["https://desk.example.com"]; default: none."""

    openbb_origins: tuple[str, ...] = ()
    """Origins of OpenBB Workspace, as JSON: ["https://pro.openbb.co"]. They may call from a browser, and /openbb has an
    agent and widgets for them. Empty: there is no such backend."""

    max_body_bytes: int = 1024 * 1024
    """Largest request body, except uploads."""

    max_upload_bytes: int = 1024 * 1024 * 1024
    """Largest upload request, all files together. Search limits the size of one file."""

    max_upload_files: int = 200
    """Most files in one upload request."""

    max_question_chars: int = 4000
    """Longest question or query, in characters; at most the retriever's MAX_QUERY_CHARS."""

    max_history_turns: int = 40
    """Most turns of history in a request; the OpenAI route drops older ones instead of refusing them."""

    max_history_chars: int = 40_000
    """Most characters of history in a request."""

    k: int = 20
    """Passages to retrieve when a request sets no k."""

    j: int = 8
    """Passages to show the reader when a request sets no j."""

    strict: bool = False
    """Withhold sentences with unsupported figures when a request does not set strict."""

    gate: Literal["calibrated", "cosine"] = "calibrated"
    """When local evidence is enough. calibrated: by the probability that it answers the question. cosine: when the best
    cosine is above c, as in the paper."""

    gate_file: str = ""
    """Calibration of the gate (JSON), written by `quelea calibrate` or `quelea train gate`, and read again when it
    changes; empty: the packaged one, which fits the bundled encoder."""

    next_gate_file: str = ""
    """Calibration for the encoder that the knowledge base is being re-embedded with. Each answer is judged by the one
    for the encoder that found its passages. Empty: none."""

    model_set: str = ""
    """Folder of the set of models in use (`quelea models`): its gate.json is read where gate_file is empty, from the
    moment it is there. Empty: none."""

    gate_any_encoder: bool = False
    """Judge by the gate there is, though it was fitted for another encoder than the knowledge base is indexed with.
    Off: the gateway is not ready, and says what to do."""

    gate_cosine: float | None = Field(None, gt=-1, lt=1)
    """c of the cosine gate; None: the calibration's."""

    keep_cosine: float = Field(0.84, gt=-1, lt=1)
    """A web page is kept when the cosine of its best passage is above this. The paper uses c; with the bundled encoder
    c (0.794) keeps nearly every page that is read, so the default is higher: nine of ten positive pairs."""

    gate_threshold: float | None = Field(None, ge=0, le=1)
    """Lowest probability at which the calibrated gate passes; None: the calibration's. Higher: more web searches."""

    fresh_days: float = Field(1.0, ge=0)
    """Evidence at most this many days old counts as recent for questions that ask for the latest."""

    web_pages: int = Field(5, gt=0, le=20)
    """Most web pages to read for one question."""

    web_passages: int = Field(24, gt=0, le=200)
    """Most passages of web pages to rank; the time of the web route grows with it."""

    web_seconds: float = Field(12.0, gt=0)
    """Deadline of searching the web and reading the pages; after it the answer is from local documents and says so."""

    rank_seconds: float = Field(15.0, gt=0)
    """Deadline of ranking web passages with the local ones; after it likewise."""

    keep_seconds: float = Field(20.0, gt=0)
    """Deadline of reporting useful pages to search, in the background."""

    keep_queue: int = Field(256, gt=0)
    """Most reports of useful pages that may wait; more are dropped."""

    evidence_tokens: int = 3000
    """Token budget of the evidence until the generator reports its own."""

    retrieve_seconds: float = 30.0
    """Deadline of a retrieval."""

    retriever_wait_seconds: float = Field(25.0, ge=0)
    """How long a read waits for a retriever that is away, as in its restart, within its own deadline; then it is 503.
    0: not at all."""

    generate_seconds: float = 180.0
    """Deadline of writing an answer."""

    call_seconds: float = 30.0
    """Deadline of any other call to a service."""

    check_processes: int = Field(2, gt=0, le=32)
    """Large checks at once, each in a process of its own, started when first needed."""

    check_queue: int = Field(16, ge=0)
    """Most large checks that may wait for a process; more get status 429."""

    check_seconds: float = Field(30.0, gt=0)
    """Deadline of a check, waiting included."""

    query_plan: Literal["model", "none"] = "model"
    """Whether a language model takes a question apart into searches before it is answered. Where there is only the
    extractive reader, and where statements have the figure that is asked for, nobody is asked."""

    query_plan_seconds: float = Field(8.0, gt=0, le=60)
    """How long a question waits for its plan; then it is searched as it is, and for half a minute nobody asks again."""

    verifier: Literal["none", "model", "cross-encoder"] = "none"
    """Who judges what words and figures cannot: none, the configured language model, or the cross-encoder that the
    embedder serves."""

    verifier_seconds: float = Field(5.0, gt=0, le=8)
    """How long an answer waits for the verifier, of the 10 seconds that its check has; then the checker's verdicts
    stand, and the grounding says so."""

    sandbox: str = ""
    """gRPC address of the agent-sandbox, which runs the agent's code; empty: no agent."""

    tools: str = ""
    """gRPC address of the catalogue of tools (ToolService); empty: the sandbox's."""

    tool_candidates: int = Field(20, gt=0, le=100)
    """Tools shown to the model to pick from."""

    market: str = ""
    """gRPC address of the market-data door, for recordings and the agent's code; empty: neither has it."""

    runs_url: str = ".quelea/runs"
    """Where the agent's runs are stored: a folder, or s3://bucket/prefix."""

    feedback_url: str = ""
    """Where thumbs on answers are stored: a folder, or s3://bucket/prefix; empty: `feedback` within runs_url."""

    feedback_per_key: int = Field(10_000, gt=0)
    """Thumbs that are kept of one key."""

    conversations_url: str = ""
    """Where saved conversations are: a folder, or s3://bucket/prefix; empty: `conversations` within runs_url."""

    conversations_per_key: int = Field(1000, gt=0)
    """Conversations that are kept of one key."""

    conversation_turns: int = Field(200, gt=0)
    """Answers that are kept of one conversation."""

    operators: tuple[str, ...] = ()
    """Names of the keys that may start, cancel and delete evaluations, as JSON: ["desk"]; every caller where keys are
    off."""

    prompts_url: str = ""
    """Where edited prompts are stored: a folder, or s3://bucket/prefix; empty: `prompts` within runs_url."""

    usage_url: str = ""
    """Where usage by key and day is stored: a folder, or s3://bucket/prefix, shared by all gateways; empty: `usage`
    within runs_url."""

    usage_days: int = Field(400, ge=2, le=4000)
    """Days of usage that are kept."""

    prompt_versions: int = Field(100, gt=0, le=1000)
    """Versions of one prompt that are kept."""

    evaluations_url: str = ""
    """Where evaluations are, shared with their worker (`quelea eval work`): a folder, or s3://bucket/prefix; empty:
    `evaluations` within runs_url."""

    evaluations_advice: str = ""
    """What is said where no worker of evaluations runs, in the place of how to start one."""

    evaluation_queue: int = Field(8, ge=1)
    """Most evaluations that may wait; more get status 429."""

    evaluation_seconds: float = Field(86_400.0, gt=0)
    """Deadline of an evaluation from its start, and the longest that a request may set."""

    trajectories: str = ""
    """Folder in which to record training examples of the agent's sub-tasks (docs/trajectories.md); empty: none."""

    agent_steps: int = Field(10, gt=1, le=50)
    """Steps of a run when a request sets none (the paper's L)."""

    agent_tokens: int = Field(200_000, gt=0)
    """Tokens of a run, prompts and completions together, when a request sets none."""

    agent_seconds: float = Field(300.0, gt=0)
    """Seconds of a run from its start, when a request sets none."""

    agent_calls: int = Field(100, ge=0)
    """Calls of a run to data providers, when a request sets none."""

    agent_max_steps: int = Field(20, gt=1, le=50)
    """Most steps that a request may set."""

    agent_max_tokens: int = Field(1_000_000, gt=0)
    """Most tokens that a request may set."""

    agent_max_seconds: float = Field(1800.0, gt=0)
    """Most seconds that a request may set."""

    agent_max_calls: int = Field(1000, gt=0)
    """Most calls to data providers that a request may set."""

    agent_running: int = Field(4, gt=0)
    """Most runs at once in this process."""

    agent_running_per_key: int = Field(2, gt=0)
    """Most runs of one key at once in this process; further ones wait without holding up other keys."""

    agent_queue: int = Field(128, ge=0)
    """Most runs that may wait; more get status 429."""

    agent_queue_per_key: int = Field(128, ge=0)
    """Most runs of one key that may wait."""

    agent_day_runs: int = Field(0, ge=0)
    """Most runs of one key in 24 hours; 0: no limit."""

    agent_day_steps: int = Field(0, ge=0)
    """Most steps of one key's runs in 24 hours; 0: no limit."""

    agent_day_tokens: int = Field(0, ge=0)
    """Most tokens of one key's runs in 24 hours; 0: no limit."""

    agent_day_seconds: float = Field(0.0, ge=0)
    """Most seconds of one key's runs in 24 hours; 0: no limit."""

    agent_day_calls: int = Field(0, ge=0)
    """Most calls to data providers of one key's runs in 24 hours; 0: no limit."""

    agent_model_seconds: float = Field(90.0, gt=0)
    """Deadline of one request to the model, repeats included."""

    agent_code_seconds: float = Field(60.0, gt=0)
    """Deadline of one execution of code."""

    agent_repairs: int = Field(2, ge=0, le=5)
    """How often to ask the model again when its answer does not match the schema."""

    agent_code_repairs: int = Field(2, ge=0, le=5)
    """How often to have failed code rewritten within a step."""

    agent_context_tokens: int = Field(8192, ge=512)
    """Context length of the model, prompt and answer together, when the generator does not report it."""

    agent_output_tokens: int = Field(0, ge=0)
    """Most tokens of one answer of the agent's model, at most half its context; 0: 2,048, at most a quarter. Thoughts
    count too: give a reasoning model 8,000 or more. Its effort is set by the generator's EXTRA_BODY."""

    agent_temperature: float | None = Field(None, ge=0, le=2)
    """Of every answer of the agent's model, for models that take one alone; empty: 0, and a little more for code."""

    agent_sessions: int = Field(2, ge=0)
    """Most sessions of finished runs that wait for a follow-up in this process; 0: none does. The sandbox ends one
    sooner where its place is needed."""

    agent_sessions_per_key: int = Field(1, ge=0)
    """Of those, sessions of one key."""

    agent_session_seconds: float = Field(600.0, ge=0)
    """How long such a session waits, at most the sandbox's MAX_SESSION_IDLE_SECONDS; 0: it ends with its run."""

    agent_beat_seconds: float = Field(5.0, gt=0)
    """Interval at which a run is marked as alive; a run that misses four counts as interrupted."""

    upload_seconds: float = 300.0
    """Deadline of handing one file to search."""

    max_calls_per_key: int = 64
    """Most calls of one key, or one person, at once; more get status 429. With REDIS_URL of all gateways together."""

    calls_per_minute_per_key: int = 0
    """Most calls that one key, or one person, may begin in a minute; 0: no limit. With REDIS_URL of all gateways."""

    max_calls_per_tenant: int = Field(0, ge=0)
    """Most calls of all keys and people of a tenant at once; 0: no limit. With REDIS_URL of all gateways."""

    calls_per_minute_per_tenant: int = Field(0, ge=0)
    """Most calls that they may begin in a minute; 0: no limit. With REDIS_URL of all gateways."""

    keep_alive_seconds: float = 15.0
    """Interval of comments on a silent event stream, so that proxies keep it open."""
