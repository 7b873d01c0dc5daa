"""A library in memory whose clock is told the time."""

import pytest
from quelea_retriever.adapters.qdrant_edge import QdrantEdgeStore
from quelea_retriever.adapters.store import Profile
from quelea_retriever.library import Library
from quelea_retriever.testing import DIMENSION, memory_folder
from support.library import Clock


@pytest.fixture
async def edge_library():
    with memory_folder() as folder:
        clock = Clock()
        library = Library(QdrantEdgeStore(folder, sync=False), clock=clock, monotonic=clock)
        await library.start()
        await library.store.ensure(Profile("m", DIMENSION))
        yield library
        await library.close()
