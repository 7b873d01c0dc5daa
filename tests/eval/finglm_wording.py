"""Questions in FinGLM's wording about annual reports that are here, for `quelea eval analyst --questions`.

FinGLM's questions are about reports that are not here, so company and year are replaced; their wording stays, which is
another author's than the code's. Figures of statements are keyed by reading the reports' own rows with nothing of the
product; what no statement has (employees, addresses) by hand, below.

    python tests/eval/finglm_wording.py ../shared/data > finglm_wording.jsonl
    quelea eval analyst --questions finglm_wording.jsonl --no-removed
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

_SEED = 28
_YEAR = "2019"

_SIFANG = "2020-04-16__四方科技集团股份有限公司__603339__四方科技__2019年__年度报告.pdf"
_ANKAO = "2020-01-21__江苏安靠智能输电工程科技股份有限公司__300617__安靠智电__2019年__年度报告.html"
REPORTS = {
    "四方科技": ("四方科技集团股份有限公司", _SIFANG),
    "安靠智电": ("江苏安靠智能输电工程科技股份有限公司", _ANKAO),
}
# fmt: off
BY_HAND = {
    "四方科技": {
        "职工总人数": "1,406", "销售人员人数": "79", "技术人员人数": "164", "研发人员人数": "172",
        "生产人员人数": "940", "财务人员人数": "27", "行政人员人数": "23",
        "硕士员工人数": "14", "博士及以上的员工人数": "1",
        "证券代码": "603339", "证券简称": "四方科技", "电子信箱": "zqb@ntsquare.com", "法定代表人": "黄杰",
        "外文名称": "SQUARE TECHNOLOGY GROUP CO.,LTD", "外文名称缩写": "SQTEG", "公司网址": "www.sqteg.com",
        "注册地址": "江苏省南通市通州区兴仁镇金通公路3888号", "办公地址": "江苏省南通市通州区兴仁镇金通公路3888号",
        "企业名称": "四方科技集团股份有限公司",
    },
    "安靠智电": {
        "职工总人数": "642", "销售人员人数": "50", "技术人员人数": "74", "研发人员人数": "74",
        "生产人员人数": "346", "财务人员人数": "12", "行政人员人数": "94",
        "证券代码": "300617", "证券简称": "安靠智电", "电子信箱": "ankura01@ankura.com.cn", "法定代表人": "陈晓晖",
        "外文名称": "Jiangsu Ankura Smart Transmission Engineering Technology Co.Ltd",
        "公司网址": "http://www.ankura.com.cn/",
        "注册地址": "溧阳市经济开发区天目湖工业园", "企业名称": "江苏安靠智能输电工程科技股份有限公司",
    },
}
# fmt: on
STATED = {
    "四方科技": """货币资金 905,402,299.44 627,041,535.44
应收账款 35,667,317.09 50,873,345.79
应收款项融资 5,025,547.40 -
其他流动资产 18,819,853.90 34,111,007.88
其他非流动资产 62,022,541.36 48,276,664.28
存货 637,768,124.78 601,968,438.28
流动资产 1,639,379,320.41 1,386,853,478.81
固定资产 384,462,589.60 391,583,730.89
在建工程 236,864,658.04 106,578,620.77
无形资产 133,125,277.61 115,958,021.16
非流动资产合计 825,569,383.44 664,369,978.05
资产总计 2,464,948,703.85 2,051,223,456.86
资产总额 2,464,948,703.85 2,051,223,456.86
短期借款 200,222,109.59 -
应付账款 65,042,742.78 65,524,501.79
应付职工薪酬 34,963,215.22 34,267,387.74
应交税费 2,972,224.18 7,905,872.31
流动负债 696,435,257.06 382,344,340.93
非流动负债 23,111,556.33 23,653,095.86
总负债 719,546,813.39 405,997,436.79
负债合计 719,546,813.39 405,997,436.79
实收资本 210,674,875.00 210,743,750.00
所有者权益合计 1,745,401,890.46 1,645,226,020.07
归属于母公司所有者权益合计 1,745,401,890.46 1,645,226,020.07
负债和所有者权益总计 2,464,948,703.85 2,051,223,456.86
营业总收入 1,175,301,034.32 1,230,537,181.80
营业收入 1,175,301,034.32 1,230,537,181.80
营业总成本 1,029,104,028.33 1,018,808,888.48
营业成本 903,236,584.52 901,488,823.98
销售费用 37,413,213.03 39,059,266.12
管理费用 46,869,502.38 54,918,061.24
研发费用 48,428,964.78 51,663,182.04
财务费用 -12,024,894.14 -34,606,861.02""",
    "安靠智电": """货币资金 73,992,141.96 63,189,391.11
