// The page "Admin": its parts, one at a time, each with what it loads itself.

import { showJobs } from "./adminjobs.js";
import { showKeys } from "./adminkeys.js";
import { showModels } from "./adminmodels.js";
import { showPrompts } from "./adminprompts.js";
import { showUsage } from "./adminusage.js";
import { $, el, show } from "./dom.js";
import { t } from "./texts.js";
import { loadWebPages } from "./webpages.js";

const PARTS = { keys: showKeys, usage: showUsage, jobs: showJobs, web: showWeb, models: showModels, prompts: showPrompts };
let shown = "";
let round = 0;

async function showWeb(place) {
  place.replaceChildren(el("p", { id: "admin-no-web", class: "meta", hidden: true }, t("webOff")), $("web-pages"));
  $("web-state").value = "pending";
  await loadWebPages();
  show($("admin-no-web"), $("web-pages").hidden);
}

/** The list of web pages is one, in the documents or here. */
export function giveBackWebPages() {
  if ($("web-pages").parentElement !== $("view-documents")) $("view-documents").append($("web-pages"));
}

async function draw() {
  const mine = ++round;
  giveBackWebPages();
  const focused = $("admin-parts").contains(document.activeElement);
  $("admin-parts").replaceChildren(
    ...Object.keys(PARTS).map((part) => el("a", { href: `#/admin?part=${part}`, "aria-current": part === shown ? "page" : null }, t(`admin_${part}`))),
  );
  const here = $("admin-parts").querySelector("[aria-current]");
  here.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (focused) here.focus(); // who came by keyboard is not sent back to the head of the page
  show($("admin-problem"), false);
  // A place of its own for each round: what a part loads that is no longer shown, lands nowhere.
  const place = el("div", { class: "admin-part", "aria-busy": "true" }, el("p", { class: "meta" }, t("adminLoading")));
  $("admin-body").replaceChildren(place);
  try {
    await PARTS[shown](place);
  } catch (error) {
    if (mine !== round) return;
    if (place.firstElementChild?.classList.contains("meta") && place.childElementCount === 1) place.replaceChildren();
    $("admin-problem").textContent = error.status === 403 ? t("adminNotYours") : error.message;
    show($("admin-problem"), true);
  } finally {
    place.removeAttribute("aria-busy");
  }
}

export function showAdmin(query) {
  const part = new URLSearchParams(query).get("part");
  shown = part in PARTS ? part : "keys";
  draw();
}

export function hideAdmin() {
  round += 1;
  shown = "";
  giveBackWebPages();
}

export function startAdmin() {
  document.addEventListener("language", () => shown && draw());
}
