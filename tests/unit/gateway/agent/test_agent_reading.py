"""What capable models write around, in and instead of the JSON and the code that they were asked for."""

import json
import time

import pytest
from quelea_gateway.core.agent.decision import loose_json
from quelea_gateway.core.agent.decision.decisions import read_action, read_answer, read_plan
from quelea_gateway.core.agent.decision.parsing import Misfit
from quelea_gateway.core.agent.decision.python_code import code
from quelea_gateway.core.agent.model import Choice

ACTIONS = ("kb-search", "api-select", "api-details", "code-exec", "finish")
DETAILS = Choice("api-details", {"name": "stock_us_daily"})
SELECT = Choice("api-select", {"category": "Stock", "need": "daily prices"})
SEARCH = Choice("kb-search", {"query": "NVIDIA revenue"})
RUN = Choice("code-exec", {"task": "get it", "apis": ("stock_us_daily",)})
FINISH = Choice("finish")


def test_sloppy_json_around_good_json_is_read_whole():
    said = (
        '{“notes”: [“two series”], "actions": [{"action": "api-select", "category": "Stock", "need": "daily prices"}, '
        '{"action": "kb-search", "query": "NVIDIA revenue"}]}'
    )
    decision = read_action(ACTIONS, ["Stock"], [])(said)
    assert decision.choices == (SELECT, SEARCH)
    assert decision.insights == ("two series",)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ('```json\n{"action": "finish"}\n```', FINISH),
        ('I compare the set {a, b} first.\n\n{"action": "finish"}', FINISH),
        ('<think>{"action": "finish"}</think>{"action": "api-details", "name": "stock_us_daily"}', DETAILS),
        ('so {"action": "finish"}? No.</think>\n{"action": "api-details", "name": "stock_us_daily"}', DETAILS),
        ('{"action": "code-exec", "arguments": "{\\"task\\": \\"get it\\", \\"apis\\": [\\"stock_us_daily\\"]}"}', RUN),
        ('{"action": "code_exec", "args": {"task": "get it", "apis": "stock_us_daily"}}', RUN),
        ('{"name": "api-details", "arguments": {"name": "stock_us_daily"}}', DETAILS),
        (
            json.dumps(
                {"tool_calls": [{"type": "function", "function": {
                    "name": "api_select", "arguments": '{"category": "stock", "need": "daily prices"}'}}]}
            ),
            SELECT,
        ),
        ('{"thought": "…", "action": "kb_search", "action_input": "NVIDIA revenue"}', SEARCH),
        ('{"action": {"action": "kb-search", "query": "NVIDIA revenue"}}', SEARCH),
        ('[{"action": "api-details", "name": "stock_us_daily"}, {"action": "finish"}]', DETAILS),
        ('{"action": "api-details", "name": "stock_us_daily"}\n{"action": "finish"}', DETAILS),
        ('{"actions": [{"action": "api-details", "name": "stock_us_daily"}, {"action": "finish"}]}', DETAILS),
        ('Thought: prices\nAction: api-select\nAction Input: {"category": "Stock", "need": "daily prices"}', SELECT),
        ('思考：需要价格\n行动：kb-search\n参数：NVIDIA revenue', SEARCH),
        ("{“action”：“code-exec”，“task”：“get it”，“apis”：[“stock_us_daily”]}", RUN),
        ("{'action': 'code-exec', 'task': 'get it', 'apis': ['stock_us_daily'],}", RUN),
        ('{"action": "api-select", // the market\n "category": "Stock", "description": "daily prices",}', SELECT),
        ('{"action": "api-details", "name": "`ak.stock_us_daily()`"}', DETAILS),
        ('{"action": "final_answer", "answer": "It rose."}', FINISH),
        ('{"action": "code-exec", "code": "print(1)"}', Choice("code-exec", code="print(1)")),
        ('{"action": "code-exec", "task": "get it", "apis": ["stock_us_daily"', RUN),
    ],
)  # fmt: skip
def test_actions(said: str, meant: Choice) -> None:
    assert read_action(ACTIONS, ["Stock"], ["stock_us_daily"])(said).choices[0] == meant


@pytest.mark.parametrize("said", ["", "I do not know.", '{"action": "dance"}', "Action: dance", "[]", '{"a": 1}'])
def test_what_is_no_action_is_told_so(said: str) -> None:
    with pytest.raises(Misfit):
        read_action(ACTIONS)(said)


FIGURE = "import matplotlib.pyplot as plt\n"


