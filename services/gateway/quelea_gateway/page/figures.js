// What an answer's figures are made from: each fact opens the cell that prints it.

import { el, joined } from "./dom.js";
import { open } from "./sources.js";
import { t } from "./texts.js";

function fact(operand) {
  const span = operand.period_start ? `${operand.period_start} – ${operand.period_end}` : operand.period_end;
  const title = joined(operand.label, span, t("pageShort", { page: operand.page }));
  return el(
    "button",
    { type: "button", class: "quiet small", title, on: { click: () => open(operand) } },
    `${operand.label} ${operand.printed}`,
  );
}

/** "({0} − {1}) / {0}" with the facts in their places. */
function formula(figure) {
  return figure.formula.split(/(\{\d+\})/).map((part) => {
    const place = /^\{(\d+)\}$/.exec(part);
    return place ? fact(figure.operands[Number(place[1])]) : part;
  });
}

function line(figure) {
  const parts = figure.metric === "change" || !figure.formula ? figure.operands.map(fact) : formula(figure);
  const name = joined(figure.company, figure.metric.replaceAll("_", " "), figure.period_end);
  return el("li", {}, el("span", { class: "meta" }, `${name}: `), ...parts);
}

export function figureFacts(figures) {
  if (!figures?.length) return null;
  return el("details", { class: "further figure-facts" }, el("summary", {}, t("figureFacts")), el("ul", {}, ...figures.map(line)));
}
