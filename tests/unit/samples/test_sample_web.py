"""The sample web: its pages, its search, and that nobody but this machine reaches it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from quelea_cli.errors import CliError
from quelea_cli.sample_web.server import PER_PAGE, SampleWeb
from quelea_cli.sample_web.site import HOSTS, TRUSTED, Site, load

SAMPLES = Path(__file__).parents[3] / "samples"
LEAPMOTOR = ("news.localhost", "/article/083.html")


@pytest.fixture(scope="module")
def whole() -> Site:
    return load(SAMPLES / "web")


@pytest.fixture
def web(whole: Site) -> Iterator[SampleWeb]:
    with SampleWeb(Site(dict(whole.pages))) as running:
        yield running


def get(web: SampleWeb, host: str, path: str, **headers: str) -> httpx2.Response:
    named = {"Host": f"{host}:{web.server_port}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    with httpx2.Client(trust_env=False, timeout=60) as client:
        return client.get(f"http://{web.address}{path}", headers=named)


def results(web: SampleWeb, query: str, **more: Any) -> Any:
    with httpx2.Client(trust_env=False, timeout=60) as client:
        found = client.get(f"{web.search_url}/search", params={"q": query, "format": "json", **more})
    assert found.status_code == 200
    return found.json()


def test_no_text_is_in_the_sample_knowledge_base_too() -> None:
    def records(*folders: str) -> list[dict[str, Any]]:
        files = [file for folder in folders for file in sorted((SAMPLES / folder).glob("*.json"))]
        return [json.loads(file.read_text(encoding="utf-8")) for file in files]

    stored = records("news", "reports")
    web = records("web/news", "web/reports")
    assert len(web) == 40
    assert not {one["title"] for one in stored} & {one["title"] for one in web}
    assert len({one["text"] for one in stored + web}) == len(stored) + len(web)
    names = {file.name for file in (SAMPLES / "filings").glob("*.pdf")}
    assert not names & {file.name for file in (SAMPLES / "web/filings").glob("*.pdf")}
    for folder in ("news", "reports", "filings"):
        assert "MIT License" in (SAMPLES / "web" / folder / "LICENSE").read_text()


def test_every_text_is_on_its_page_whole(whole: Site) -> None:
    articles = [page for page in whole.pages.values() if page.media_type.startswith("text/html") and page.text]
    assert len(articles) == 41
    for page in articles:
        charset = "utf-8" if "utf-8" in page.media_type else "gbk"
        shown = re.sub(r"<[^>]*>|\s", "", page.body.decode(charset).replace("&amp;", "&").replace("&#x27;", "'"))
        wanted = re.sub(r"\s", "", page.text)
        assert wanted[:200] in shown.replace("&quot;", '"'), page.path
        assert wanted[-20:] in shown.replace("&quot;", '"'), page.path
        assert "Cookie" in shown or "cookies" in shown


def test_dates_are_told_in_different_places(whole: Site) -> None:
    def body(path: str, host: str = "news.localhost") -> str:
        page = whole.pages[host, path]
        return page.body.decode("utf-8" if "utf-8" in page.media_type else "gbk")

    assert '"datePublished": "2023-10-27T08:30:00+08:00"' in body("/article/083.html")
    assert 'article:published_time" content="2023-04-26' in body("/research/002242.html", "reports.localhost")
    for path in ("/2023/10/27/016.html", "/article/077.html"):
        assert "datePublished" not in body(path)
        assert "published_time" not in body(path)
    assert "2023年10月27日 08:30" in body("/article/077.html")
    assert "2023年10月27日 08:30" not in body("/2023/10/27/016.html")
    gbk = whole.pages["news.localhost", "/article/095.html"]
    assert "charset" not in gbk.media_type
    assert "欧洲央行" in gbk.body.decode("gbk")
    with pytest.raises(UnicodeDecodeError):
        gbk.body.decode("utf-8")


def test_the_host_header_decides_and_strangers_get_nothing(web: SampleWeb) -> None:
    for host in HOSTS:
        assert get(web, host, "/").status_code == 200
        assert "Disallow: /members/" in get(web, host, "/robots.txt").text
    assert "零跑汽车" in get(web, *LEAPMOTOR).text
    assert get(web, "reports.localhost", LEAPMOTOR[1]).status_code == 404
    assert get(web, "example.org", "/").status_code == 421
    assert get(web, "127.0.0.1", LEAPMOTOR[1]).status_code == 404
    assert web.server_address[0] == "127.0.0.1"
    assert set(TRUSTED) < set(HOSTS)


def test_an_unchanged_page_is_not_sent_again_and_a_changed_one_is(web: SampleWeb) -> None:
    first = get(web, *LEAPMOTOR)
    tag, day = first.headers["etag"], first.headers["last-modified"]
    assert day == "Fri, 27 Oct 2023 00:00:00 GMT"
    again = get(web, *LEAPMOTOR, If_None_Match=tag)
    assert (again.status_code, again.content) == (304, b"")
    assert get(web, *LEAPMOTOR, If_Modified_Since=day).status_code == 304
    web.site.add(replace(web.site.pages[LEAPMOTOR], body=b"<p>other</p>", published="2023-10-28"))
    changed = get(web, *LEAPMOTOR, If_None_Match=tag)
    assert (changed.status_code, changed.content) == (200, b"<p>other</p>")
    del web.site.pages[LEAPMOTOR]
    assert get(web, *LEAPMOTOR).status_code == 404


def test_the_later_filing_is_a_pdf(web: SampleWeb) -> None:
    found = get(web, "filings.localhost", "/Archives/edgar/data/1045810/000104581023000175/nvda-20230730.pdf")
    assert found.headers["content-type"] == "application/pdf"
    assert found.content.startswith(b"%PDF-")
    assert len(found.content) == int(found.headers["content-length"])


@pytest.mark.parametrize(
    ("query", "host", "path"),
    [
        (
            "NVIDIA revenue second quarter of fiscal 2024",
            "filings.localhost",
            "/Archives/edgar/data/1045810/000104581023000175/nvda-20230730.pdf",
        ),
        ("Stellantis集团计划向零跑汽车投资多少？", *LEAPMOTOR),
        ("九阳股份2023年一季度的收入", "reports.localhost", "/research/002242.html"),
        ("How many passengers did Harbourline Ferries carry?", "news.localhost", "/article/harbourline.html"),
    ],
)
def test_the_search_finds_the_page_first(web: SampleWeb, query: str, host: str, path: str) -> None:
    found = results(web, query)
    best = found["results"][0]
    assert best["url"] == f"http://{host}:{web.server_port}{path}"
    assert best["content"]
    assert len(best["content"]) <= 200
    assert [one["score"] for one in found["results"]] == sorted((r["score"] for r in found["results"]), reverse=True)


def test_the_search_answers_in_the_shape_of_searxng(web: SampleWeb) -> None:
    found = results(web, "2023年 公司 收入")
    assert found["number_of_results"] > PER_PAGE == len(found["results"])
    assert {"query", "answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"} <= set(found)
    one = found["results"][0]
    assert {"url", "title", "content", "publishedDate", "engine", "engines", "positions", "category"} <= set(one)
    second = results(web, "2023年 公司 收入", pageno=2)["results"]
    assert second
    assert not {r["url"] for r in second} & {r["url"] for r in found["results"]}
    assert results(web, "zzxqy unheard")["results"] == []
    filing = results(web, "NVIDIA 10-Q")["results"][0]
    assert filing["publishedDate"] == "2023-08-28T00:00:00"
    with httpx2.Client(trust_env=False, timeout=60) as client:
        assert client.get(f"{web.search_url}/search", params={"q": "x"}).status_code == 403
        assert client.get(f"{web.search_url}/search", params={"q": " ", "format": "json"}).status_code == 400


def test_a_page_added_while_it_runs_is_found(web: SampleWeb) -> None:
    assert results(web, "Zephyrweave")["results"] == []
    web.site.add(replace(web.site.pages[LEAPMOTOR], path="/new.html", text="Zephyrweave earned 7.", title="New"))
    assert results(web, "Zephyrweave")["results"][0]["url"].endswith("/new.html")


def test_a_folder_without_a_site_says_so(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="is not a sample web"):
        load(tmp_path)
    shutil.copy(SAMPLES / "web/site.json", tmp_path)
    with pytest.raises(CliError, match="is not a sample web"):
        load(tmp_path)


def test_it_runs_as_a_process_and_ends_on_sigterm() -> None:
    command = [sys.executable, "-m", "quelea_cli.sample_web"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        line = process.stdout.readline()
        assert line.startswith("sample web ready: http://news.localhost:")
        search = re.search(r"search at (http://127\.0\.0\.1:\d+)/search", line)
        assert search
        with httpx2.Client(trust_env=False, timeout=60) as client:
            assert client.get(f"{search[1]}/healthz").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
