// The knowledge base: upload with live progress, list, delete.

import { call, get, post, upload } from "./api.js";
import { $, el, joined, show } from "./dom.js";
import { ended, stateText } from "./jobs.js";
import { openPanel } from "./panel.js";
import { t, typeText } from "./texts.js";
import { loadWebPages, startWebPages } from "./webpages.js";

const POLL_MS = 600;
const jobs = new Map(); // id -> {job, node}
let documents = [];
let total = 0;
let next = null;
let polling = false;

function drawJob({ job, node }) {
  const { done, total: all } = job.progress;
  const bar = el("progress", { "aria-label": job.filename, max: Math.max(1, all) });
  if (ended(job)) bar.value = Math.max(1, all);
  else if (all) bar.value = done;
  node.className = `job ${job.state}`;
  node.replaceChildren(
    el("div", { class: "job-line" }, el("span", { class: "file" }, job.filename), el("span", { class: "meta" }, stateText(job))),
    job.state === "failed" ? "" : bar,
  );
}

/** Show jobs that have just begun, and follow them to their end. */
function follow(started) {
  for (const { id, filename } of started) {
    begin({ id, filename, state: "queued", stage: "", progress: { done: 0, total: 0 }, error: null });
  }
  poll();
}

function begin(job) {
  const entry = { job, node: el("li", { class: "job" }) };
  jobs.set(job.id, entry);
  $("jobs").prepend(entry.node);
  drawJob(entry);
}

/** One request for all jobs: a stream for each would use up the browser's connections. */
async function poll() {
  if (polling) return;
  polling = true;
  try {
    while ([...jobs.values()].some(({ job }) => !ended(job))) {
      const found = await get("/v1/jobs?page_size=1000");
      let arrived = false;
      for (const job of found.jobs) {
        const entry = jobs.get(job.id);
        if (!entry || ended(entry.job)) continue;
        entry.job = job;
        arrived ||= job.state === "succeeded";
        drawJob(entry);
      }
      if (arrived) await Promise.all([load(), loadWebPages()]);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } catch (error) {
    problem(error.message);
  } finally {
    polling = false;
  }
}

function problem(text) {
  $("upload-error").textContent = text;
  show($("upload-error"), Boolean(text));
}

/** What the form says of the next upload; only the fields that were filled in. */
function about() {
  const fields = [...$("about").elements].filter((field) => field.name && field.value.trim());
  return Object.fromEntries(fields.map((field) => [field.name, field.value.trim()]));
}

async function sendAddress(url) {
  problem("");
  try {
    const taken = await post("/v1/documents", { url, metadata: about() });
    follow(taken.jobs);
    $("page-url").value = "";
    $("about").reset();
  } catch (error) {
    problem(error.message);
  }
}

async function send(files) {
  if (!files.length) return;
  problem("");
  const names = files.map((file) => file.name).join(", ");
  const bar = el("progress", { max: 1, value: 0, "aria-label": names });
  const line = el("span", { class: "meta" }, t("sending", { percent: 0 }));
  const node = el("li", { class: "job" }, el("div", { class: "job-line" }, el("span", { class: "file" }, names), line), bar);
  $("jobs").prepend(node);
  try {
    const taken = await upload(files, about(), (part) => {
      bar.value = part;
      line.textContent = t("sending", { percent: Math.round(part * 100) });
    });
    follow(taken.jobs);
    problem(taken.errors.map((refused) => t("refused", { error: refused.error.message })).join(" "));
    $("about").reset();
  } catch (error) {
    problem(error.message);
  } finally {
    node.remove();
  }
}

function documentRow(document_) {
  const title = document_.title || document_.uri || document_.id;
  const pages = document_.pages === 1 ? t("page1") : t("pages", { n: document_.pages });
  const facts = joined(
    document_.provenance === "web" && t("web"),
    document_.company && (document_.ticker ? `${document_.company} (${document_.ticker})` : document_.company),
    typeText(document_.document_type),
    document_.period,
    document_.published && t("published", { date: document_.published }),
    pages,
    t("passages", { n: document_.passages }),
  );
  const first = () => openPanel({ documentId: document_.id, page: 1 });
  return el(
    "li",
    { class: "document" },
    el("button", { type: "button", class: "document-open", on: { click: first } },
      el("span", { class: "source-title" }, title),
      el("span", { class: "meta" }, facts),
      el("span", { class: "meta uri" }, document_.uri),
    ),
    el("button", {
      type: "button", class: "quiet", "aria-label": t("deleteOne", { title }), on: { click: () => remove(document_, title) },
    }, t("delete")),
  );
}

function confirmed(title) {
  const dialog = $("confirm-dialog");
  $("confirm-text").textContent = t("deleteText", { title });
  $("confirm-forget").checked = false;
  dialog.returnValue = "no";
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
  });
}

async function remove(document_, title) {
  if (!(await confirmed(title))) return;
  try {
    const query = $("confirm-forget").checked ? "?forget_quotes=true" : "";
    const answer = await call(`/v1/documents/${encodeURIComponent(document_.id)}${query}`, { method: "DELETE" });
    const { unreadable } = await answer.json();
    problem(unreadable ? t("deleteUnread", { n: unreadable }) : "");
  } catch (error) {
    problem(error.message);
  }
  await load();
  $("documents-count").scrollIntoView({ block: "nearest" });
}

function draw() {
  $("documents-count").textContent = total ? t("documentsCount", { n: total }) : t("documentsNone");
  $("documents").replaceChildren(...documents.map(documentRow));
  show($("more"), Boolean(next));
}

/** The list anew, or its next page. */
export async function load(more = false) {
  try {
    const found = await get(`/v1/documents?page_size=100${more && next ? `&page_token=${encodeURIComponent(next)}` : ""}`);
    documents = more ? [...documents, ...found.documents] : found.documents;
    ({ total, next_page_token: next } = found);
    draw();
  } catch (error) {
    problem(error.message);
  }
}

export function startDocuments() {
  const drop = $("drop");
  for (const type of ["dragenter", "dragover"]) {
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  for (const type of ["dragleave", "drop"]) drop.addEventListener(type, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    send([...event.dataTransfer.files]);
  });
  $("files").addEventListener("change", () => {
    send([...$("files").files]);
    $("files").value = "";
  });
  $("about").addEventListener("submit", (event) => event.preventDefault());
  $("url-form").addEventListener("submit", (event) => {
    event.preventDefault();
    sendAddress($("page-url").value.trim());
  });
  startWebPages({ follow, problem });
  $("more").addEventListener("click", () => load(true));
  document.addEventListener("language", () => {
    draw();
    jobs.forEach(drawJob);
  });
}
