// The gateway's API: fetch with the key, errors as one class, server-sent events from a POST.

import { $, el } from "./dom.js";
import { loadSession, offerSignIn, sessionHeaders } from "./session.js";
import { t } from "./texts.js";

export class ApiError extends Error {
  constructor(status, error, retryAfter) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.details = error.details ?? {};
    this.retryAfter = retryAfter;
  }
}

const KEY = "quelea.key";
let asking = null;

/** Ask for the key once, however many calls need it; or to sign in, which leaves the page. */
async function askForKey() {
  await loadSession(true);
  asking ??= new Promise((resolve) => {
    const dialog = $("key-dialog");
    $("key-error").hidden = !sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY); // refused; else it would be sent in place of the session, too, after signing in
    $("key").value = "";
    offerSignIn();
    dialog.addEventListener(
      "close",
      () => {
        const given = $("key").value.trim();
        if (given) sessionStorage.setItem(KEY, given);
        asking = null;
        resolve(Boolean(given));
      },
      { once: true },
    );
    dialog.showModal();
  });
  return asking;
}

export function headers() {
  const key = sessionStorage.getItem(KEY);
  return key ? { Authorization: `Bearer ${key}` } : sessionHeaders();
}

export async function failure(response) {
  let error = { code: String(response.status), message: response.statusText || String(response.status) };
  try {
    error = (await response.json()).error ?? error;
  } catch {
    // Not our shape: a proxy in between; its status line is all there is to say.
  }
  return new ApiError(response.status, error, Number(response.headers.get("Retry-After")) || 0);
}

/** fetch() with the key; asks for one when it is missing; raises ApiError. */
export async function call(path, options = {}) {
  await loadSession();
  for (;;) {
    let response;
    try {
      response = await fetch(path, { ...options, headers: { ...options.headers, ...headers() } });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, { code: "OFFLINE", message: t("offline") }, 0);
    }
    if (response.ok) return response;
    if (response.status === 401 && (await askForKey())) continue;
    throw await failure(response);
  }
}

export const get = async (path) => (await call(path, { headers: { Accept: "application/json" } })).json();

export const post = async (path, body) =>
  (
    await call(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
    })
  ).json();

/** A download of what is made of a body. */
export const saveMade = (path, body, name) =>
  saveFile(path, name, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export const postForText = async (path, body) =>
  (await call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).text();

/** A download that sends the key, as no link does. */
export async function saveFile(path, name, options) {
  const href = URL.createObjectURL(await (await call(path, options)).blob());
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

/** POST /v1/ask as events: yields {name, data}. */
export async function* ask(body, signal) {
  const response = await call("/v1/ask", {
    method: "POST",
    signal,
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ ...body, stream: true }),
  });
  yield* eventsOf(response);
}

/** The events of a stream: yields {id, name, data}; what carries no data is left out. */
export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    let end;
    while ((end = buffer.indexOf("\n\n")) >= 0) {
      const found = parse(buffer.slice(0, end));
      buffer = buffer.slice(end + 2);
      if (found) yield found;
    }
  }
}

function parse(block) {
  let name = "message";
  let id = "";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("id:")) id = line.slice(3).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { id, name, data: JSON.parse(data.join("\n")) } : null;
}

/** Upload files, telling how much has been sent; fetch() cannot say that. metadata holds for all of them. */
export function upload(files, metadata, onProgress) {
  const form = new FormData();
  form.append("metadata", JSON.stringify(metadata));
  for (const file of files) form.append("files", file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/v1/documents");
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    request.addEventListener("error", () => reject(new ApiError(0, { code: "OFFLINE", message: t("offline") }, 0)));
    request.addEventListener("load", async () => {
      if (request.status === 202) resolve(request.response);
      else if (request.status === 401 && (await askForKey())) upload(files, metadata, onProgress).then(resolve, reject);
      else {
        const error = request.response?.error ?? { code: String(request.status), message: request.statusText };
        reject(new ApiError(request.status, error, Number(request.getResponseHeader("Retry-After")) || 0));
      }
    });
    request.send(form);
  });
}
