"""Reading what models write, the grounding of conclusions, packing, stores and quotas."""

import asyncio
import importlib.util
import json

import pytest
from quelea_gateway.adapters.stores.runs import Runs
from quelea_gateway.core.agent.decision import decisions, parsing, prompts, python_code
from quelea_gateway.core.agent.decision.parsing import Misfit
from quelea_gateway.core.agent.decision.token_budget import Section, cut_middle, recall, share, tokens
from quelea_gateway.core.agent.files import media_type, safe_name
from quelea_gateway.core.agent.grounding import results
from quelea_gateway.core.agent.grounding.conclusion_figures import check, marked, without_unsupported
from quelea_gateway.core.agent.grounding.evidence import Evidence, cells
from quelea_gateway.core.agent.model import Budget, Event, Run
from quelea_gateway.core.model import Passage
from quelea_kit.errors import NotFound
from quelea_kit.testing import wait_until_async

RUN = "20261122000000-0123456789abcdef"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}), ('Sure!\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('x {"a": {"b": [1, 2', {"a": {"b": [1, 2]}}),
        ('{"a": "cut of', {"a": "cut of"}), ('<think>{"a": 2}</think>{"a": 1}', {"a": 1}), ('{"a": 1, "b":', {"a": 1}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}), ('{oops} {"a": 1}', {"a": 1}),
    ],
)  # fmt: skip
def test_json_is_found_where_there_is_some(text, found):
    assert parsing.json_object(text) == found


@pytest.mark.parametrize("text", ["", "no", "[1, 2]", "{" * 5000, "[" * 100_000, '{"a":' * 5000, "null"])
def test_no_json_is_said(text):
    with pytest.raises(Misfit):
        parsing.json_object(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\nprint(1)\n```", "print(1)"),
        ("```py\nx = 1\n```\n```python\nprint(1)\nprint(2)\n```", "x = 1\n\nprint(1)\nprint(2)"),
        ("import os\nprint(os.name)", "import os\nprint(os.name)"), ('{"code": "print(1)"}', "print(1)"),
        ("```python\nprint(1)", "print(1)"),
    ],
)  # fmt: skip
def test_code_is_found(text, code):
    assert python_code.code(text) == code


@pytest.mark.parametrize(
    "text", ["", "I cannot do that.", "```python\nprint(\n```", "(" * 9000, "x", "```python\n\n```"]
)
def test_no_code_is_said(text):
    with pytest.raises(Misfit):
        python_code.code(text)


def test_actions_that_are_not_possible_are_refused():
    read = decisions.read_action(("kb-search", "finish"))
    assert read('{"action": {"action": "kb_search", "query": "x"}}').choices[0].text("query") == "x"
    for bad in ('{"action": "code-exec", "task": "x"}', '{"action": "kb-search"}', '{"action": 3}', "{}"):
        with pytest.raises(Misfit):
            read(bad)


def test_schemas_are_json_schemas_and_accept_what_is_read():
    import jsonschema

    actions = ("kb-search", "api-select", "api-details", "code-exec", "finish")
    schema = json.loads(decisions.action_schema(actions, ["Stock"], ["stock_us_daily"]))
    jsonschema.Draft202012Validator.check_schema(schema)
    for good in (
        {"action": "kb-search", "query": "x"},
        {"action": "api-select", "category": "Stock", "need": "x"},
        {"action": "api-details", "name": "stock_us_daily"},
        {"action": "code-exec", "task": "x", "apis": [], "code": ""},
        {"action": "finish"},
    ):
        whole = {"notes": [], "plan": [], "actions": [good, {"action": "finish"}]}
        jsonschema.validate(whole, schema)
        read = decisions.read_action(actions, ["Stock"], ["stock_us_daily"])(json.dumps(whole))
        assert [one.action for one in read.choices] == [good["action"]]  # the end comes alone
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"notes": [], "plan": [], "actions": [{"action": "finish", "query": "x"}]}, schema)


async def test_figures_without_a_source_are_withheld():
    evidence = Evidence()
    evidence.execution(1, "Output of step 1", "highest close 190.17 on 2026-11-13", day="2026-11-22")
    checked = await check("The highest close was 190.17 [1]. The lowest was 12.34 [1].", evidence, "")
    text, withheld = without_unsupported(checked)
    assert text == "The highest close was 190.17 [1]."
    assert withheld == ("The lowest was 12.34 [1].",)


