"""Runs of the agent as notebook and report."""

import io
import json
import zipfile

import nbformat
from support.agent_runs import client, start, watched
from support.agent_stand import agent_standing
from support.agent_world import good


async def test_notebook_and_report(web):
    run = await start(web)
    await watched(web, run["id"])
    made = await web.get(f"/v1/agent/runs/{run['id']}/notebook")
    book = nbformat.reads(made.text, as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert "savefig" in code[0].source
    assert [output.output_type for output in code[0].outputs] == ["stream", "display_data"]
    assert "190.17" in book.cells[-1].source
    report = await web.get(f"/v1/agent/runs/{run['id']}/report.pdf")
    assert report.headers["content-type"] == "application/pdf"
    text = text_of(report.content)
    heads = ["Answer", "Evidence", "Charts", "Method", "Limits", "Sources", "Appendix"]
    assert [line.strip() for line in text.splitlines() if line.strip().split(":")[0] in heads] == [
        *heads[:-1],
        "Appendix: code and output",
    ]
    assert "in the source" in text


async def test_a_table_of_the_answer_is_one_in_the_report():
    table = "| day | close |\n|---|---|\n| 2026-11-13 | 190.17 |\n| 2026-11-20 | 186.5 |"
    says = good(
        answer=json.dumps({"answer": f"**NVIDIA** rose [1].\n\n{table}\n\n- Closes of AkShare.", "missing": []})
    )
    async with agent_standing(says) as parts, client(parts) as web:
        run = await start(web)
        await watched(web, run["id"])
        text = text_of((await web.get(f"/v1/agent/runs/{run['id']}/report.pdf")).content)
    answer = text.partition("Evidence")[0]
    assert "190.17" in answer
    assert "|" not in answer
    assert "**" not in answer


async def test_all_that_a_run_made_is_one_archive(web, parts):
    run = await start(web)
    await watched(web, run["id"])
    path = f"/v1/agent/runs/{run['id']}/archive"
    made = await web.get(path)
    assert made.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(made.content)) as archive:
        assert archive.namelist() == [
            "events.jsonl",
            "code/step2.py",
            "files/step2-trend.png",
            "notebook.ipynb",
            "report.pdf",
            "data.bundle",
        ]
        assert b"savefig" in archive.read("code/step2.py")
        assert archive.read("files/step2-trend.png").startswith(b"\x89PNG")
        events = [json.loads(line)["event"] for line in archive.read("events.jsonl").splitlines()]
    assert (events[0], events[-1]) == ("state", "state")
    assert (await web.get(path)).content == made.content
    parts.sandbox.hangs = True
    going = await start(web)
    assert (await web.get(f"/v1/agent/runs/{going['id']}/archive")).status_code == 409
    await web.post(f"/v1/agent/runs/{going['id']}/cancel")


def text_of(pdf):
    import pypdfium2

    document = pypdfium2.PdfDocument(io.BytesIO(pdf))
    return "\n".join(page.get_textpage().get_text_range() for page in document)


async def test_a_chinese_report_has_its_characters():
    says = good(answer=json.dumps({"answer": "收盘价最高为 190.17 美元 [1]。", "missing": []}, ensure_ascii=False))
    async with (
        agent_standing(says) as parts,
        client(parts) as web,
    ):
        run = await start(web, "英伟达最近两周的股价走势如何？")
        await watched(web, run["id"])
        # The model of this test writes English insights; the question and the answer are Chinese.
        text = text_of((await web.get(f"/v1/agent/runs/{run['id']}/report.pdf")).content)
        assert "英伟达最近两周的股价走势如何" in text.replace("\n", "").replace("\r", "")
        assert "190.17" in text
