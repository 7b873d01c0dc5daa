// Statements of companies side by side: lines down, periods across, each figure a link to the place that prints it.

import { get, saveFile } from "./api.js";
import { $, el, show } from "./dom.js";
import { openPanel } from "./panel.js";
import { sparkline } from "./sparkline.js";
import { current, t } from "./texts.js";

const STATEMENTS = ["income", "balance", "cash_flow", "comprehensive_income", "breakdown"];
const SCALES = {
  en: [[1e9, "billions"], [1e6, "millions"], [1e3, "thousands"], [1, ""]],
  zh: [[1e8, "hundredMillions"], [1e4, "tenThousands"], [1, ""]],
};
const LEAST = 1000; // of the largest figure in the scale that is taken
const MOST_COMPANIES = 6;
const CHOICES = 30;

const state = { companies: [], statement: "income", period: "annual", years: 5, basis: "consolidated", doubtful: false };
let known = [];
let shown = []; // [{company, statement}] of the last load, in order
let problems = [];
let noted = ""; // the name of a text beside what is shown
let isPeriodChosen = false; // else whichever is stored is shown
const OTHER_PERIOD = { annual: "quarterly", quarterly: "annual" };
let asked = 0;

/** What the address says, and back: a view can be sent to somebody. */
function readAddress(query) {
  const given = new URLSearchParams(query);
  state.companies = given.getAll("company").slice(0, MOST_COMPANIES);
  state.statement = STATEMENTS.includes(given.get("statement")) ? given.get("statement") : "income";
  state.period = given.get("period") === "quarterly" ? "quarterly" : "annual";
  isPeriodChosen = given.has("period");
  state.basis = given.get("basis") === "parent" ? "parent" : "consolidated";
  state.doubtful = given.get("doubtful") === "true";
  state.years = [2, 3, 5, 10, 20].includes(Number(given.get("years"))) ? Number(given.get("years")) : 5;
}

function writeAddress() {
  const query = new URLSearchParams(state.companies.map((name) => ["company", name]));
  for (const name of ["statement", "period", "basis", "doubtful", "years"]) query.set(name, state[name]);
  history.replaceState(null, "", `#/companies?${query}`);
}

function parameters() {
  const { statement, period, years, basis, doubtful } = state;
  return new URLSearchParams({ statement, period, years, basis, doubtful });
}

const addressOf = (company, query) => `/v1/companies/${encodeURIComponent(company)}/statements?${query}`;

async function load() {
  const mine = ++asked;
  $("statement-table").setAttribute("aria-busy", "true");
  let found = await statements(state.period);
  let note = "";
  const other = OTHER_PERIOD[state.period];
  if (!isPeriodChosen && !found.shown.length) {
    const instead = await statements(other);
    if (instead.shown.length) [found, note] = [instead, `only_${other}`];
  }
  if (mine !== asked) return; // something else was chosen meanwhile
  if (note) {
    state.period = other;
    if (location.hash.startsWith("#/companies")) writeAddress(); // else the reader has gone on to another view
  }
  ({ shown, problems } = found);
  noted = note;
  $("statement-table").setAttribute("aria-busy", "false");
  draw();
}

/** What is stored of all companies with columns of a length, and what is wrong with the others. */
async function statements(period) {
  const query = parameters();
  query.set("period", period);
  const answers = await Promise.allSettled(state.companies.map((name) => get(addressOf(name, query))));
  const found = { shown: [], problems: [] };
  answers.forEach((answer, place) => {
    const company = state.companies[place];
    if (answer.value?.lines.length) found.shown.push({ asked: company, ...answer.value });
    else if (answer.value || answer.reason.status === 404) found.problems.push(t("noLines", { company, length: t(`of_${period}`) }));
    else found.problems.push(answer.reason.message);
  });
  return found;
}

function change(more) {
  Object.assign(state, more);
  writeAddress();
  draw();
  load();
}

function add(name) {
  const wanted = name.trim();
  if (!wanted) return;
  const fold = wanted.toLowerCase();
  const found = known.find((one) => one.name.toLowerCase() === fold || one.ticker.toLowerCase() === fold);
  const company = found?.name ?? wanted;
  $("company-name").value = "";
  if (!state.companies.includes(company)) change({ companies: [...state.companies, company].slice(-MOST_COMPANIES) });
}