async def test_a_figure_typed_into_the_code_is_not_traced_nor_what_is_computed_from_it():
    evidence = Evidence()
    evidence.execution(1, "Output", "close 512.75\ndoubled 1025.5", day="2026-11-22", traced="")
    assert "doubled 1025.5 (not traced)" in evidence.shown(500)
    evidence.execution(2, "Output", "the close is 512.75", day="2026-11-22", typed=frozenset({"512.75"}))
    checked = await check("The close was 512.75, twice that 1,025.5.", evidence, "")
    assert [one.verdict for one in checked.figures] == ["not_traced", "not_traced"]
    shown = marked(checked, " (not traced)")
    assert shown.text == "The close was 512.75 (not traced), twice that 1,025.5 (not traced)."
    assert [shown.text[one.start : one.end] for one in shown.figures] == ["512.75", "1,025.5"]
    assert not without_unsupported(checked)[1]  # it is shown
    evidence.call(2, {"url": "https://x.example/q", "fetched": "2026-11-22T00:00:00Z", "sha256": "0" * 64, "id": "c"},
                  '{"name": "close", "value": 512.75}')  # fmt: skip
    checked = await check("The close was 512.75.", evidence, "")
    assert [(one.verdict, one.source) for one in checked.figures] == [("supported", 3)]


@pytest.mark.parametrize(
    ("text", "kind", "cells_"),
    [
        ("revenue 1,234 million\ncosts 5,678 million", "", "revenue 1,234 million\ncosts 5,678 million"),
        ("1,234,567\n7,654,321", "", "1,234,567\n7,654,321"),
        ("date,close\n2026-11-09,181.25\n2026-11-13,190.1", "", "date\tclose\n2026-11-09\t181.25\n2026-11-13\t190.1"),
        ("2026-11-09,181.25\n2026-11-13,190.17", "", "2026-11-09\t181.25\n2026-11-13\t190.17"),
        ('name,value\n"A, B","1,234"', "csv", "name\tvalue\nA, B\t1,234"),
        ('{"a":"1,234 million","b":2,"c":[3,4]}', "json", '{"a":"1,234 million"\t"b":2\t"c":[3\t4]}'),
        ("<td>35,082</td>\n<td>30,040</td>", "", "<td>35,082</td>\n<td>30,040</td>"),
        ("sales fell, margin rose, by 1,234\nx, y, 2,345", "", "sales fell, margin rose, by 1,234\nx, y, 2,345"),
    ],
)  # fmt: skip
def test_thousands_separators_reach_the_checker(text, kind, cells_):
    assert cells(text, kind) == cells_


async def test_figures_with_thousands_in_neighbouring_lines_are_found():
    evidence = Evidence()
    evidence.execution(1, "Output", "revenue: 60,922 million USD\nincome: 29,760 million USD", day="2026-11-22")
    checked = await check("Revenue was $60,922 million and income $29,760 million [1].", evidence, "")
    assert {one.verdict for one in checked.figures} == {"supported"}


def test_passages_lie_beside_the_code_with_their_numbers():
    evidence = Evidence()
    evidence.execution(1, "Output", "x 1", day="")
    evidence.passage(1, Passage("d", 4, 0, 5, "Net sales were $81,797 million.", title="10-Q", published="2023-08-03"))
    assert json.loads(evidence.as_json()) == [
        {"id": 2, "document": "10-Q", "page": 4, "published": "2023-08-03", "text": "Net sales were $81,797 million."}
    ]
    assert evidence.source_of("81797") == "passage 2"
    assert evidence.source_of("81") == ""


