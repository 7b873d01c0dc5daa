// Runs of the agent: start one, watch it, look at an old one, take what it made.

import { ApiError, call, eventsOf, get, post, saveFile } from "./api.js";
import { $, el, joined, outside, show } from "./dom.js";
import { paragraphs, UNSUPPORTED } from "./marked.js";
import { moment, t } from "./texts.js";

const PATH = "/v1/agent/runs";
const ENDED = ["finished", "failed", "cancelled", "interrupted"];
let shown = null; // the run on the page: {id, watching}

/** The tab appears where the deployment has an agent. */
export async function offerAgent() {
  try {
    await get(`${PATH}?page_size=1`);
    show($("tab-agent"), true);
  } catch (error) {
    show($("tab-agent"), !(error instanceof ApiError && [404, 409].includes(error.status)));
  }
}

export function startAgent() {
  $("agent-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const question = $("agent-question").value.trim();
    if (!question) return;
    const body = { question };
    if ($("agent-as-of").value) body.as_of = $("agent-as-of").value;
    try {
      fault("");
      await start(body);
    } catch (error) {
      fault(error.message);
    }
  });
  $("agent-cancel").addEventListener("click", () => shown && post(`${PATH}/${shown.id}/cancel`, {}).catch((e) => fault(e.message)));
  document.addEventListener("language", () => listRuns());
}

async function start(body) {
  fault("");
  const run = await post(PATH, body);
  await open(run.id);
}

function fault(text) {
  $("agent-error").textContent = text;
  show($("agent-error"), Boolean(text));
}

export async function listRuns() {
  let runs = [];
  try {
    ({ runs } = await get(`${PATH}?page_size=20`));
  } catch (error) {
    fault(error.message);
  }
  $("agent-runs").replaceChildren(...runs.map(runLine));
  show($("agent-none"), runs.length === 0);
}

function runLine(run) {
  const button = el("button", { type: "button", class: "source", on: { click: () => open(run.id) } },
    el("span", { class: "source-body" },
      el("span", { class: "source-title" }, run.question),
      el("span", { class: "meta" }, joined(moment(run.created), t(`agentState_${run.state}`), run.model))));
  return el("li", {}, button);
}

async function open(id) {
  shown?.watching.abort();
  const watching = new AbortController();
  shown = { id, watching };
  const card = el("article", { class: "turn", "aria-busy": "true" });
  $("agent-run").replaceChildren(card);
  show($("agent-cancel"), true);
  const view = new View(card, id);
  try {
    view.begin(await get(`${PATH}/${id}`));
    for await (const event of events(id, watching.signal)) await view.take(event);
    if (!watching.signal.aborted) view.end(await get(`${PATH}/${id}`));
  } catch (error) {
    if (error.name !== "AbortError") fault(error.message);
  }
  if (watching.signal.aborted) return;
  card.setAttribute("aria-busy", "false");
  show($("agent-cancel"), false);
  listRuns();
}

