// Pages of the web: what waits for approval, what was kept and why; approve, reject.

import { get, post } from "./api.js";
import { $, el, joined, outside, show } from "./dom.js";
import { moment, t } from "./texts.js";

const STATES = ["", "pending", "kept", "rejected", "vanished"];
const MOST = 200;
let pages = [];
let total = 0;
let offered = false;
let onJobs = () => {};
let onProblem = () => {};

async function decide(page, decision) {
  try {
    const done = await post(`/v1/web/pages/${decision}`, { urls: [page.url] });
    onProblem("");
    onJobs(done.jobs.map(({ id }) => ({ id, filename: page.title || page.url })));
  } catch (error) {
    onProblem(error.message);
  }
  await loadWebPages();
}

function action(page, decision, label) {
  const name = `${t(label)}: ${page.title || page.url}`;
  const attributes = { type: "button", class: "quiet small", "aria-label": name };
  return el("button", { ...attributes, on: { click: () => decide(page, decision) } }, t(label));
}

function row(page) {
  const address = outside(page.url);
  const link = { href: address, target: "_blank", rel: "noopener noreferrer nofollow", class: "source-title" };
  const title = page.title || page.url;
  const facts = joined(
    page.host,
    page.published && t("published", { date: page.published }),
    page.fetched && t("fetched", { date: moment(page.fetched) }),
    page.expires && t("expires", { date: moment(page.expires).slice(0, 10) }),
  );
  const asked = page.queries.length ? t("usefulFor", { query: page.queries.join("; ") }) : "";
  return el(
    "li",
    { class: "document web-page" },
    el(
      "div",
      { class: "web-page-body" },
      el("span", {}, address ? el("a", link, title) : title, " ", el("span", { class: `badge ${page.state}` }, t(`state_${page.state}`))),
      el("span", { class: "meta" }, facts),
      el("span", { class: "meta" }, joined(page.reason, asked)),
    ),
    page.state === "pending" || page.state === "rejected" ? action(page, "approve", "approve") : null,
    page.state === "rejected" ? null : action(page, "reject", "reject"),
  );
}

function draw() {
  show($("web-pages"), offered || total > 0 || $("web-state").value !== "");
  $("web-count").textContent = t("webPages", { n: total });
  $("web-list").replaceChildren(...pages.map(row));
  show($("web-none"), pages.length === 0);
  const chosen = $("web-state").value;
  const option = (state) => el("option", { value: state, selected: state === chosen }, t(state ? `state_${state}` : "state_all"));
  $("web-state").replaceChildren(...STATES.map(option));
}

export async function loadWebPages() {
  const state = $("web-state").value;
  try {
    ({ pages, total } = await get(`/v1/web/pages?page_size=${MOST}${state ? `&state=${state}` : ""}`));
  } catch {
    [pages, total] = [[], 0]; // no web half, or search is away: the bar at the top says which
  }
  draw();
}

/** Whether this deployment has a web: then the list is shown though it is empty. */
export function offerWeb(on) {
  offered = on;
  draw();
}

export function startWebPages({ follow, problem }) {
  onJobs = follow;
  onProblem = problem;
  $("web-state").addEventListener("change", loadWebPages);
  document.addEventListener("language", draw);
  draw();
}