def test_the_helper_reads_passages_and_reports(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    evidence = Evidence()
    evidence.passage(1, Passage("d", 4, 0, 5, "Net income (loss) (1,250) on sales of $81,797 million", title="10-Q"))
    (tmp_path / "evidence.json").write_bytes(evidence.as_json())
    spec = importlib.util.spec_from_loader("quelea_results", loader=None)
    module = importlib.util.module_from_spec(spec)
    exec(results.helper(), module.__dict__)  # noqa: S102  # our own, as the sandbox has it: a file, no package
    assert module.figure(1, "81,797") == 81797
    assert module.figure(1, "(1,250)") == -1250
    with pytest.raises(ValueError, match="does not print"):
        module.figure(1, "81,79")
    with pytest.raises(ValueError, match="no passage 7"):
        module.passage(7)
    module.report.at(1)("Margin", -1250 / 81797 * 100, "%", inputs=[1])
    module.untraced("x", 5)
    output = results.read_output(capsys.readouterr().out, frozenset())
    assert output.text == "Margin: -1.5282 %\nx 5\n"
    assert output.traced == "Margin: -1.5282 %\n"


async def test_windows_that_were_asked_for_are_no_data():
    evidence = Evidence()
    evidence.execution(1, "Output", "average 55.50", day="2026-11-22")
    evidence.settings |= {"20"}
    checked = await check("The 20-day average is 55.50; over 15 days nothing is known.", evidence, "")
    assert [(one.text, one.verdict) for one in checked.figures] == [
        ("20", "supported"), ("55.50", "supported"), ("15", "not_found"),
    ]  # fmt: skip


async def test_an_amount_in_parentheses_with_its_unit_is_a_remark():
    evidence = Evidence()
    evidence.execution(1, "Output", "highest close: 99.52 on 2024-11-12", day="2026-11-22")
    checked = await check("The highest day was 2024-11-12 (99.52 USD).", evidence, "")
    assert not checked.unsupported
    assert checked.text == "The highest day was 2024-11-12 (99.52 USD)."


async def test_markers_of_no_source_go_and_chinese_dates_are_dates():
    evidence = Evidence()
    evidence.execution(1, "输出", "2026-11-13 收盘价 190.17 元", day="2026-11-22")
    checked = await check("11 月 13 日收盘价为 190.17 元 [1][7]。", evidence, "")
    assert checked.text == "11月13日收盘价为 190.17 元 [1]。"
    assert not checked.unsupported


def test_cutting_keeps_head_and_tail_within_the_budget():
    text = "\n".join(f"row {number}   value {number * 7}" for number in range(5000))
    cut = cut_middle(text, 200)
    assert tokens(cut) <= 200
    assert cut.startswith("row 0")
    assert cut.endswith(str(4999 * 7))
    shared = share([Section("a", text, 3), Section("b", "short"), Section("c", text)], 400)
    assert shared["b"] == "short"
    assert tokens(shared["a"]) > tokens(shared["c"])
    assert sum(tokens(one) for one in shared.values()) <= 400


def test_the_least_relevant_insights_are_dropped_whole():
    insights = [f"The weather of day {n} was fine and nothing else happened." for n in range(30)]
    insights[4] = "NVIDIA's revenue was $35,082 million."
    kept = recall(insights, "NVIDIA revenue", 80)
    assert insights[4] in kept
    assert set(kept) <= set(insights)
    assert sum(tokens(one) + 2 for one in kept) <= 80


def test_every_prompt_exists_in_both_languages():
    listed = prompts.prompts()
    assert len(listed) == 10
    assert len({(one.name, one.language) for one in listed}) == 10
    assert all(one.version.startswith(f"{one.name}-{one.language}-") for one in listed)


def test_files_are_told_by_their_bytes_and_named_safely():
    assert media_type("x.txt", b"\x89PNG\r\n\x1a\n...") == "image/png"
    assert media_type("x.png", b"<svg onload=alert(1)>") == "application/octet-stream"
    assert media_type("x.html", b"<script>") == "application/octet-stream"
    assert media_type("x.csv", b"a,b\n1,2\n") == "text/csv"
    for bad in ("../../x", "/etc/passwd", "..", "", "a\x00b", "C:\\x", "\u202egnp.exe", "a" * 900):
        name = safe_name(bad, 1, set())
        assert name.startswith("step1-")
        assert "/" not in name
        assert ".." not in name
        assert len(name) < 120


def a_run(**more):
    base = {"id": RUN, "tenant": "desk", "question": "?", "as_of": "2026-11-22", "language": "en", "model": "",
            "state": "running", "created": "2026-11-22T00:00:00+00:00", "budget": Budget()}  # fmt: skip
    return Run(**{**base, **more})


@pytest.mark.parametrize("kind", ["folder", "objects", "s3"])
async def test_the_store(kind, tmp_path, request):
    url = str(tmp_path / "runs") if kind == "folder" else f"memory://store-{tmp_path.name}"
    store = Runs(request.getfixturevalue("bucket").url if kind == "s3" else url)
    assert await store.newest("desk", 10) == []
    await store.put(a_run())
    later = RUN.replace("20261122", "20261123")
    await store.put(a_run(id=later, state="finished"))
    assert [one.id for one in await store.newest("desk", 10)] == [later, RUN]
    assert await store.get("desk", RUN) == a_run()
    for number in (1, 2, 4):
        await store.append("desk", RUN, Event(number, "step", "t", {"n": number, "text": "中\ud800"}))
    assert [one.number for one in await store.events("desk", RUN, 0)] == [1, 2]  # 3 is not there yet
    assert [one.number for one in await store.events("desk", RUN, 1)] == [2]
    await store.write("desk", RUN, "step1-a.png", b"x")
    assert await store.read("desk", RUN, "step1-a.png") == b"x"
    assert await store.silent_seconds("desk", RUN) == float("inf")
    await store.beat("desk", RUN)
    assert await store.silent_seconds("desk", RUN) < 60
    for tenant, run_id, name in (
        ("other", RUN, "step1-a.png"), ("desk", "../x", "a"), ("desk", RUN, "../run.json"), ("desk", RUN, "a/b"),
    ):  # fmt: skip
        with pytest.raises(NotFound):
            await store.read(tenant, run_id, name)
    assert not await store.end_asked("desk", RUN)
    await store.ask_end("desk", RUN)
    assert await store.end_asked("desk", RUN)
    with pytest.raises(NotFound):
        await store.get("other", RUN)
    await store.delete("desk", RUN)
    await store.delete("desk", RUN)
    with pytest.raises(NotFound):
        await store.get("desk", RUN)
    assert [one.id for one in await store.newest("desk", 10)] == [later]


async def test_a_store_that_hangs_holds_up_nobody_else(monkeypatch):
    from support.s3 import broken_s3, environment_for

    with broken_s3(0) as (endpoint, asked):
        for name, value in environment_for(endpoint).items():
            monkeypatch.setenv(name, value)
        store = Runs("s3://bucket/runs")
        waiting = [asyncio.create_task(store.get("desk", RUN)) for _ in range(40)]
        await wait_until_async(lambda: asked, what="the store has been asked")
        # The loop turns, and the threads in which it looks up names are free.
        assert await asyncio.wait_for(asyncio.to_thread(lambda: 1), 60) == 1
        assert not any(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_what_code_reports_is_of_the_company_that_the_passages_are_of():
    evidence = Evidence()
    text = "(in thousands)\n\t2025\t2024\nGross profit\t638,705\t541,713\nTotal revenue\t760,866\t637,230"
    header = "Kestrel (KES) · 10-Q · FY2025 Q2 · quarter ended June 30, 2025"
    evidence.passage(1, Passage("d", 1, 0, len(text), text, header=header, published="2025-08-06"))
    output = "Gross margin Q2 2025: 83.9445 %\nGross margin Q2 2024: 85.0106 %\nChange: -1.0661 percentage points"
    evidence.execution(2, "Output of step 2", output, day="2026-11-28")
    said = (
        "Kestrel's gross margin fell by {} percentage points, from 85.01% in the second quarter of 2024 to 83.94% [2]."
    )
    question = "By how much did Kestrel's gross margin change?"
    good = await check(said.format("1.07"), evidence, question=question)
    assert not good.unsupported
    bad = await check(said.format("1.97"), evidence, question=question)
    assert [one.text for one in bad.unsupported] == ["1.97 percentage points"]


GROWTH = (
    "Revenue grew 9 percent in fiscal 2025. Its annual growth rate was 8.7% in fiscal 2025 and 11.2% in fiscal 2024."
)
REVENUE = "Revenue FY2023: 31352 million\nRevenue FY2025: 37895 million"
COMPOUND = "Revenue CAGR fiscal 2023 to fiscal 2025: 9.9407 %"
COMPOUNDED = "Revenue grew at a compound annual rate of {} from fiscal 2023 to fiscal 2025 [2]."


def computed(output: str, traced: str | None = None) -> Evidence:
    evidence = Evidence()
    head = "(in millions)\tFiscal Year Ended January 31,\n\t2025\t2024\t2023"
    text = f"Total revenues\t37,895\t34,857\t31,352\n{GROWTH}"
    evidence.passage(1, Passage("d", 40, 0, len(text), text, header="Kestrel · 10-K · FY2025", table_head=head))
    evidence.execution(2, "Output of step 2", output, day="2026-11-28", traced=traced)
    return evidence


def verdict(answer: str, evidence: Evidence) -> tuple[str, int]:
    checked = asyncio.run(check(answer, evidence, "What was the compound rate from fiscal 2023 to fiscal 2025?"))
    return next((one.verdict, one.source) for one in checked.figures if "fiscal" not in one.text)


def test_what_code_computed_from_traced_inputs_is_not_measured_by_a_passages_words():
    assert verdict(COMPOUNDED.format("9.94%"), computed(f"{REVENUE}\n{COMPOUND}")) == ("supported", 2)


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        ("Total revenues were $69,247 million in fiscal 2025 [2].", "sum 69247"),
        ("Total revenues were $69,247 million in fiscal 2025 [2].", "Revenue FY2023 + FY2025: 69247 million"),
    ],
)
def test_a_result_is_not_a_periods_own_figure_because_code_printed_it(answer: str, output: str):
    assert verdict(answer, computed(f"{REVENUE}\n{output}"))[0] in ("contradicted", "not_found")


