"""Uploads, the list, pages and jobs."""

import asyncio
import html
import json
import re

import pytest
from quelea.common.v1 import common_pb2
from quelea_kit.testing import wait_until_async

APPLE = "a1" * 16
HOSTILE = "e1" * 16
HTML = {"Accept": "text/html,application/xhtml+xml"}


def file(name="a.txt", data=b"Net sales of Foo were 12 units.", kind="text/plain"):
    return ("files", (name, data, kind))


async def ended(web, job_id):
    while True:
        job = (await web.get(f"/v1/jobs/{job_id}")).json()
        if job["state"] in ("succeeded", "failed"):
            return job
        await asyncio.sleep(0.01)


async def test_an_upload_becomes_a_job_and_a_document(stand, web):
    response = await web.post("/v1/documents", files=[file("one.txt"), file("two.txt", b"Other")])
    jobs = response.json()["jobs"]
    assert response.status_code == 202
    assert [job["filename"] for job in jobs] == ["one.txt", "two.txt"]
    job = await ended(web, jobs[0]["id"])
    assert job["state"] == "succeeded"
    assert job["progress"] == {"done": 5, "total": 5}
    assert job["error"] is None
    assert job["created"].endswith("Z")
    document = (await web.get(f"/v1/documents/{job['document_id']}")).json()
    assert (document["title"], document["provenance"]) == ("one.txt", "upload")


async def test_a_file_that_cannot_be_read_fails_its_job(web):
    jobs = (await web.post("/v1/documents", files=[file("empty.pdf", b"")])).json()["jobs"]
    job = await ended(web, jobs[0]["id"])
    assert (job["state"], job["error"], job["document_id"]) == ("failed", "The file is empty.", None)


async def test_a_large_file_goes_on_in_pieces(stand, web):
    data = bytes(range(1, 251)) * 14_000
    await web.post("/v1/documents", files=[file("big.bin", data)])
    _, received, pieces = stand.world.uploads[0]
    assert received == data
    assert pieces == 4


async def test_names_lose_their_folders(stand, web):
    for name in ("../../etc/passwd", "C:\\temp\\报告.pdf"):
        await web.post("/v1/documents", files=[file(name)])
    assert [info.filename for info, _, _ in stand.world.uploads] == ["passwd", "报告.pdf"]


@pytest.mark.parametrize(
    "metadata",
    [
        [json.dumps([{"title": "A", "period": "FY2023 Q3"}, {"title": "B"}])],
        [json.dumps({"a.txt": {"title": "A", "period": "FY2023 Q3"}, "b.txt": {"title": "B"}})],
        [json.dumps({"title": "A", "period": "FY2023 Q3"}), json.dumps({"title": "B"})],
    ],
    ids=["array", "by name", "repeated"],
)
async def test_metadata_reaches_its_file(stand, web, metadata):
    response = await web.post("/v1/documents", files=[file("a.txt"), file("b.txt")], data={"metadata": metadata})
    assert response.status_code == 202
    first, second = (info.metadata for info, _, _ in stand.world.uploads)
    assert (first.title, second.title) == ("A", "B")
    assert (first.period.fiscal_year, first.period.fiscal_quarter, first.period.label) == (2023, 3, "FY2023 Q3")
    assert first.provenance == common_pb2.PROVENANCE_UPLOAD


async def test_one_metadata_object_holds_for_all(stand, web):
    said = {"company": "Foo", "published": "2024-05-06", "language": "en", "ticker": "FOO", "document_type": "news"}
    await web.post("/v1/documents", files=[file("a.txt"), file("b.txt")], data={"metadata": json.dumps(said)})
    assert [info.metadata.company for info, _, _ in stand.world.uploads] == ["Foo", "Foo"]


@pytest.mark.parametrize(
    "metadata", ["{nope", '{"titel": "x"}', '{"published": "soon"}', "[{}, {}]", "[3]", '{"title": "\\ud800"}']
)
async def test_wrong_metadata_is_refused_before_anything_is_taken(stand, web, metadata):
    response = await web.post("/v1/documents", files=[file()], data={"metadata": metadata})
    assert response.status_code == 400
    assert response.json()["error"]["details"]["field"] == "metadata"
    assert stand.world.uploads == []


