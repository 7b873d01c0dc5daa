// The sources of an answer: cards that open a page; those of the web can be added to the knowledge base.

import { get, post } from "./api.js";
import { el, joined, outside } from "./dom.js";
import { ended, stateText } from "./jobs.js";
import { openPanel } from "./panel.js";
import { moment, t } from "./texts.js";

const POLL_MS = 600;

export function open(citation) {
  openPanel({
    documentId: citation.document_id,
    page: citation.page,
    start: citation.start,
    end: citation.end,
  });
}

/** What has become of adding a page, by its address; it outlives a redraw. */
const adding = new Map();

async function add(url, node) {
  const state = { job: null, error: "" };
  adding.set(url, state);
  const redraw = () => node.replaceWith((node = addition(url)));
  redraw();
  try {
    const { jobs } = await post("/v1/documents", { url });
    for (;;) {
      state.job = await get(`/v1/jobs/${encodeURIComponent(jobs[0].id)}`);
      redraw();
      if (ended(state.job)) return;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } catch (error) {
    state.error = error.message;
    redraw();
  }
}

/** The button, or how far it is. */
function addition(url) {
  const state = adding.get(url);
  if (state && !state.error) {
    const failed = state.job?.state === "failed";
    const text = state.job ? stateText(state.job) : t("queued");
    return el("span", { class: `adding ${state.job?.state ?? "queued"}`, role: failed ? "alert" : "status" }, text);
  }
  const node = el("span", { class: "adding" });
  const press = () => add(url, node);
  node.append(el("button", { type: "button", class: "quiet small", on: { click: press } }, t("addPage")));
  if (state?.error) node.append(el("span", { class: "bad", role: "alert" }, state.error));
  return node;
}

function fromTheWeb(citation, kept) {
  const address = outside(citation.uri);
  if (!address) return null;
  const link = { href: address, target: "_blank", rel: "noopener noreferrer nofollow" };
  const known = kept.find((page) => page.url === citation.uri);
  return el(
    "div",
    { class: "source-web" },
    el("a", link, t("original", { host: new URL(address).host })),
    known?.state === "pending" ? el("span", { class: "meta" }, t("webPending")) : null,
    known?.state === "kept" ? el("span", { class: "meta" }, t("webKept")) : addition(citation.uri),
  );
}

function card(citation, kept, isGone) {
  const web = citation.source === "web";
  const where = joined(
    citation.company,
    citation.period,
    t("pageShort", { page: citation.page }),
    citation.published && t("published", { date: citation.published }),
    citation.scanned && t("scanned"),
    web && citation.fetched && t("fetched", { date: moment(citation.fetched) }),
  );
  return el(
    "li",
    {},
    el(
      ...(isGone ? ["div", { class: "source gone" }] : ["button", { type: "button", class: "source", on: { click: () => open(citation) } }]),
      el("span", { class: "number" }, String(citation.number)),
      el(
        "span",
        { class: "source-body" },
        el("span", { class: "source-title" }, citation.title || citation.uri, web ? " " : null, web ? el("span", { class: "badge" }, t("web")) : null, isGone ? " " : null, isGone ? el("span", { class: "badge" }, t("sourceGone")) : null),
        el("span", { class: "meta" }, where),
        el("span", { class: "quote" }, citation.quote),
      ),
    ),
    web ? fromTheWeb(citation, kept) : null,
  );
}

/** Each source once: in an answer one stands for each of its markers. kept: what the web route said of its pages; gone: ids of documents that are not here any more. */
export function sourceList(citations, kept = [], gone = []) {
  const place = ({ number, document_id, page, start, end }) => [number, document_id, page, start, end].join();
  const once = new Map(citations.map((citation) => [place(citation), citation]));
  return el("ol", { class: "sources" }, ...[...once.values()].map((citation) => card(citation, kept, gone.includes(citation.document_id))));
}
