// Who is signed in, where this deployment has an OpenID provider; without one there are keys alone.

import { $, show } from "./dom.js";
import { t } from "./texts.js";

let session = { login: false, signed_in: false };
let failure = "";
let loading = null;
let last = ""; // who was signed in on this page, also after his session is over

const KEPT = "quelea.question";
const who = () => (session.signed_in ? JSON.stringify([session.tenant, session.name]) : "");

/** Ask the gateway once; again after it was told to. */
export function loadSession(again = false) {
  if (again) loading = null;
  loading ??= fetch("/auth/session", { headers: { Accept: "application/json" } })
    .then((response) => (response.ok ? response.json() : session))
    .catch(() => session)
    .then((found) => {
      session = found;
      last = who() || last;
      drawSession();
      return found;
    });
  return loading;
}

/** The header without which a session changes nothing. */
export const sessionHeaders = () => (session.csrf ? { "X-CSRF-Token": session.csrf } : {});

/** Keep a question while its writer, whose session is over, signs in again: the page is left for that. */
export function keepQuestion(text) {
  if (text && last) sessionStorage.setItem(KEPT, JSON.stringify({ who: last, text }));
}

/** The question that was kept, once, for the one who wrote it; else nothing. */
export async function keptQuestion() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (!kept) return "";
  await loadSession();
  if (session.signed_in) sessionStorage.removeItem(KEPT);
  return kept.who === who() ? kept.text : "";
}

/** What the dialog for a key says of signing in. */
export function offerSignIn() {
  show($("sign-in-part"), session.login);
  $("sign-in").href = `/auth/login?to=${encodeURIComponent(`/${location.hash}`)}`;
  $("sign-in-error").hidden = !failure;
  $("sign-in-error").textContent = failure && t(failure === "permission_denied" ? "signInForbidden" : "signInFailed");
  $("key-text").textContent = t(session.login ? "signInText" : "keyText");
  $("key-title").textContent = t(session.login ? "signInTitle" : "keyTitle");
  $("key-save").classList.toggle("primary", !session.login);
  failure = "";
}

export function drawSession() {
  show($("person"), session.signed_in);
  $("person-name").textContent = session.name ?? "";
  $("person-name").title = session.tenant ? t("tenantOf", { tenant: session.tenant }) : "";
}

export function startSession() {
  const given = new URLSearchParams(location.search);
  if (given.has("sign-in")) {
    failure = given.get("sign-in");
    history.replaceState(null, "", `/${location.hash}`);
  }
  $("sign-out").addEventListener("click", async () => {
    const response = await fetch("/auth/logout", { method: "POST", headers: sessionHeaders() });
    const { provider } = response.ok ? await response.json() : {};
    location.assign(provider || "/");
  });
  return loadSession();
}
