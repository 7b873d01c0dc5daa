// The original beside the text: a page of a PDF with boxes on the quote, or HTML as it was filed, the quote marked.
//
// A PDF is drawn by pdf.js, whose part that reads the file is a worker; only the bytes that a page needs are fetched.
// HTML is made harmless by the server, and then lies in a frame that may run no script and load nothing.

import { call, get, headers, saveFile } from "./api.js";
import { $, el, show } from "./dom.js";
import { t } from "./texts.js";

const LIBRARY = "/page/vendor/pdfjs/";
const MOST_PIXELS = 16_000_000; // of a drawn page
const DRAW_MS = 30_000;
const STEPS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const KEEP = "quelea.original";
// Filings are printed in black on white, also where the page is dark.
const PAPER = "html{background:#fff;color:#000;color-scheme:light}body{margin:16px;font:14px/1.4 serif}";
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'";

let target = null; // {documentId, page, span, text} on the page
let kind = null; // {type, name} of the document on the page
let zoom = 1;
let pdf = null; // {documentId, document, task}
let turn = 0; // whatever began under an older number is not shown any more

const path = (documentId) => `/v1/documents/${encodeURIComponent(documentId)}`;
const wanted = () => localStorage.getItem(KEEP) !== "off";

/** Show the original of a page. span: {start, end} of its text, or null. */
export async function showOriginal(next) {
  const mine = ++turn;
  if (target?.documentId !== next.documentId) {
    kind = null;
    leave();
  }
  target = next;
  try {
    kind ??= await kindOf(next.documentId);
    if (mine !== turn) return;
    const shows = ["application/pdf", "text/html"].includes(kind.type);
    show($("viewer-toggle"), shows);
    show($("viewer-download"), true);
    const opened = shows && wanted();
    open(opened);
    if (opened) {
      $("panel-text").querySelector("mark")?.scrollIntoView({ block: "center" }); // the text has moved
      await draw(mine);
    }
  } catch (error) {
    if (mine === turn) failed(error);
  }
}

/** Nothing is shown any more. */
export function hideOriginal() {
  turn += 1;
  target = kind = null;
  leave();
  open(false);
  show($("viewer-toggle"), false);
  show($("viewer-download"), false);
}

function open(opened) {
  show($("viewer"), opened);
  $("panel").classList.toggle("with-original", opened);
  $("viewer-toggle").setAttribute("aria-pressed", String(opened));
}

function leave() {
  pdf?.task.destroy();
  pdf = null;
  $("viewer-page").replaceChildren();
  say("");
}

let saying = [""]; // the name of a text and its values, to be said again in the other language

function say(name, values = {}) {
  saying = [name, values];
  $("viewer-said").textContent = name && t(name, values);
  $("viewer-said").classList.toggle("bad", name === "viewerFailed");
}

function failed(error) {
  $("viewer-page").replaceChildren();
  $("viewer-page").removeAttribute("aria-busy");
  say("viewerFailed", { why: error.message });
}

async function kindOf(documentId) {
  const response = await call(`${path(documentId)}/original`, { method: "HEAD" });
  await response.arrayBuffer(); // what is not read to its end counts as broken off
  const about = response.headers;
  const name = /filename\*=UTF-8''([^;]+)/.exec(about.get("Content-Disposition") ?? "")?.[1];
  return { type: (about.get("Content-Type") ?? "").split(";")[0], name: name ? decodeURIComponent(name) : documentId };
}

async function draw(mine) {
  say("viewerLoading");
  $("viewer-page").setAttribute("aria-busy", "true");
  for (const id of ["viewer-smaller", "viewer-larger", "viewer-fit"]) show($(id), kind.type === "application/pdf");
  if (kind.type === "application/pdf") await drawPdf(mine);
  else await drawHtml(mine);
  if (mine === turn) $("viewer-page").removeAttribute("aria-busy");
}

function tell(found, reason = "") {
  if (found === null) say("");
  else if (found >= 1) say("viewerFound");
  else if (found > 0) say("viewerPartly", { percent: Math.max(1, Math.floor(found * 100)) });
  else say(reason === "no_text" ? "viewerScan" : "viewerNotFound");
}

