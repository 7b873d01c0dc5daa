// The side panel: a page of a document with the quoted span marked.

import { get } from "./api.js";
import { $, joined, outside, show } from "./dom.js";
import { pageNodes } from "./pagetext.js";
import { apply, t, typeText } from "./texts.js";
import { hideOriginal, showOriginal, startViewer } from "./viewer.js";

const narrow = window.matchMedia("(max-width: 900px)");
let before = null;
let shown = null;

export function openPanel(target) {
  if ($("panel").hidden) before = document.activeElement;
  return load(target);
}

async function load({ documentId, page, start, end }) {
  const query = start !== undefined && end !== undefined ? `?start=${start}&end=${end}` : "";
  const path = `/v1/documents/${encodeURIComponent(documentId)}/pages/${page}`;
  shown = { documentId, page, start, end };
  document.body.classList.add("with-panel");
  show($("panel"), true);
  $("main").inert = narrow.matches;
  let found;
  try {
    found = await get(path + query);
  } catch (error) {
    $("panel-title").textContent = error.message;
    $("panel-meta").textContent = "";
    $("panel-text").replaceChildren();
    hideOriginal();
    return;
  }
  if (shown.documentId !== documentId || shown.page !== page) return; // another page was asked for meanwhile
  draw(found, path + query);
  showOriginal({ documentId, page, span: found.span, text: found.text });
}

function stated(found) {
  return outside(found.uri) && found.provenance !== "web" ? t("stated", { uri: found.uri }) : found.uri;
}

function draw(found, path) {
  shown.found = found;
  shown.path = path;
  $("panel-title").textContent = found.title || found.document_id;
  const published = found.published && t("published", { date: found.published });
  $("panel-meta").textContent = joined(found.company, typeText(found.document_type), found.period, published, stated(found));
  $("panel-page").textContent = t("pageOf", { page: found.page, pages: found.pages });
  $("panel-prev").disabled = found.page <= 1;
  $("panel-next").disabled = found.page >= found.pages;
  $("panel-open").href = `${path}#quote`;
  const address = found.provenance === "web" ? outside(found.uri) : null; // an uploader may say anything
  $("panel-original").href = address;
  show($("panel-original"), Boolean(address));
  const text = $("panel-text");
  text.lang = found.language || "";
  text.replaceChildren(...pageNodes(found.text, found.span));
  const mark = text.querySelector("mark");
  if (mark) mark.scrollIntoView({ block: "center" });
  else text.scrollTop = 0;
  $("panel-title").focus({ preventScroll: true });
}

export function closePanel() {
  if ($("panel").hidden) return;
  show($("panel"), false);
  document.body.classList.remove("with-panel");
  $("main").inert = false;
  shown = null;
  hideOriginal();
  if (location.hash.includes("/pages/")) history.replaceState(null, "", "#/");
  if (before?.isConnected) before.focus();
}

function turn(step) {
  if (shown) load({ documentId: shown.documentId, page: shown.page + step });
}

/** Arrow keys turn pages, but for fields and what scrolls to the side. */
function turnByKey(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const place = event.target;
  if (place.matches("input, select, textarea") || place.scrollWidth > place.clientWidth + 1) return;
  if (!$(step < 0 ? "panel-prev" : "panel-next").disabled) turn(step);
}

export function startPanel() {
  startViewer();
  $("panel").addEventListener("keydown", turnByKey);
  $("panel-close").addEventListener("click", closePanel);
  $("panel-prev").addEventListener("click", () => turn(-1));
  $("panel-next").addEventListener("click", () => turn(1));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) closePanel();
  });
  document.addEventListener("language", () => {
    apply($("panel"));
    if (shown?.found) draw(shown.found, shown.path);
  });
}
