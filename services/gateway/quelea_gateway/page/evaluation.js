// Evaluations: the list, a run's matrix or leaderboard, the items of a cell, an item with all that is known of it.

import { call, get, post } from "./api.js";
import { $, el, joined, show } from "./dom.js";
import { startForm } from "./evaluationform.js";
import { itemView, metricName, number } from "./evaluationitem.js";
import { labelForm, saveLabels } from "./evaluationlabels.js";
import { loadComparison, saveVotes, voteFigures, voteView } from "./evaluationvotes.js";
import { current, has, moment, t } from "./texts.js";

const AGAIN_MS = 4000;
const PAGE = 50;
const OPEN = ["queued", "running", "cancelling"];
const HEATS = 8; // shades of the heat map in style.css

let place = new URLSearchParams();
let visible = false;
let options = null;
let runs = [];
let run = null; // the one that is open, with its result
let found = { items: [], total: 0, next_page_token: null };
let item = null;
let pair = null; // the comparison that is voted on
let votes = null; // how far people agree
let asked = 0;
let timer = 0;

const address = (values) => `#/evaluation?${new URLSearchParams(values)}`;
const nameOf = (one) => (current() === "zh" ? one.zh : one.en) || one.id;
const fraction = (value) => Number(value).toFixed(2);

function problem(error) {
  $("evaluation-problem").textContent = error ? error.message : "";
  show($("evaluation-problem"), Boolean(error));
}

async function attempt(work) {
  try {
    await work();
    problem(null);
    return true;
  } catch (error) {
    problem(error);
    return false;
  }
}

function progressText({ state, progress }) {
  if (state !== "running" || !progress.step) return "";
  const step = has(`step_${progress.step}`) ? t(`step_${progress.step}`) : progress.step;
  if (progress.total) return t("stepOf", { ...progress, step });
  return progress.done ? t("stepDone", { ...progress, step }) : step;
}

const badge = (state) => el("span", { class: `badge ${state}` }, t(`evaluation_${state}`));

async function cancel(one) {
  await attempt(() => post(`/v1/evaluations/${one.id}/cancel`, {}));
  await load();
}

function remove(one) {
  const dialog = $("confirm-dialog");
  $("confirm-title").textContent = t("evaluationDeleteTitle");
  $("confirm-text").textContent = t("evaluationDeleteText", { name: one.name });
  dialog.addEventListener(
    "close",
    async () => {
      $("confirm-title").textContent = t("deleteTitle");
      if (dialog.returnValue !== "yes") return;
      await attempt(() => call(`/v1/evaluations/${one.id}`, { method: "DELETE" }));
      await load();
    },
    { once: true },
  );
  dialog.returnValue = "no";
  dialog.showModal();
}

function button(label, name, act) {
  return el("button", { type: "button", class: "quiet small", "aria-label": name, on: { click: act } }, t(label));
}

function row(one) {
  const open = OPEN.includes(one.state);
  const facts = joined(t(`kind_${one.kind}`), systemsOf(one), moment(one.created), progressText(one), one.error);
  let act = null;
  if (options?.may_start && open) act = button("cancel", t("evaluationCancelOne", one), () => cancel(one));
  else if (options?.may_start) act = button("delete", t("evaluationDeleteOne", one), () => remove(one));
  return el(
    "li",
    { class: "document web-page" },
    el(
      "div",
      { class: "web-page-body" },
      el("span", {}, el("a", { href: address({ run: one.id }), class: "source-title" }, one.name), " ", badge(one.state)),
      el("span", { class: "meta" }, facts),
    ),
    act,
  );
}

const systemsOf = ({ settings }) => (settings.systems ?? [settings.system]).join(", ");

function bar({ state, progress }) {
  if (state !== "running") return null;
  const text = progressText({ state, progress });
  return el("progress", { "aria-label": text, ...(progress.total ? { max: progress.total, value: progress.done } : {}) });
}

/** A table that scrolls by itself, with row and column heads. */
function grid(caption, head, rows) {
  const heads = head.map((text) => el("th", { scope: "col" }, text));
  return el(
    "div",
    { class: "statement-table", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("caption", { class: "hidden" }, caption), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)),
  );
}

const line = (head, cells) => el("tr", {}, el("th", { scope: "row" }, head), ...cells);
const figure = (text) => el("td", { class: "figure" }, text);

const heat = (share) => `heat-${Math.max(0, Math.min(HEATS - 1, Math.floor(share * HEATS)))}`;

function countsOf(cell, metric) {
  return [
    t("cellCount", { n: metric.n }),
    cell.failures && t("cellFailures", { n: cell.failures }),
    metric.failed && t("cellVerdicts", { n: metric.failed }),
  ].filter(Boolean);
}

