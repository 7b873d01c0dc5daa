// What the next question is asked of: documents by company, type, period or title; the model, where several are served.

import { get } from "./api.js";
import { $, el, show } from "./dom.js";
import { t, typeText } from "./texts.js";

const MOST_OFFERED = 1000;
const MOST_COLUMNS = 4;
const OWN_MODELS = ["quelea", "quelea-agent"]; // names of the service, not of models
const FIELDS = ["collections", "companies", "document_types", "periods", "document_ids"];
const chosen = Object.fromEntries(FIELDS.map((field) => [field, []]));
const offered = Object.fromEntries(FIELDS.map((field) => [field, []])); // {value, label, also}
let cut = false;
let asked = null;

const labelOf = (field, value) =>
  offered[field].find((one) => one.value === value)?.label ?? (field === "document_types" ? typeText(value) : value);

/** What a question is asked of, as people read it; empty of everything. */
export function scopeText(scope) {
  return FIELDS.map((field) => (scope?.[field] ?? []).map((value) => labelOf(field, value)).join(t("comma")))
    .filter(Boolean)
    .join(" · ");
}

/** What is chosen: the fields that have values. */
export function scope() {
  return Object.fromEntries(Object.entries(chosen).filter(([, values]) => values.length).map(([name, values]) => [name, [...values]]));
}

/** The same as fields of POST /v1/ask: collections stand beside the filters. */
export function scopeBody({ collections = [], ...filters }) {
  return { ...(collections.length && { collections }), ...(Object.keys(filters).length && { filters }) };
}

/** The companies that each get an answer of their own; none where one answer is wanted. */
export function columns() {
  return !$("side-by-side-choice").hidden && $("side-by-side").checked ? chosen.companies.slice(0, MOST_COLUMNS) : [];
}

export const model = () => ($("model-choice").hidden ? "" : $("model").value);

/** Choose again what a saved question was asked of. */
export function choose(wanted) {
  for (const field of FIELDS) chosen[field] = [...(wanted?.[field] ?? [])];
  draw();
}

function unique(values) {
  return [...new Set(values.filter(Boolean))].sort((a, b) => a.localeCompare(b));
}

/** What there is to choose from, asked for once it is wanted. */
async function load() {
  const [collections, companies, found] = await Promise.all([
    get(`/v1/collections?page_size=${MOST_OFFERED}`),
    get(`/v1/companies?page_size=${MOST_OFFERED}`),
    get(`/v1/documents?page_size=${MOST_OFFERED}`),
  ]);
  const plain = (values) => values.map((value) => ({ value, label: value }));
  offered.collections = collections.collections.map(({ name, title }) => ({ value: name, label: title || name, also: name }));
  offered.companies = companies.companies.map(({ name, ticker }) => ({ value: name, label: name, also: ticker }));
  offered.document_types = unique(found.documents.map((one) => one.document_type)).map((value) => ({ value, label: typeText(value) }));
  offered.periods = plain(unique(found.documents.map((one) => one.period)));
  offered.document_ids = found.documents.map((one) => ({ value: one.id, label: one.title || one.uri || one.id }));
  cut = Boolean(found.next_page_token);
}

const same = (a, b) => a.trim().toLowerCase() === b.trim().toLowerCase();
const known = (field, text) =>
  offered[field].find((one) => [one.label, one.value, one.also ?? ""].some((name) => name && same(name, text)));

function add(field, text) {
  if (!text.trim()) return;
  const found = known(field, text);
  problem(found ? "" : t("scopeUnknown", { name: text.trim() }));
  if (!found) return;
  if (!chosen[field].includes(found.value)) chosen[field].push(found.value);
  draw();
  $(`scope-${field}`).focus();
}

function problem(text) {
  $("scope-problem").textContent = text;
  show($("scope-problem"), Boolean(text));
}

function chip(field, value) {
  const name = labelOf(field, value);
  const remove = () => {
    chosen[field] = chosen[field].filter((one) => one !== value);
    draw();
    $(`scope-${field}`).focus();
  };
  return el("li", {}, name, el("button", { type: "button", "aria-label": t("scopeRemove", { name }), on: { click: remove } }, "×"));
}

function line(field) {
  const id = `scope-${field}`;
  const input = el("input", { id, list: `${id}-list`, autocomplete: "off", maxlength: 300 });
  const options = offered[field].map((one) => el("option", { value: one.label }));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    add(field, input.value);
  });
  input.addEventListener("change", () => known(field, input.value) && add(field, input.value)); // picked from the list
  return el(
    "div",
    { class: "scope-line" },
    el("label", { for: id }, t(`scope_${field}`)),
    el("div", {}, input, el("datalist", { id: `${id}-list` }, ...options), el("ul", { class: "chips" }, ...chosen[field].map((value) => chip(field, value)))),
  );
}

/** One collection is no choice. */
const wanted = (field) => field !== "collections" || offered.collections.length > 1 || chosen.collections.length > 0;

function draw() {
  const text = scopeText(chosen);
  $("scope-summary").textContent = text ? t("scopeSome", { text }) : t("scopeAll");
  $("scope-lines").replaceChildren(...FIELDS.filter(wanted).map(line));
  $("scope-note").textContent = cut ? t("scopeNewest", { n: MOST_OFFERED }) : t("scopeHelp");
  show($("scope-clear"), Boolean(text));
  show($("side-by-side-choice"), chosen.companies.length > 1);
  const many = chosen.companies.length > MOST_COLUMNS ? t("sideBySideMost", { n: MOST_COLUMNS }) : "";
  $("side-by-side-note").textContent = many;
  const query = new URLSearchParams(chosen.companies.map((name) => ["company", name]));
  $("compare-figures").href = `#/companies?${query}`;
}

async function offerModels() {
  let names = [];
  try {
    names = (await get("/v1/models")).data.map((one) => one.id).filter((name) => !OWN_MODELS.includes(name));
  } catch {
    return; // the reader is away, which the page says elsewhere
  }
  show($("model-choice"), names.length > 1);
  const before = $("model").value;
  $("model").replaceChildren(el("option", { value: "" }, t("modelDefault")), ...names.map((name) => el("option", { value: name }, name)));
  $("model").value = names.includes(before) ? before : "";
}

export function startChoices() {
  $("scope").addEventListener("toggle", async () => {
    if (!$("scope").open) return;
    asked ??= load();
    try {
      await asked;
      problem("");
      draw();
    } catch (error) {
      asked = null;
      problem(error.message);
    }
  });
  $("scope-clear").addEventListener("click", () => {
    choose({});
    $("scope-summary").focus();
  });
  document.addEventListener("language", () => {
    draw();
    offerModels();
  });
  draw();
  offerModels();
}
