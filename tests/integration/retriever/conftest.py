"""The retriever over real gRPC and a real embedded store, with a fake embedder."""

import pytest
from quelea_retriever.testing import memory_folder, running_retriever


@pytest.fixture
async def service():
    with memory_folder() as folder:
        async with running_retriever(folder) as running:
            yield running