function cellNode(cell, metric, names, link) {
  const values = cell?.metrics[metric];
  if (!cell) return el("td", { class: "cell none", "aria-label": t("cellEmpty") }, "");
  const lower = run.result.lower_is_better.includes(metric);
  const mean = values?.mean ?? null;
  const counts = countsOf(cell, values ?? { n: 0, failed: 0 });
  const shown = mean === null ? "–" : fraction(mean);
  const name = t("cellName", { ...names, value: shown, counts: counts.join(t("comma")) });
  const body = [el("b", {}, shown), ...counts.map((count) => el("small", {}, count))];
  return el(
    "td",
    { class: `cell ${mean === null ? "none" : heat(lower ? 1 - mean : mean)}` },
    link ? el("a", { href: link, "aria-label": name }, ...body) : el("span", {}, ...body),
  );
}

function matrix() {
  const { result } = run;
  const metric = result.metrics.includes(place.get("metric")) ? place.get("metric") : result.metrics[0];
  const choose = el("select", { id: "evaluation-metric", on: { change: (event) => go({ metric: event.target.value }) } });
  for (const name of result.metrics) choose.append(el("option", { value: name, selected: name === metric }, metricTitle(name)));
  const cells = new Map(result.cells.map((one) => [`${one.topic} ${one.task}`, one]));
  const topics = result.topics.filter((one) => result.by_topic[one.id]);
  const base = { run: run.id, metric };
  const rows = topics.map((topic) =>
    line(nameOf(topic), [
      ...result.tasks.map((task) =>
        cellNode(cells.get(`${topic.id} ${task.id}`), metric, { topic: nameOf(topic), task: nameOf(task) }, address({ ...base, topic: topic.id, task: task.id })),
      ),
      cellNode(result.by_topic[topic.id], metric, { topic: nameOf(topic), task: t("allCells") }, address({ ...base, topic: topic.id })),
    ]),
  );
  rows.push(
    line(t("allCells"), [
      ...result.tasks.map((task) =>
        cellNode(result.by_task[task.id], metric, { topic: t("allCells"), task: nameOf(task) }, address({ ...base, task: task.id })),
      ),
      cellNode(result.overall, metric, { topic: t("allCells"), task: t("allCells") }, address({ ...base, all: 1 })),
    ]),
  );
  const counts = t("evaluationCounts", { ...result, ...result.overall });
  return [
    el("p", { class: "meta" }, counts),
    result.overall.failures || result.unanswered ? el("p", { class: "notice" }, t("failedCountAsZero")) : null,
    el("div", { class: "statement-bar" }, el("label", { class: "as-of" }, el("span", {}, t("metric")), " ", choose)),
    grid(t("matrixOf", { metric: metricTitle(metric) }), [t("topic"), ...result.tasks.map(nameOf), t("allCells")], rows),
    el("h3", {}, t("overall")),
    overall(result),
  ];
}

const metricTitle = (name) =>
  run.result.lower_is_better?.includes(name.split("@")[0]) ? t("lowerIsBetter", { name: metricName(name) }) : metricName(name);

function overall(result) {
  const head = ["metric", "mean", "interval", "countOf", "verdictsFailed", "asWorst"].map((name) => t(name));
  const rows = Object.entries(result.overall.metrics).map(([name, one]) =>
    line(metricTitle(name), [
      figure(number(one.mean)),
      figure(one.low === null ? "–" : `${number(one.low)} – ${number(one.high)}`),
      figure(String(one.n)),
      figure(String(one.failed)),
      figure(number(one.mean_failed_as_worst)),
    ]),
  );
  return grid(t("overall"), head, rows);
}

function arena() {
  const { result } = run;
  const head = ["systemName", "rank", "rating", "interval", "games", "wins", "ties", "losses"].map((name) => t(name));
  const points = (value) => (value === null || value === undefined ? "–" : value.toFixed(0));
  const rows = result.leaderboard.map((one) =>
    line(one.model, [
      figure(String(one.rank)),
      figure(points(one.rating)),
      figure(one.low === null ? "–" : `${points(one.low)} – ${points(one.high)}`),
      ...["games", "wins", "ties", "losses"].map((name) => figure(String(one[name]))),
    ]),
  );
  const order = result.leaderboard.map((one) => one.model);
  const most = Math.max(1, ...order.flatMap((first) => Object.values(result.pair_wins[first] ?? {})));
  const pairs = order.map((first) =>
    line(
      first,
      order.map((second) => {
        const n = result.pair_wins[first]?.[second];
        if (n === undefined) return el("td", { class: "cell none" }, "");
        const link = { href: address({ run: run.id, topic: [first, second].sort().join(" · ") }), "aria-label": t("winsName", { first, second, n }) };
        return el("td", { class: `cell ${heat(n / (most + 1))}` }, el("a", link, el("b", {}, String(n))));
      }),
    ),
  );
  const tasks = result.tasks.map((task) => line(task, order.map((model) => figure(points(result.per_task[task]?.[model])))));
  return [
    ...result.notices.map((text) => el("p", { class: "notice" }, text)),
    el("h3", {}, t("leaderboard")),
    grid(t("leaderboard"), head, rows),
    el("h3", {}, t("winsHeat")),
    grid(t("winsHeat"), [t("systemName"), ...order], pairs),
    el("h3", {}, t("byTask")),
    grid(t("byTask"), [t("taskName"), ...order], tasks),
    ...people(result.agreement),
    el("p", { class: "more-items" }, el("a", { href: address({ run: run.id, all: 1 }) }, t("items"))),
  ];
}

