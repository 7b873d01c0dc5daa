"""The other vendors: Sina, jin10, cninfo, chinamoney, Yahoo, the SEC."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode

from quelea_search.door.core.headers import COOKIE_NAMES
from quelea_search.door.samples.eastmoney import Sample, nvidia
from quelea_search.door.samples.klc import pack
from quelea_search.door.samples.series import Bar, drift, walk

_JSON = "application/json; charset=utf-8"
_SCRIPT = "application/javascript; charset=gbk"
_JIN10_PAGE = 20
UNUSUAL = {"https://fc.yahoo.com/": (404, {COOKIE_NAMES: "A3"})}
"""Address -> status and headers of the samples that are not simply a body."""


def sina(until: date) -> Iterator[Sample]:
    """US shares as packed bars with their factors, and futures as JSONP."""
    shares = {"NVDA": nvidia(until), "AAPL": walk("AAPL", date(2023, 6, 1), until, 180.0, volume=52_000_000)}
    for symbol, bars in shares.items():
        yield (
            "GET",
            f"https://finance.sina.com.cn/staticdata/us/{symbol}",
            f'var {symbol}="{pack(bars)}";'.encode(),
            _SCRIPT,
        )
        factors = f'var {symbol}qfq={{"total":1,"data":[{{"d":"1900-01-01","f":"1.0","c":"0.0"}}]}}\n/* made up */'
        url = f"https://finance.sina.com.cn/us_stock/company/reinstatement/{symbol}_qfq.js"
        yield "GET", url, factors.encode(), _SCRIPT
    for symbol, start in (("RB0", 3700.0), ("AU0", 610.0)):
        bars = walk(symbol, date(2024, 1, 2), until, start, volume=1_500_000, china=True)
        rows = [_future(bar) for bar in bars]
        base = "https://stock2.finance.sina.com.cn/futures/api/jsonp.php"
        for name, more in (
            (f"var%20_{symbol}2021_08_17=", {"_": "2021_08_17"}),
            ("var%20_V21052021_4_12=", {"type": "2021_04_12"}),
        ):
            url = f"{base}/{name}/InnerFuturesNewService.getDailyKLine?{urlencode({'symbol': symbol, **more})}"
            variable = name.replace("%20", " ")
            yield "GET", url, f"/* made up */\n{variable}({json.dumps(rows)});".encode(), _SCRIPT


def _future(bar: Bar) -> dict[str, str]:
    settled = round((bar.high + bar.low + bar.close) / 3, 1)
    numbers = {
        "o": bar.open,
        "h": bar.high,
        "l": bar.low,
        "c": bar.close,
        "v": bar.volume,
        "p": bar.volume + 400_000,
        "s": settled,
    }
    return {"d": bar.day.isoformat(), **{name: str(value) for name, value in numbers.items()}}


def jin10(until: date) -> Iterator[Sample]:
    """Monthly reports, newest first, asked for page by page by the last date seen, until an empty page comes."""
    base = "https://datacenter-api.jin10.com/reports/list_v2"
    for attribute, name, start, first_asks in (
        ("9", "usa cpi monthly", 0.3, True),
        ("47", "usa unemployment", 4.0, False),
    ):
        months = (until.year - 2021) * 12 + until.month - 1
        values = drift(name, months, start, 0.1, 1)
        rows = [
            [f"{2021 + n // 12}-{n % 12 + 1:02d}-12", value, round(value + 0.1, 1), values[max(0, n - 1)]]
            for n, value in enumerate(values)
        ][::-1]
        for page in range(len(rows) // _JIN10_PAGE + 2):
            found = rows[page * _JIN10_PAGE : (page + 1) * _JIN10_PAGE]
            before = str(rows[min(page * _JIN10_PAGE, len(rows)) - 1][0]) if page else ""
            day = (date.fromisoformat(before) - timedelta(days=1)).isoformat() if before else ""
            asked = {**({"max_date": day} if first_asks and not page else {}), "category": "ec", "attr_id": attribute}
            asked |= {"max_date": day} if page else {}
            keys = [
                {"name": title, "unit": unit}
                for title, unit in (("日期", ""), ("今值", "%"), ("预测值", "%"), ("前值", "%"))
            ]
            body = {"status": 200, "message": "OK", "data": {"keys": keys, "values": found}}
            yield "GET", f"{base}?{urlencode(asked)}", json.dumps(body, ensure_ascii=False).encode(), _JSON
            if not found:
                break


def cninfo() -> Iterator[Sample]:
    """A company's profile, asked for by POST with a computed token."""
    texts = [
        "平安银行股份有限公司", "Ping An Bank Co., Ltd.", "深发展A", "000001", "平安银行", None, None, None, None,
        "沪深300", "深交所", "货币金融服务", "样本", 1940591.82, "1987-12-22", "1991-04-03", "bank.pingan.com",
        "sample@example.com", "0755-00000000", None, "深圳市", "深圳市", "518001", "银行业务",
        "办理人民币存、贷、结算、汇兑业务",
        "样本简介。",
    ]  # fmt: skip
    record = {f"F{number:03d}V": text for number, text in enumerate(texts, start=1)}
    record |= {f"X{number}": None for number in range(4)}
    body = {"resultcode": 200, "resultmsg": "success", "total": 1, "count": 1, "records": [record]}
    url = "https://webapi.cninfo.com.cn/api/sysapi/p_sysapi1133?scode=000001"
    yield "POST", url, json.dumps(body, ensure_ascii=False).encode(), _JSON


