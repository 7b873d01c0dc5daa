"""What people upload: ragged files, the same file again, a new version, and files they want gone."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

GBK = "2031年，长青造纸厂的营业收入为四千二百万元，净利润为六百一十万元。公司共有员工九百八十人。"


def zipped(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, data)
    return out.getvalue()


NOISE = bytes(range(256)) * 100


@pytest.mark.parametrize(
    "name", ["encrypted.pdf", "nothing.pdf", "really-a-zip.pdf", "noise.pdf", "half.pdf", "noise.docx"]
)
def test_what_cannot_be_read_fails_with_a_reason_and_leaves_nothing(
    stack: Any, make_pdf: Callable[..., bytes], name: str
) -> None:
    data = {
        "encrypted.pdf": make_pdf(["A secret."], encrypt=True),
        "nothing.pdf": b"",
        "really-a-zip.pdf": zipped("data.bin", NOISE),
        "noise.pdf": b"%PDF-1.7\n" + NOISE,
        "half.pdf": make_pdf(["Half of a file."] * 3)[:300],
        "noise.docx": NOISE,
    }[name]
    before = set(stack.documents())
    answer = stack.http.post("/v1/documents", files=[("files", (name, data))])
    if answer.status_code == 202:  # taken in, then found unreadable by the worker
        job = stack.ended(answer.json()["jobs"][0]["id"])
        assert job["state"] == "failed", job
        assert len(job["error"]) > 15, job
        assert "Traceback" not in job["error"]
    else:  # refused at the door
        assert 400 <= answer.status_code < 500, answer.text
        assert len(answer.json()["error"]["message"]) > 15
    assert set(stack.documents()) == before


def test_a_pdf_of_200_pages_shows_its_progress(stack: Any, make_pdf: Callable[..., bytes]) -> None:
    pages = [
        f"Annual report, page {n}\nOn route {n} Northwind Ferries carried {n * 137} passengers." for n in range(1, 201)
    ]
    job_id = stack.submit(("ferries.pdf", make_pdf(pages)))[0]
    with stack.http.stream("GET", f"/v1/jobs/{job_id}/events", timeout=180) as events:
        seen = [json.loads(line[6:]) for line in events.iter_lines() if line.startswith("data: ")]
    assert seen[-1]["state"] == "succeeded", seen[-1]
    assert seen[-1]["progress"] == {"done": 200, "total": 200}
    done = [one["progress"]["done"] for one in seen]
    assert done == sorted(done)
    assert len(set(done)) > 2, "the progress must show steps on the way"
    answer = stack.ask("How many passengers did Northwind Ferries carry on route 77?")
    assert str(77 * 137) in answer["citations"][0]["quote"]
    assert answer["citations"][0]["page"] == 77


def test_chinese_text_in_gbk_is_read(stack: Any) -> None:
    job = stack.ingest(("长青.txt", GBK.encode("gbk")))[0]
    assert job["state"] == "succeeded", job
    assert stack.page(job["document_id"], 1)["text"].strip() == GBK
    answer = stack.ask("长青造纸厂2031年的净利润是多少？")
    assert any("六百一十万元" in one["quote"] for one in answer["citations"]), answer


def test_a_question_of_five_megabytes_is_refused(stack: Any) -> None:
    for path, body in (
        ("/v1/ask", {"question": "sales? " * 750_000}),
        ("/v1/search", {"query": "x" * 5_000_000}),
        ("/v1/chat/completions", {"model": "quelea", "messages": [{"role": "user", "content": "y" * 5_000_000}]}),
    ):
        answer = stack.http.post(path, json=body)
        assert answer.status_code == 413, answer.text[:300]
        assert answer.json()["error"]["message"]
    assert stack.http.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"question": ""}', b'{"question": 7}', b'{"question": "x", "k": -1}', b"\xff"]
)
def test_a_request_that_is_none_is_an_error_in_the_one_shape(stack: Any, body: bytes) -> None:
    answer = stack.http.post("/v1/ask", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert set(answer.json()["error"]) == {"code", "message", "details"}


def memo(revenue: int) -> bytes:
    return f"Larkspur Mills reported revenue of {revenue} million dollars for fiscal 2030.\n".encode()


def test_the_same_bytes_twice_change_nothing(stack: Any) -> None:
    first = stack.ingest(("twice.txt", memo(310)))[0]
    before = stack.documents()
    second = stack.ingest(("twice.txt", memo(310)))[0]
    assert (second["state"], second["unchanged"], second["document_id"]) == ("succeeded", True, first["document_id"])
    assert stack.documents() == before
    stack.http.delete(f"/v1/documents/{first['document_id']}").raise_for_status()


def test_a_new_version_replaces_the_old_one_and_delete_removes_it(stack: Any) -> None:
    question = "What revenue did Larkspur Mills report for fiscal 2030?"
    old = stack.ingest(("memo.txt", memo(411)), metadata={"uri": "memos/larkspur"})[0]
    assert "411" in stack.ask(question)["citations"][0]["quote"]
    new = stack.ingest(("memo.txt", memo(522)), metadata={"uri": "memos/larkspur"})[0]
    assert new["document_id"] != old["document_id"]
    assert new["replaced"] == old["document_id"]
    assert stack.documents()["memos/larkspur"]["id"] == new["document_id"]
    assert "522" in stack.ask(question)["citations"][0]["quote"]
    assert stack.http.get(f"/v1/documents/{old['document_id']}").status_code == 404
    assert stack.http.get(f"/v1/documents/{old['document_id']}/pages/1").status_code == 404
    stack.http.delete(f"/v1/documents/{new['document_id']}").raise_for_status()
    assert "memos/larkspur" not in stack.documents()
    found = stack.http.post("/v1/search", json={"query": question, "k": 20}).json()["passages"]
    assert new["document_id"] not in {one["document_id"] for one in found}
    assert stack.http.get(f"/v1/documents/{new['document_id']}/pages/1").status_code == 404
    assert stack.http.delete(f"/v1/documents/{new['document_id']}").status_code == 404


def test_two_files_of_one_name_live_side_by_side(stack: Any) -> None:
    one, two = (stack.ingest(("10-K.txt", memo(figure)))[0] for figure in (633, 744))
    assert two["replaced"] is None
    assert {one["document_id"], two["document_id"]} <= {found["id"] for found in stack.documents().values()}
    for job in (one, two):
        stack.http.delete(f"/v1/documents/{job['document_id']}").raise_for_status()
