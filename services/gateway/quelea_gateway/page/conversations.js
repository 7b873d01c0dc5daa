// Saved conversations: a list at the side, searched, opened, renamed, exported, deleted with a way back.

import { call, get, headers, post, saveFile } from "./api.js";
import { $, el, joined, show } from "./dom.js";
import { icon } from "./icons.js";
import { moment, t } from "./texts.js";

const PATH = "/v1/conversations";
const UNDO_MS = 8000;
const TYPING_MS = 250;
const MOST_TITLE = 200;
const FORMATS = ["json", "markdown", "docx", "pdf", "xlsx"];
const ENDINGS = { markdown: "md" };
const HIDDEN = "quelea.conversations.hidden";
const narrow = window.matchMedia("(max-width: 1000px)");

let found = [];
let next = null;
let current = ""; // id of the one on the page
let deleted = null; // {one, timer}: on its way out, and can be had back
let renaming = "";
let loads = 0;
let inView = false;
let hooks = { opened: () => {}, closed: () => {} };

const pathOf = (id) => `${PATH}/${encodeURIComponent(id)}`;
const addressOf = (id) => `#/conversations/${encodeURIComponent(id)}`;
const stateText = (text) => ($("talks-state").textContent = text);

export const currentConversation = () => current;

/** The one on the page, made where there is none: its id. Raises ApiError where it cannot be saved. */
export async function conversationFor(question) {
  if (current) return current;
  const made = await post(PATH, { title: question.slice(0, MOST_TITLE) });
  current = made.id;
  history.replaceState(null, "", addressOf(current));
  return current;
}

/** Ask for the list again: an answer was saved. */
export const conversationChanged = () => load();

/** Leave the one on the page. */
export function leaveConversation() {
  current = "";
  if (location.hash.startsWith("#/conversations/")) history.replaceState(null, "", "#/");
  draw();
}

/** Show a saved one. */
export async function openConversation(id) {
  if (id === current) return;
  let whole;
  try {
    whole = await get(pathOf(id));
  } catch (error) {
    stateText(error.message);
    hooks.closed(error.message);
    return;
  }
  current = id;
  hooks.opened(whole);
  draw();
}

async function load(more = false) {
  const mine = ++loads;
  const query = new URLSearchParams({ page_size: "50", query: $("talks-search").value.trim().slice(0, 300) });
  if (more && next) query.set("page_token", next);
  try {
    const page = await get(`${PATH}?${query}`);
    if (mine !== loads) return; // something else was asked for meanwhile
    found = [...(more ? found : []), ...page.conversations];
    next = page.next_page_token;
    stateText("");
  } catch (error) {
    stateText(error.message);
  }
  draw();
}

function draw() {
  const shown = found.filter((one) => one.id !== deleted?.one.id && (one.turns || one.id === current));
  $("talks-list").replaceChildren(...shown.map(entry));
  show($("talks-more"), Boolean(next));
  const nothing = $("talks-search").value.trim() ? t("talksNoMatch") : t("talksNone");
  if (!shown.length && !$("talks-state").textContent) stateText(nothing);
  show($("talks-undo"), Boolean(deleted));
  if (deleted) $("talks-deleted").textContent = t("talkDeleted", { title: deleted.one.title });
}

function entry(one) {
  if (one.id === renaming) return renameForm(one);
  const open = () => {
    location.hash = addressOf(one.id);
    if (narrow.matches) showList(false);
  };
  const button = el(
    "button",
    { type: "button", class: "talk-open", "aria-current": one.id === current ? "true" : null, title: one.title, on: { click: open } },
    el("span", { class: "talk-title", dir: "auto" }, one.title),
    el("span", { class: "meta" }, joined(moment(one.updated ?? one.created), t("talkAnswers", { n: one.turns }))),
  );
  const item = el("li", {}, button, actions(one));
  button.addEventListener("keydown", (event) => {
    if (event.key === "F2") rename(one);
    else if (event.key === "Delete") remove(one);
    else if (event.key === "ArrowDown") step(item.nextElementSibling);
    else if (event.key === "ArrowUp") step(item.previousElementSibling);
    else return;
    event.preventDefault();
  });
  return item;
}

const step = (item) => item?.querySelector("button, input")?.focus();

function actions(one) {
  const label = t("talkActions", { title: one.title });
  const menu = el("details", { class: "talk-menu" });
  const action = (text, work) => el("button", { type: "button", class: "quiet", on: { click: () => { menu.open = false; work(); } } }, text);
  menu.append(
    el("summary", { "aria-label": label, title: label }, icon("dots")),
    el(
      "div",
      { class: "talk-actions" },
      action(t("talkRename"), () => rename(one)),
      ...FORMATS.map((format) => action(t(`talkSave_${format}`), () => save(one, format))),
      action(t("delete"), () => remove(one)),
    ),
  );
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
  });
  return menu;
}