/** The events of a run until it has ended; a broken stream is taken up behind the last event. */
async function* events(id, signal) {
  let last = 0;
  for (let tries = 0; tries < 4; tries++) {
    try {
      const response = await call(`${PATH}/${id}/events`, {
        signal,
        headers: { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": String(last) } : {}) },
      });
      for await (const event of eventsOf(response)) {
        const number = Number(event.id);
        if (!number) continue;
        last = number;
        tries = 0;
        yield event;
      }
      return;
    } catch (error) {
      if (error.name === "AbortError" || error instanceof ApiError) throw error;
    }
  }
}

class View {
  constructor(card, id) {
    this.card = card;
    this.id = id;
    this.steps = new Map();
  }

  begin(run) {
    this.state = el("p", { class: "reading" }, joined(t(`agentState_${run.state}`), run.as_of));
    this.answer = el("div", {});
    this.body = el("div", { class: "agent-steps" });
    const before = run.follows
      ? el("p", { class: "meta" }, el("button", { type: "button", class: "small", on: { click: () => open(run.follows) } }, t("agentFollows")))
      : "";
    this.after = el("div", {});
    this.card.append(el("h2", { class: "asked" }, run.question), before, this.state, this.answer, this.after, this.body);
  }

  step(number) {
    if (!this.steps.has(number)) {
      const section = el("section", { class: "agent-step" });
      this.steps.set(number, section);
      this.body.append(section);
    }
    return this.steps.get(number);
  }

  async take({ name, data }) {
    if (name === "state") this.state.textContent = t(`agentState_${data.state}`);
    else if (name === "plan") this.body.append(el("section", { class: "agent-step" }, el("p", { class: "meta" }, data.profile), plan(t("agentPlan"), data.plan)));
    else if (name === "step") {
      const about = data.query ?? data.need ?? data.name ?? data.task ?? "";
      this.step(data.step).append(el("h3", {}, t("agentStep", { n: data.step, action: data.action })), about ? el("p", {}, about) : "");
    } else if (name === "code") this.step(data.step).append(fold(t("agentCode"), data.code, true), codeFile(data));
    else if (name === "output") this.output(data);
    else if (name === "plot") {
      const picture = el("img", { class: "agent-plot", alt: data.name });
      this.step(data.step).append(picture);
      picture.src = await dataUrl(`${PATH}/${this.id}/artifacts/${data.name}`);
    } else if (name === "reflection") {
      this.step(data.step).append(el("ul", { class: "agent-insights" }, ...data.insights.map((one) => el("li", {}, one))));
      if (data.plan) this.step(data.step).append(plan(t("agentPlanNew"), data.plan));
    } else if (name === "error") this.body.append(el("p", { class: "error-line" }, data.message));
  }

  output(data) {
    const section = this.step(data.step);
    section.querySelector(".agent-waiting")?.remove();
    if (data.result === "waiting") return section.append(el("p", { class: "meta agent-waiting" }, data.text));
    if (data.reason && data.reason !== "ok") section.append(el("p", { class: "meta" }, t("agentEnded", { reason: data.reason })));
    const text = [data.text, data.stdout, data.error].filter(Boolean).join("\n");
    if (text) section.append(fold(t("agentOutput"), text, Boolean(data.reason)));
    const files = (data.files ?? []).map((file) => download(file.name, `${PATH}/${this.id}/artifacts/${encodeURIComponent(file.name)}`, file.name));
    if (files.length) section.append(el("p", { class: "agent-files" }, ...files));
  }

  end(run) {
    this.state.textContent = joined(t(`agentState_${run.state}`), run.as_of, run.model);
    const answer = run.answer;
    if (!answer) {
      if (run.error) this.answer.append(el("p", { class: "error-line" }, run.error));
      return;
    }
    const pictures = el("div", {});
    this.draw(pictures, run.artifacts.filter((file) => file.media_type.startsWith("image/")));
    const bad = answer.figures.filter((figure) => [...UNSUPPORTED, "not_traced"].includes(figure.verdict)).length;
    const verdict = bad ? t("agentBad", { n: bad }) : t("agentGood", { n: answer.figures.length });
    this.answer.append(
      el("div", { class: "answer" }, ...paragraphs(answer.text, [], { text: answer.text, sentences: [], figures: answer.figures })),
      pictures,
      results(answer.results),
      answer.figures.length ? el("p", { class: bad ? "checks bad" : "checks good" }, verdict) : "",
      ...list(t("agentMissing"), answer.missing),
      ...list(t("agentWithheld"), answer.withheld),
      ...answer.notices.map((one) => el("p", { class: "notice" }, one)),
      el("h3", {}, t("sources")),
      el("ul", { class: "sources" }, ...answer.sources.filter((one) => one.used).map(source)),
      this.downloads(run),
      el("p", { class: "meta" }, t("agentFoot", { ...run.usage, seconds: run.usage.seconds.toFixed(1) })),
    );
    if (run.state === "finished") this.after.append(this.followUp(run));
  }

  /** The plots under the answer, where its reader looks for them. */
  async draw(place, files) {
    for (const file of files) {
      const picture = el("img", { class: "agent-plot", alt: file.path });
      place.append(picture);
      try {
        picture.src = await dataUrl(file.url);
      } catch (error) {
        fault(error.message);
      }
    }
  }

  /** A box for what follows up on this run. */
  followUp(run) {
    const words = el("textarea", { rows: "2", maxlength: "8000", required: true, placeholder: t("agentFollowPlaceholder"), "aria-label": t("agentFollow") });
    const button = el("button", { type: "submit", class: "primary" }, t("agentFollow"));
    const form = el("form", { class: "ask agent-follow" }, words,
      el("div", { class: "ask-foot" }, el("div", { class: "ask-options" }), button));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const question = words.value.trim();
      if (!question) return;
      button.disabled = true; // a second click would begin a second run
      try {
        await start({ question, follows: run.id });
      } catch (error) {
        fault(error.message);
      } finally {
        button.disabled = false;
      }
    });
    return form;
  }

  downloads(run) {
    const made = run.artifacts.map((file) => download(file.name, file.url));
    made.push(download(t("agentNotebook"), `${PATH}/${run.id}/notebook`, `${run.id}.ipynb`));
    made.push(download(t("agentReport"), `${PATH}/${run.id}/report.pdf`, `${run.id}.pdf`));
    made.push(download(t("agentArchive"), `${PATH}/${run.id}/archive`, `${run.id}.zip`));
    if (run.has_bundle) made.push(download(t("agentBundle"), `${PATH}/${run.id}/bundle`, `${run.id}.bundle`));
    return el("p", { class: "agent-files" }, ...made);
  }
}