@pytest.mark.parametrize(
    "options",
    [
        {"json": {"files": []}},
        {"files": [("other", ("a.txt", b"x"))]},
        {"data": {"files": "text"}, "files": [("metadata", ("m.json", b"{}"))]},
        {"content": b"--x\r\nbroken", "headers": {"Content-Type": "multipart/form-data; boundary=x"}},
        {"content": b"", "headers": {"Content-Type": "multipart/form-data"}},
        {"json": {"path": "/etc/passwd"}},
    ],
    ids=["json", "other field", "no file", "broken", "no boundary", "a path"],
)
async def test_a_form_without_files_is_refused(stand, web, options):
    response = await web.post("/v1/documents", **options)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "INVALID_INPUT"
    assert stand.world.uploads == []


async def test_a_file_over_the_limit_is_refused_and_the_others_are_taken(stand, web):
    stand.world.max_document_bytes = 100
    both = await web.post("/v1/documents", files=[file("big.txt", b"x" * 101), file("small.txt")])
    alone = await web.post("/v1/documents", files=[file("big.txt", b"x" * 101)])
    assert both.status_code == 202
    assert [job["filename"] for job in both.json()["jobs"]] == ["small.txt"]
    assert both.json()["errors"][0]["filename"] == "big.txt"
    assert both.json()["errors"][0]["error"]["code"] == "TOO_LARGE"
    assert alone.status_code == 413
    assert alone.json()["error"]["details"]["limit"] == "100"


async def test_search_away_is_said(stand, web):
    await stand.services.stop("search")
    response = await web.post("/v1/documents", files=[file()])
    assert response.status_code == 503
    assert response.json()["error"]["details"]["dependency"] == "search"


async def test_the_list_pages_and_filters(web):
    first = (await web.get("/v1/documents", params={"page_size": 3})).json()
    second = (await web.get("/v1/documents", params={"page_size": 3, "page_token": first["next_page_token"]})).json()
    apple = (await web.get("/v1/documents", params={"company": "Apple"})).json()
    assert (first["total"], len(first["documents"]), len(second["documents"])) == (4, 3, 1)
    assert second["next_page_token"] is None
    assert {document["company"] for document in apple["documents"]} == {"Apple"}
    assert first["documents"][0]["period"] == "FY2023 Q3"


async def test_a_deleted_document_is_gone(web):
    assert (await web.delete(f"/v1/documents/{APPLE}")).json() == {
        "document_id": APPLE,
        "passages": 8,
        "answers_forgotten": 0,
        "unreadable": 0,
    }
    for method in ("GET", "DELETE"):
        response = await web.request(method, f"/v1/documents/{APPLE}")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_a_page_as_json(web):
    page = (await web.get(f"/v1/documents/{APPLE}/pages/2")).json()
    assert (page["document_id"], page["page"], page["pages"]) == (APPLE, 2, 2)
    assert page["text"].startswith("Products and Services")
    assert page["title"] == "Apple Inc. Form 10-Q, fiscal 2023 Q3"
    assert page["span"] is None


@pytest.mark.parametrize("page", ["3", "0", "-1", "x", "99999999999"])
async def test_a_page_that_is_not_there(web, page):
    assert (await web.get(f"/v1/documents/{APPLE}/pages/{page}")).status_code in (400, 404)


async def test_a_page_as_html_marks_the_span(web):
    page = (await web.get(f"/v1/documents/{APPLE}/pages/2")).json()
    start = page["text"].index("Services 21,213")
    span = {"start": start, "end": start + 15}
    by_span = await web.get(f"/v1/documents/{APPLE}/pages/2", params=span, headers=HTML)
    by_quote = await web.get(f"/v1/documents/{APPLE}/pages/2", params={"quote": "Services 21,213"}, headers=HTML)
    assert by_span.headers["content-type"].startswith("text/html")
    assert '<mark id="quote">Services 21,213</mark>' in by_span.text
    assert '<mark id="quote">Services 21,213</mark>' in by_quote.text


async def test_nothing_of_a_document_becomes_html(web):
    text = (await web.get(f"/v1/documents/{HOSTILE}/pages/1?start=0&end=60", headers=HTML)).text
    assert "<script" not in text
    assert "<img" not in text
    assert "<i>" not in text
    assert "&lt;script&gt;" in text