/** Votes that came with the run when it was published, as those given here are told. */
function publishedVotes(told) {
  if (!told) return null;
  const { raters, people } = told;
  return {
    ...raters,
    comparisons: raters.units,
    shared: raters.units_with_several_raters,
    alpha: raters.alpha_nominal.value,
    judged: people.units,
    same: people.verdicts?.same?.value ?? null,
  };
}

function people(told) {
  const before = voteFigures(publishedVotes(told));
  const here = voteFigures(votes);
  const file = el("button", { type: "button", class: "quiet small", on: { click: downloadVotes } }, t("voteDownload"));
  return [
    el("h3", {}, t("agreementTitle")),
    before ? el("p", { class: "meta" }, t("agreementPublished")) : null,
    before,
    before && here ? el("p", { class: "meta" }, t("agreementHere")) : null,
    here ?? (before ? null : el("p", { class: "meta" }, t("agreementNobody"))),
    el(
      "div",
      { class: "statement-bar" },
      el("a", { href: address({ run: run.id, vote: 1 }) }, t("voteOpen")),
      here ? file : null,
      el("span", { id: "evaluation-labels", class: "meta", role: "status" }),
    ),
  ];
}

async function downloadVotes() {
  await attempt(async () => {
    $("evaluation-labels").textContent = t("voteDownloaded", { n: await saveVotes(run) });
  });
}

const choosesItems = () => place.has("topic") || place.has("task") || place.has("all");

function what() {
  const label = (list, id) => (id ? nameOf(list?.find?.((one) => one.id === id) ?? { id }) : "");
  const parts = [label(run.result?.topics, place.get("topic")), label(run.kind === "omni" ? run.result?.tasks : null, place.get("task"))];
  return joined(...parts) || t("allCells");
}

function itemRow(one) {
  const metric = place.get("metric") ?? run.result?.metrics?.[0] ?? "score";
  const value = one.values[metric];
  const marks = [one.failed && "itemFailed", one.declined && "itemDeclined"].filter(Boolean);
  return el(
    "li",
    { class: "document web-page" },
    el(
      "div",
      { class: "web-page-body" },
      el("a", { href: address({ ...Object.fromEntries(place), item: one.id }), class: "source-title" }, one.title || one.id),
      el("span", { class: "meta" }, joined(value === undefined ? "" : `${metricTitle(metric)} ${number(value)}`, run.kind === "arena" && one.task)),
    ),
    ...marks.map((mark) => el("span", { class: `badge ${mark === "itemFailed" ? "failed" : "rejected"}` }, t(mark))),
  );
}

function itemsView() {
  const failed = el("input", { type: "checkbox", checked: place.has("failed"), on: { change: (event) => go({ failed: event.target.checked ? "1" : null }) } });
  const more = el("button", { type: "button", class: "quiet", id: "evaluation-more", on: { click: () => loadItems(true) } }, t("more"));
  return [
    el("h2", { id: "evaluation-focus", tabindex: "-1" }, t("itemsOf", { what: what() })),
    el("div", { class: "statement-bar" }, el("span", { class: "meta" }, t("itemsCount", { n: found.total })), el("label", { class: "as-of" }, failed, " ", t("onlyFailed"))),
    labelling(),
    el("ul", { class: "documents" }, ...found.items.map(itemRow)),
    found.next_page_token ? more : null,
  ];
}

/** On to the next item of the list that the person came from, or back to the list. */
function next() {
  const at = found.items.findIndex((one) => one.id === item.id);
  const further = at >= 0 ? found.items[at + 1]?.id : undefined;
  go(further ? { item: further } : { item: null, label: null });
}

async function downloadLabels() {
  await attempt(async () => {
    $("evaluation-labels").textContent = t("labelDownloaded", { n: await saveLabels(run) });
  });
}

function labelling() {
  if (!run.result?.scales) return null;
  const first = found.items[0];
  return el(
    "div",
    { class: "statement-bar" },
    first ? el("a", { href: address({ ...Object.fromEntries(place), label: 1, item: first.id }) }, t("labelBegin")) : null,
    el("button", { type: "button", class: "quiet small", on: { click: downloadLabels } }, t("labelDownload")),
    el("span", { id: "evaluation-labels", class: "meta", role: "status" }),
  );
}