async function save(one, format) {
  stateText(t("making"));
  try {
    const query = format === "json" ? "" : `?format=${format}`;
    await saveFile(`${pathOf(one.id)}/export${query}`, `conversation-${one.created.slice(0, 10)}.${ENDINGS[format] ?? format}`);
    stateText("");
  } catch (error) {
    stateText(error.message);
  }
}

function rename(one) {
  renaming = one.id;
  draw();
  $("talk-title").focus();
  $("talk-title").select();
}

function renameForm(one) {
  const input = el("input", { id: "talk-title", maxlength: MOST_TITLE, required: true, "aria-label": t("talkTitle"), value: one.title });
  const end = (id) => {
    renaming = "";
    draw();
    const place = found.findIndex((each) => each.id === id);
    $("talks-list").children[place]?.querySelector("button")?.focus();
  };
  const form = el("form", { class: "talk-rename" }, input);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const title = input.value.trim();
    if (!title) return;
    try {
      const options = { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ title }) };
      one.title = (await (await call(pathOf(one.id), options)).json()).title;
      stateText("");
    } catch (error) {
      stateText(error.message);
    }
    end(one.id);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    end(one.id);
  });
  input.addEventListener("blur", () => renaming === one.id && document.hasFocus() && end("")); // went elsewhere
  return el("li", {}, form);
}

/** It goes when the time for a second thought is over, or the page is left. */
function remove(one) {
  sendDeleted();
  deleted = { one, wasCurrent: one.id === current, timer: setTimeout(sendDeleted, UNDO_MS) };
  if (deleted.wasCurrent) {
    leaveConversation();
    hooks.closed("");
  }
  draw();
  $("talks-undo-button").focus();
}

function sendDeleted() {
  if (!deleted) return;
  const { one, timer } = deleted;
  clearTimeout(timer);
  deleted = null;
  found = found.filter((each) => each.id !== one.id);
  draw();
  fetch(pathOf(one.id), { method: "DELETE", headers: headers(), keepalive: true }).then(
    (response) => response.ok || response.status === 404 || load(),
    () => load(),
  );
}

function undo() {
  if (!deleted) return;
  const { one, timer, wasCurrent } = deleted;
  clearTimeout(timer);
  deleted = null;
  draw();
  const place = found.findIndex((each) => each.id === one.id);
  step($("talks-list").children[place]);
  if (wasCurrent) location.hash = addressOf(one.id);
}

function showList(shown) {
  show($("talks"), shown);
  $("talks-toggle").setAttribute("aria-expanded", String(shown));
  $("main").inert = shown && narrow.matches;
  if (shown && narrow.matches) $("talks-search").focus();
  else if (!shown && $("talks").contains(document.activeElement)) $("talks-toggle").focus();
}

/** The list belongs to the view that asks. */
export function showConversations(wanted) {
  inView = wanted;
  show($("talks-toggle"), inView);
  showList(inView && !narrow.matches && localStorage.getItem(HIDDEN) === null);
}

/** opened(conversation with its turns); closed(why): none is on the page any more. */
export function startConversations(given) {
  hooks = given;
  let typing = 0;
  $("talks-search").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(load, TYPING_MS);
  });
  $("talks-search").addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    step($("talks-list").firstElementChild);
  });
  const toggle = (shown) => {
    if (!narrow.matches) {
      if (shown) localStorage.removeItem(HIDDEN);
      else localStorage.setItem(HIDDEN, "true");
    }
    showList(shown);
  };
  $("talks-toggle").addEventListener("click", () => toggle($("talks").hidden));
  $("talks-close").addEventListener("click", () => toggle(false));
  $("talks").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && narrow.matches) showList(false);
  });
  narrow.addEventListener("change", () => showConversations(inView));
  document.addEventListener("click", ({ target }) => {
    const outside = target.isConnected && !$("talks").contains(target) && target !== $("talks-toggle");
    if (narrow.matches && !$("talks").hidden && outside) showList(false);
  });
  $("talks-new").addEventListener("click", () => {
    leaveConversation();
    hooks.closed("");
    if (narrow.matches) showList(false);
    $("question").focus();
  });
  $("talks-more").addEventListener("click", () => load(true));
  $("talks-undo-button").addEventListener("click", undo);
  window.addEventListener("pagehide", sendDeleted);
  document.addEventListener("language", () => {
    stateText("");
    draw();
  });
  load();
}
