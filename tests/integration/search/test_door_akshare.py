"""Real akshare, yfinance, requests, urllib and curl_cffi, in the runner image without a network, on the sample bundle.

Needs a Docker engine and the image quelea-runner:latest (`make runner-image`); skipped, saying so, where they are not.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from quelea.market.v1 import market_pb2 as pb
from quelea_search.door.samples.__main__ import UNTIL, write
from quelea_search.door.samples.eastmoney import nvidia
from support.market_door import DoorProcess

IMAGE = "quelea-runner:latest"
SECONDS = 240

CALLS = {
    "stock_zh_a_hist": 'ak.stock_zh_a_hist("000001", start_date="20231001", end_date="20231031")',
    "fund_etf_hist_em": 'ak.fund_etf_hist_em("510300")',
    "stock_us_hist": 'ak.stock_us_hist("105.NVDA")',
    "stock_us_daily": 'ak.stock_us_daily("NVDA")',
    "stock_us_daily_qfq": 'ak.stock_us_daily("NVDA", adjust="qfq")',
    "stock_hk_hist": 'ak.stock_hk_hist("00700")',
    "stock_zh_index_daily_em": 'ak.stock_zh_index_daily_em("sh000300")',
    "stock_zh_a_spot_em": "ak.stock_zh_a_spot_em()",
    "macro_china_gdp": "ak.macro_china_gdp()",
    "macro_china_cpi": "ak.macro_china_cpi()",
    "macro_china_lpr": "ak.macro_china_lpr()",
    "macro_usa_cpi_monthly": "ak.macro_usa_cpi_monthly()",
    "macro_usa_unemployment_rate": "ak.macro_usa_unemployment_rate()",
    "futures_main_sina": 'ak.futures_main_sina("RB0")',
    "futures_zh_daily_sina": 'ak.futures_zh_daily_sina("AU0")',
    "fund_open_fund_info_em": 'ak.fund_open_fund_info_em("000001")',
    "fx_spot_quote": "ak.fx_spot_quote()",
    "forex_hist_em": 'ak.forex_hist_em("USDCNH")',
    "stock_profile_cninfo": 'ak.stock_profile_cninfo("000001")',
    "bond_zh_us_rate": 'ak.bond_zh_us_rate("20241101")',
    "rate_interbank": "ak.rate_interbank()",
}
SCRIPT = """
import json, sys, time
import akshare as ak
time.sleep = lambda seconds: None  # akshare is polite to upstreams that are not there
found = {}
for name, code in json.loads(sys.argv[1]).items():
    try:
        frame = eval(code)
        found[name] = [list(frame.shape), [str(c) for c in frame.columns], [str(v) for v in frame.iloc[-1]]]
    except Exception as error:
        found[name] = [type(error).__name__, str(error)[:500]]
import requests, urllib.request
from curl_cffi import requests as curl
sec = "https://data.sec.gov/api/xbrl/companyconcept/CIK0001045810/us-gaap/Revenues.json"
chart = "https://query1.finance.yahoo.com/v8/finance/chart/NVDA?range=1mo&interval=1d"
import yfinance
found["yfinance"] = float(yfinance.Ticker("NVDA").history(period="1mo")["Close"].iloc[-1])
found["requests"] = requests.get(sec, timeout=30).json()["units"]["USD"][-1]["val"]
found["urllib"] = len(json.load(urllib.request.urlopen(chart, timeout=30))["chart"]["result"][0]["timestamp"])
found["curl_cffi"] = len(curl.get(chart, timeout=30).json()["chart"]["result"][0]["timestamp"])
for name, url in (("unrecorded", chart.replace("NVDA", "MSFT")), ("unlisted", "https://example.com/")):
    try:
        answer = requests.get(url, timeout=30)
        found[name] = [answer.status_code, answer.text[:500]]
    except Exception as error:
        found[name] = [type(error).__name__, str(error)[:500]]