def test_a_result_of_years_that_a_dash_joins_is_of_both():
    output = f"{REVENUE}\nRevenue CAGR 2023-2025: 9.9407 %"
    assert verdict(COMPOUNDED.format("9.94%"), computed(output)) == ("supported", 2)


def test_a_compound_rate_and_a_years_growth_are_not_exchanged_though_code_printed_both():
    output = f"{REVENUE}\n{COMPOUND}\nRevenue growth fiscal 2025: 8.7156 %"
    assert verdict(COMPOUNDED.format("9.94%"), computed(output)) == ("supported", 2)
    assert verdict(COMPOUNDED.format("8.72%"), computed(output))[0] in ("contradicted", "not_found")


def test_a_compound_rate_whose_line_names_no_years_is_supported():
    output = f"{REVENUE}\nRevenue CAGR: 9.9407 %"
    assert verdict(COMPOUNDED.format("9.94%"), computed(output)) == ("supported", 2)


def test_a_compound_rate_that_was_typed_or_made_up_is_not_supported():
    typed = computed(f"{REVENUE}\n{COMPOUND.replace('9.9407', '12.34')}", traced=REVENUE)
    assert verdict(COMPOUNDED.format("12.34%"), typed) == ("not_traced", 2)
    assert verdict(COMPOUNDED.format("9.94%"), typed) == ("derived", 1)  # from the passage's own revenues
    assert verdict(COMPOUNDED.format("12.34%"), computed(f"{REVENUE}\n{COMPOUND}"))[0] in ("contradicted", "not_found")


