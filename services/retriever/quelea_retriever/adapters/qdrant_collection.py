"""How a collection on a Qdrant server is made: vectors, replicas, quantization, payload indexes."""

from __future__ import annotations

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from quelea_retriever.adapters.points import (
    COLLECTION,
    DENSE,
    KIND,
    LANGUAGE,
    ORDINAL,
    SPARSE,
    TENANT,
    VERSION,
    WRITTEN,
)
from quelea_retriever.settings import Settings

_INDEXES: dict[str, models.PayloadSchemaType | models.KeywordIndexParams] = {
    KIND: models.PayloadSchemaType.KEYWORD,
    VERSION: models.PayloadSchemaType.KEYWORD,
    LANGUAGE: models.PayloadSchemaType.KEYWORD,
    # The server keeps the passages of one tenant near each other.
    TENANT: models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    COLLECTION: models.PayloadSchemaType.KEYWORD,
    WRITTEN: models.PayloadSchemaType.INTEGER,
    ORDINAL: models.PayloadSchemaType.INTEGER,
}
_CONFLICT = 409


async def create_collection(client: AsyncQdrantClient, settings: Settings, name: str, dimension: int) -> None:
    """Make a collection and its indexes; what is there already stays, so replicas may do this at the same time."""
    if not await client.collection_exists(name):
        try:
            await client.create_collection(
                name,
                vectors_config={
                    DENSE: models.VectorParams(
                        size=dimension, distance=models.Distance.COSINE, on_disk=settings.qdrant_on_disk
                    )
                },
                sparse_vectors_config={
                    SPARSE: models.SparseVectorParams(
                        modifier=models.Modifier.IDF, index=models.SparseIndexParams(on_disk=settings.qdrant_on_disk)
                    )
                },
                shard_number=settings.qdrant_shard_number,
                replication_factor=settings.qdrant_replication_factor,
                write_consistency_factor=settings.qdrant_write_consistency_factor,
                on_disk_payload=True,
                quantization_config=quantization(settings),
            )
        except UnexpectedResponse as error:
            if error.status_code != _CONFLICT:  # else another replica made it just now
                raise
    await create_indexes(client, settings, name)


async def create_indexes(client: AsyncQdrantClient, settings: Settings, name: str) -> None:
    """Have every payload index that this release uses; those that are there stay."""
    if settings.qdrant_url != ":memory:":  # local mode has no indexes, and says so with a warning
        for field, kind in _INDEXES.items():
            await client.create_payload_index(name, field, kind, wait=True)


def quantization(settings: Settings) -> models.ScalarQuantization | None:
    """Vectors as bytes in memory, the originals kept for the final scores; None to keep only the originals."""
    if settings.qdrant_quantization == "none":
        return None
    return models.ScalarQuantization(
        scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
    )
