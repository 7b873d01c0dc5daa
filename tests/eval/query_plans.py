"""What a query plan is worth: the right page in the first five, for the analysts' questions, without and with plans.

    .venv/bin/python tests/eval/query_plans.py --data ../shared/data --home .quelea/eval

The plans in `query_plans.jsonl` were written by hand from the questions alone, as a capable model would; an endpoint
says them again. It answers nothing else, so every question ends declined: pages are measured, answers are not.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from quelea_cli.recorded_model import NAME, RecordedModel, serving
from quelea_evaluation.answers.analyst import ask_all
from quelea_evaluation.sets.analyst import AnalystSet, load
from quelea_evaluation.stack.running import running_stack

HERE = Path(__file__).resolve().parent
_PLANS = ("You plan how a question is looked up", "你要规划如何在一个资料库中查找一个问题")
"""How the prompt begins."""
_QUESTION = re.compile(r"<question>\n(.*)\n</question>", re.DOTALL)
_REFUSAL = "Unable to answer the question based on the information provided"


class Planner(RecordedModel):
    """Says the plan of each question; a follow-up has that of the question whose words it is made of.

    Args:
        questions: The set.
        plans: JSON of the searches by the question's id.
    """

    def __init__(self, questions: AnalystSet, plans: dict[str, str]) -> None:
        super().__init__({"decisions": []})
        self._plans = {one.text: plans[one.id] for one in questions.questions}
        self._follow_ups = {one.after: plans[one.id] for one in questions.questions if one.after}
        self.planned = 0

    def decide(self, body: dict[str, Any]) -> str:
        """A plan, or a refusal."""
        if not body["messages"][0]["content"].startswith(_PLANS):
            return _REFUSAL
        found = _QUESTION.search(body["messages"][-1]["content"])
        assert found, "the prompt has no question"
        self.planned += 1
        if found[1] in self._plans:
            return self._plans[found[1]]
        asked = set(found[1].lower().split())
        return max(self._follow_ups.items(), key=lambda one: len(asked & set(one[0].lower().split())))[1]


def main() -> None:
    """Ask twice, print the shares."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--data", type=Path, default=Path("../shared/data"))
    given.add_argument("--home", type=Path, default=Path(".quelea/eval"))
    chosen = given.parse_args()
    questions = load(HERE / "analyst.jsonl", chosen.data)
    lines = (json.loads(line) for line in (HERE / "query_plans.jsonl").read_text(encoding="utf-8").splitlines())
    plans = {str(one["id"]): json.dumps({"searches": one["searches"]}, ensure_ascii=False) for one in lines}
    for mode in ("none", "model"):
        model = Planner(questions, plans)
        with serving(model):
            arguments = ("--reader", "openai", "--openai-base-url", model.url, "--openai-model", NAME)
            settings = {"QUELEA_GATEWAY_QUERY_PLAN": mode}
            with running_stack(chosen.home / "query-plans", settings, arguments) as stack:
                ids = stack.ingest(questions.documents, lambda text: print(text, file=sys.stderr))
                report = ask_all(stack, questions, ids, "all", removed=False, say=lambda _: None)
        print(f"query_plan={mode}: {model.planned} plans")
        for name, value in report.summary().items():
            if "page in five" in name:
                print(f"  {name:40} {value:.3f}")


if __name__ == "__main__":
    main()
