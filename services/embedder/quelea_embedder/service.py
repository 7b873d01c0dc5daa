"""EmbedderService: wire <-> core."""

from __future__ import annotations

from importlib.metadata import version

import grpc
from quelea.common.v1 import common_pb2
from quelea.embedder.v1 import embedder_pb2 as pb
from quelea.embedder.v1 import embedder_pb2_grpc as pb_grpc
from quelea_kit.errors import InvalidInput

from quelea_embedder.core.embedding import Embedding
from quelea_embedder.core.entailment import Entailment
from quelea_embedder.core.model import Kind
from quelea_embedder.metrics import CACHED, TRUNCATED

NAME = pb.DESCRIPTOR.services_by_name["EmbedderService"].full_name

_KINDS = {pb.EMBED_KIND_QUERY: Kind.QUERY, pb.EMBED_KIND_PASSAGE: Kind.PASSAGE}


class EmbedderService(pb_grpc.EmbedderServiceServicer):
    """The rpcs, over one Embedding and one Entailment."""

    def __init__(self, embedding: Embedding, entailment: Entailment) -> None:
        self._embedding = embedding
        self._entailment = entailment
        self._version = version("quelea-embedder")

    async def Embed(  # noqa: N802  # the name of the rpc
        self,
        request: pb.EmbedRequest,
        context: grpc.aio.ServicerContext[pb.EmbedRequest, pb.EmbedResponse],  # grpc passes it
    ) -> pb.EmbedResponse:
        """Unit vectors; see core.embedding for the errors."""
        kind = _KINDS.get(request.kind)
        if kind is None:
            raise InvalidInput("kind must be EMBED_KIND_QUERY or EMBED_KIND_PASSAGE.")
        done = await self._embedding.embed(request.texts, kind)
        TRUNCATED.labels(kind.value).inc(len(done.truncated))
        CACHED.labels(kind.value).inc(done.cached)
        return pb.EmbedResponse(
            vectors=done.vectors.astype("<f4", copy=False).tobytes(),
            count=len(request.texts),
            dimension=self._embedding.info.dimension,
            truncated=done.truncated,
            model=self._embedding.info.model,
            timing=common_pb2.Timing(queue_ms=done.queue_seconds * 1000, compute_ms=done.compute_seconds * 1000),
        )

    async def GetModel(  # noqa: N802  # the name of the rpc
        self,
        request: pb.GetModelRequest,  # it has no fields
        context: grpc.aio.ServicerContext[pb.GetModelRequest, pb.GetModelResponse],  # grpc passes it
    ) -> pb.GetModelResponse:
        """What encodes here, and its limits."""
        info = self._embedding.info
        return pb.GetModelResponse(
            model=info.model,
            dimension=info.dimension,
            max_tokens=info.max_tokens,
            max_texts=self._embedding.max_texts,
            query_prefix=info.query_prefix,
            passage_prefix=info.passage_prefix,
            device=info.device,
            version=self._version,
            two_towers=info.two_towers,
        )

    async def Entail(  # noqa: N802  # the name of the rpc
        self,
        request: pb.EntailRequest,
        context: grpc.aio.ServicerContext[pb.EntailRequest, pb.EntailResponse],  # grpc passes it
    ) -> pb.EntailResponse:
        """Scores of the pairs; see core.entailment for the errors."""
        done = await self._entailment.entail([(pair.premise, pair.hypothesis) for pair in request.pairs])
        return pb.EntailResponse(
            scores=[
                common_pb2.EntailmentScore(entailment=entailment, neutral=neutral, contradiction=contradiction)
                for entailment, neutral, contradiction in done.scores.tolist()
            ],
            truncated=done.truncated,
            model=self._entailment.model,
            timing=common_pb2.Timing(queue_ms=done.queue_seconds * 1000, compute_ms=done.compute_seconds * 1000),
        )
