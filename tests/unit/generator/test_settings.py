"""Settings: the key stays secret, an endpoint needs a model."""

import pytest
from pydantic import ValidationError
from quelea_generator.__main__ import build
from quelea_generator.core.chat.prompt import versions
from quelea_generator.settings import GeneratorSettings


def test_the_key_is_never_shown() -> None:
    settings = GeneratorSettings(endpoint="http://x/v1", model="m", api_key="sk-secret-1")
    assert "sk-secret-1" not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_an_endpoint_needs_a_model() -> None:
    with pytest.raises(ValidationError, match="QUELEA_GENERATOR_MODEL"):
        GeneratorSettings(endpoint="http://x/v1")


def test_the_environment_sets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUELEA_GENERATOR_EVIDENCE_TOKENS", "1234")
    assert GeneratorSettings().evidence_tokens == 1234


def test_several_replicas_are_separated_by_commas() -> None:
    settings = GeneratorSettings(endpoint=" http://a/v1, http://b/v1/,http://a/v1 ,", model="m")
    assert settings.endpoints == ("http://a/v1", "http://b/v1")
    with pytest.raises(ValidationError, match="at least one address"):
        GeneratorSettings(endpoint=" , ", model="m")


def test_there_is_room_here_for_all_that_the_engines_and_their_queue_hold() -> None:
    assert GeneratorSettings(max_in_flight=3).most_in_flight == 3
    told = {"max_in_flight_per_engine": 10, "queue_length": 5, "max_in_flight": 1}
    settings = GeneratorSettings(endpoint="http://a/v1,http://b/v1", model="m", **told)
    assert settings.most_in_flight > 2 * 10 + 5
    assert (
        GeneratorSettings().max_concurrent_calls > GeneratorSettings(endpoint="http://a/v1", model="m").most_in_flight
    )


def test_the_endpoint_chooses_the_reader() -> None:
    assert build(GeneratorSettings()).reader.name == "extractive"
    reader = build(GeneratorSettings(endpoint="http://127.0.0.1:9/v1", model="m")).reader
    assert (reader.name, reader.model) == ("openai", "m")
    small = build(GeneratorSettings(endpoint="http://127.0.0.1:9/v1", model="m", prompt="short_answer")).reader
    assert small.prompt_version == versions("short_answer")
    assert small.adapters == ("extractive-1",)