def test_what_a_passage_prints_is_no_result_of_code_alone():
    evidence = computed(f"{REVENUE}\n{COMPOUND}")
    assert [evidence.is_printed(one) for one in ("31,352", "31352", "11.20", "9.94")] == [True, True, True, False]
    assert [one.text for one in evidence.results()] == ["", COMPOUND]


def test_results_of_code_that_were_exchanged_stay_contradicted():
    output = "HubSpot gross margin: 83.94 %\nSalesforce gross margin: 77.19 %"
    answer = "HubSpot's gross margin was 77.19% [2]. Salesforce's gross margin was 83.94% [2]."
    assert verdict(answer, computed(output))[0] == "contradicted"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Method: 67 daily closes [1].", "supported"), ("It rests on 67 observations [1].", "supported"),
        ("依据 67 个收盘价 [1]。", "supported"), ("It rests on 68 observations [1].", "bad"),
        ("Volatility is the deviation of daily returns times the square root of 252 [1].", "supported"),
        ("波动率为日收益率标准差乘以252的平方根 [1]。", "supported"),
        ("Volatility is scaled by the square root of 365 [1].", "bad"), ("The price is 252 dollars [1].", "bad"),
        ("Headcount fell by 252 employees [1].", "bad"),
        ("Multiplied by 252 trading days [1].", "supported"), ("It is scaled by 250 trading days [1].", "supported"),
    ],
)  # fmt: skip
def test_observations_that_were_counted_and_periods_of_a_year_are_no_invented_figures(answer, verdict):
    evidence = Evidence()
    evidence.execution(1, "Output of step 1", "trading days: 67\nvolatility: 35.86 %", day="2024-11-22")
    evidence.settings |= {"252"}
    (figure,) = asyncio.run(check(answer, evidence, "How volatile was it over 250 days?")).figures
    assert (figure.verdict if figure.verdict == "supported" else "bad") == verdict
