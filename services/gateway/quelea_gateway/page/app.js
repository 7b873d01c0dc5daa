// Quelea's page: boots the parts, switches views and language, says what the deployment is.

import { hideAdmin, showAdmin, startAdmin } from "./admin.js";
import { listRuns, offerAgent, startAgent } from "./agent.js";
import { get } from "./api.js";
import { startAsk } from "./ask.js";
import { showCompanies, startCompanies } from "./companies.js";
import { load, startDocuments } from "./documents.js";
import { $, show } from "./dom.js";
import { hideEvaluation, showEvaluation } from "./evaluation.js";
import { closePanel, openPanel, startPanel } from "./panel.js";
import { drawSession, startSession } from "./session.js";
import { apply, current, has, setLanguage, t } from "./texts.js";
import { loadWebPages, offerWeb } from "./webpages.js";

const READY_MS = 15000;
const VIEWS = ["agent", "companies", "documents", "evaluation", "admin"]; // beside the first one
let info = null;
let down = null;

function route() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  const name = VIEWS.find((view) => path === `/${view}`) ?? "ask";
  for (const view of ["ask", ...VIEWS]) {
    show($(`view-${view}`), view === name);
    if (view === name) {
      $(`tab-${view}`).setAttribute("aria-current", "page");
      $(`tab-${view}`).scrollIntoView({ block: "nearest", inline: "nearest" }); // narrow screens scroll the tabs
    } else $(`tab-${view}`).removeAttribute("aria-current");
  }
  if (name === "documents") {
    load();
    loadWebPages();
  }
  if (name === "agent") listRuns();
  if (name === "companies") showCompanies(query);
  if (name === "evaluation") showEvaluation(query);
  else hideEvaluation();
  if (name === "admin") showAdmin(query);
  else hideAdmin();
  const citation = path.match(/^\/documents\/([^/]+)\/pages\/(\d+)$/);
  if (!citation) {
    closePanel();
    return;
  }
  const given = new URLSearchParams(query.split("#")[0]);
  const number = (name) => (given.has(name) ? Number(given.get(name)) : undefined);
  openPanel({
    documentId: decodeURIComponent(citation[1]),
    page: Number(citation[2]),
    start: number("start"),
    end: number("end"),
  });
}

function size(bytes) {
  return bytes >= 1 << 20 ? `${Math.round(bytes / (1 << 20))} MB` : `${Math.round(bytes / 1024)} KB`;
}

const serviceName = (name) => (has(`service_${name}`) ? t(`service_${name}`) : name);
const formatName = (format) => ({ markdown: "Markdown", text: "TXT" })[format] ?? format.toUpperCase();

/** No question is of a day that has not come (in this time zone or one further east). */
function today() {
  const day = new Date(Date.now() + 14 * 3600_000).toISOString().slice(0, 10);
  for (const id of ["as-of", "agent-as-of"]) $(id).max = day;
}

function draw() {
  for (const language of ["en", "zh"]) $(`lang-${language}`).setAttribute("aria-pressed", String(current() === language));
  if (info) {
    const reader = { extractive: t("extractive"), "": t("readerAway") }[info.reader];
    $("reader-line").textContent = reader ?? t("model", { model: info.model });
    const web = (info.web_providers ?? []).length > 0;
    show($("tab-admin"), info.administrator);
    show($("route-choice"), web);
    offerWeb(web);
    const formats = info.formats.map(formatName).join(current() === "zh" ? "、" : ", ");
    $("formats-line").textContent = t("formats", { formats, size: size(info.max_document_bytes) });
  }
  if (down) {
    $("state").textContent = down.length ? t("stateDown", { names: down.map(serviceName).join(t("comma")) }) : t("stateReady");
    $("state").classList.toggle("bad", down.length > 0);
  }
  drawSession();
}

async function refresh() {
  try {
    const states = (await (await fetch("/readyz")).json()).dependencies;
    down = Object.keys(states).filter((name) => !states[name].ready);
  } catch {
    down = ["gateway"];
  }
  if (!info && !down.includes("gateway")) info = await get("/v1/info").catch(() => null);
  draw();
}

apply();
today();
startSession();
startPanel();
startAsk();
startCompanies();
startDocuments();
startAgent();
startAdmin();
$("lang-en").addEventListener("click", () => setLanguage("en"));
$("lang-zh").addEventListener("click", () => setLanguage("zh"));
document.addEventListener("language", draw);
window.addEventListener("hashchange", route);
draw();
route();
refresh();
offerAgent();
setInterval(refresh, READY_MS);
