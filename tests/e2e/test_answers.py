"""Questions to the whole product: answers with citations that open, or an honest refusal."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import openai
import pytest

ENGLISH = "What were Apple's total net sales in the third quarter of fiscal 2023?"
CHINESE = "2023年第三季度，三星的智能手机出货量是多少？"


def check_citations(stack: Any, answer: dict[str, Any]) -> None:
    assert answer["citations"], answer
    for citation in answer["citations"]:
        page = stack.page(citation["document_id"], citation["page"])
        assert page["text"][citation["start"] : citation["end"]] == citation["quote"]
        assert citation["quote"].strip()
        assert f"[{citation['number']}]" in answer["answer"]
    assert all(check["passed"] for check in answer["checks"]), answer["checks"]


@pytest.mark.parametrize(
    ("question", "figure", "published", "language"),
    [(ENGLISH, "81,797", "2023-08", "en"), (CHINESE, "5740", "2023-10-27", "zh")],
)
def test_an_answer_cites_the_page_that_says_it(
    library: Any, question: str, figure: str, published: str, language: str
) -> None:
    answer = library.ask(question)
    assert not answer["declined"]
    assert answer["language"] == language
    assert answer["reader"] == "extractive"
    check_citations(library, answer)
    quoting = [one for one in answer["citations"] if figure in one["quote"]]
    assert quoting, answer["answer"]
    assert quoting[0]["published"].startswith(published)


def test_a_browser_sees_the_quote_marked(library: Any) -> None:
    citation = library.ask(CHINESE)["citations"][0]
    address = f"/v1/documents/{citation['document_id']}/pages/{citation['page']}"
    span = {"start": citation["start"], "end": citation["end"]}
    page = library.http.get(address, params=span, headers={"Accept": "text/html"})
    assert page.headers["content-type"].startswith("text/html")
    assert f'<mark id="quote">{citation["quote"][:10]}' in page.text


def test_a_company_that_is_not_there_is_declined(library: Any) -> None:
    answer = library.ask("What was Tesla's automotive revenue in the second quarter of 2023?")
    assert answer["declined"]
    assert not answer["citations"]
    assert "Unable to answer" in answer["answer"]
    assert library.ask("特斯拉2023年第二季度的汽车收入是多少？")["declined"]


NOTE = "Market note\n\nThe revenue of {} rose in the last quarter, its management said, without giving figures.\n"


@pytest.mark.parametrize(("name", "metadata"), [("Fenwirt", {}), ("Castrumb", {"company": "Castrumb<b>"})])
@pytest.mark.parametrize("question", ["What were {}'s net sales?", "What were the total net sales of {}?"])
def test_another_companys_figures_are_no_answer(
    library: Any, name: str, metadata: dict[str, str], question: str
) -> None:
    """A name that no list has, and a document that speaks of it without its figures; Apple's stand beside it."""
    library.ingest((f"{name}.txt", NOTE.format(name).encode()), metadata=metadata)
    answer = library.ask(question.format(name), route="local")
    assert "81,797" not in answer["answer"]
    assert all("Apple" not in one["title"] for one in answer["citations"])


def test_a_stream_says_the_same(library: Any) -> None:
    whole = library.ask(CHINESE)
    names, text, last = [], "", {}
    with library.http.stream("POST", "/v1/ask", json={"question": CHINESE, "stream": True}) as reply:
        for line in reply.iter_lines():
            if line.startswith("event: "):
                names.append(line.removeprefix("event: "))
            elif line.startswith("data: "):
                last = json.loads(line.removeprefix("data: "))
                text += last.get("text", "") if names[-1] == "delta" else ""
    assert (names[0], names[-1]) == ("started", "answer")
    assert text.strip() == last["answer"].strip() == whole["answer"].strip()
    assert last["citations"] == whole["citations"]


def test_the_official_openai_client(library: Any) -> None:
    with openai.OpenAI(base_url=f"{library.url}/v1", api_key="none needed here") as client:
        model = client.models.list().data[0].id
        messages: Any = [{"role": "user", "content": CHINESE}]
        whole = client.chat.completions.create(model=model, messages=messages)
        message = whole.choices[0].message
        assert message.content
        assert "5740" in message.content
        notes = message.annotations or []
        assert notes[0].url_citation.url.startswith(f"{library.url}/v1/documents/")
        pieces = [
            chunk.choices[0].delta.content or ""
            for chunk in client.chat.completions.create(model=model, messages=messages, stream=True)
            if chunk.choices
        ]
        assert len(pieces) > 1
        assert "".join(pieces).strip() == message.content.strip()


def test_search_is_ranked_and_filtered(library: Any) -> None:
    found = library.http.post("/v1/search", json={"query": "iPhone net sales", "k": 5}).json()["passages"]
    assert len(found) == 5
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    only = {"query": "苹果 出货量", "k": 5, "filters": {"languages": ["zh"]}}
    assert {one["published"] for one in library.http.post("/v1/search", json=only).json()["passages"]} == {"2023-10-27"}


def test_the_command_line(library: Any) -> None:
    def quelea(*arguments: str) -> str:
        command = [sys.executable, "-m", "quelea_cli", *arguments, "--url", library.url]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    out = quelea("ask", CHINESE)
    assert "5740" in out
    assert f"{library.url}/v1/documents/" in out
    assert json.loads(quelea("ask", CHINESE, "--json"))["citations"]
    assert json.loads(quelea("search", "iPhone", "--k", "2", "--json"))["passages"][1]
    assert {one["document_type"] for one in json.loads(quelea("docs", "--json"))["documents"]} >= {"10-Q", "news"}
    assert json.loads(quelea("jobs", "--json"))["jobs"][-1]["state"] == "succeeded"
