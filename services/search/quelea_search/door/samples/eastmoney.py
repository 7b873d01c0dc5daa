"""Eastmoney's families: klines, paged lists of quotes, the data centre's paged tables, a fund's page of JavaScript."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from quelea_search.door.samples.series import Bar, business_days, drift, walk

Sample = tuple[str, str, bytes, str]
"""Method, address, body, media type."""
_UT = "7eea3edcaed734bea9cbfc24409ed989"
_FIELDS = ",".join(f"f{number}" for number in range(51, 62))
_QUOTES = (
    "f1,f2,f3,f4,f5,f6,f7,f8,f9,f10,f12,f13,f14,f15,f16,f17,f18,f20,f21,f23,f24,f25,f22,f11,f62,f128,f136,f115,f152"
)
_PAGE = 100
_KNOWN = (
    ("000001", "平安银行"),
    ("600519", "贵州茅台"),
    ("300750", "宁德时代"),
    ("600036", "招商银行"),
    ("000858", "五粮液"),
)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _get(url: str, parameters: Mapping[str, object], value: Any) -> Sample:
    return "GET", f"{url}?{urlencode(parameters)}", _json(value), "application/json; charset=UTF-8"


def klines(until: date) -> Iterator[Sample]:
    """Daily bars of shares, a fund, indices and a currency, each under the parameters that akshare's functions send."""
    base = "https://push2his.eastmoney.com/api/qt/stock/kline/get"
    ping_an = walk("000001", date(2023, 1, 3), until, 13.8, volume=900_000, china=True)
    etf = walk("510300", date(2023, 1, 3), until, 3.9, volume=9_000_000, step=0.008, china=True, digits=3)
    for bars, name, secid, last in ((ping_an, "平安银行", "0.000001", "f116"), (etf, "沪深300ETF", "1.510300", "f116")):
        for beg, end in _ranges(until):
            for adjusted in "012":
                yield _get(
                    base,
                    {"fields1": "f1,f2,f3,f4,f5,f6", "fields2": f"{_FIELDS},{last}", "ut": _UT, "klt": 101,
                     "fqt": adjusted, "secid": secid, "beg": beg, "end": end},
                    _kline(secid, name, _within(bars, beg, end)),
                )  # fmt: skip
    index = walk("000300", date(2023, 1, 3), until, 3870.0, volume=120_000_000, step=0.007, china=True)
    yield _get(
        base,
        {"secid": "1.000300", "fields1": "f1,f2,f3,f4,f5", "fields2": ",".join(f"f{n}" for n in range(51, 59)),
         "klt": 101, "fqt": 0, "beg": "19900101", "end": "20500101"},
        _kline("1.000300", "沪深300", index, fields=8),
    )  # fmt: skip
    for host, secid, name, bars in (
        ("63", "105.NVDA", "英伟达", nvidia(until)),
        ("63", "105.AAPL", "苹果", walk("AAPL", date(2023, 6, 1), until, 180.0, volume=52_000_000)),
        ("33", "116.00700", "腾讯控股", walk("00700", date(2023, 6, 1), until, 330.0, volume=21_000_000)),
    ):
        for adjusted in "012":
            yield _get(
                f"https://{host}.push2his.eastmoney.com/api/qt/stock/kline/get",
                {"secid": secid, "fields1": "f1,f2,f3,f4,f5,f6", "fields2": _FIELDS, "klt": 101, "fqt": adjusted,
                 "end": "20500000", "lmt": 1000000},
                _kline(secid, name, bars),
            )  # fmt: skip
    yuan = walk("USDCNH", date(2023, 6, 1), until, 7.11, volume=0, step=0.002, digits=4)
    yield _get(
        base,
        {"secid": "133.USDCNH", "klt": 101, "fqt": 1, "lmt": 50000, "end": "20500000", "iscca": 1,
         "fields1": "f1,f2,f3,f4,f5,f6,f7,f8", "fields2": f"{_FIELDS},f62,f63,f64",
         "ut": "f057cbcbce2a86e2866ab8877db1d059", "forcect": 1},
        _kline("133.USDCNH", "美元兑离岸人民币", yuan, fields=14),
    )  # fmt: skip