async def test_job_events_end_with_the_job(stand, web):
    stand.world.page_seconds = 0.02
    job = (await web.post("/v1/documents", files=[file()])).json()["jobs"][0]
    text = (await web.get(f"/v1/jobs/{job['id']}/events")).text
    events = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: ")]
    assert events[-1]["state"] == "succeeded"
    done = [event["progress"]["done"] for event in events]
    assert done == sorted(done)
    assert len(set(done)) > 2


async def test_a_watcher_who_leaves_cancels_the_watch(stand, web):
    stand.world.page_seconds = 60
    job = (await web.post("/v1/documents", files=[file()])).json()["jobs"][0]
    async with web.stream("GET", f"/v1/jobs/{job['id']}/events") as response:
        await anext(response.aiter_text())
    await wait_until_async(lambda: "WatchJob" in stand.world.cancelled, seconds=25)


async def test_unknown_jobs(web):
    for path in ("/v1/jobs/none", "/v1/jobs/none/events"):
        response = await web.get(path)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_the_newest_jobs(web):
    for name in ("one.txt", "two.txt"):
        await web.post("/v1/documents", files=[file(name)])
    jobs = (await web.get("/v1/jobs", params={"page_size": 1})).json()["jobs"]
    assert [job["filename"] for job in jobs] == ["two.txt"]


TABLE = "Figures\n\nNet sales\t$ 81,797\t82,959\nCost <b>\t(45,384)\t—\nIn millions\n"


async def stored(web, text, **metadata):
    sent = {"files": [file("t.txt", text.encode())], "data": {"metadata": json.dumps(metadata)}}
    job = (await web.post("/v1/documents", **sent)).json()["jobs"][0]
    return (await ended(web, job["id"]))["document_id"]


@pytest.mark.parametrize("text", [TABLE, "a\tb", "\t\n\t", "no table\n", "x\n\ty\n", "a\t\n\nb\tc\n"])
async def test_rows_of_cells_become_tables_and_no_character_is_lost(web, text):
    document = await stored(web, text)
    shown = await web.get(f"/v1/documents/{document}/pages/1?start=1&end={len(text)}", headers=HTML)
    article = shown.text.split('dir="auto">', 1)[1].split("</article>")[0]
    assert html.unescape(re.sub(r"<[^>]+>", "", article)) == text
    assert ("<table>" in article) == ("\t" in text)


async def test_a_span_over_cells_is_marked_in_each_of_them(web):
    document = await stored(web, TABLE)
    start = TABLE.index("sales")
    place = f"/v1/documents/{document}/pages/1?start={start}&end={TABLE.index(' <b>')}"
    text = (await web.get(place, headers=HTML)).text
    marks = re.findall(r"<mark[^>]*>([^<]*)</mark>", text)
    assert "".join(marks) == TABLE[start : TABLE.index(" <b>")]
    assert text.count('id="quote"') == 1
    assert '<td class="figure">(45,384)\t</td>' in text
    assert "<td>Net <mark" in text


async def test_what_an_uploader_says_it_is_from_is_his_word_and_no_link(web):
    for uri in ('https://a.example/?x=1&y="2', "javascript:alert(1)", "upload:a.txt"):
        document = await stored(web, f"text of {uri}", uri=uri)
        text = (await web.get(f"/v1/documents/{document}/pages/1", headers=HTML)).text
        assert f'href="{html.escape(uri)}"' not in text
        assert html.escape(uri) in text
        assert ("(as stated by the uploader)" in text) == uri.startswith("https")


async def test_days_that_do_not_exist_are_refused(web):
    for day in ("2023-99-99", "2023-02-30", "0000-01-01"):
        for metadata in ({"published": day}, {"period": {"label": "x", "end_date": day}}):
            sent = {"files": [file("t.txt", b"t")], "data": {"metadata": json.dumps(metadata)}}
            answer = await web.post("/v1/documents", **sent)
            assert answer.status_code == 400, answer.text
            assert answer.json()["error"]["details"]["field"] == "metadata"


async def test_metadata_that_is_nested_without_end_is_refused(web):
    for text in ("[" * 5000, "[" * 5000 + "]" * 5000, '{"a":' * 5000):
        answer = await web.post("/v1/documents", files=[file("t.txt", b"t")], data={"metadata": text})
        assert answer.status_code == 400, answer.text
