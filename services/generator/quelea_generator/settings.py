"""Settings of the generator: environment variables QUELEA_GENERATOR_<FIELD>."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, SecretStr, model_validator
from quelea_kit.settings import ServiceSettings, settings_config


class GeneratorSettings(ServiceSettings):
    """Settings of the generator."""

    model_config = settings_config("generator")

    endpoint: str = ""
    """Base URL of an OpenAI-compatible endpoint, with /v1; several replicas of one model, separated by commas.

    Empty: the extractive reader answers.
    """

    api_key: SecretStr = SecretStr("")
    """Bearer token for the endpoint; empty for one without keys. Never logged."""

    model: str = ""
    """The model's name at the endpoint; required with an endpoint."""

    endpoint_ca: str = ""
    """File of the CA that signed an https:// endpoint's certificate; empty: the system's CAs."""

    quotes: bool = True
    """Beside the model the extractive reader answers too, by the name extractive-1: the gateway shows its quotes while
    the model writes, and instead of what it could not write."""

    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of each request to the endpoint, as JSON: {"reasoning_effort": "none"} has Ollama's models answer
    without thinking, {"chat_template_kwargs": {"enable_thinking": false}} those of vLLM and llama.cpp."""

    function_calls: Literal["probe", "yes", "no"] = "probe"
    """Whether the agent's actions are offered to the model as functions that it calls natively. probe: where it calls
    one in a short trial, asked for the first time that a run needs it; else its decisions are JSON under a schema."""

    environment_proxy: bool = False
    """Reach the endpoint through the proxy of the environment (HTTPS_PROXY), for hosted endpoints."""

    evidence_tokens: int = Field(default=3000, ge=100)
    """Most evidence in a prompt, in estimated tokens; less where the model's context asks for it."""

    excerpt_tokens: int = Field(default=0, ge=0)
    """Show the model only the rows and sentences that matter, in so many estimated tokens; 0: whole passages."""

    prompt: Literal["answer", "short_answer"] = "answer"
    """What the model is told. short_answer is for models of one or two billion parameters: few rules and plain figures,
    and the answer is made together with the extractive reader: that decides whether the evidence has one at all, what
    it has by construction stands, and its quotes take the place of a figure that is worse supported."""

    history_tokens: int = Field(default=800, ge=0)
    """Estimated tokens of earlier turns that fit the prompt; the oldest are left out."""

    max_tokens: int = Field(default=768, ge=1)
    """Longest answer of a model, in its tokens, and never more than half of its context; a request may ask for less."""

    completion_tokens: int = Field(default=2048, ge=1)
    """Longest plain completion (Complete), in the model's tokens; a request may ask for less."""

    rewrite_seconds: float = Field(default=4.0, gt=0, le=30)
    """Longest wait for the model to rewrite a follow-up, queue included; after it the rules rewrite it."""

    max_messages: int = Field(default=400, ge=1)
    """Most messages of a plain completion."""

    max_prompt_chars: int = Field(default=400_000, ge=1)
    """Most characters of all its messages together."""

    context_tokens: int = Field(default=0, ge=0)
    """The model's context in tokens, for endpoints that do not report it (vLLM does); 0: as reported."""

    token_safety: float = Field(default=1.5, ge=1.0)
    """Factor on estimated tokens, for endpoints that do not count them (vLLM does)."""

    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    """For requests that name none; 0 keeps close to the evidence."""

    attempts: int = Field(default=3, ge=1, le=10)
    """Attempts to get the first token, over all replicas."""

    max_in_flight_per_engine: int = Field(default=64, ge=1)
    """Answers that one replica works on at once; more wait here. On a CPU, the engine's QUELEA_ENGINE_MAX_NUM_SEQS."""

    queue_length: int = Field(default=128, ge=1)
    """Most answers waiting for a replica; one more is refused with RESOURCE_EXHAUSTED and a retry time."""

    queue_length_per_tenant: int = Field(default=64, ge=1)
    """Most of them of one tenant."""

    queue_wait_seconds: float = Field(default=30.0, gt=0)
    """Longest wait there; then RESOURCE_EXHAUSTED."""

    queue_quantum: int = Field(default=2000, ge=1)
    """Tokens, prompt and answer, that a waiting tenant gets per round."""

    affinity_factor: float = Field(default=1.0, ge=0.0)
    """Weight of cached prompt tokens against outstanding tokens when a replica is chosen; 0 ignores the cache."""

    circuit_seconds: float = Field(default=15.0, gt=0)
    """Longest pause between probes of a failed replica; pauses double from 0.2 seconds."""

    comeback_seconds: float = Field(default=20.0, ge=0)
    """While no replica works: how long answers without text wait, and after how long new ones are refused."""

    connect_seconds: float = Field(default=5.0, gt=0)
    """Longest wait for a connection to the endpoint."""

    stall_seconds: float = Field(default=60.0, gt=0)
    """Longest silence of the endpoint, before the first token and between two."""

    first_stall_seconds: float = Field(default=150.0, gt=0)
    """Longest wait for the first token where the engine is cold, busy with other answers, or reading a long prompt.
    The request's own deadline comes first; the gateway's is 180 s."""

    max_in_flight: int = Field(default=64, ge=1)
    """Answers of the extractive reader at once; one more is refused with RESOURCE_EXHAUSTED."""

    max_concurrent_calls: int = 2048
    """Calls under way at once, over every queue here; one more is refused with RESOURCE_EXHAUSTED."""

    max_question_chars: int = Field(default=8000, ge=1)
    """Longest question, in characters after Unicode normalisation (NFKC)."""

    read_processes: int = Field(default=2, ge=1, le=64)
    """Processes in which questions and evidence are read by rules: texts read at once."""

    read_seconds: float = Field(default=10.0, gt=0)
    """Most processor time for reading one question with its evidence, and a quarter of what it may take by the clock;
    its process is then ended and the caller gets DEADLINE_EXCEEDED."""

    max_evidence: int = Field(default=100, ge=1)
    """Most passages in one request."""

    max_evidence_chars: int = Field(default=400_000, ge=1)
    """Most characters of all passages together, in one request."""

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The replicas, each once."""
        return tuple(dict.fromkeys(url.strip().rstrip("/") for url in self.endpoint.split(",") if url.strip()))

    @property
    def most_in_flight(self) -> int:
        """Answers being written or waiting; the engines' queue refuses before this does."""
        if not self.endpoints:
            return self.max_in_flight
        # Twice the queue: a request that is about to be refused there has a place here.
        return max(self.max_in_flight, len(self.endpoints) * self.max_in_flight_per_engine + 2 * self.queue_length)

    @model_validator(mode="after")
    def _endpoint_needs_model(self) -> Self:
        if self.endpoint.strip(", ") == "" and self.endpoint:
            raise ValueError("QUELEA_GENERATOR_ENDPOINT must hold at least one address, got only commas")
        if self.endpoint and not self.model:
            raise ValueError("QUELEA_GENERATOR_MODEL must name the model that QUELEA_GENERATOR_ENDPOINT serves")
        return self
