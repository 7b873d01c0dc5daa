// The way that an answer took, and why: the gate's verdict, what the web was asked and what came of it.

import { el } from "./dom.js";
import { has, t } from "./texts.js";

const number = (value) => Number(value).toFixed(2);

function verdict(gate) {
  const name = has(`gate_${gate.kind}`) ? t(`gate_${gate.kind}`) : gate.kind;
  const sign = gate.passed ? "≥" : "<";
  return t("gateVerdict", { name, value: number(gate.probability), sign, threshold: number(gate.threshold) });
}

function webLines(web) {
  const lines = [t(web.cached ? "webReadCached" : "webRead", { provider: web.provider || "–", n: web.pages_read })];
  for (const page of web.kept ?? []) {
    lines.push(t(page.state === "pending" ? "webPageWaits" : "webPageKept", { url: page.url }));
  }
  for (const problem of web.problems ?? []) lines.push(t("webProblem", { problem }));
  return lines;
}

/** Folded away: route, verdict, reasons, what the web route did. Null where none of it is told. */
export function routeDetails({ route, gate, web, declined }) {
  if (!route || !gate) return null;
  const judged = gate.kind && gate.kind !== "none";
  const taken = t(route === "local" ? "routeLocal" : "routeWeb");
  const chosen = gate.passed && route !== "local"; // the caller wanted the web
  const enough = gate.passed && !declined; // passages that fit the question and have no answer are not enough
  const verdictText = enough ? "gatePassed" : route === "local" ? "gateDoubted" : "gateFailed";
  const why = judged && !chosen && (enough || !gate.passed) ? t(verdictText) : "";
  const lines = [...(judged ? [verdict(gate)] : []), ...(gate.reasons ?? []), ...(web ? webLines(web) : [])];
  return el(
    "details",
    { class: "route" },
    el("summary", {}, t(declined ? "routeSearched" : "routeTaken", { taken }), why ? ` · ${why}` : ""),
    el("ul", {}, ...lines.map((line) => el("li", {}, line))),
  );
}