def nvidia(until: date) -> list[Bar]:
    """The same bars for every upstream that has NVIDIA."""
    return walk("NVDA", date(2023, 6, 1), until, 118.0, volume=240_000_000, step=0.02)


def _ranges(until: date) -> list[tuple[str, str]]:
    month = until - timedelta(days=30)
    return [
        ("19700101", "20500101"), ("20231001", "20231031"), ("20231009", "20231031"), ("20230101", "20231231"),
        ("20240101", f"{until:%Y%m%d}"), (f"{month:%Y%m%d}", f"{until:%Y%m%d}"),
    ]  # fmt: skip


def _within(bars: Sequence[Bar], beg: str, end: str) -> list[Bar]:
    return [bar for bar in bars if beg <= f"{bar.day:%Y%m%d}" <= end]


def _kline(secid: str, name: str, bars: Sequence[Bar], fields: int = 11) -> dict[str, Any]:
    market, code = secid.split(".")
    lines = []
    for bar in bars:
        difference = round(bar.close - bar.previous, 4)
        turnover = round(bar.volume / 2_000_000, 2)
        values = [bar.day, bar.open, bar.close, bar.high, bar.low, bar.volume, bar.amount, bar.amplitude, bar.change,
                  difference, turnover, 0, 0, 0]  # fmt: skip
        lines.append(",".join(str(value) for value in values[:fields]))
    data = {"code": code, "market": int(market), "name": name, "decimal": 2, "dktotal": len(lines), "klines": lines}
    return {"rc": 0, "rt": 17, "svr": 0, "lt": 1, "full": 0, "dlmkts": "", "data": data}


def quotes(until: date) -> Iterator[Sample]:
    """The list of A-shares, 130 of them on two pages."""
    codes = [*_KNOWN, *((f"30{number:04d}", f"样本股份{number}") for number in range(1, 126))]
    rows = []
    for code, name in codes:
        bar = walk(code, until - timedelta(days=10), until, 5 + int(code) % 90, volume=300_000, china=True)[-1]
        rows.append({
            "f1": 2, "f2": bar.close, "f3": bar.change, "f4": round(bar.close - bar.previous, 2), "f5": bar.volume,
            "f6": bar.amount, "f7": bar.amplitude, "f8": 1.2, "f9": 18.5, "f10": 0.97, "f11": 0.1, "f12": code,
            "f13": int(code.startswith("6")), "f14": name, "f15": bar.high, "f16": bar.low, "f17": bar.open,
            "f18": bar.previous, "f20": 10**10, "f21": 8 * 10**9, "f22": 0.0, "f23": 1.9, "f24": 3.1, "f25": -2.4,
            "f62": 0.0, "f115": 17.2, "f128": "-", "f140": "-", "f141": "-",
            "f136": "-", "f152": 2,
        })  # fmt: skip
    for page in range(1, math.ceil(len(rows) / _PAGE) + 1):
        parameters = {
            "pn": page, "pz": _PAGE, "po": 1, "np": 1, "ut": "bd1d9ddb04089700cf9c27f6f7426281", "fltt": 2, "invt": 2,
            "fid": "f12", "fs": "m:0 t:6,m:0 t:80,m:1 t:2,m:1 t:23,m:0 t:81 s:2048", "fields": _QUOTES,
        }  # fmt: skip
        data = {"total": len(rows), "diff": rows[(page - 1) * _PAGE : page * _PAGE]}
        yield _get("https://82.push2.eastmoney.com/api/qt/clist/get", parameters, {"rc": 0, "data": data})