/** The lines of all companies as one list: of one concept, else of one label, is one line. */
function mergedLines() {
  const lines = [];
  const at = new Map();
  shown.forEach((statement, place) => {
    let before = -1; // where the company's line before stands
    for (const line of statement.lines) {
      const kind = line.unit.includes("/") ? "/share" : /^[A-Z]{3}$/.test(line.unit) ? "money" : line.unit;
      const own = `${line.concept || `${line.group} ${line.label}`.toLowerCase()} ${line.column} ${kind}`;
      let one = at.get(own);
      if (!one || one.of[place]) {
        one = { label: [line.label, line.column].filter(Boolean).join(" · "), group: line.group, unit: line.unit, of: [] };
        if (!at.has(own)) at.set(own, one);
        lines.splice(before + 1, 0, one);
      }
      one.of[place] = line;
      before = lines.indexOf(one);
    }
  });
  return lines;
}

/** Money and shares; not percentages, amounts per share, tonnes. */
const isScaled = (cell) => cell.unit === "shares" || /^[A-Z]{3}$/.test(cell.unit);

/** {by, name, digits}: what amounts of a statement are divided by, and how many decimals they then need, at most one. */
function scaleOf(statement) {
  const cells = statement.lines.flatMap((line) => line.cells.filter((cell) => cell && isScaled(cell)));
  const values = cells.map((cell) => Math.abs(Number(cell.value)));
  const scales = SCALES[current()];
  const [by, name] = scales.find(([one]) => Math.max(0, ...values) / one >= LEAST) ?? scales.at(-1);
  return { by, name, digits: values.every((value) => Number.isInteger(value / by)) ? 0 : 1 };
}

function format(value, least, most) {
  const digits = { minimumFractionDigits: least, maximumFractionDigits: most };
  return value.toLocaleString(current() === "zh" ? "zh-CN" : "en-US", digits).replace("-", "−");
}

function figure(cell, { by, digits }) {
  if (isScaled(cell)) return format(Number(cell.value) / by, digits, digits);
  const counted = cell.statement === "breakdown" && !["percent", "points", "pure"].includes(cell.unit);
  const ending = { percent: "%", points: ` ${t("percentagePoints")}` }[cell.unit] ?? (counted ? ` ${cell.unit}` : "");
  return format(Number(cell.value), counted ? 0 : 2, 4) + ending;
}

function title(cell) {
  const said = [t("cellAt", cell)];
  if (cell.passed.length) said.push(t("cellPassed", { names: cell.passed.join("; ") }));
  if (cell.failed.length) said.push(t("cellFailed", { names: cell.failed.join("; ") }));
  for (const one of cell.earlier) said.push(t("cellEarlier", { value: one.printed, title: one.title }));
  return said.join("\n");
}

function cellNode(cell, scale) {
  if (!cell) return el("td", { class: "figure" });
  const open = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a tab of its own
    event.preventDefault();
    openPanel({ documentId: cell.document_id, page: cell.page, start: cell.start, end: cell.end });
  };
  const link = el("a", { href: cell.url, title: title(cell), on: { click: open } }, figure(cell, scale));
  const marks = [];
  if (cell.failed.length) marks.push(el("span", { class: "mark-failed", role: "img", "aria-label": t("markFailed") }, "!"));
  if (cell.earlier.length || cell.restated) {
    marks.push(el("span", { class: "mark-restated", role: "img", "aria-label": t("markRestated") }, "*"));
  }
  return el("td", { class: cell.failed.length ? "figure failed" : "figure" }, link, ...marks);
}

function trendNode(line, scale) {
  const cells = line?.cells.filter(Boolean) ?? [];
  if (cells.length < 2) return el("td", { class: "trend" });
  const oldest = [...line.cells].reverse();
  const values = cells.map((cell) => figure(cell, scale)).reverse().join(", ");
  return el("td", { class: "trend" }, sparkline(oldest.map((cell) => (cell ? Number(cell.value) : null)), t("trendOf", { line: line.label, values })));
}

function headCell(statement, scale) {
  const units = statement.lines.map((line) => line.unit).filter((unit) => /^[A-Z]{3}$/.test(unit));
  const unit = units[0] ?? "";
  const said = unit && scale.name ? t("inScale", { unit, scale: t(scale.name) }) : unit;
  const file = `${statement.company}.xlsx`;
  const query = parameters();
  query.delete("statement");
  query.set("format", "xlsx");
  const save = async () => {
    try {
      await saveFile(addressOf(statement.asked, query), file);
    } catch (error) {
      problem([error.message]);
    }
  };
  const label = t("saveXlsxOf", { company: statement.company });
  return el(
    "th",
    { colspan: statement.periods.length + 1, scope: "colgroup", class: "company" },
    el("span", {}, statement.company), " ",
    el("span", { class: "meta" }, said), " ",
    el("button", { type: "button", class: "quiet small", "aria-label": label, title: label, on: { click: save } }, t("saveXlsx")),
  );
}

