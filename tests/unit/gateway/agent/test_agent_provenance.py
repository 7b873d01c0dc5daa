"""Numbers that were typed into code are followed to what it prints and reports."""

import pytest
from quelea_gateway.core.agent.grounding.provenance import Session
from quelea_gateway.core.agent.grounding.results import read_output


def nothing(number):
    return ""


def untraced(*codes, known=nothing):
    """(numbers behind what the last code prints or reports, whether a print was marked)."""
    session = Session()
    for code in codes:
        traced = session.trace(code, known)
    numbers = set(traced.printed.numbers)
    for flow in traced.reports.values():
        numbers |= flow.numbers
    return numbers


@pytest.mark.parametrize(
    ("code", "numbers"),
    [
        ("revenue = 512.75\nprint(revenue)", {"512.75"}),
        ("a, b = 130497, 60922\nprint((a / b - 1) * 100)", {"130497", "60922"}),
        ("x = {'2024': 26.04}\nprint(x['2024'])", {"26.04"}),
        ("import pandas as pd\nf = pd.DataFrame({'a': [181.25, 190.17]})\nprint(f.a.mean())", {"181.25", "190.17"}),
        ("import pandas as pd, io\nf = pd.read_csv(io.StringIO('a,b\\nx,512.75'))\nprint(f.b.sum())", {"512.75"}),
        ("import json\nprint(json.loads('{\"p\": 512.75}')['p'])", {"512.75"}),
        ("values = []\nfor one in [26.4, 22.1]:\n    values.append(one)\nprint(sum(values))", {"26.4", "22.1"}),
        ("def growth(a, b):\n    return a / b - 1\nprint(growth(26.4, 22.1))", {"26.4", "22.1"}),
        ("def show(x):\n    print(x)\nshow(26.4)", {"26.4"}),
        ("def add(to):\n    to.append(512.75)\nrows = []\nadd(rows)\nprint(rows)", {"512.75"}),
        ("x = 5.5 if True else 0\nprint(f'{x:.2f}')", {"5.5"}),
        ("print([float(one) for one in '26.04 22.10'.split()])", {"26.04", "22.1"}),
        ("import numpy as np\nprint(np.random.normal(0, 1, 5).mean())", {"random"}),
        ("from quelea_results import report\nreport('growth', 26.4 / 22.1 - 1, '%')", {"26.4", "22.1"}),
        ("frame['a'] = [512.75]\nframe", {"512.75"}),
        ("import pandas as pd\nname = 'a'\npd.DataFrame({'x': [512.75]}).to_csv(f'{name}.csv')\n"
         "print(pd.read_csv('a.csv').x.sum())", {"512.75"}),
        ("import pandas as pd\nprint(pd.DataFrame({'x': [512.75]}).to_csv(index=False))", {"512.75"}),
        ("import csv\nwith open('a.csv', 'w') as f:\n    csv.writer(f).writerow([512.75])\n"
         "print(list(csv.reader(open('a.csv'))))", {"512.75"}),
        ("class A:\n    price = 512.75\nprint(A().price)", {"512.75"}),
        ("f = lambda x: x * 1.37\nprint(f(frame))", {"1.37"}),
        ("exec('x = 512.75')\nprint(x)", set()),  # all of its output is set aside instead
    ],
)  # fmt: skip
def test_typed_numbers_taint_what_is_computed_from_them(code, numbers):
    assert untraced(code) == numbers


@pytest.mark.parametrize(
    "code",
    [
        "import akshare as ak\nf = ak.stock_us_daily(symbol='NVDA')\nprint(f.close.rolling(20).mean().tail(5))",
        "import yfinance as yf\nn = 20\nprint(yf.download('AAPL', '2024-01-02').close.rolling(n).mean())",
        "import pandas as pd\nf = pd.read_csv('prices.csv')\nprint((f.close.pct_change() * 100).std() * 252 ** 0.5)",
        "print(frame[frame.close > 150].head(10).to_string())",
        "print(f\"growth {(frame.a.iloc[-1] / frame.a.iloc[0]) ** (1 / 5) - 1:.1%} in FY2024\")",
        "import requests\nprint(requests.get('https://x.example/0001045810.json', timeout=30).json()['v'])",
        "from quelea_results import figure, report\nreport('growth', figure(3, '130,497') / figure(3, '60,922') - 1)",
        "import json\np = json.load(open('evidence.json'))\nprint(len(p), p[3]['text'])",
        "import matplotlib.pyplot as plt\nplt.figure(figsize=(8, 4.5))\nplt.axhline(150)\nprint(frame.close.max())",
        "x = 512.75\nx = frame.close.max()\nprint(x)",
        "print(frame.close.quantile(0.95), round(frame.a.sum() / 1e6, 3))",
    ],
)  # fmt: skip
def test_settings_and_constants_are_no_data(code):
    session = Session()
    traced = session.trace(code, nothing)
    assert not traced.printed.numbers
    assert not any(flow.numbers for flow in traced.reports.values())
    assert not traced.all_untraced


