"""A real cross-encoder, tiny and with random weights, from its folder to the gateway's verifier."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from quelea.embedder.v1 import embedder_pb2_grpc as pb_grpc
from quelea_checker import CheckPassage
from quelea_embedder.__main__ import build, build_entailment, load_cross_encoder
from quelea_embedder.adapters.cross_encoder import SentenceTransformerCrossEncoder
from quelea_embedder.adapters.fake_encoder import FakeEncoder
from quelea_embedder.core.entailment import Pair
from quelea_embedder.service import NAME, EmbedderService
from quelea_embedder.settings import EmbedderSettings
from quelea_gateway.adapters.services.retriever import RetrieverClient
from quelea_gateway.adapters.verifiers.cross_encoder_verifier import CrossEncoderVerifier
from quelea_kit.errors import Conflict
from quelea_kit.testing import free_port, running, wait_until
from quelea_retriever.adapters.embedder import GrpcEmbedder
from quelea_retriever.testing import running_retriever

LABELS = ("contradiction", "entailment", "neutral")
COLUMNS = {"entailment": 0, "neutral": 1, "contradiction": 2}
WORDS = (
    "the board rejected accepted offer sales rose fell because of advertising weather in third quarter not .".split()
)
PAIRS: list[Pair] = [
    ("the board rejected the offer .", "the board accepted the offer ."),
    ("sales rose because of advertising in the third quarter .", "sales rose because of weather ."),
    ("sales fell .", "sales rose ."),
    ("the offer", "not the board of the third quarter rejected the offer because of the weather in the quarter ."),
    ("because of advertising " * 40, "sales rose ."),
]


def make_model(folder: Path, labels: tuple[str, ...] = LABELS, favourite: str = "") -> Path:
    """A folder as an operator would name it; the head is biased towards its favourite."""
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=5 + len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
        id2label=dict(enumerate(labels)),
        label2id={label: index for index, label in enumerate(labels)},
    )
    torch.manual_seed(7)
    model = transformers.BertForSequenceClassification(config)
    if favourite:
        with torch.no_grad():
            model.classifier.bias[labels.index(favourite)] = 20.0
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model") / "tiny-nli")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> SentenceTransformerCrossEncoder:
    return SentenceTransformerCrossEncoder(str(folder), device="cpu")


def expected(folder: Path, pair: Pair) -> dict[str, float]:
    """What transformers itself says of a pair, by label."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(**tokenizer(*pair, truncation=True, return_tensors="pt")).logits[0]
    return dict(zip(LABELS, torch.softmax(logits, 0).tolist(), strict=True))


def test_scores_are_those_of_transformers_by_label(encoder: SentenceTransformerCrossEncoder, folder: Path) -> None:
    scores, truncated = encoder.score(PAIRS)
    np.testing.assert_allclose(scores.sum(axis=1), 1, atol=1e-5)
    for row, pair in zip(scores, PAIRS, strict=True):
        by_label = expected(folder, pair)
        np.testing.assert_allclose(row, [by_label[label] for label in COLUMNS], atol=1e-5)
    assert truncated == [False, False, False, False, True]
    assert np.ptp(scores, axis=0).min() > 0.01  # the pairs differ: an equal row each would prove nothing


def test_a_batch_gives_what_single_pairs_give(encoder: SentenceTransformerCrossEncoder) -> None:
    together, cut = encoder.score(PAIRS)
    alone = [encoder.score([pair]) for pair in PAIRS]
    np.testing.assert_allclose(together, np.concatenate([scores for scores, _ in alone]), atol=1e-5)
    assert cut == [one for _, cuts in alone for one in cuts]


@pytest.mark.parametrize("favourite", LABELS)
def test_the_order_of_the_labels_is_the_models_own(tmp_path: Path, favourite: str) -> None:
    made = make_model(tmp_path / "model", ("neutral", "CONTRADICTION", "entailment"), _cased(favourite))
    scores, _ = SentenceTransformerCrossEncoder(str(made), device="cpu").score(PAIRS)
    assert set(scores.argmax(axis=1)) == {COLUMNS[favourite]}


def _cased(label: str) -> str:
    return "CONTRADICTION" if label == "contradiction" else label


def test_the_name_follows_the_weights(encoder: SentenceTransformerCrossEncoder, tmp_path: Path) -> None:
    other = SentenceTransformerCrossEncoder(str(make_model(tmp_path / "tiny-nli", favourite="neutral")), device="cpu")
    assert encoder.name.split("@")[0] == other.name.split("@")[0] == "tiny-nli"
    assert encoder.name != other.name


