"""What only the server store has: how a collection is made, and a server that is not there."""

import numpy as np
import pytest
from qdrant_client import models
from quelea_kit.errors import Unavailable
from quelea_kit.testing import free_port
from quelea_retriever.adapters.qdrant import QdrantStore
from quelea_retriever.adapters.qdrant_collection import create_collection
from quelea_retriever.adapters.store import Profile, Scope
from quelea_retriever.settings import Settings


class Recorder:
    """A client that notes how the collection is made."""

    def __init__(self):
        self.made, self.indexes = None, []

    async def collection_exists(self, name):
        return self.made is not None

    async def create_collection(self, name, **how):
        self.made = (name, how)

    async def create_payload_index(self, name, field, kind, wait):
        self.indexes.append(field)


async def test_a_collection_is_made_as_the_settings_say():
    client = Recorder()
    settings = Settings(
        qdrant_collection="c",
        qdrant_shard_number=3,
        qdrant_replication_factor=2,
        qdrant_write_consistency_factor=2,
        qdrant_on_disk=True,
        qdrant_quantization="int8",
    )
    await create_collection(client, settings, "c", 384)
    name, how = client.made
    assert name == "c"
    assert (how["shard_number"], how["replication_factor"], how["write_consistency_factor"]) == (3, 2, 2)
    assert how["vectors_config"]["dense"].size == 384
    assert how["vectors_config"]["dense"].on_disk is True
    assert how["sparse_vectors_config"]["sparse"].modifier == models.Modifier.IDF
    assert how["quantization_config"].scalar.type == models.ScalarType.INT8
    assert set(client.indexes) == {"kind", "version", "language", "tenant", "collection", "written", "ordinal"}
    await create_collection(client, settings, "c", 384)  # there already: made once
    assert len(client.indexes) == 14


async def test_a_plain_collection_has_no_quantization():
    client = Recorder()
    await create_collection(client, Settings(), "quelea", 4)
    assert client.made[1]["quantization_config"] is None


@pytest.mark.filterwarnings("ignore")
async def test_a_server_that_is_not_there_is_unavailable():
    store = QdrantStore(Settings(qdrant_url=f"http://127.0.0.1:{free_port()}", qdrant_timeout_seconds=2))
    for call in (store.open(), store.check(), store.ensure(Profile("m", 4))):
        with pytest.raises(Unavailable, match="Qdrant"):
            await call
    nothing = np.zeros(0, np.uint32), np.zeros(0, np.float32)
    assert await store.search(np.zeros(4, np.float32), nothing, Scope(), 5) == []
    await store.close()
