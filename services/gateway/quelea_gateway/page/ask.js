// Questions and answers.

import { ApiError, ask } from "./api.js";
import { chart } from "./chart.js";
import { choose, columns, model, scope, scopeBody, scopeText, startChoices } from "./choices.js";
import { conversationChanged, conversationFor, leaveConversation, startConversations } from "./conversations.js";
import { $, el, joined, show } from "./dom.js";
import { fetchOffers } from "./fetchoffer.js";
import { figureFacts } from "./figures.js";
import { paragraphs } from "./marked.js";
import { routeDetails } from "./route.js";
import { keepQuestion, keptQuestion } from "./session.js";
import { sourceList } from "./sources.js";
import { examples, has, readingText, t } from "./texts.js";
import { thumbs } from "./thumbs.js";
import { exportButtons, searchesLine, sentenceVerdicts, standaloneLine, withheldBox } from "./verdicts.js";

const HISTORY_TURNS = 3;
const turns = []; // newest last: {question, scope, text, cited, started, grounding, answer, error, node}, or with columns
let running = null;

const say = (text) => ($("announce").textContent = text);

function furtherReading(citations, label, kept, { gone = [], opened = false } = {}) {
  if (!citations.length) return null;
  return el("details", { class: "further", open: opened }, el("summary", {}, label), sourceList(citations, kept, gone));
}

function readingLine(reading, chosen) {
  if (chosen && (!reading.text || reading.text === "all documents")) return null; // what was chosen says more
  const text = reading.text ? t("reading", { text: readingText(reading.text) }) : t("readingAll");
  return el("p", { class: "reading" }, text);
}

function checksLine(answer) {
  if (!answer.checks.length) return null;
  const failed = answer.checks.filter((check) => !check.passed);
  if (!failed.length) {
    return el("span", { class: "checks good", title: answer.checks.map((c) => c.detail).join("\n") }, t("checksPassed"));
  }
  const names = failed.map((check) => (has(`check_${check.name}`) ? t(`check_${check.name}`) : check.name));
  return el("span", { class: "checks bad", title: failed.map((c) => c.detail).join("\n") }, names.join(" · "));
}

function footLine(answer) {
  const reader = answer.reader === "extractive" ? t("readerShort") : t("modelShort", { model: answer.model });
  const seconds = (answer.timings.total / 1000).toFixed(answer.timings.total < 1000 ? 2 : 1);
  const facts = joined(reader, t("asOfShort", { date: answer.as_of }), t("took", { seconds }));
  return el("p", { class: "foot" }, checksLine(answer), el("span", {}, facts));
}

function draw(turn) {
  if (turn.columns) drawColumns(turn);
  else drawAnswer(turn);
}

/** One question, an answer for each company beside the other; one that fails spoils no other. */
function drawColumns(turn) {
  turn.columns.forEach(drawAnswer);
  const nodes = turn.columns.map((one) => one.node);
  const label = t("sideBySideDone", { n: nodes.length });
  const row = el("div", { class: "columns", role: "group", "aria-label": label, tabindex: "0" }, ...nodes);
  const notice = turn.notice ? el("p", { class: "notice" }, turn.notice) : null;
  turn.node.replaceChildren(...[el("h2", { class: "asked" }, turn.question), notice, row].filter(Boolean));
}

