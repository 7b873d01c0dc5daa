"""`quelea tools` on a gateway that answers as the real one does."""

import json

import pytest

TOOL = {
    "name": "stock_zh_a_hist", "provider": "akshare", "category": "Stock", "description": "沪深京 A 股历史行情",
    "score": 0.9, "cosine": 0.8, "lexical": 3.0, "health": 1.0,
}  # fmt: skip


def test_tools_are_searched_and_printed_in_columns_that_scripts_can_read(run, gateway):
    gateway.answer("/v1/tools", (200, {"tools": [TOOL, {**TOOL, "name": "broken", "health": 0.1}], "total": 2}))
    code, out, _ = run("tools", "search", "平安银行的股价", "--category", "Stock", "--k", 2, "--mode", "lexical")
    assert code == 0
    assert out.splitlines()[0] == "stock_zh_a_hist\tStock\takshare\t沪深京 A 股历史行情"
    assert len(out.splitlines()) == 2
    method, path, query, _ = gateway.seen[-1]
    assert (method, path) == ("GET", "/v1/tools")
    assert query == {"q": ["平安银行的股价"], "category": ["Stock"], "page_size": ["2"], "mode": ["lexical"]}


def test_without_a_question_they_are_listed_and_json_is_as_it_came(run, gateway):
    gateway.answer("/v1/tools", (200, {"tools": [TOOL], "total": 1}))
    code, out, _ = run("tools", "search", "--json")
    assert code == 0
    assert json.loads(out) == {"tools": [TOOL], "total": 1}


def test_a_tool_is_shown_with_its_document(run, gateway):
    document = "stock_zh_a_hist (akshare, Stock)\nParameters:\n- symbol (str, required)"
    gateway.answer(
        "/v1/tools/stock_zh_a_hist", (200, {**TOOL, "document": document, "docs_url": "https://docs.test/x"})
    )
    code, out, _ = run("tools", "show", "stock_zh_a_hist")
    assert code == 0
    assert "- symbol (str, required)" in out
    assert out.rstrip().endswith("https://docs.test/x")
    assert json.loads(run("tools", "show", "stock_zh_a_hist", "--json")[1])["document"] == document


def test_a_name_is_sent_as_one_part_of_the_path(run, gateway):
    run("tools", "show", "../keys?x=1")
    assert gateway.seen[-1][1] == "/v1/tools/..%2Fkeys%3Fx%3D1"


def test_categories(run, gateway):
    found = {"categories": [{"name": "Stock", "tools": 500}, {"name": "Macro", "tools": 220}]}
    gateway.answer("/v1/tools/categories", (200, found))
    assert run("tools", "categories")[1].splitlines() == ["Stock\t500", "Macro\t220"]
    assert json.loads(run("tools", "categories", "--json")[1]) == found


@pytest.mark.parametrize(
    ("status", "message"),
    [(404, "No tool is called 'x'. Near it: y."), (409, "This deployment has no catalogue of tools."),
     (503, "The index of tools is being built; try again in a minute.")],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(run, gateway, status, message):
    error = {"error": {"code": "X", "message": message, "details": {}}}
    gateway.answer("/v1/tools/x", (status, error))
    gateway.answer("/v1/tools", (status, error))
    for command in (("show", "x"), ("search", "x")):
        code, out, err = run("tools", *command)
        assert code != 0
        assert out == ""
        assert message in " ".join(err.split())


def test_a_gateway_that_is_away(run, monkeypatch):
    monkeypatch.setenv("QUELEA_URL", "http://127.0.0.1:9")
    code, _, err = run("tools", "categories")
    assert code != 0
    assert "127.0.0.1:9" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [("search", "x", "--k", "0"), ("search", "x", "--mode", "magic"), ("show",)])
def test_wrong_arguments_are_refused_before_anything_is_asked(run, gateway, arguments):
    assert run("tools", *arguments)[0] == 2
    assert gateway.seen == []
