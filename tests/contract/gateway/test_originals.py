"""Originals over HTTP: parts of them, what a browser may do with them, boxes of a quote, HTML."""

import pytest
from quelea_gateway.adapters.services.fake_world import Original

APPLE = "a1" * 16
DATA = bytes(range(256)) * 1000
PATH = f"/v1/documents/{APPLE}/original"


@pytest.fixture
def original(stand):
    stand.world.originals[APPLE] = Original(
        '报告 "Q3"\r\n.pdf', "application/pdf", DATA, ((1.0, 2.0, 3.5, 4.0),), found=0.8
    )


async def test_all_bytes_as_a_download(web, original):
    found = await web.get(PATH)
    assert (found.status_code, found.content) == (200, DATA)
    about = found.headers
    assert (about["content-type"], about["content-length"]) == ("application/pdf", str(len(DATA)))
    assert about["accept-ranges"] == "bytes"
    assert about["content-disposition"].startswith("attachment; filename=\"__ _Q3___.pdf\"; filename*=UTF-8''%E6%8A%A5")
    assert about["content-security-policy"] == "default-src 'none'; sandbox"
    assert about["x-content-type-options"] == "nosniff"
    head = await web.head(PATH)
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(DATA)))


@pytest.mark.parametrize(
    ("wanted", "start", "end"),
    [("bytes=0-0", 0, 1), ("bytes=1000-", 1000, None), ("bytes=-5", -5, None), ("bytes=9-999999999", 9, None)],
)
async def test_a_part(web, original, wanted, start, end):
    found = await web.get(PATH, headers={"Range": wanted})
    part = DATA[start:end]
    first = start % len(DATA)
    assert (found.status_code, found.content) == (206, part)
    assert found.headers["content-range"] == f"bytes {first}-{first + len(part) - 1}/{len(DATA)}"


@pytest.mark.parametrize("wanted", ["bytes=0-1,5-6", "bytes=-", "pages=1-2", "bytes=7-3", "bytes=x"])
async def test_a_range_that_is_not_understood_gives_all(web, original, wanted):
    found = await web.get(PATH, headers={"Range": wanted})
    assert (found.status_code, len(found.content)) == (200, len(DATA))


@pytest.mark.parametrize("wanted", [f"bytes={len(DATA)}-", "bytes=-0"])
async def test_bytes_that_are_not_there(web, original, wanted):
    found = await web.get(PATH, headers={"Range": wanted})
    assert (found.status_code, found.json()["error"]["code"]) == (416, "RANGE")
    assert found.headers["content-range"] == f"bytes */{len(DATA)}"


async def test_what_a_browser_has_already(web, original):
    tag = (await web.head(PATH)).headers["etag"]
    assert (await web.get(PATH, headers={"If-None-Match": f'"x", W/{tag}'})).status_code == 304
    assert (await web.get(PATH, headers={"Range": "bytes=0-3", "If-Range": tag})).status_code == 206
    assert (await web.get(PATH, headers={"Range": "bytes=0-3", "If-Range": '"other"'})).status_code == 200


async def test_what_is_not_there(web):
    unknown = f"/v1/documents/{'0' * 32}"
    for path in (f"{unknown}/original", f"{unknown}/pages/1/boxes?start=0&end=3", f"{unknown}/html"):
        assert (await web.get(path)).status_code == 404
    assert (await web.get(f"/v1/documents/{APPLE}/pages/1/boxes?start=0&end=3")).status_code == 409
    assert (await web.get(f"/v1/documents/{APPLE}/html")).status_code == 409
    assert (await web.get(f"/v1/documents/{APPLE}/pages/1/boxes?start=0")).status_code == 400


async def test_boxes_of_a_quote(web, stand, original):
    found = (await web.get(f"/v1/documents/{APPLE}/pages/1/boxes?start=2&end=9")).json()
    assert found["boxes"] == [{"left": 1.0, "bottom": 2.0, "right": 3.5, "top": 4.0}]
    assert (found["found"], found["unit"], found["origin"], found["reason"]) == (0.8, "pt", "bottom-left", "")
    stand.world.originals[APPLE] = Original("scan.pdf", "application/pdf", DATA)
    scan = (await web.get(f"/v1/documents/{APPLE}/pages/1/boxes?start=2&end=9")).json()
    assert (scan["boxes"], scan["found"], scan["reason"]) == ([], 0.0, "no_text")


async def test_html_comes_with_a_policy_of_its_own(web, stand):
    shown = "<!doctype html><p>" + "word " * 40_000
    stand.world.originals[APPLE] = Original("a.htm", "text/html", b"<p>", html=shown, found=0.5)
    found = await web.get(f"/v1/documents/{APPLE}/html?page=1&start=2&end=9")
    assert found.text == shown
    assert found.headers["quelea-found"] == "0.5000"
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    policy = found.headers["content-security-policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