def tables(until: date) -> Iterator[Sample]:
    """Tables of the data centre: GDP, consumer prices, interbank and lending rates, treasury yields."""
    web = "https://datacenter-web.eastmoney.com/api/data/v1/get"
    one = {"p": 1, "pageNo": 1, "pageNum": 1}
    order = {
        "pageNumber": 1,
        "pageSize": 2000,
        "sortColumns": "REPORT_DATE",
        "sortTypes": -1,
        "source": "WEB",
        "client": "WEB",
    }
    gdp = ("REPORT_DATE,TIME,DOMESTICL_PRODUCT_BASE,FIRST_PRODUCT_BASE,SECOND_PRODUCT_BASE,THIRD_PRODUCT_BASE,SUM_SAME,"
           "FIRST_SAME,SECOND_SAME,THIRD_SAME")  # fmt: skip
    yield _get(web, {"columns": gdp, **order, "reportName": "RPT_ECONOMY_GDP", **one}, _result(_gdp(gdp, until)))
    cpi = "REPORT_DATE,TIME," + ",".join(
        f"{place}_{kind}"
        for place in ("NATIONAL", "CITY", "RURAL")
        for kind in ("SAME", "BASE", "SEQUENTIAL", "ACCUMULATE")
    )
    yield _get(web, {"columns": cpi, **order, "reportName": "RPT_ECONOMY_CPI", **one}, _result(_cpi(cpi, until)))
    yield from _split_pages(
        web,
        lambda page: {
            "reportName": "RPT_IMP_INTRESTRATEN",
            "columns": "REPORT_DATE,REPORT_PERIOD,IR_RATE,CHANGE_RATE,INDICATOR_ID,LATEST_RECORD,MARKET,MARKET_CODE,"
            "CURRENCY,CURRENCY_CODE",
            "quoteColumns": "",
            "filter": '(MARKET_CODE="001")(CURRENCY_CODE="CNY")\n        (INDICATOR_ID="001")',
            "pageNumber": page, "pageSize": 500, "sortTypes": -1, "sortColumns": "REPORT_DATE", "source": "WEB",
            "client": "WEB", "p": page, "pageNo": page, "pageNum": page,
        },
        _interbank(until),
    )  # fmt: skip
    yield from _split_pages(
        web,
        lambda page: {
            "reportName": "RPTA_WEB_RATE", "columns": "ALL", "sortColumns": "TRADE_DATE", "sortTypes": -1,
            "token": "894050c76af8597a853f5b408b759f5d", "pageNumber": page, "pageSize": 500, **one,
        },
        _lending(until),
    )  # fmt: skip
    yield from _split_pages(
        "https://datacenter.eastmoney.com/api/data/get",
        lambda page: {
            "type": "RPTA_WEB_TREASURYYIELD", "sty": "ALL", "st": "SOLAR_DATE", "sr": -1,
            "token": "894050c76af8597a853f5b408b759f5d", "p": page, "ps": 500, "pageNo": page, "pageNum": page,
        },
        _yields(until),
    )  # fmt: skip


def _result(rows: Sequence[Mapping[str, Any]], pages: int = 1, count: int = 0) -> dict[str, Any]:
    result = {"pages": pages, "data": list(rows), "count": count or len(rows)}
    return {"version": "made-up", "result": result, "success": True, "message": "ok", "code": 0}


def _split_pages(url: str, parameters: Any, rows: Sequence[Mapping[str, Any]]) -> Iterator[Sample]:
    pages = math.ceil(len(rows) / 500)
    for page in range(1, pages + 1):
        yield _get(url, parameters(page), _result(rows[(page - 1) * 500 : page * 500], pages, len(rows)))