function drawAnswer(turn) {
  const { started, answer, error } = turn;
  const citations = answer ? answer.citations : turn.cited;
  const body = el("div", { class: answer?.declined ? "answer declined" : "answer", dir: "auto" });
  if (turn.text) body.append(...paragraphs(turn.text, citations, turn.grounding));
  else if (turn.quotes && !error) body.append(el("p", { class: "wait" }, t("quotesMeanwhile")), ...paragraphs(turn.quotes.text, turn.quotes.citations));
  else if (!error) body.append(el("p", { class: "wait" }, turn.stopped ? t("stopped") : t(started ? "writing" : "searching")));
  const of = scopeText(turn.scope);
  const parts = turn.inColumn ? [el("h3", { class: "column-head" }, of)] : [el("h2", { class: "asked" }, turn.question)];
  if (of && !turn.inColumn) parts.push(el("p", { class: "reading" }, t("askedOf", { text: of })));
  parts.push(standaloneLine((answer ?? started)?.standalone ?? started?.standalone));
  if (started) parts.push(readingLine(started.reading, of), routeDetails(answer ?? { ...started, declined: Boolean(error) }));
  parts.push(searchesLine((answer ?? started)?.searches));
  const kept = answer?.web?.kept ?? [];
  if (turn.text || !error) parts.push(body);
  parts.push(withheldBox(turn.grounding));
  const reason = answer?.declined?.detail;
  for (const notice of new Set([turn.notice, reason, ...(answer?.notices ?? [])].filter(Boolean))) parts.push(el("p", { class: "notice" }, notice));
  if (error) parts.push(errorBox(error, started));
  if (answer) {
    parts.push((turn.offers ??= fetchOffers(answer, turn.scope.collections, () => start(turn.question))));
    parts.push(turn.chart ??= chart(answer.figures), figureFacts(answer.figures));
    if (answer.citations.length) parts.push(el("h3", {}, t("sources")), sourceList(answer.citations, kept, turn.gone));
    const count = { n: answer.further_reading.length };
    parts.push(furtherReading(answer.further_reading, t(answer.declined ? "lookedAt" : "further", count), kept, { gone: turn.gone }));
    parts.push(sentenceVerdicts(turn.grounding), footLine(answer), exportButtons(turn.question, answer), thumbs(turn, answer));
  } else if (error && started) {
    parts.push(furtherReading([...started.evidence, ...started.further_reading], t("evidenceFound"), kept, { opened: true }));
  }
  turn.node.setAttribute("aria-busy", String(!answer && !error && !turn.stopped));
  turn.node.replaceChildren(...parts.filter(Boolean));
}

/** With evidence (`started`) it is the reader that failed; where the API keeps the evidence is no reader's concern. */
function errorBox(error, started) {
  const retry = error.retryAfter ? t("retry", { seconds: error.retryAfter }) : "";
  const kind = has(`error_${error.code}`) ? t(`error_${error.code}`) : "";
  const message = `${kind}${error.message.replace(/ The evidence found for the question is in [\w.]+\.$/, "")}`;
  const said = [started && t("readerFailed"), message, retry].filter(Boolean);
  return el("p", { class: "error-line", role: "alert" }, said.join(" "));
}

/** What was said so far, for a question that leans on it and is not saved. */
function history() {
  const past = turns.flatMap((turn) => turn.columns ?? [turn]).filter((turn) => turn.answer).slice(-HISTORY_TURNS);
  return past.flatMap((turn) => [
    { role: "user", content: turn.question },
    { role: "assistant", content: turn.text || "…" },
  ]);
}

function newTurn(question, wanted, inColumn = false) {
  return { question, scope: wanted, inColumn, text: "", cited: [], node: el(inColumn ? "section" : "article", { class: inColumn ? "column" : "turn" }) };
}

/** What the form says of the next question, beside its text and filters. */
function options() {
  const asOf = $("as-of").value;
  const route = $("route-choice").hidden ? "auto" : $("route").value;
  const strict = $("strict").checked;
  const chosen = model();
  return { ...(asOf && { as_of: asOf }), ...(route !== "auto" && { route }), ...(strict && { strict }), ...(chosen && { model: chosen }) };
}

async function submit(question) {
  running?.abort();
  const control = (running = new AbortController());
  const wanted = scope();
  const companies = columns();
  const before = history();
  const turn = newTurn(question, wanted);
  if (companies.length) turn.columns = companies.map((company) => newTurn(question, { ...wanted, companies: [company] }, true));
  turns.push(turn);
  $("thread").prepend(turn.node);
  $("scope").open = false;
  busy(true);
  draw(turn);
  say(t("searching"));
  const asked = options();
  try {
    Object.assign(asked, { conversation_id: await conversationFor(question) });
    if (turn.columns) asked.group = crypto.randomUUID?.() ?? String(Date.now());
  } catch (error) {
    turn.notice = t("notSaved", { message: error.message });
    asked.history = before;
  }
  await Promise.all((turn.columns ?? [turn]).map((one) => answer(one, asked, control, turn)));
  if (turn.columns && !control.signal.aborted) say(t("sideBySideDone", { n: turn.columns.filter((one) => one.answer).length }));
  if (running === control) {
    running = null;
    busy(false);
  }
  if (asked.conversation_id) conversationChanged();
}

