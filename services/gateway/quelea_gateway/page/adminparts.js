// What the parts of the page "Admin" share: tables, dialogs, a line that says what was done.

import { get } from "./api.js";
import { el } from "./dom.js";
import { t } from "./texts.js";

/**
 * A table. Cells are strings or nodes; `figures` are places of numbers. On a narrow screen one with numbers scrolls by
 * itself; of any other each row becomes a card, its cells named by the head.
 */
export function table(label, head, rows, figures = []) {
  const at = (place) => (figures.includes(place) ? "figure" : null);
  return el(
    "div",
    { class: `statement-table admin-table${figures.length ? "" : " cards"}`, tabindex: "0", role: "region", "aria-label": label },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...head.map((text, place) => el("th", { scope: "col", class: at(place) }, text)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, place) => (place === 0 ? el("th", { scope: "row" }, cell) : el("td", { class: at(place), "data-head": head[place] }, cell)))))),
    ),
  );
}

export const badge = (text, kind = "") => el("span", { class: `badge ${kind}` }, text);

export const button = (text, act, more = {}) => el("button", { type: "button", ...more, on: { click: act } }, text);

export const labelled = (text, field) => el("label", {}, el("span", {}, text), " ", field);

/** A line for screen readers and eyes: {say(text), fail(error), node}. What was done often took its button away: the line has the focus then. */
export function sayer() {
  const node = el("p", { class: "meta", role: "status", tabindex: "-1" });
  const say = (kind, text) => {
    node.className = kind;
    node.textContent = text;
    if (text && document.activeElement === document.body) node.focus();
  };
  return { node, say: (text) => say("notice", text), fail: (error) => say("error-line", error.message), clear: () => say("meta", "") };
}

/** A dialog; resolves to true when it was confirmed. `body` are nodes between the title and the buttons. */
export function confirmed(title, body, yes, kind = "primary") {
  return new Promise((resolve) => {
    const form = el(
      "form",
      { method: "dialog" },
      el("h2", { id: "admin-dialog-title" }, title),
      ...body,
      el("div", { class: "dialog-foot" }, el("button", { value: "no", class: "quiet", formnovalidate: true }, t("cancel")), el("button", { value: "yes", class: kind }, yes)),
    );
    const dialog = el("dialog", { "aria-labelledby": "admin-dialog-title" }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** All pages of a list, at most so many. */
export async function all(path, name, most = 20) {
  const found = [];
  let token = "";
  for (let page = 0; page < most; page += 1) {
    const reply = await get(`${path}${path.includes("?") ? "&" : "?"}page_size=1000&page_token=${encodeURIComponent(token)}`);
    found.push(...reply[name]);
    token = reply.next_page_token;
    if (!token) break;
  }
  return found;
}