function drawRun() {
  const back = el("p", {}, el("a", { href: "#/evaluation" }, `← ${t("evaluationBack")}`));
  const title = el("h2", { id: "evaluation-head", tabindex: "-1" }, run.name, " ", badge(run.state));
  const facts = joined(t(`kind_${run.kind}`), systemsOf(run), moment(run.created), progressText(run));
  const node = $("evaluation-run");
  const parts = [back, title, el("p", { class: "meta" }, facts), bar(run), run.error ? el("p", { class: "error-line" }, run.error) : null];
  if (place.has("vote")) {
    parts.splice(1, parts.length, el("p", {}, el("a", { href: address({ run: run.id }) }, `← ${run.name}`)));
    const seen = (further) => go({ vote: further });
    parts.push(...voteView(run.id, pair, { go: seen, renamed: load }));
  } else if (item) {
    const above = Object.fromEntries([...place].filter(([name]) => name !== "item" && name !== "label"));
    const blind = place.has("label") && Boolean(run.result?.scales);
    parts.push(el("p", {}, el("a", { href: address(above) }, `← ${t("itemBack")}`)), ...itemView(item, { blind }));
    if (blind) parts.push(labelForm(run.id, item, run.result.scales, next));
  } else if (choosesItems()) {
    parts.push(el("p", {}, el("a", { href: address({ run: run.id, ...(place.has("metric") ? { metric: place.get("metric") } : {}) }) }, `← ${run.name}`)), ...itemsView());
  } else if (run.result) parts.push(...(run.kind === "omni" ? matrix() : arena()));
  else if (!OPEN.includes(run.state)) parts.push(el("p", {}, t("evaluationNothing")));
  node.replaceChildren(...parts.filter(Boolean));
}

function draw() {
  const one = Boolean(run);
  show($("evaluation-run"), one);
  show($("evaluation-list"), !one);
  if (one) {
    drawRun();
    return;
  }
  $("evaluation-run").replaceChildren();
  $("evaluation-runs").replaceChildren(...runs.map(row));
  show($("evaluation-none"), runs.length === 0);
}

function go(changes) {
  const next = new URLSearchParams(place);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  location.hash = `/evaluation?${next}`;
}

async function loadItems(further = false) {
  const query = new URLSearchParams({ page_size: PAGE });
  for (const name of ["topic", "task"]) if (place.has(name)) query.set(name, place.get(name));
  if (place.has("failed")) query.set("failed", "true");
  if (further) query.set("page_token", found.next_page_token);
  const page = await get(`/v1/evaluations/${run.id}/items?${query}`);
  found = { ...page, items: [...(further ? found.items : []), ...page.items] };
  if (further) draw();
}

async function load() {
  const mine = ++asked;
  clearTimeout(timer);
  const id = place.get("run");
  await attempt(async () => {
    let one = null;
    let which = null;
    if (id) one = await get(`/v1/evaluations/${id}`);
    else [{ evaluations: runs }, options] = await Promise.all([get(`/v1/evaluations?page_size=${PAGE}`), get("/v1/evaluations/options")]);
    if (mine !== asked) return;
    run = one;
    let shown = null;
    if (one?.kind === "arena" && place.has("vote")) shown = await loadComparison(id, place.get("vote"));
    else if (one?.kind === "arena" && one.result && !choosesItems()) votes = await get(`/v1/evaluations/${id}/agreement`);
    if (mine !== asked) return;
    pair = shown;
    if (one && place.has("item")) which = await get(`/v1/evaluations/${id}/items/${encodeURIComponent(place.get("item"))}`);
    else if (one && choosesItems()) await loadItems();
    if (mine !== asked) return;
    item = which;
    if (!id) form.offer(options);
    draw();
  });
  if (mine !== asked || !visible) return;
  const moves = run ? OPEN.includes(run.state) : runs.some((each) => OPEN.includes(each.state));
  if (moves) timer = setTimeout(load, AGAIN_MS);
}

const form = startForm({
  started: () => {
    $("evaluation-status").textContent = t("evaluationStarted");
    load();
  },
});

/** The view is opened at this address. */
export async function showEvaluation(query) {
  const before = place.toString();
  place = new URLSearchParams(query);
  visible = true;
  await load();
  // Whoever follows a link by keyboard or screen reader stands at the head of what it opened.
  if (before !== place.toString() && place.has("run") && visible) ($("evaluation-focus") ?? $("evaluation-head"))?.focus();
}

export function hideEvaluation() {
  visible = false;
  clearTimeout(timer);
}

document.addEventListener("language", () => {
  if (options) form.offer(options);
  if (visible) draw();
});