function plan(title, steps) {
  return el("div", {}, el("h3", {}, title), el("ol", {}, ...steps.map((one) => el("li", {}, `${one.action}: ${one.task}`))));
}

function fold(title, text, opened) {
  return el("details", { class: "agent-fold", open: opened }, el("summary", {}, title), el("pre", { tabindex: "0" }, text));
}

/** What the step ran, as a file of its own. */
function codeFile({ step, attempt, code }) {
  const name = attempt ? `step${step}-${attempt + 1}.py` : `step${step}.py`;
  const save = () => {
    const href = URL.createObjectURL(new Blob([code], { type: "text/x-python" }));
    el("a", { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10000);
  };
  return el("p", { class: "agent-files" }, el("button", { type: "button", class: "small", on: { click: save } }, name));
}

function list(title, lines) {
  return lines.length ? [el("h3", {}, title), el("ul", {}, ...lines.map((line) => el("li", {}, line)))] : [];
}

/** What the code reported, each with what it rests on. */
function results(found) {
  if (!found.length) return "";
  const head = ["agentResult", "agentValue", "agentRests"].map((name) => el("th", { scope: "col" }, t(name)));
  const rows = found.map((one) => el("tr", {},
    el("th", { scope: "row" }, one.name),
    el("td", { class: "figure" }, [one.value, one.unit].filter(Boolean).join(" ")),
    el("td", {}, one.traced ? one.inputs.join(", ") : t("agentNotTraced"))));
  return el("div", { class: "statement-table agent-results", tabindex: "0" },
    el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows)));
}

function source(one) {
  const where = one.kind === "passage" ? `#${one.open.replace(/^\/v1/, "").replace(/#quote$/, "")}` : outside(one.url);
  const step = t("agentStep", { n: one.step, action: "" }).replace(/[:：]\s*$/, "");
  const title = joined(t(`agentKind_${one.kind}`), step, one.run ? t("agentBefore") : "");
  return el("li", { class: "source" },
    el("span", { class: "number" }, String(one.number)),
    el("span", { class: "source-body" },
      el("span", { class: "source-title" }, title),
      where ? el("a", { href: where, ...(one.kind === "call" ? { target: "_blank", rel: "noopener noreferrer nofollow" } : {}) }, one.title) : el("span", {}, one.title),
      one.sha256 ? el("span", { class: "meta" }, t("agentFetched", { when: moment(one.fetched), sha: one.sha256.slice(0, 16) })) : null,
      el("span", { class: "quote" }, one.excerpt.slice(0, 400))));
}

function download(label, path, name = label) {
  const take = async () => {
    try {
      await saveFile(path, name);
    } catch (error) {
      fault(error.message);
    }
  };
  return el("button", { type: "button", class: "small", on: { click: take } }, label);
}

/** A picture as data, since an <img> sends no key. */
async function dataUrl(path) {
  const blob = await (await call(path)).blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(blob);
  });
}