// -- PDF

async function documentOf(documentId) {
  if (pdf?.documentId === documentId) return pdf.document;
  const library = await import(`${LIBRARY}pdf.min.mjs`);
  library.GlobalWorkerOptions.workerSrc = `${LIBRARY}pdf.worker.min.mjs`;
  const task = library.getDocument({
    url: `${path(documentId)}/original`,
    httpHeaders: headers(),
    rangeChunkSize: 1 << 20,
    disableAutoFetch: true,
    disableStream: true,
    cMapUrl: `${LIBRARY}cmaps/`,
    standardFontDataUrl: `${LIBRARY}fonts/`,
    wasmUrl: `${LIBRARY}decoders/`,
    useSystemFonts: false, // they come by a way that the page's policy forbids
    useWasm: false, // the page's policy forbids it
    enableXfa: false,
    maxImageSize: MOST_PIXELS,
    canvasMaxAreaInBytes: 4 * MOST_PIXELS,
  });
  pdf = { documentId, task, document: await task.promise };
  return pdf.document;
}

async function drawPdf(mine) {
  const { documentId, page: number, span } = target;
  const query = span ? `?start=${span.start}&end=${span.end}` : "";
  const [document_, boxes] = await Promise.all([
    documentOf(documentId),
    // The page is shown whatever becomes of the boxes.
    span ? get(`${path(documentId)}/pages/${number}/boxes${query}`).catch((error) => ({ boxes: [], found: 0, failed: error.message })) : null,
  ]);
  const page = await document_.getPage(number);
  if (mine !== turn) return;
  const natural = page.getViewport({ scale: 1 });
  const room = Math.max(200, $("viewer-page").clientWidth - 24);
  const scale = (room / natural.width) * zoom;
  const viewport = page.getViewport({ scale });
  const dense = Math.min(window.devicePixelRatio || 1, Math.sqrt(MOST_PIXELS / (viewport.width * viewport.height)));
  const canvas = el("canvas", {
    width: Math.floor(viewport.width * dense), height: Math.floor(viewport.height * dense),
    role: "img", "aria-label": t("viewerPage", { page: number }),
  });
  const sheet = el("div", { class: "sheet" }, canvas);
  size(sheet, viewport.width, viewport.height);
  size(canvas, viewport.width, viewport.height);
  const drawing = page.render({ canvas, viewport, transform: [dense, 0, 0, dense, 0, 0], annotationMode: 0 });
  const clock = setTimeout(() => drawing.cancel(), DRAW_MS);
  try {
    await drawing.promise;
  } finally {
    clearTimeout(clock);
  }
  if (mine !== turn) return;
  for (const box of boxes?.boxes ?? []) sheet.append(marker(viewport, box));
  $("viewer-page").replaceChildren(sheet);
  if (boxes?.failed) say("viewerUnmarked", { why: boxes.failed });
  else tell(boxes ? boxes.found : null, boxes?.reason);
  toQuote(sheet.querySelector(".quote-box"));
}

function size(node, width, height) {
  node.style.width = `${width}px`;
  node.style.height = `${height}px`;
}

function marker(viewport, box) {
  const [x0, y0] = viewport.convertToViewportPoint(box.left, box.bottom);
  const [x1, y1] = viewport.convertToViewportPoint(box.right, box.top);
  const node = el("div", { class: "quote-box", "aria-hidden": "true" });
  node.style.left = `${Math.min(x0, x1) - 2}px`;
  node.style.top = `${Math.min(y0, y1) - 1}px`;
  size(node, Math.abs(x1 - x0) + 4, Math.abs(y1 - y0) + 2);
  return node;
}

/** Scroll the view, and nothing around it, so that the quote is in its upper half. */
function toQuote(node) {
  const view = $("viewer-page");
  if (!node) {
    view.scrollTop = 0;
    return;
  }
  const top = node.getBoundingClientRect().top - view.getBoundingClientRect().top + view.scrollTop;
  const left = node.getBoundingClientRect().left - view.getBoundingClientRect().left + view.scrollLeft;
  view.scrollTo(Math.max(0, left - 40), Math.max(0, top - view.clientHeight / 3));
}