@pytest.mark.parametrize(
    ("said", "runs"),
    [
        ("Sure:\n```python\nprint(1)\n```\nThis prints 1.", "print(1)"),
        ("```python\nx = 1\n```\nand then\n```python\nprint(x)\n```", "x = 1\n\nprint(x)"),
        ("```python\nimport math\nx=1\n```\nBetter:\n```python\nimport math\nx=1\nprint(x)\n```",
         "import math\nx=1\nprint(x)"),
        ("~~~py\nprint(1)\n~~~", "print(1)"),
        ("```tool_code\nprint(1)\n```", "print(1)"),
        ("   ```python\n   if 1:\n       print(1)\n   ```", "if 1:\n    print(1)"),
        ('{"code": "print(1)"}', "print(1)"),
        ('```json\n{"code": "print(1)"}\n```', "print(1)"),
        ("```python\nprint（f\"涨幅：{x}，完\"）\n```", 'print(f"涨幅：{x}，完")'),
        ('```python\nmd = """\n```text\nx\n```\n"""\nprint(md)\n```', 'md = """\n```text\nx\n```\n"""\nprint(md)'),
        ("```python\n>>> x = 2\n>>> print(x)\n2\n```", "x = 2\nprint(x)"),
        ('```python\nd = {"a": 1}\nprint(f"{d["a"]:.2f}")\n```', 'd = {"a": 1}\nprint(f"{d[\'a\']:.2f}")'),
        ("```python\ndf = ak.stock_zh_a_hist('000001')\nprint(pd.DataFrame(df))\n```",
         "import akshare as ak\nimport pandas as pd\ndf = ak.stock_zh_a_hist('000001')\nprint(pd.DataFrame(df))"),
        ("```python\n" + FIGURE + "plt.plot([1])\nplt.show()\n```", FIGURE + "plt.plot([1])\nplt.show()"),
        ("<think>```python\nprint(0)\n```</think>\n```python\nprint(1)\n```", "print(1)"),
    ],
)  # fmt: skip
def test_code(said: str, runs: str) -> None:
    assert code(said) == runs


def test_what_only_a_notebook_understands_is_left_out() -> None:
    found = code("```python\n!pip install akshare\n%matplotlib inline\n%%time\nprint(1)\n```")
    assert "nothing is installed here: !pip install akshare" in found
    compile(found, "x", "exec")
    for said in ("```python\n!curl http://x\nprint(1)\n```", "```python\n%%bash\nls\n```"):
        with pytest.raises(Misfit, match="no shell"):
            code(said)


@pytest.mark.parametrize(
    ("said", "told"), [("", "empty"), ("I cannot.", "no Python|no code"), ("```python\nx = (\n```", "in line 1"),
                       ("```python\n# nothing\n```", "no code")]
)  # fmt: skip
def test_what_is_no_code_is_told_so(said: str, told: str) -> None:
    with pytest.raises(Misfit, match=told):
        code(said)


@pytest.mark.parametrize(
    ("said", "text", "missing"),
    [
        ('{"answer": "| d | c |\\n|---|---|\\n| 1 | 2 |\\n\\n**Rose** [1]", "missing": []}',
         "| d | c |\n|---|---|\n| 1 | 2 |\n\n**Rose** [1]", ()),
        ("## Conclusion\n\n| d | c |\n|---|---|\n| 1 | 2 |", "## Conclusion\n\n| d | c |\n|---|---|\n| 1 | 2 |", ()),
        ('{"answer": "The "close" was 190.17 [1].", "missing": []}', 'The "close" was 190.17 [1].', ()),
        ('{"answer": "a b", "missing": [{"what": "volume", "why": "no data"}]}', "a b", ("volume: no data",)),
        ('{"answer": ["one [1].", "two [2]."], "missing": null}', "one [1].\ntwo [2].", ()),
        ('{"action": "finish", "arguments": {"final_answer": "It rose [1]."}}', "It rose [1].", ()),
        ("{“answer”：“收盘价为 190.17 美元【1】，上涨。”，“missing”：[]}", "收盘价为 190.17 美元【1】，上涨。", ()),
        ("<think>hm</think>The close rose to 190.17 [1].", "The close rose to 190.17 [1].", ()),
    ],
)  # fmt: skip
def test_answers(said: str, text: str, missing: tuple[str, ...]) -> None:
    made = read_answer(said)
    assert (made.answer, made.missing) == (text, missing)


@pytest.mark.parametrize(
    "said",
    [
        '{"profile": {"role": "x"}, "plan": {"1": {"action": "api_select", "task": "find"}, "2": {"action": "finish"}}'
        "}",
        '{"profile": "x", "steps": [{"action": "api-select", "description": "find"}, {"action": "finish"}]}',
        '{"profile": "x", "plan": ["1. api-select: find", "2. finish: end"]}',
        "Plan:\n1. **api-select**: find\n2. finish: end",
        "计划\n第1步：api-select：find\n第2步：finish：end",
    ],
)
def test_plans(said: str) -> None:
    made = read_plan(ACTIONS)(said)
    assert [step.action for step in made.steps] == ["api-select", "finish"]
    assert made.steps[0].task == "find"


def test_notes_and_a_new_plan_come_with_the_actions() -> None:
    made = read_action(ACTIONS)(
        '{"insights": [{"insight": "close 190"}], "plan": ["1. kb-search: more"], "actions": [{"action": "kb-search", '
        '"query": "a"}, {"action": "kb-search", "q": "b"}, {"action": "dance"}, {"action": "finish"}]}'
    )
    assert made.insights == ("close 190",)
    assert [step.action for step in made.plan] == ["kb-search"]
    assert [one.text("query") for one in made.choices] == ["a", "b"]  # what follows a misfit is asked for again


@pytest.mark.parametrize(
    "said", ["{" * 50_000, '["' * 50_000, '{"a":' * 30_000, 'x"' * 50_000, '{"a": "' + '" ' * 60_000]
)
def test_hostile_text_costs_no_more_than_other_text(said: str) -> None:
    before = time.process_time()
    loose_json.loads(said)
    with pytest.raises(Misfit):
        read_action(ACTIONS)(said)
    assert time.process_time() - before < 10