def _gdp(columns: str, until: date) -> list[dict[str, Any]]:
    rows = []
    growth = drift("gdp", 60, 5.2, 0.15, 1)
    total = 0.0
    for number in range((until.year - 2018) * 4 + (until.month - 1) // 3):
        year, quarter = 2018 + number // 4, number % 4 + 1
        total = round((0.0 if quarter == 1 else total) + 210_000 * 1.055 ** (year - 2018) * (1 + quarter / 30), 1)
        time = f"{year}年第1季度" if quarter == 1 else f"{year}年第1-{quarter}季度"
        parts = [round(total * share, 1) for share in (0.07, 0.39, 0.54)]
        values = [f"{year}-{3 * quarter - 2:02d}-01 00:00:00", time, total, *parts, *growth[number : number + 4]]
        rows.append(dict(zip(columns.split(","), values, strict=True)))
    return rows[::-1]


def _cpi(columns: str, until: date) -> list[dict[str, Any]]:
    rows = []
    months = (until.year - 2020) * 12 + until.month - 1
    for number, same in enumerate(drift("cpi", months, 1.0, 0.25, 1)):
        year, month = 2020 + number // 12, number % 12 + 1
        place = [same, 100 + same, round(same / 9, 1), round(100 + same * 0.9, 1)]
        values = [f"{year}-{month:02d}-01 00:00:00", f"{year}年{month:02d}月份", *place * 3]
        rows.append(dict(zip(columns.split(","), values, strict=True)))
    return rows[::-1]


def _interbank(until: date) -> list[dict[str, Any]]:
    days = list(business_days(date(2022, 1, 4), until, china=True))
    rates = drift("shibor", len(days), 1.8, 0.05, 4)
    rows, last = [], rates[0]
    for day, rate in zip(days, rates, strict=True):
        rows.append({
            "REPORT_DATE": f"{day} 00:00:00", "REPORT_PERIOD": "隔夜", "IR_RATE": rate,
            "CHANGE_RATE": round(100 * (rate - last), 2), "INDICATOR_ID": "001",
            "LATEST_RECORD": int(day == days[-1]), "MARKET": "上海银行同业拆借市场",
            "MARKET_CODE": "001", "CURRENCY": "人民币", "CURRENCY_CODE": "CNY",
        })  # fmt: skip
        last = rate
    return rows[::-1]


def _lending(until: date) -> list[dict[str, Any]]:
    months = (until.year - 2021) * 12 + until.month
    return [
        {"TRADE_DATE": f"{2021 + n // 12}-{n % 12 + 1:02d}-20 00:00:00", "LPR1Y": round(3.85 - 0.015 * n, 2),
         "LPR5Y": round(4.65 - 0.02 * n, 2), "RATE_1": 4.35, "RATE_2": 4.9}
        for n in reversed(range(months if until.day >= 20 else months - 1))
    ]  # fmt: skip


def _yields(until: date) -> list[dict[str, Any]]:
    days = list(business_days(date(2022, 6, 1), until, china=True))
    china = ("EMM00588704", "EMM00166462", "EMM00166466", "EMM00166469")
    states = ("EMG00001306", "EMG00001308", "EMG00001310", "EMG00001312")
    curves = {
        name: drift(name, len(days), start, 0.02, 4)
        for name, start in zip((*china, *states), (2.0, 2.3, 2.6, 2.9, 4.4, 4.1, 4.2, 4.4), strict=True)
    }
    rows = []
    for number, day in enumerate(days):
        row: dict[str, Any] = {
            "SOLAR_DATE": f"{day} 00:00:00",
            **{name: values[number] for name, values in curves.items()},
        }
        row["EMM01276014"] = round(row["EMM00166466"] - row["EMM00588704"], 4)
        row["EMG01339436"] = round(row["EMG00001310"] - row["EMG00001306"], 4)
        rows.append({**row, "EMM00000024": None, "EMG00159635": None})
    return rows[::-1]


def funds(until: date) -> Iterator[Sample]:
    """A fund's page of JavaScript."""
    points, totals = [], []
    for bar in walk("fund 000001", date(2024, 1, 2), until, 0.95, volume=0, step=0.008, china=True, digits=4):
        # Midnight in Shanghai, in milliseconds.
        moment = int(datetime(bar.day.year, bar.day.month, bar.day.day, tzinfo=UTC).timestamp() - 8 * 3600) * 1000
        points.append({"x": moment, "y": bar.close, "equityReturn": bar.change, "unitMoney": ""})
        totals.append([moment, round(bar.close + 2.4, 4)])
    script = (
        'var ishb=false;var fS_name = "华夏成长混合";var fS_code = "000001";'
        f"var Data_netWorthTrend = {json.dumps(points)};var Data_ACWorthTrend = {json.dumps(totals)};"
    )
    yield "GET", "https://fund.eastmoney.com/pingzhongdata/000001.js", script.encode(), "application/javascript"