print("FOUND " + json.dumps(found))
"""


def _why_not() -> str:
    if shutil.which("docker") is None:
        return "no docker command: install docker.io"
    seen = subprocess.run(["docker", "image", "inspect", IMAGE], capture_output=True, check=False)
    return "" if seen.returncode == 0 else f"no Docker engine, or no image {IMAGE}: run `make runner-image`"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def replayed() -> AsyncIterator[tuple[dict[str, Any], list[pb.Call]]]:
    """What the script found in the container, and the door's log of it."""
    if why := _why_not():
        pytest.skip(f"AKSHARE IS NOT TESTED THROUGH THE DOOR: {why}")
    with tempfile.TemporaryDirectory(prefix="door") as folder:
        door = DoorProcess(Path(folder))
        await door.start()
        try:
            await asyncio.to_thread(write, Path(folder) / "samples.zip")
            bundle = await door.take_bundle((Path(folder) / "samples.zip").read_bytes())
            token = await door.open("ak", mode=pb.MODE_REPLAY, bundle_ids=[bundle.bundle_id], as_of=UNTIL.isoformat())
            command = [
                "docker",
                "run",
                "--rm",
                "--label",
                "quelea=door-test",
                "--network",
                "none",
                "--read-only",
                "--memory",
                "1g",
                "--pids-limit",
                "128",
                "--tmpfs",
                "/tmp:size=64m",  # noqa: S108  # inside the container
                "--tmpfs",
                "/work:size=64m",
                "-v",
                f"{door.socket.parent}:/run/market:ro",
                "-e",
                f"QUELEA_MARKET_TOKEN={token}",
                "-e",
                "QUELEA_MARKET_SOCKET=/run/market/door.sock",
                IMAGE,
                "python3",
                "-I",
                "-B",
                "-c",
                SCRIPT,
                json.dumps(CALLS),
            ]
            done = await asyncio.to_thread(
                subprocess.run, command, capture_output=True, text=True, timeout=SECONDS, check=False
            )
            lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
            assert lines, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
            yield json.loads(lines[-1].removeprefix("FOUND ")), await door.calls("ak")
        finally:
            await door.stop()


@pytest.mark.parametrize("name", CALLS)
async def test_a_real_function_returns_a_frame(name: str, replayed: tuple[dict[str, Any], list[pb.Call]]) -> None:
    shape, *rest = replayed[0][name]
    assert isinstance(shape, list), (shape, rest)
    assert shape[0] >= 1
    assert shape[1] >= 3


async def test_the_frames_are_right(replayed: tuple[dict[str, Any], list[pb.Call]]) -> None:
    found = replayed[0]
    shape, columns, last = found["stock_zh_a_hist"]
    assert shape == [17, 12]  # October 2023 after the holiday
    assert (columns[0], last[0], last[1]) == ("日期", "2023-10-31", "000001")
    bars = nvidia(UNTIL)
    shape, columns, last = found["stock_us_daily"]
    assert columns == ["date", "open", "high", "low", "close", "volume"]
    assert shape[0] == len(bars) > 300
    assert last[0].startswith("2024-11-22")
    assert [float(value) for value in last[1:]] == [
        bars[-1].open,
        bars[-1].high,
        bars[-1].low,
        bars[-1].close,
        bars[-1].volume,
    ]
    assert float(found["stock_us_hist"][2][2]) == bars[-1].close
    assert found["stock_us_daily_qfq"][0] == shape
    assert found["stock_zh_a_spot_em"][0][0] == 130  # two pages
    assert found["rate_interbank"][0][0] > 500  # two pages
    assert found["macro_usa_cpi_monthly"][0][0] > 40  # three pages, until an empty one
    assert found["fund_open_fund_info_em"][2][0] == "2024-11-22"
    assert found["fx_spot_quote"][0] == [5, 3]
    assert found["stock_profile_cninfo"][0] == [1, 26]


async def test_other_libraries_come_through_too(replayed: tuple[dict[str, Any], list[pb.Call]]) -> None:
    found = replayed[0]
    assert found["requests"] == 60_922_000_000
    assert found["urllib"] == found["curl_cffi"] == 22
    assert found["yfinance"] == nvidia(UNTIL)[-1].close


async def test_what_is_not_recorded_or_not_listed_is_refused_with_its_reason(
    replayed: tuple[dict[str, Any], list[pb.Call]],
) -> None:
    found = replayed[0]
    assert "nearest recorded call is https://query1.finance.yahoo.com/v8/finance/chart/NVDA" in found["unrecorded"][1]
    assert "example.com is not an allowed host" in found["unlisted"][1]


async def test_every_call_is_in_the_log(replayed: tuple[dict[str, Any], list[pb.Call]]) -> None:
    calls = replayed[1]
    answered = [call for call in calls if call.source == "bundle"]
    assert len(answered) >= len(CALLS)
    assert all(call.sha256 and call.fetched.startswith("2024-11-22") for call in answered)
    assert [call.url for call in answered if call.status != 200] == ["https://fc.yahoo.com/"]
    assert sorted(call.reason.partition(":")[0] for call in calls if call.source == "refused") == [
        "HOST",
        "NOT_RECORDED",
    ]
    assert len({call.id for call in calls}) == len(calls)
