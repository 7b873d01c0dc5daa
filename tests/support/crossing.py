"""What a tenant has of every kind, and a stranger of another tenant who looks for it with the real ids."""

from __future__ import annotations

from dataclasses import dataclass

from quelea_kit.reach import bound_id
from support.tenant_stack import BONDS, DEFAULT, TenantStack

SECRET = "kestrel"
FIGURE = "48,213"
SHARED = (
    "<html><body><h1>Orchard Foods annual report 2023</h1><p>Orchard Foods sold apples and pears in nine countries, "
    "and its net sales grew by four percent in fiscal 2023.</p></body></html>"
)
TOLD = (
    f"<html><body><h1>{SECRET} board memo</h1><p>Zanzibar Motors delivered {FIGURE} vehicles in fiscal 2023, which the "
    "board had not expected.</p><h2>Consolidated Statements of Operations</h2><p>(in millions)</p><table>"
    "<tr><td></td><td>Year ended December 31, 2023</td><td>Year ended December 31, 2022</td></tr>"
    "<tr><td>Total revenues</td><td>$ 7,391</td><td>$ 6,104</td></tr>"
    "<tr><td>Cost of revenues</td><td>5,100</td><td>4,020</td></tr>"
    "<tr><td>Gross profit</td><td>2,291</td><td>2,084</td></tr>"
    "<tr><td>Net income</td><td>$ 612</td><td>$ 433</td></tr></table></body></html>"
)
QUESTION = "How many vehicles did Zanzibar Motors deliver in fiscal 2023?"


@dataclass
class Crossing:
    """What one tenant has, and who of the other one looks for it."""

    stack: TenantStack
    owner: str
    stranger: str
    job: str = ""
    document: str = ""
    shared: str = ""
    """The owner's document of the bytes that both have."""
    other: str = ""
    """In the owner's other collection."""
    run: str = ""
    feedback: str = ""
    conversation: str = ""
    watch: str = ""
    fetch: str = ""

    @property
    def secrets(self) -> list[str]:
        """What no answer to a stranger may have in it."""
        ids = (self.job, self.document, self.shared, self.other, self.run, self.feedback, self.watch, self.fetch)
        ids += (self.conversation,)
        return [SECRET, FIGURE, FIGURE.replace(",", ""), "7,391", "7391000000", *(one for one in ids if one)]


async def crossed(stack: TenantStack, owner: str, *, more: str = "") -> Crossing:
    """Fill a stack with all that the owner has.

    Args:
        stack: Of both tenants.
        owner: Whose it is; the other one is the stranger.
        more: HTML that makes the owner's document longer.
    """
    one = Crossing(stack, owner, BONDS if owner == DEFAULT else DEFAULT)
    async with stack.client(f"{owner} all") as http:
        made = await http.post("/v1/collections", json={"name": "hk", "title": f"{SECRET} deals"})
        assert made.status_code == 201, made.text
        about = {"company": "Zanzibar Motors", "ticker": "ZNZ", "document_type": "10-K", "period": "FY2023"}
        one.job, one.document = await stack.upload(f"{owner} all", f"{SECRET}.html", TOLD + more, **about)
        _, one.other = await stack.upload(f"{owner} all", f"{SECRET}-hk.html", TOLD + " ", collection="hk", **about)
        _, one.shared = await stack.upload(f"{owner} all", "orchard.html", SHARED, company="Orchard Foods")
        await stack.upload(f"{one.stranger} all", "orchard.html", SHARED, company="Orchard Foods")
        thumb = {"question": SECRET, "answer": FIGURE, "thumb": "up"}
        one.feedback = (await http.post("/v1/feedback", json=thumb)).json()["id"]
        one.conversation = (await http.post("/v1/conversations", json={"title": SECRET})).json()["id"]
        saved = await http.post("/v1/ask", json={"question": QUESTION, "conversation_id": one.conversation})
        assert saved.status_code == 200, saved.text
        started = await http.post("/v1/agent/runs", json={"question": QUESTION})
        assert started.status_code == 202, started.text
        one.run = started.json()["id"]
        async with http.stream("GET", f"/v1/agent/runs/{one.run}/events") as events:
            assert "state" in "".join([line async for line in events.aiter_lines()])
    one.fetch = f"fetch-{bound_id(owner, '1' * 32)}"
    market = stack.parts.market
    market.answers[f"https://{SECRET}.example/filing"] = "filed"
    session = await market.open(run_id=one.fetch, tenant="", as_of="", bundle_ids=(), max_calls=1, seconds=9)
    market.fetch(f"https://{SECRET}.example/filing", session.token)
    one.watch = stack.remember(owner, SECRET)
    return one
