"""What the image promises to code: libraries, Chinese in plots, time zones, a font list that need not be made again."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import pytest
from support.sandbox import docker_sandbox, engine_api, no_engine

pytestmark = pytest.mark.skipif(bool(no_engine()), reason=no_engine() or "an engine is there")

LIBRARIES = """
import importlib, json
names = '''numpy pandas scipy.stats scipy.optimize matplotlib.pyplot statsmodels.api seaborn mplfinance openpyxl xlrd
lxml.html html5lib bs4 requests httpx curl_cffi yfinance akshare edgar reportlab.pdfgen.canvas sqlite3 pyarrow.parquet
PIL.Image numpy.testing'''.split()
broken = {}
for name in names:
    try:
        importlib.import_module(name)
    except Exception as error:
        broken[name] = repr(error)
import py_mini_racer
print(json.dumps([broken, py_mini_racer.MiniRacer().eval("6 * 7")]))
"""

WORK = """
import asyncio, io, json, shutil, sqlite3, subprocess, sys, threading, time, zoneinfo
import numpy, pandas
from concurrent.futures import ThreadPoolExecutor
days = pandas.date_range("2024-01-01", periods=4)
frame = pandas.DataFrame(numpy.arange(12.0).reshape(4, 3), columns=list("abc"), index=days)
frame.to_parquet("d.parquet"); frame.to_excel("d.xlsx"); frame.to_csv("d.csv"); shutil.copy2("d.csv", "e.csv")
done = {"parquet": pandas.read_parquet("d.parquet").shape, "excel": pandas.read_excel("d.xlsx").shape}
done["svd"] = round(float(numpy.linalg.svd(numpy.ones((200, 200)))[1][0]))
with sqlite3.connect("x.db") as base:
    base.execute("create table t (a)")
    base.execute("insert into t values (1)")
    done["sqlite"] = base.execute("select a from t").fetchall()
done["threads"] = list(ThreadPoolExecutor(4).map(abs, [-1, -2]))
done["child"] = subprocess.run([sys.executable, "-c", "print(5)"], capture_output=True, text=True).stdout
async def later():
    return await asyncio.to_thread(lambda: 3)
done["asyncio"] = asyncio.run(later())
done["zone"] = str(pandas.Timestamp("2024-01-01", tz="Asia/Shanghai").utcoffset())
done["new york"] = zoneinfo.ZoneInfo("America/New_York").key
for name in ("d.parquet", "d.xlsx", "d.csv", "e.csv", "x.db"):
    import os; os.unlink(name)
print(json.dumps(done))
"""

PLOTS = """
import io, json, logging, warnings
heard = []
class Ear(logging.Handler):
    def emit(self, record): heard.append(record.getMessage())
logging.getLogger("matplotlib").addHandler(Ear())
import matplotlib.pyplot as plt, seaborn

def draw(what):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure, axes = plt.subplots()
        axes.plot([-2, 3], label="上证指数")
        axes.set_title("收盘价 −1.5 % 贵州茅台 Close 漲跌")
        axes.legend()
        for kind in ("png", "svg", "pdf"):
            figure.savefig(io.BytesIO(), format=kind)
        if what == "default":
            figure.savefig("plot.png")
        plt.close(figure)
    print(json.dumps([what, [str(one.message) for one in caught if "Glyph" in str(one.message)]]))

draw("default")
plt.rcParams["font.sans-serif"] = ["SimHei"]
plt.rcParams["axes.unicode_minus"] = False
draw("SimHei")
plt.rcdefaults()
plt.rcParams["font.family"] = "Microsoft YaHei"
draw("Microsoft YaHei")
seaborn.set_theme()
draw("seaborn")
bad = ("not found", "font cache", "generated new")
print(json.dumps(["heard", [line for line in heard if any(word in line for word in bad)]]))
"""


@pytest.mark.slow(reason="a container imports every library of the image")
async def test_every_library_loads_and_v8_runs() -> None:
    async with docker_sandbox(preload="", memory_bytes=1 << 30) as client:
        ran = await client.run(LIBRARIES)
    assert ran.reason == "OK", ran.finished.error
    assert json.loads(ran.text) == [{}, 42]


async def test_ordinary_work_passes_the_filter_of_system_calls() -> None:
    async with docker_sandbox(preload="", memory_bytes=1 << 30) as client:
        ran = await client.run(WORK)
    assert ran.reason == "OK", ran.finished.error
    assert json.loads(ran.text) == {
        "parquet": [4, 3],
        "excel": [4, 4],
        "svd": 200,
        "sqlite": [[1]],
        "threads": [1, 2],
        "child": "5\n",
        "asyncio": 3,
        "zone": "8:00:00",
        "new york": "America/New_York",
    }


async def test_chinese_labels_and_the_minus_sign_render_whatever_font_is_asked_for() -> None:
    async with docker_sandbox(preload="", memory_bytes=1 << 30) as client:
        ran = await client.run(PLOTS)
    assert ran.reason == "OK", ran.finished.error
    lines = [json.loads(line) for line in ran.text.splitlines()]
    assert lines == [["default", []], ["SimHei", []], ["Microsoft YaHei", []], ["seaborn", []], ["heard", []]]
    assert ran.files["plot.png"].media_type == "image/png"


def test_it_has_the_tag_that_the_chart_asks_for() -> None:
    chart = (Path(__file__).parents[3] / "deploy/helm/quelea/Chart.yaml").read_text()
    version = re.search(r"^appVersion: (\S+)$", chart, re.MULTILINE)
    assert version is not None
    with contextlib.closing(engine_api()) as engine:
        asked, ours = (engine.inspect_image(f"quelea-runner:{tag}")["Id"] for tag in (version[1], "latest"))
    assert asked == ours
