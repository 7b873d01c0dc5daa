// What the checks found of an answer: sentence by sentence, what was withheld; and the answer as Markdown.

import { postForText, saveMade } from "./api.js";
import { el } from "./dom.js";
import { has, t } from "./texts.js";

const SIGNS = { supported: "✓", partly: "~", contradicted: "✗", not_found: "?" };

/** Folded away: every sentence that claims something, with its verdict. */
export function sentenceVerdicts(grounding) {
  const claims = (grounding?.sentences ?? []).filter((sentence) => sentence.verdict !== "no_claim");
  if (!claims.length) return null;
  const count = (verdict) => claims.filter((sentence) => sentence.verdict === verdict).length;
  const parts = Object.keys(SIGNS).filter(count).map((verdict) => t(`verdicts_${verdict}`, { n: count(verdict) }));
  const line = (sentence) => {
    const label = t(`verdict_${sentence.verdict}`);
    const sign = el("span", { class: `sign ${sentence.verdict}`, role: "img", "aria-label": label, title: label }, SIGNS[sentence.verdict]);
    return el("li", {}, sign, el("span", {}, sentence.text.replace(/^[-•*]\s+/, "")));
  };
  return el(
    "details",
    { class: "verdicts" },
    el("summary", {}, t("sentences", { parts: parts.join(t("comma")) })),
    el("ul", {}, ...claims.map(line)),
  );
}

/** What strict mode left out. */
export function withheldBox(grounding) {
  const withheld = grounding?.withheld ?? [];
  if (!withheld.length) return null;
  return el(
    "details",
    { class: "withheld" },
    el("summary", {}, t("withheld", { n: withheld.length })),
    el("ul", {}, ...withheld.map((text) => el("li", {}, text))),
  );
}

/** "understood as: …" of a question that leaned on the ones before it. */
export function standaloneLine(standalone) {
  if (!standalone?.question) return null;
  const by = has(`by_${standalone.by}`) ? t(`by_${standalone.by}`) : standalone.by;
  return el("p", { class: "reading standalone", title: by }, t("understoodAs", { question: standalone.question }));
}

/** "also searched for: …" where a language model took the question apart. */
export function searchesLine(searches) {
  if (!searches?.length) return null;
  return el(
    "details",
    { class: "reading" },
    el("summary", {}, t("alsoSearched", { n: searches.length })),
    el("ul", {}, ...searches.map((one) => el("li", {}, one))),
  );
}

/** Buttons that copy the answer with its sources as Markdown, or save it: as Markdown, as a research note, as a workbook. */
export function exportButtons(question, answer) {
  const state = el("span", { class: "meta", role: "status" });
  const text = () => postForText("/v1/export", { question, answer });
  const tell = (work) => async () => {
    try {
      state.textContent = await work();
    } catch (error) {
      state.textContent = error.message;
    }
  };
  const copy = tell(async () => {
    await navigator.clipboard.writeText(await text());
    return t("copied");
  });
  const save = tell(async () => {
    const href = `data:text/markdown;charset=utf-8,${encodeURIComponent(await text())}`;
    el("a", { href, download: "answer.md" }).click();
    return "";
  });
  const button = (name, press) => el("button", { type: "button", class: `quiet small ${name}`, on: { click: press } }, t(name));
  const own = navigator.clipboard ? [button("copyMarkdown", copy)] : []; // only pages with HTTPS, or of this machine, may
  const files = ["docx", "pdf", "xlsx"].map((format) =>
    button(`save_${format}`, tell(async () => {
      state.textContent = t("making");
      await saveMade("/v1/export", { question, answer, format }, `answer.${format}`);
      return "";
    })),
  );
  return el("span", { class: "export" }, ...own, button("saveMarkdown", save), ...files, state);
}