/** Ask, and follow the answer into its turn. Never raises: what fails stands in the turn. */
async function answer(turn, asked, control, whole) {
  const body = { question: turn.question, ...asked, ...scopeBody(turn.scope) };
  try {
    for await (const { name, data } of ask(body, control.signal)) {
      if (name === "started") turn.started = data;
      else if (name === "quotes") turn.quotes = data;
      else if (name === "delta") {
        turn.text += data.text;
        turn.cited.push(...(data.citations ?? []));
      } else if (name === "verdicts") {
        turn.grounding = data;
        turn.text = data.text;
      } else if (name === "answer") {
        answered(turn, data);
        if (!whole.columns) say(data.declined ? t("declinedDone") : t("answered", { n: data.citations.length }));
      } else if (name === "error") throw new ApiError(0, data.error, 0);
      drawAnswer(turn);
    }
  } catch (error) {
    if (control.signal.aborted) turn.stopped = true;
    else turn.error = error;
    say(turn.stopped ? t("stopped") : error.message);
    drawAnswer(turn);
  }
}

function answered(turn, data) {
  turn.answer = data;
  turn.text = data.answer;
  turn.grounding = data.grounding;
}

/** A saved turn as it was when it was given. */
function restored(saved, gone, inColumn = false) {
  const turn = newTurn(saved.question, { ...saved.filters, collections: saved.collections }, inColumn);
  const { reading, evidence, further_reading, standalone } = saved.answer;
  turn.started = { reading, evidence, further_reading, standalone };
  answered(turn, saved.answer);
  Object.assign(turn, saved.thumb, { gone });
  return turn;
}

const companyOf = (turn) => (turn.scope.companies ?? []).join();

function showSaved(conversation) {
  reset();
  const gone = conversation.removed ?? [];
  for (const saved of conversation.saved) {
    const last = turns.at(-1);
    if (saved.group && last?.group === saved.group) last.columns.push(restored(saved, gone, true));
    else if (saved.group) turns.push({ ...newTurn(saved.question, {}), group: saved.group, columns: [restored(saved, gone, true)] });
    else turns.push(restored(saved, gone));
  }
  for (const turn of turns) {
    turn.columns?.sort((a, b) => companyOf(a).localeCompare(companyOf(b))); // they were saved as they came
    $("thread").prepend(turn.node);
    draw(turn);
  }
  const last = turns.at(-1);
  if (last && !last.columns) choose(last.scope);
  busy(false);
  say(t("talkOpened", { title: conversation.title, n: conversation.saved.length }));
}

function reset() {
  running?.abort();
  running = null;
  turns.length = 0;
  $("thread").replaceChildren();
  busy(false);
}

/** No conversation is on the page any more; why: what went wrong, or empty. */
function closed(why) {
  reset();
  if (why) $("thread").replaceChildren(el("p", { class: "error-line", role: "alert" }, why));
}

function busy(on) {
  show($("stop"), on);
  show($("ask"), !on);
  show($("clear"), !on && turns.length > 0);
  show($("examples"), turns.length === 0);
}

function drawExamples() {
  const buttons = examples().map((text) =>
    el("button", { type: "button", on: { click: () => start(text) } }, text),
  );
  $("examples").replaceChildren(el("span", {}, t("try")), ...buttons);
}

function start(question) {
  $("question").value = question;
  $("ask-form").requestSubmit();
}

export function startAsk() {
  $("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = $("question").value.trim();
    if (!question) return;
    $("question").value = "";
    submit(question);
  });
  $("question").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      $("ask-form").requestSubmit();
    }
  });
  $("stop").addEventListener("click", () => running?.abort());
  $("sign-in").addEventListener("click", () => keepQuestion($("question").value.trim() || (running && turns.at(-1)?.question)));
  keptQuestion().then((text) => ($("question").value ||= text));
  $("clear").addEventListener("click", () => {
    leaveConversation();
    closed("");
    $("question").focus();
  });
  document.addEventListener("language", () => {
    drawExamples();
    turns.forEach(draw);
  });
  document.addEventListener("theme", () => {
    for (const turn of turns.flatMap((one) => one.columns ?? [one])) turn.chart = undefined; // drawn in the page's colours
    turns.forEach(draw);
  });
  startChoices();
  startConversations({ opened: showSaved, closed });
  drawExamples();
}
