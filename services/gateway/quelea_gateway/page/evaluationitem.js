// One item of an evaluation: what was asked and said, the evidence, the verdicts, the values, what failed.

import { el, joined } from "./dom.js";
import { openPanel } from "./panel.js";
import { has, t } from "./texts.js";

export const number = (value) => (value === null || value === undefined ? "–" : Number(value).toFixed(3));

/** A metric in the reader's language; "accuracy@judge" is one judge's. */
export function metricName(name) {
  const [metric, judge] = name.split("@");
  return joined(has(`metric_${metric}`) ? t(`metric_${metric}`) : metric, judge);
}

/** Where the name of whoever judges or votes here is kept. */
export const RATER = "quelea.rater";

/** Lines as a file for the person. */
export function download(name, lines) {
  const href = URL.createObjectURL(new Blob(lines.map((line) => `${line}\n`), { type: "application/jsonl" }));
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

export function said({ role, text }) {
  const label = has(`role_${role}`) ? t(`role_${role}`) : role;
  return el("div", { class: `said ${role}` }, el("dt", {}, label), el("dd", { dir: "auto" }, text || "–"));
}

function dialogue({ system, turns, error }) {
  return el(
    "section",
    {},
    el("h3", {}, t("dialogueOf", { system })),
    error ? el("p", { class: "error-line" }, t("itemError", { error })) : null,
    el("dl", { class: "dialogue" }, ...turns.map(said)),
  );
}

function passage(one) {
  const place = { documentId: one.document_id, page: one.page, start: one.start, end: one.end };
  const where = joined(one.title, t("pageShort", { page: one.page }));
  return el(
    "li",
    {},
    el(
      "button",
      { type: "button", class: "source", on: { click: () => openPanel(place) } },
      el(
        "span",
        { class: "source-body" },
        el("span", {}, el("span", { class: "source-title" }, where), " ", el("span", { class: `badge ${one.role === "relevant" ? "kept" : "rejected"}` }, t(`role_${one.role}`))),
        el("span", { class: "quote", dir: "auto" }, one.text),
      ),
    ),
  );
}

function verdict(one) {
  const said = one.failed ? t("verdictFailed") : one.verdict;
  const about = has(`metric_${one.about}`) ? t(`metric_${one.about}`) : one.about;
  return el(
    "li",
    {},
    el("span", {}, el("b", {}, about), `: ${said} `, el("span", { class: "meta" }, one.judge), one.failed ? " " : null, one.failed ? el("span", { class: "badge failed" }, t("itemFailed")) : null),
    el("p", { class: "quote", dir: "auto" }, one.text),
  );
}

function judged(item) {
  const values = Object.entries(item.values).map(([name, value]) =>
    el("div", {}, el("dt", {}, metricName(name)), el("dd", {}, number(value))),
  );
  return [
    el("h3", {}, t("verdictsTitle")),
    item.verdicts.length ? el("ul", { class: "said-verdicts" }, ...item.verdicts.map(verdict)) : el("p", { class: "meta" }, t("noVerdicts")),
    el("h3", {}, t("valuesTitle")),
    el("dl", { class: "values" }, ...values),
  ];
}

/** An item; with `blind` without what was said and computed of it. */
export function itemView(item, { blind }) {
  return [
    el(
      "article",
      { class: "turn evaluation-item" },
      el("h2", { id: "evaluation-focus", class: "asked", tabindex: "-1", dir: "auto" }, item.title || t("itemTitle")),
      el("p", { class: "meta" }, joined(item.id, item.failed && t("itemFailed"), item.declined && t("itemDeclined"))),
      ...item.dialogues.map(dialogue),
      item.evidence.length ? el("h3", {}, t("evidenceTitle")) : null,
      item.evidence.length ? el("ul", { class: "sources" }, ...item.evidence.map(passage)) : null,
      ...(blind ? [] : judged(item)),
    ),
  ];
}
