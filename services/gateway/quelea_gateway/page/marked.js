// An answer's text as nodes: a button for each citation marker, figures and sentences with what the checks found.

import { el } from "./dom.js";
import { open } from "./sources.js";
import { t } from "./texts.js";

const MARKER = /\[(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\]/g;

/** The verdicts with places in UTF-16 units, as strings count here; the wire counts code points. */
function placed(text, grounding) {
  if (!grounding || grounding.text !== text) return { sentences: [], figures: [] };
  const at = [0];
  for (const character of text) at.push(at.at(-1) + character.length);
  const move = (one) => ({ ...one, start: at[one.start], end: at[one.end] });
  return { sentences: grounding.sentences.map(move), figures: grounding.figures.map(move) };
}

/** Text with markers; the second [1] opens the second quote of passage 1. */
function withMarkers(text, citations, used) {
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(MARKER)) {
    // A marker stays on the line of the word before it (in Chinese: of the last two characters).
    const [, head, word] = text.slice(at, match.index).match(/^([^]*?)([!-~“”’]{1,24}|\S{0,2})\s*$/);
    const kept = el("span", { class: "kept" }, word);
    nodes.push(head, kept);
    at = match.index + match[0].length;
    for (const digits of match[1].match(/\d+/g)) {
      const number = Number(digits);
      const own = citations.filter((citation) => citation.number === number);
      if (!own.length) {
        kept.append(`[${number}]`);
        continue;
      }
      const citation = own[Math.min(used.get(number) ?? 0, own.length - 1)];
      used.set(number, (used.get(number) ?? 0) + 1);
      const label = t("cite", { n: number, title: citation.title, page: citation.page });
      const attributes = { type: "button", class: "cite", "aria-label": label, title: label };
      kept.append(el("button", { ...attributes, on: { click: () => open(citation) } }, digits));
    }
  }
  nodes.push(text.slice(at));
  return nodes.filter((node) => node !== "");
}

/** A computed figure shows its formula on hover, and beside it when it is pressed. */
function derived(text, formula) {
  const label = t("derived", { formula });
  const press = (event) => {
    const button = event.currentTarget;
    const shown = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!shown));
    if (shown) button.nextElementSibling.remove();
    else button.after(el("span", { class: "formula" }, ` ${formula}`));
  };
  const attributes = { type: "button", class: "figure derived", title: label, "aria-expanded": "false" };
  return el("button", { ...attributes, on: { click: press } }, text, el("span", { class: "hidden" }, ` (${label})`));
}

function unsupported(text) {
  const label = t("figureUnsupported");
  return el("span", { class: "figure bad", title: label }, text, el("span", { class: "hidden" }, ` (${label})`));
}

/** text[from:to] with its figures. */
function withFigures(text, from, to, verdicts, citations, used) {
  const nodes = [];
  let at = from;
  for (const figure of verdicts.figures) {
    if (figure.start < at || figure.end > to || figure.verdict === "supported") continue;
    nodes.push(...withMarkers(text.slice(at, figure.start), citations, used));
    const said = text.slice(figure.start, figure.end);
    nodes.push(figure.verdict === "derived" ? derived(said, figure.formula) : unsupported(said));
    at = figure.end;
  }
  nodes.push(...withMarkers(text.slice(at, to), citations, used));
  return nodes;
}

/** text[from:to] with its sentences: those that nothing supports are marked as such. */
function inline(text, from, to, verdicts, citations, used) {
  const nodes = [];
  let at = from;
  for (const sentence of verdicts.sentences) {
    const [start, end] = [Math.max(sentence.start, at), Math.min(sentence.end, to)];
    if (sentence.verdict !== "unsupported" || start >= end) continue;
    nodes.push(...withFigures(text, at, start, verdicts, citations, used));
    const flag = el("span", { class: "flag" }, t("noSupport"));
    const words = withFigures(text, start, end, verdicts, citations, used);
    nodes.push(el("span", { class: "unsupported", title: t("sentenceUnsupported") }, ...words, " ", flag));
    at = end;
  }
  nodes.push(...withFigures(text, at, to, verdicts, citations, used));
  return nodes;
}

/** Lines as paragraphs, lines that begin with a dash as a list. */
export function paragraphs(text, citations, grounding) {
  const verdicts = placed(text, grounding);
  const used = new Map();
  const blocks = [];
  for (const match of text.matchAll(/[^\n]+/g)) {
    const [, lead, item, words] = match[0].match(/^(\s*)([-•*]\s+)?(.*?)\s*$/);
    if (!words) continue;
    const from = match.index + lead.length + (item ?? "").length;
    const nodes = inline(text, from, from + words.length, verdicts, citations, used);
    if (!item) blocks.push(el("p", {}, ...nodes));
    else if (blocks.at(-1)?.tagName === "UL") blocks.at(-1).append(el("li", {}, ...nodes));
    else blocks.push(el("ul", {}, el("li", {}, ...nodes)));
  }
  return blocks;
}
