// Questions and answers.

import { ApiError, ask } from "./api.js";
import { chart } from "./chart.js";
import { $, el, joined, show } from "./dom.js";
import { fetchOffers } from "./fetchoffer.js";
import { figureFacts } from "./figures.js";
import { paragraphs } from "./marked.js";
import { routeDetails } from "./route.js";
import { sourceList } from "./sources.js";
import { examples, has, readingText, t } from "./texts.js";
import { thumbs } from "./thumbs.js";
import { exportButtons, searchesLine, sentenceVerdicts, standaloneLine, withheldBox } from "./verdicts.js";

const turns = []; // {question, text, cited, started, grounding, answer, error, node}, newest last
let running = null;

const say = (text) => ($("announce").textContent = text);

function furtherReading(citations, label, kept, opened = false) {
  if (!citations.length) return null;
  return el("details", { class: "further", open: opened }, el("summary", {}, label), sourceList(citations, kept));
}

function readingLine(reading) {
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
  const { started, answer, error } = turn;
  const citations = answer ? answer.citations : turn.cited;
  const body = el("div", { class: answer?.declined ? "answer declined" : "answer", dir: "auto" });
  if (turn.text) body.append(...paragraphs(turn.text, citations, turn.grounding));
  else if (turn.quotes && !error) body.append(el("p", { class: "wait" }, t("quotesMeanwhile")), ...paragraphs(turn.quotes.text, turn.quotes.citations));
  else if (!error) body.append(el("p", { class: "wait" }, turn.stopped ? t("stopped") : t(started ? "writing" : "searching")));
  const parts = [el("h2", { class: "asked" }, turn.question)];
  parts.push(standaloneLine((answer ?? started)?.standalone ?? started?.standalone));
  if (started) parts.push(readingLine(started.reading), routeDetails(answer ?? { ...started, declined: Boolean(error) }));
  parts.push(searchesLine((answer ?? started)?.searches));
  const kept = answer?.web?.kept ?? [];
  if (turn.text || !error) parts.push(body);
  parts.push(withheldBox(turn.grounding));
  const reason = answer?.declined?.detail;
  for (const notice of new Set([...(reason ? [reason] : []), ...(answer?.notices ?? [])])) parts.push(el("p", { class: "notice" }, notice));
  if (error) parts.push(errorBox(error, started));
  if (answer) {
    parts.push((turn.offers ??= fetchOffers(answer, () => start(turn.question))));
    parts.push(turn.chart ??= chart(answer.figures), figureFacts(answer.figures));
    if (answer.citations.length) parts.push(el("h3", {}, t("sources")), sourceList(answer.citations, kept));
    const count = { n: answer.further_reading.length };
    parts.push(furtherReading(answer.further_reading, t(answer.declined ? "lookedAt" : "further", count), kept));
    parts.push(sentenceVerdicts(turn.grounding), footLine(answer), exportButtons(turn.question, answer), thumbs(turn, answer));
  } else if (error && started) {
    parts.push(furtherReading([...started.evidence, ...started.further_reading], t("evidenceFound"), kept, true));
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

/** What was said so far, for a question that leans on it. */
function conversation() {
  const past = turns.filter((turn) => turn.answer).slice(-3);
  return past.flatMap((turn) => [
    { role: "user", content: turn.question },
    { role: "assistant", content: turn.text || "…" },
  ]);
}

async function submit(question) {
  running?.abort();
  const control = (running = new AbortController());
  const turn = { question, text: "", cited: [], node: el("article", { class: "turn" }) };
  const history = conversation();
  turns.push(turn);
  $("thread").prepend(turn.node);
  busy(true);
  draw(turn);
  say(t("searching"));
  const asOf = $("as-of").value;
  const route = $("route-choice").hidden ? "auto" : $("route").value;
  const strict = $("strict").checked;
  const chosen = { ...(asOf && { as_of: asOf }), ...(route !== "auto" && { route }), ...(strict && { strict }) };
  try {
    for await (const { name, data } of ask({ question, history, ...chosen }, control.signal)) {
      if (name === "started") turn.started = data;
      else if (name === "quotes") turn.quotes = data;
      else if (name === "delta") {
        turn.text += data.text;
        turn.cited.push(...(data.citations ?? []));
      }
      else if (name === "verdicts") {
        turn.grounding = data;
        turn.text = data.text;
      } else if (name === "answer") {
        turn.answer = data;
        turn.text = data.answer;
        turn.grounding = data.grounding;
        say(data.declined ? t("declinedDone") : t("answered", { n: data.citations.length }));
      } else if (name === "error") throw new ApiError(0, data.error, 0);
      draw(turn);
    }
  } catch (error) {
    if (control.signal.aborted) turn.stopped = true;
    else turn.error = error;
    say(turn.stopped ? t("stopped") : error.message);
    draw(turn);
  } finally {
    if (running === control) {
      running = null;
      busy(false);
    }
  }
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
  $("clear").addEventListener("click", () => {
    turns.length = 0;
    $("thread").replaceChildren();
    busy(false);
    $("question").focus();
  });
  document.addEventListener("language", () => {
    drawExamples();
    turns.forEach(draw);
  });
  drawExamples();
}