def chinamoney(until: date) -> Iterator[Sample]:
    """Spot rates of the yuan, asked for by POST with a time stamp."""
    records = [
        {
            "ccyPair": pair,
            "bidPrc": f"{rate:.4f}",
            "askPrc": f"{rate * 1.0002:.4f}",
            "midprice": f"{rate:.4f}",
            "time": "16:30",
        }
        for pair, rate in (
            ("USD/CNY", 7.24),
            ("EUR/CNY", 7.58),
            ("100JPY/CNY", 4.68),
            ("HKD/CNY", 0.93),
            ("GBP/CNY", 9.1),
        )
    ]
    body = {"head": {"rep_code": "200"}, "data": {"showDateCN": f"{until} 16:30"}, "records": records}
    url = "http://www.chinamoney.com.cn/r/cms/www/chinamoney/data/fx/rfx-sp-quot.json"
    yield "POST", url, json.dumps(body, ensure_ascii=False).encode(), _JSON


def yahoo(until: date) -> Iterator[Sample]:
    """A chart of one month of daily bars."""
    bars = nvidia(until)[-22:]
    stamps = [int(datetime(bar.day.year, bar.day.month, bar.day.day, 14, 30, tzinfo=UTC).timestamp()) for bar in bars]
    quote = {name: [getattr(bar, name) for bar in bars] for name in ("open", "high", "low", "close", "volume")}
    meta = {
        "currency": "USD", "symbol": "NVDA", "exchangeName": "NMS", "instrumentType": "EQUITY", "timezone": "EST",
        "exchangeTimezoneName": "America/New_York", "gmtoffset": -18000, "regularMarketPrice": bars[-1].close,
        "dataGranularity": "1d", "range": "1mo", "priceHint": 2, "validRanges": ["1d", "5d", "1mo", "1y"],
    }  # fmt: skip
    indicators = {"quote": [quote], "adjclose": [{"adjclose": quote["close"]}]}
    body = {"chart": {"result": [{"meta": meta, "timestamp": stamps, "indicators": indicators}], "error": None}}
    asked = {"range": "1mo", "interval": "1d", "includePrePost": "False", "events": "div,splits,capitalGains"}
    for host in ("query1", "query2"):
        for parameters in (asked, {"range": "1d", "interval": "1d"}, {"range": "1mo", "interval": "1d"}):
            url = f"https://{host}.finance.yahoo.com/v8/finance/chart/NVDA?{urlencode(parameters)}"
            yield "GET", url, json.dumps(body).encode(), _JSON
        yield "GET", f"https://{host}.finance.yahoo.com/v1/test/getcrumb", b"sample", "text/plain"
    yield "GET", "https://fc.yahoo.com/", b"not found", "text/html"  # only asked for its cookie


def sec() -> Iterator[Sample]:
    """NVIDIA's yearly revenues as its 10-K filings say them (public facts), in the shape of the companyconcept API."""
    years = ((2022, "2021-02-01", "2022-01-30", 26_914), (2023, "2022-01-31", "2023-01-29", 26_974),
             (2024, "2023-01-30", "2024-01-28", 60_922))  # fmt: skip
    usd = [
        {
            "start": start,
            "end": end,
            "val": value * 1_000_000,
            "fy": year,
            "fp": "FY",
            "form": "10-K",
            "frame": f"CY{year - 1}",
        }
        for year, start, end, value in years
    ]
    body = {"cik": 1045810, "taxonomy": "us-gaap", "tag": "Revenues", "label": "Revenues", "entityName": "NVIDIA CORP",
            "units": {"USD": usd}}  # fmt: skip
    url = "https://data.sec.gov/api/xbrl/companyconcept/CIK0001045810/us-gaap/Revenues.json"
    yield "GET", url, json.dumps(body).encode(), _JSON