function drawTable() {
  const scales = shown.map(scaleOf);
  const periods = shown.flatMap((statement) => [
    ...statement.periods.map((day, place) => el("th", { scope: "col", class: place ? "figure" : "figure first" }, day)),
    el("th", { scope: "col", class: "trend" }, t("trend")),
  ]);
  const rows = mergedLines().map((line) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", title: [line.group, line.label].filter(Boolean).join(" · ") }, line.label),
      ...shown.flatMap((statement, place) => {
        const own = line.of[place];
        const cells = own?.cells ?? statement.periods.map(() => null);
        const nodes = cells.map((cell) => cellNode(cell, scales[place]));
        nodes[0]?.classList.add("first");
        return [...nodes, trendNode(own, scales[place])];
      }),
    ),
  );
  const head = el("thead", {},
    el("tr", {}, el("td"), ...shown.map((statement, place) => headCell(statement, scales[place]))),
    el("tr", {}, el("th", { scope: "col" }, t("line")), ...periods),
  );
  $("statement-table").replaceChildren(...(shown.length ? [el("table", {}, head, el("tbody", {}, ...rows))] : []));
  show($("statement-legend"), state.doubtful && shown.length > 0);
}

function problem(texts) {
  $("company-problem").textContent = texts.join(" ");
  show($("company-problem"), texts.length > 0);
}

function tab(name) {
  const on = name === state.statement;
  const attributes = { type: "button", role: "tab", id: `statement-${name}`, "aria-selected": String(on), "aria-controls": "statement-table", tabindex: on ? 0 : -1 };
  return el("button", { ...attributes, on: { click: () => change({ statement: name }) } }, t(`statement_${name}`));
}

function drawChoice() {
  const focused = document.activeElement?.id;
  $("company-chips").replaceChildren(
    ...state.companies.map((company) =>
      el("li", {}, company, el("button", {
        type: "button", "aria-label": t("companyRemove", { company }),
        on: { click: () => change({ companies: state.companies.filter((one) => one !== company) }) },
      }, "×")),
    ),
  );
  $("company-names").replaceChildren(
    ...known.map((one) => el("option", { value: one.name }, one.ticker)),
  );
  $("statement-tabs").replaceChildren(...STATEMENTS.map(tab));
  if (focused?.startsWith("statement-")) $(focused)?.focus();
  for (const name of ["period", "years", "basis"]) $(`statement-${name}`).value = String(state[name]);
  $("statement-doubtful").checked = state.doubtful;
  const none = state.companies.length === 0;
  show($("statement-view"), !none);
  show($("company-choice"), none);
  $("company-choice").replaceChildren(
    known.length ? t("companyChoose") : t("companyNone"),
    ...known.slice(0, CHOICES).map((one) => el("button", { type: "button", on: { click: () => add(one.name) } }, one.name)),
  );
}

function draw() {
  drawChoice();
  drawTable();
  $("company-note").textContent = noted && shown.length ? t(noted) : "";
  show($("company-note"), noted && shown.length > 0);
  problem(problems);
}

/** Arrow keys go from tab to tab, and in the table from figure to figure. */
function turnTabs(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = STATEMENTS[(STATEMENTS.indexOf(state.statement) + step + STATEMENTS.length) % STATEMENTS.length];
  change({ statement: next });
  $(`statement-${next}`).focus();
}

function walkTable(event) {
  const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [0, 0];
  const from = event.target.closest("td");
  if (!(down || right) || !from) return;
  event.preventDefault();
  const rows = [...from.closest("tbody").rows];
  let [row, column] = [rows.indexOf(from.parentNode), from.cellIndex];
  for (;;) {
    row += down;
    column += right;
    const cell = rows[row]?.cells[column];
    if (!cell) return;
    const link = cell.querySelector("a");
    if (link) {
      link.focus();
      return;
    }
  }
}

/** Show what the address asks for. */
export async function showCompanies(query) {
  readAddress(query);
  draw();
  if (state.companies.length) load();
  try {
    known = (await get("/v1/companies?page_size=1000")).companies;
    drawChoice();
  } catch (error) {
    problem([error.message]);
  }
}

export function startCompanies() {
  $("company-form").addEventListener("submit", (event) => {
    event.preventDefault();
    add($("company-name").value);
  });
  for (const name of ["period", "years", "basis"]) {
    $(`statement-${name}`).addEventListener("change", () => {
      const given = $(`statement-${name}`).value;
      isPeriodChosen ||= name === "period";
      change({ [name]: name === "years" ? Number(given) : given });
    });
  }
  $("statement-doubtful").addEventListener("change", () => change({ doubtful: $("statement-doubtful").checked }));
  $("statement-tabs").addEventListener("keydown", turnTabs);
  $("statement-table").addEventListener("keydown", walkTable);
  document.addEventListener("language", draw);
}
