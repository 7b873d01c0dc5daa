"""POST /v1/check: the checker alone, its limits, and the one shape of errors. Large ones: test_check_pool.py."""

from __future__ import annotations

import httpx
import pytest
from quelea_gateway.testing import standing

TABLE = {
    "text": "Three Months Ended\nJuly 1, 2023\tJune 25, 2022\nTotal net sales\t$ 81,797\t$ 82,959",
    "table_head": "(In millions)",
    "header": "Apple, Form 10-Q, FY2023 Q3",
    "published": "2023-08-03",
}


async def test_the_verdicts_of_an_answer(web):
    answer = (
        "Total net sales were $81.8 billion in the three months ended July 1, 2023 [1], 1.4% less than $82.0 billion."
    )
    body = {"answer": answer, "passages": ["Risks of the market.", TABLE], "question": "What were the net sales?"}
    found = (await web.post("/v1/check", json=body)).raise_for_status().json()
    assert [(f["text"], f["verdict"], f["passage"]) for f in found["figures"]] == [
        ("$81.8 billion", "supported", 2),
        ("three months ended July 1, 2023", "supported", 2),
        ("1.4%", "derived", 2),
        ("$82.0 billion", "not_found", None),
    ]
    assert found["figures"][2]["formula"] == "= (81,797 − 82,959) ÷ 82,959"
    assert [(s["verdict"], s["passages"]) for s in found["sentences"]] == [("partly", [2])]
    (wrong,) = found["markers"]["corrections"]
    assert (wrong["number"], wrong["suggested"], answer[wrong["start"] : wrong["end"]]) == (1, 2, "[1]")
    for figure in found["figures"]:
        assert answer[figure["start"] : figure["end"]] == figure["text"]


async def test_a_marker_is_suggested_where_it_belongs(web):
    answer = "Total net sales were $81,797 million."
    found = (await web.post("/v1/check", json={"answer": answer, "passages": [TABLE]})).json()
    (missing,) = found["markers"]["missing"]
    assert (missing["sentence"], missing["suggested"], answer[missing["at"] :]) == (0, 1, ".")


@pytest.mark.parametrize(
    "body",
    [
        {}, [], {"answer": "1"}, {"answer": "", "passages": ["a"]}, {"answer": "  ", "passages": ["a"]},
        {"answer": "1", "passages": []}, {"answer": "1", "passages": "a"}, {"answer": "1", "passages": [3]},
        {"answer": "1", "passages": [{"txt": "a"}]}, {"answer": "1", "passages": [{"text": "a", "more": 1}]},
        {"answer": "1", "passages": [{"text": "a", "published": "soon"}]}, {"answer": "1", "passages": ["a"], "k": 1},
    ],
)  # fmt: skip
async def test_what_is_malformed_is_refused(web, body):
    response = await web.post("/v1/check", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_INPUT")


@pytest.mark.parametrize(
    "body",
    [
        {"answer": "1" * 10_001, "passages": ["a"]}, {"answer": "1", "passages": ["a"] * 51},
        {"answer": "1", "passages": ["a" * 100_001, {"text": "b" * 100_000}]},
        {"answer": "1", "passages": ["a"], "question": "q" * 8001},
    ],
)  # fmt: skip
async def test_what_is_too_much_says_the_limit(web, body):
    response = await web.post("/v1/check", json=body)
    error = response.json()["error"]
    assert response.status_code == 413
    assert f"{int(error['details']['limit']):,}" in error["message"]


async def test_foreign_markers_and_latex_keep_the_places_of_the_answer(web):
    answer = r"Total net sales were \$81{,}797\text{ million}【2】, less than $82,959 million [Source 1]."
    found = (await web.post("/v1/check", json={"answer": answer, "passages": [TABLE]})).raise_for_status().json()
    assert [(f["text"], f["verdict"]) for f in found["figures"]] == [
        (r"\$81{,}797\text{ million}", "supported"),
        ("$82,959 million", "supported"),
    ]
    for one in (*found["figures"], *found["sentences"]):
        assert answer[one["start"] : one["end"]] == one["text"]
    (wrong,) = found["markers"]["unresolved"]
    assert (wrong["number"], wrong["suggested"], answer[wrong["start"] : wrong["end"]]) == (2, 1, "【2】")


async def test_a_table_in_html_is_read(web):
    rows = "<tr><th>(in millions)</th><th>2023</th><th>2022</th></tr><tr><td>Revenue</td><td>1,234</td><td>1,102</td>"
    body = {"answer": "Revenue was $1,234 million in 2022.", "passages": [f"<table>{rows}</tr></table>"]}
    found = (await web.post("/v1/check", json=body)).raise_for_status().json()
    assert [f["verdict"] for f in found["figures"]] == ["contradicted", "supported"]


async def test_a_cross_encoder_behind_the_retriever_decides_what_words_leave_open():
    passage = "The board of directors rejected the takeover offer in March."
    body = {
        "answer": "The board of directors rejected the offer. The board of directors rejected the merger offer.",
        "passages": [passage],
    }
    for verifier, state, verdicts in [
        ("none", "", ["supported", "supported"]),
        ("cross-encoder", "done", ["supported", "not_found"]),
    ]:
        async with standing(verifier=verifier) as stand, httpx.AsyncClient(base_url=stand.url, timeout=60) as web:
            found = (await web.post("/v1/check", json=body)).raise_for_status().json()
        assert (found["verifier"], [one["verdict"] for one in found["sentences"]]) == (state, verdicts)
