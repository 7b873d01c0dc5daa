"""Time to the first word: which events count, and whose answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from unittest.mock import MagicMock

import pytest
from quelea_cli import bench
from quelea_cli.errors import CliError
from quelea_client import Answer, Client, Delta, Quotes


class Gateway:
    """Streams that take their time; the clock is the test's."""

    def __init__(self, readers: list[str], clock: list[float]) -> None:
        self._readers = iter(readers)
        self._clock = clock

    def stream(self, _question: str, **_options: Any) -> Iterator[Any]:
        reader = next(self._readers)
        if reader == "openai":
            self._clock[0] += 1.0
            yield MagicMock(spec=Quotes)
            self._clock[0] += 3.0
        yield Delta("It ")
        self._clock[0] += 2.0
        yield MagicMock(spec=Answer, reader=reader, declined=None)


def measure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, readers: list[str]) -> dict[str, bench.Measure]:
    clock = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    (tmp_path / "questions").mkdir()
    lines = "\n".join(["Question", *(f"Question {n}?" for n in range(len(readers)))])
    (tmp_path / "questions/filings.csv").write_text(lines, encoding="utf-8")
    found = bench.small_model(cast("Client", Gateway(readers, clock)), tmp_path)
    return {one.name: one for one in found}


def test_quotes_are_first_words_and_not_the_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = measure(monkeypatch, tmp_path, ["openai", "openai", "extractive", "openai"])
    assert found["first words shown, model or quotes, longest"].value == 1.0
    assert found["first word of the answer, 2 of 3 answers by the model, p50"].value == 4.0
    whole = found["whole answer of the model, p50"]
    assert (whole.value, whole.target, whole.good) == (6.0, "< 15", True)


def test_a_model_that_wrote_nothing_is_no_measure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(CliError, match="none of the answers"):
        measure(monkeypatch, tmp_path, ["openai", "extractive"])