def test_a_variable_keeps_what_it_rests_on_from_step_to_step_and_through_a_file():
    assert untraced("price = 512.75", "print(price * 2)") == {"512.75"}
    session = Session()
    session.trace("import pandas as pd\npd.DataFrame({'p': [512.75]}).to_csv('p.csv')", nothing)
    assert session.untraced_file("p.csv") == {"512.75"}
    assert session.trace("print(pd.read_csv('p.csv').p.sum())", nothing).printed.numbers == {"512.75"}
    assert session.untraced_file("other.csv") == frozenset()


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("typed.to_csv(f'{symbol}.csv')", "NVDA.csv"),
        ("typed.to_csv(f'{symbol}_prices.csv')", "NVDA_prices.csv"),
        ("typed.to_csv('out/' + symbol + '_prices.csv')", "NVDA_prices.csv"),
        ("typed.to_csv(f'{symbol}/prices.csv')", "prices.csv"),
        ("read['x'] = 512.75\nread.to_csv(f'{symbol}.csv')", "NVDA.csv"),
        ("with open(f'{symbol}_prices.csv', 'w') as f:\n    f.write(str(512.75))", "NVDA_prices.csv"),
        ("read\nwith open(f'{symbol}.csv', 'w') as f:\n    f.write(str(512.75))", "NVDA.csv"),
    ],
)
def test_a_file_of_a_name_that_the_code_makes_rests_on_what_is_written(code, name):
    session = Session()
    begin = "import pandas as pd\nsymbol = 'NVDA'\ntyped = pd.DataFrame({'x': [512.75]})\nread = pd.read_csv('a.csv')\n"
    session.trace(begin + code, nothing)
    assert session.untraced_file(name) == {"512.75"}


def test_what_is_written_to_one_file_says_nothing_of_another():
    session = Session()
    session.trace("import pandas as pd\nd = pd.read_csv('a.csv')\nd['x'] = 512.75\nd.to_csv('b.csv')", nothing)
    assert session.untraced_file("b.csv") == {"512.75"}
    assert not session.untraced_file("a.csv")


def test_a_number_that_stands_in_the_evidence_is_an_input():
    session = Session()
    traced = session.trace(
        "from quelea_results import report\nreport('growth', 130497 / 60922 - 1)",
        lambda number: "passage 2" if number in ("130497", "60922") else "",
    )
    (flow,) = traced.reports.values()
    assert not flow.numbers
    assert flow.inputs == {"passage 2"}


def test_inputs_of_a_report():
    session = Session()
    traced = session.trace(
        "import akshare as ak\nfrom quelea_results import report\nf = ak.stock_us_daily(symbol='NVDA')\n"
        "f.to_csv('a.csv')\nreport('last', f.close.iloc[-1])", nothing,
    )  # fmt: skip
    (flow,) = traced.reports.values()
    assert flow.inputs == {"akshare.stock_us_daily"}


def test_code_that_nobody_can_follow_taints_all():
    deep = "\n".join(f"def f{n}(x):\n    return f{n - 1}(x) + f{n - 1}(x)" for n in range(1, 40))
    traced = Session().trace(f"def f0(x):\n    return x\n{deep}\n" + "print(f39(1))\n" * 400, nothing)
    assert traced.all_untraced
    assert Session().trace("exec('x = 512.75')\nprint(x)", nothing).all_untraced
    assert Session().trace("x = 512.75\nx", nothing).all_untraced


def test_only_what_is_marked_is_set_aside():
    traced = Session().trace(
        "from quelea_results import report\nprint('数', 1)\nx = 512.75; print('价', x); print(frame)\n"
        "report('a', x)\nreport('b', frame.sum())", nothing,
    )  # fmt: skip
    lines = traced.source.split("\n")
    assert lines[2] == "x = 512.75; __import__('quelea_results').untraced('价', x); print(frame)"
    assert lines[3:] == ["report.at(1)('a', x)", "_ = report.at(2)('b', frame.sum())"]


def test_an_output_is_taken_apart():
    said = (
        'first 1\n\ue000{"name": "a", "value": "512.75", "unit": "USD", "inputs": ["3"], "place": 1}\ue001\n'
        '\ue002typed 9\n\ue003\ue000{"name": "b", "value": "7", "unit": "", "inputs": [], "place": 2}\ue001\n'
        "\ue000[]\ue001"
    )
    output = read_output(said, frozenset({1}))
    assert output.text == "first 1\na: 512.75 USD\ntyped 9\nb: 7\n"
    assert output.traced == "first 1\n\nb: 7\n"
    assert [one.inputs for one in output.results] == [("3",), ()]
    assert read_output("x", all_untraced=True).traced == ""
    assert read_output("a\ue002cut off").traced == "a"


@pytest.mark.parametrize(
    ("code", "runs"),
    [
        ("from quelea_results import report\nreport('a', 1)", "_ = report.at(1)('a', 1)"),
        ("from quelea_results import report\nx = 1; report('é', x)", "x = 1; _ = report.at(1)('é', x)"),
        ("from quelea_results import report\nreport('a', 1)\nprint(2)", "report.at(1)('a', 1)"),
        ("from quelea_results import report\n(report('a', 1))", "_ = (report.at(1)('a', 1))"),
    ],
)
def test_a_last_report_is_not_printed_once_more(code, runs):
    assert Session().trace(code, nothing).source.split("\n")[1] == runs