def test_nothing_is_loaded_unless_named_and_only_from_a_folder() -> None:
    assert load_cross_encoder(EmbedderSettings()) is None
    with pytest.raises(FileNotFoundError, match="local folder"):
        load_cross_encoder(EmbedderSettings(cross_encoder="cross-encoder/some-name"))


@contextlib.contextmanager
def embedder_process(model: Path, port: int, log: Path, cross_encoder: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = {
        **os.environ,
        "QUELEA_EMBEDDER_MODEL": str(model),
        "QUELEA_EMBEDDER_CROSS_ENCODER": cross_encoder,
        "QUELEA_EMBEDDER_LISTEN": f"127.0.0.1:{port}",
        "QUELEA_EMBEDDER_METRICS_PORT": "0",
        "QUELEA_EMBEDDER_DEVICE": "cpu",
        "QUELEA_EMBEDDER_LOG_FORMAT": "json",
    }
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "quelea_embedder"], env=environment, stdout=out, stderr=out)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(30)


@pytest.mark.parametrize("labels", [("entailment", "not_entailment"), ("LABEL_0", "LABEL_1", "LABEL_2")])
def test_a_model_with_other_labels_is_refused(tmp_path: Path, labels: tuple[str, ...]) -> None:
    wrong = make_model(tmp_path / "wrong", labels)
    with pytest.raises(ValueError, match="must have the labels entailment, neutral, contradiction"):
        SentenceTransformerCrossEncoder(str(wrong), device="cpu")


def test_an_embedder_with_such_a_model_does_not_start(folder: Path, tmp_path: Path) -> None:
    """May take over 20 s on a busy machine: a process imports torch."""
    wrong = make_model(tmp_path / "wrong", ("positive", "negative", "mixed"))
    log = tmp_path / "log"
    with embedder_process(folder, free_port(), log, str(wrong)) as process:
        assert process.wait(120) == 1
    assert "got mixed, negative, positive" in log.read_text()


SENTENCES = ["The board rejected the offer.", "Sales rose because of advertising."]
PASSAGES = [CheckPassage("The board accepted the offer. Sales fell."), CheckPassage("Sales rose in the third quarter.")]


@contextlib.asynccontextmanager
async def verifier_over(embedder_at: str, folder: Path) -> AsyncIterator[CrossEncoderVerifier]:
    """The gateway's verifier over a real retriever in front of the embedder."""
    embedder = GrpcEmbedder(embedder_at)
    try:
        async with running_retriever(folder, embedder=embedder) as retriever:  # type: ignore[arg-type]  # any embedder
            client = RetrieverClient(retriever.address, search_seconds=30, rank_seconds=30, call_seconds=30)
            try:
                yield CrossEncoderVerifier(client)
            finally:
                await client.close()
    finally:
        await embedder.close()


async def test_the_gateways_verifier_asks_a_real_embedder_through_the_retriever(tmp_path: Path) -> None:
    """May take over 20 s on a busy machine: a process imports torch."""
    made, port = make_model(tmp_path / "tiny-nli", favourite="contradiction"), free_port()
    with embedder_process(made, port, tmp_path / "log", str(made)) as process:
        wait_until(lambda: _listening(process, tmp_path / "log"), what="the embedder's start")
        async with verifier_over(f"127.0.0.1:{port}", tmp_path / "store") as verifier:
            found = await verifier.verify(SENTENCES, PASSAGES)
    assert [one.verdict for one in found if one] == ["contradicted", "contradicted"]


async def test_an_embedder_without_one_says_what_to_set_to_the_gateway(tmp_path: Path) -> None:
    settings = EmbedderSettings(workers=1, drain_seconds=0.5)
    embedding, batcher = await build(settings, FakeEncoder())
    service = EmbedderService(embedding, build_entailment(settings, None, "cpu"))
    async with (
        running(lambda s: pb_grpc.add_EmbedderServiceServicer_to_server(service, s), [NAME], settings=settings) as at,
        verifier_over(at, tmp_path / "store") as verifier,
    ):
        with pytest.raises(Conflict, match="Set QUELEA_EMBEDDER_CROSS_ENCODER"):
            await verifier.verify(SENTENCES, PASSAGES)
    await batcher.stop()


def _listening(process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    return '"listening"' in log.read_text()