应收票据 2,707,326.10 6,998,976.53
应收账款 205,021,446.76 250,727,198.32
存货 127,969,997.23 119,802,723.85
流动资产 810,551,258.15 822,007,189.31
固定资产 179,765,123.60 184,043,167.70
在建工程 2,689,070.88 2,905,982.80
无形资产 27,888,973.03 27,466,851.51
交易性金融资产 202,921,506.85 -
资产总额 1,050,566,795.15 -
短期借款 75,000,000.00 45,000,000.00
营业收入 318,024,319.30 320,070,653.13
营业成本 157,633,818.13 -
销售费用 36,139,018.24 25,844,972.78
管理费用 40,296,606.50 37,106,822.73
研发费用 22,334,548.66 15,665,695.27
财务费用 4,172,190.72 1,900,567.73
投资收益 20,534,266.79 -
营业外收入 35,271.14 614,628.98
营业外支出 288,733.45 -
净利润 64,450,070.60 -
利润总额 75,294,613.51 -
营业利润 75,548,075.82 -""",
}


def _amounts(company: str) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    for line in STATED[company].splitlines():
        name, now, before = line.split()
        found[name] = Decimal(now.replace(",", ""))
        if before != "-":
            found[f"上年{name}"] = Decimal(before.replace(",", ""))
    people = BY_HAND[company]
    found |= {name: Decimal(said.replace(",", "")) for name, said in people.items() if name.endswith("人数")}
    return found


def _computed(formula: str, amounts: dict[str, Decimal]) -> str | None:
    """Result of "…=(营业收入-营业成本)/营业收入", in percent unless it is a plain ratio; None if a term is unknown."""
    name, _, right = formula.partition("=")
    terms = sorted(set(re.findall(r"[\u4e00-\u9fff]+", right)), key=len, reverse=True)
    if not terms or any(term not in amounts for term in terms):
        return None
    for term in terms:
        right = right.replace(term, f"({amounts[term]})")
    if not re.fullmatch(r"[\d.()+*/ -]+", right):
        return None
    value = abs(float(eval(right, {"__builtins__": {}})))  # noqa: S307 - digits and signs alone
    return f"{value:.2f}" if name in ("流动比率", "速动比率", "现金比率") else f"{value * 100:.2f}"


def main(data: Path) -> None:
    """Write documents and questions as JSON lines."""
    rows = [json.loads(line) for line in (data / "finglm" / "B-list-answer.jsonl").read_text().splitlines()]
    random.Random(_SEED).shuffle(rows)
    for company, (_, file) in REPORTS.items():
        print(json.dumps({"document": company, "file": f"finglm/reports/{file}"}, ensure_ascii=False))
    for company in REPORTS:
        for question in _questions(company, rows):
            print(json.dumps(question, ensure_ascii=False))


def _questions(company: str, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    amounts, full = _amounts(company), REPORTS[company][0]
    taken: set[str] = set()
    for row in rows:
        prompt, text = row["prompt"], row["question"]
        name, short, year = (str(prompt.get(key, "")) for key in ("ent_name", "ent_short_name", "year"))
        if set(re.findall(r"20\d\d", text)) != {year} or not (name in text or short in text):
            continue
        formula = prompt.get("公式", "")
        asked = formula or prompt.get("key_word", "")
        said = [_computed(formula, amounts)] if formula else [_said(one, amounts, company) for one in asked.split("、")]
        if not all(said) or asked in taken:
            continue
        taken.add(asked)
        is_figure = asked != "证券代码" and all(re.fullmatch(r"[\d.,]+", one or "") for one in said)
        yield {
            "id": f"{company}-{len(taken)}",
            "part": "held",
            "kind": "figure" if is_figure else "words",
            "documents": [company],
            "question": (text.replace(name, full) if name in text else text.replace(short, company)).replace(
                year, _YEAR
            ),
            "answer": [[one] for one in said],
        }


def _said(name: str, amounts: dict[str, Decimal], company: str) -> str | None:
    if name in BY_HAND[company]:
        return BY_HAND[company][name]
    return f"{abs(amounts[name]):,.2f}" if name in amounts else None


if __name__ == "__main__":
    main(Path(sys.argv[1]))
