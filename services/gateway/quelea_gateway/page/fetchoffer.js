// What a declined answer offers: filings that could be fetched for it. A button fetches them and shows how far they are.

import { get, post } from "./api.js";
import { el } from "./dom.js";
import { ended, stateText } from "./jobs.js";
import { t } from "./texts.js";

const POLL_MS = 800;
const LONGEST_MS = 3600000; // then the jobs go on without being watched

/** A box for each offer of an answer; null without any. `again` asks the question once more. Where the question is of one collection, its filings go there. */
export function fetchOffers(answer, collections, again) {
  if (!answer.offers?.length) return null;
  return el("div", { class: "offers" }, ...answer.offers.map((offer) => offerBox({ ...offer, collection: collections?.length === 1 ? collections[0] : "" }, again)));
}

function offerBox(offer, again) {
  const state = el("div", { role: "status" });
  const button = el("button", { type: "button", on: { click: () => run(offer, button, state, again) } }, t("fetch"));
  return el("div", { class: "offer" }, el("span", { dir: "auto" }, offer.text), " ", button, state);
}

async function run(offer, button, state, again) {
  const { company, forms, years, collection } = offer;
  button.disabled = true;
  state.replaceChildren(t("fetchLooking"));
  try {
    const found = await post("/v1/fetch", { company, forms, years, collection });
    await follow(found.filings, state);
    const stored = found.filings.some((one) => one.document_id || one.job?.state === "succeeded");
    if (stored) state.append(el("button", { type: "button", on: { click: again } }, t("askAgain")));
    else button.disabled = false;
  } catch (error) {
    state.replaceChildren(el("p", { class: "error-line", role: "alert" }, error.message));
    button.disabled = false;
  }
}

/** The filings with the state of each, until all jobs have ended. */
async function follow(filings, state) {
  const end = Date.now() + LONGEST_MS;
  for (;;) {
    state.replaceChildren(el("ul", { class: "fetched" }, ...filings.map(line)));
    const open = filings.filter((one) => one.job && !ended(one.job));
    if (!open.length || Date.now() > end) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const jobs = new Map((await get("/v1/jobs?page_size=1000")).jobs.map((job) => [job.id, job]));
    for (const one of open) one.job = jobs.get(one.job.id) ?? (await get(`/v1/jobs/${one.job.id}`));
  }
}

function line(filing) {
  const how = filing.job ? stateText(filing.job) : t("unchanged");
  return el("li", { class: filing.job?.state === "failed" ? "failed" : "" }, `${filing.form} · ${filing.filed} · ${how}`);
}