// -- HTML

/** Where a page without a quote begins: its first words are looked for, and not marked. */
function beginning(text) {
  const points = Array.from(text);
  return points.length ? { start: 0, end: Math.min(points.length, 80) } : null;
}

async function drawHtml(mine) {
  const { documentId, page, span, text } = target;
  const place = span ?? (page > 1 ? beginning(text) : null);
  const query = place ? `?page=${page}&start=${place.start}&end=${place.end}` : "";
  const response = await call(`${path(documentId)}/html${query}`);
  const found = Number(response.headers.get("Quelea-Found"));
  const [looks, said] = parted(await response.text());
  if (mine !== turn) return;
  const frame = el("iframe", {
    class: "filed", title: t("viewerFrame"), sandbox: "allow-same-origin", referrerpolicy: "no-referrer",
    srcdoc: `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}"><body>`,
  });
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  $("viewer-page").replaceChildren(frame);
  await loaded;
  if (mine !== turn) return;
  const inside = frame.contentDocument;
  inside.body.replaceWith(inside.adoptNode(new DOMParser().parseFromString(said, "text/html").body));
  // The page's policy forbids style sheets that are written into a document; one that a script makes is its own.
  const sheet = new frame.contentWindow.CSSStyleSheet();
  sheet.replaceSync(`${PAPER}${looks}`);
  inside.adoptedStyleSheets = [sheet];
  for (const mark of inside.querySelectorAll("mark")) {
    mark.style.cssText = span ? "background:#ffd84d;color:#000;outline:1px solid #b98900" : "background:none;color:inherit";
  }
  inside.addEventListener("click", follow);
  tell(span ? found : null);
  inside.getElementById("quote")?.scrollIntoView({ block: span ? "center" : "start" });
}

/** Links within the document: to the browser they lead to this page's own address, where no frame may go. */
function follow(event) {
  const link = event.target.closest?.("a[href]");
  if (!link) return;
  event.preventDefault();
  const name = link.getAttribute("href").slice(1);
  const inside = link.ownerDocument;
  const place = inside.getElementById(name) ?? inside.querySelector(`a[name="${CSS.escape(name)}"]`);
  place?.scrollIntoView({ block: "start" });
}

/** The style sheet that the server made of the document's looks, which has no "<", and the document without it. */
function parted(html) {
  const [, before, looks, after] = /^([^]*?)<style>([^<]*)<\/style>([^]*)$/.exec(html) ?? [null, html, "", ""];
  return [looks, before + after];
}

// -- the controls

async function again() {
  const mine = ++turn;
  try {
    await draw(mine);
  } catch (error) {
    if (mine === turn) failed(error);
  }
}

function step(by) {
  if (!target || kind?.type !== "application/pdf" || $("viewer").hidden) return;
  const at = STEPS.findIndex((one) => one >= zoom);
  zoom = by === 0 ? 1 : STEPS[Math.min(STEPS.length - 1, Math.max(0, at + by))];
  again();
}

export function startViewer() {
  $("viewer-larger").addEventListener("click", () => step(1));
  $("viewer-smaller").addEventListener("click", () => step(-1));
  $("viewer-fit").addEventListener("click", () => step(0));
  $("viewer-toggle").addEventListener("click", () => {
    const opened = $("viewer").hidden;
    localStorage.setItem(KEEP, opened ? "on" : "off");
    open(opened);
    if (opened) again();
    else turn += 1;
  });
  $("viewer-download").addEventListener("click", () => {
    if (target && kind) saveFile(`${path(target.documentId)}/original`, kind.name).catch(failed);
  });
  $("panel").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { "+": 1, "=": 1, "-": -1, 0: 0 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    step(by);
  });
  document.addEventListener("language", () => say(...saying));
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    const changed = Math.abs(contentRect.width - width) > 20;
    if (changed && width && target && kind?.type === "application/pdf" && !$("viewer").hidden) again();
    if (changed) width = contentRect.width;
  }).observe($("viewer-page"));
}
