"""Two tenants with the same document and different ones, on a real small stack."""

import pytest
from support.crossing import crossed
from support.tenant_stack import BONDS, DEFAULT, tenant_stack


@pytest.fixture(params=[(DEFAULT, "qdrant_edge"), (BONDS, "qdrant_edge"), (BONDS, "qdrant")], ids="-".join)
async def crossing(request, tmp_path):
    owner, store = request.param
    async with tenant_stack(tmp_path, store=store, openbb_origins=("https://pro.openbb.co",), agent_running=1) as stack:
        yield await crossed(stack, owner)
