"""A market-data door in the process whose upstreams are recorded replies of EDGAR and cninfo."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs

from quelea_kit.testing import running
from quelea_search.door.adapters.fake_upstream import FakeUpstream
from quelea_search.door.adapters.http_server import HttpServer
from quelea_search.door.adapters.store import Store
from quelea_search.door.core.sessions import Sessions
from quelea_search.door.door import Door as DoorItself
from quelea_search.door.service import SERVICE, MarketDoorService
from quelea_search.door.settings import DoorSettings
from quelea_search.filings.adapters.door import Door

REPLIES = Path(__file__).parents[1] / "unit/search/filing_replies"
CONTACT = "Example Ltd admin@example.com"
ARCHIVES = "https://www.sec.gov/Archives/edgar/data"
NFLX_2024 = f"{ARCHIVES}/1065280/000106528025000044/nflx-20241231.htm"
NFLX_2023 = f"{ARCHIVES}/1065280/000106528024000030/nflx-20231231.htm"
DATS_8K = f"{ARCHIVES}/1648960/000121390024004875"
MOUTAI_2023 = "http://static.cninfo.com.cn/finalpage/2024-04-03/1219506510.PDF"
MOUTAI_2022 = "http://static.cninfo.com.cn/finalpage/2023-03-31/1216240711.PDF"


def answers() -> dict[str, bytes]:
    """Address -> reply; documents are short texts."""

    def reply(name: str) -> bytes:
        return (REPLIES / name).read_bytes()

    return {
        "https://www.sec.gov/files/company_tickers.json": reply("company_tickers.json"),
        "https://data.sec.gov/submissions/CIK0001065280.json": reply("CIK0001065280.json"),
        "https://data.sec.gov/submissions/CIK0001648960.json": reply("CIK0001648960.json"),
        f"{DATS_8K}/0001213900-24-004875-index.html": reply("0001213900-24-004875-index.html"),
        f"{DATS_8K}/ea191807-8k_datchat.htm": b"DatChat current report",
        **{f"{DATS_8K}/ea191807ex99-{n}_datchat.htm": f"release {n}".encode() for n in (1, 2, 3)},
        NFLX_2024: b"Netflix annual report 2024",
        NFLX_2023: b"Netflix annual report 2023",
        "http://www.cninfo.com.cn/new/data/szse_stock.json": reply("szse_stock.json"),
        "http://www.cninfo.com.cn/new/hisAnnouncement/query": reply("announcements.json"),
        MOUTAI_2023: "贵州茅台2023年年度报告 全文".encode(),
        MOUTAI_2022: "贵州茅台2022年年度报告 全文".encode(),
    }


@dataclasses.dataclass
class Sources:
    """The door, and what lies behind it."""

    door: Door
    upstream: FakeUpstream
    store: Store
    target: str
    """gRPC address."""
    data: str
    """Address of the data side."""

    @property
    def asked(self) -> list[str]:
        """Addresses that were asked for, in order."""
        return [str(question.url) for question in self.upstream.asked]

    def forms(self) -> list[dict[str, list[str]]]:
        """Fields of the POSTs, in order."""
        return [parse_qs(question.body.decode()) for question in self.upstream.asked if question.method == "POST"]


@contextlib.asynccontextmanager
async def filing_sources(folder: Path, user_agent: str = CONTACT, *, fresh: bool = True) -> AsyncIterator[Sources]:
    """A door with the real allow-list, store, sessions, data side and rpcs; its upstreams are recorded.

    Without `fresh` it asks them each time: no answer of its cache counts.
    """
    settings = DoorSettings(data_dir=folder, fresh_seconds={} if fresh else {"sec.gov": 0, "cninfo.com.cn": 0})
    hosts, store, sessions = settings.table(), Store(folder), Sessions(20)
    upstream = FakeUpstream(hosts, answers())
    itself = DoorItself(settings, store, upstream, sessions)
    data = HttpServer(itself.call, request_bytes=100_000, connections=50)
    await data.listen_tcp("127.0.0.1:0")
    service = MarketDoorService(settings, store, sessions, hosts, {})
    async with running(service.register, [SERVICE]) as target:
        address = f"http://127.0.0.1:{data.port}"
        door = Door(target, address, user_agent)
        yield Sources(door, upstream, store, target, address)
        await door.close()
    await data.stop(1.0)
    await itself.close()
    store.close()
