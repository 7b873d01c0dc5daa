"""What the generator can be told: environment variables QUELEA_GENERATOR_<FIELD>."""

from __future__ import annotations

from typing import Self

from pydantic import Field, SecretStr, model_validator
from quelea_kit.settings import ServiceSettings, settings_config


class GeneratorSettings(ServiceSettings):
    """Settings of the generator."""

    model_config = settings_config("generator")

    endpoint: str = ""
    """Base URL of an OpenAI-compatible endpoint, with /v1. Empty: the extractive reader answers."""

    api_key: SecretStr = SecretStr("")
    """Bearer token for the endpoint; empty for one without keys. Never logged."""

    model: str = ""
    """The model's name at the endpoint; required with an endpoint."""

    environment_proxy: bool = False
    """Reach the endpoint through the proxy that the environment names; for endpoints outside."""

    evidence_tokens: int = Field(default=3000, ge=100)
    """Estimated tokens of evidence that fit the prompt; lower-ranked passages are left out."""

    history_tokens: int = Field(default=800, ge=0)
    """Estimated tokens of earlier turns that fit the prompt; the oldest are left out."""

    max_tokens: int = Field(default=768, ge=1)
    """Longest answer of a model, in its tokens; a request may ask for less."""

    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    """For requests that name none; 0 keeps close to the evidence."""

    attempts: int = Field(default=3, ge=1, le=10)
    """Tries to get the first token, in all."""

    connect_seconds: float = Field(default=5.0, gt=0)
    """Longest wait for a connection to the endpoint."""

    stall_seconds: float = Field(default=60.0, gt=0)
    """Longest silence of the endpoint, before the first token and between two."""

    max_in_flight: int = Field(default=64, ge=1)
    """Answers in the making at once; one more is refused with RESOURCE_EXHAUSTED."""

    max_question_chars: int = Field(default=8000, ge=1)
    """Longest question, in characters."""

    max_evidence: int = Field(default=100, ge=1)
    """Most passages in one request."""

    max_evidence_chars: int = Field(default=400_000, ge=1)
    """Most characters of all passages together, in one request."""

    @model_validator(mode="after")
    def _endpoint_needs_model(self) -> Self:
        if self.endpoint and not self.model:
            raise ValueError("QUELEA_GENERATOR_MODEL must name the model that QUELEA_GENERATOR_ENDPOINT serves")
        return self
