// An answer's text as nodes: a button for each citation marker, figures and sentences with what the checks found.

import { el } from "./dom.js";
import { blocksOf, inlineOf } from "./markdown.js";
import { FIGURE } from "./pagetext.js";
import { open } from "./sources.js";
import { t } from "./texts.js";

/** Verdicts of what the evidence does not bear out: it says otherwise, or nothing of it. */
export const UNSUPPORTED = ["contradicted", "not_found"];
const MARKER = /\[(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\]/g;

/** The verdicts with places in UTF-16 units, as strings count here; the wire counts code points. */
function placed(text, grounding) {
  if (!grounding || grounding.text !== text) return { sentences: [], figures: [] };
  const at = [0];
  for (const character of text) at.push(at.at(-1) + character.length);
  const move = (one) => ({ ...one, start: at[one.start], end: at[one.end] });
  return { sentences: grounding.sentences.map(move), figures: grounding.figures.map(move) };
}

/** text[from:to] without the characters that are only Markdown's, in the styles that these ask for. */
function styled({ text, styles, hidden }, from, to) {
  const edges = [...styles, ...hidden].flatMap((part) => [part.start, part.end]).filter((at) => at > from && at < to);
  const points = [...new Set([from, ...edges, to])].sort((a, b) => a - b);
  const nodes = [];
  points.slice(0, -1).forEach((start, index) => {
    const covers = (part) => part.start <= start && start < part.end;
    if (hidden.some(covers)) return;
    const words = text.slice(start, points[index + 1]);
    nodes.push(styles.filter(covers).reduceRight((inner, { tag }) => el(tag, {}, inner), words));
  });
  return nodes;
}

/** text[from:to] with markers; the second [1] opens the second quote of passage 1. */
function withMarkers(part, from, to) {
  const nodes = [];
  let at = from;
  for (const match of part.text.slice(from, to).matchAll(MARKER)) {
    const place = from + match.index;
    // A marker stays on the line of the word before it (in Chinese: of the last two characters).
    const [, , word, space] = part.text.slice(at, place).match(/^([^]*?)([!-~“”’]{1,24}|\S{0,2})(\s*)$/);
    const split = place - space.length - word.length;
    const kept = el("span", { class: "kept" }, ...styled(part, split, place - space.length));
    nodes.push(...styled(part, at, split), kept);
    at = place + match[0].length;
    for (const digits of match[1].match(/\d+/g)) kept.append(citeNode(part, digits));
  }
  nodes.push(...styled(part, at, to));
  return nodes.filter((node) => node !== "");
}

function citeNode({ citations, used }, digits) {
  const number = Number(digits);
  const own = citations.filter((citation) => citation.number === number);
  if (!own.length) return `[${number}]`;
  const citation = own[Math.min(used.get(number) ?? 0, own.length - 1)];
  used.set(number, (used.get(number) ?? 0) + 1);
  const label = t("cite", { n: number, title: citation.title, page: citation.page });
  const attributes = { type: "button", class: "cite", "aria-label": label, title: label };
  return el("button", { ...attributes, on: { click: () => open(citation) } }, digits);
}

/** A computed figure shows its formula on hover, and beside it when it is pressed. */
function derived(words, formula) {
  const label = t("derived", { formula });
  const press = (event) => {
    const button = event.currentTarget;
    const shown = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!shown));
    if (shown) button.nextElementSibling.remove();
    else button.after(el("span", { class: "formula" }, ` ${formula}`));
  };
  const attributes = { type: "button", class: "figure derived", title: label, "aria-expanded": "false" };
  return el("button", { ...attributes, on: { click: press } }, ...words, el("span", { class: "hidden" }, ` (${label})`));
}

/** A figure that the evidence contradicts, or does not have. */
function unsupported(words, verdict) {
  const label = t(`figure_${verdict}`);
  return el("span", { class: `figure bad ${verdict}`, title: label }, ...words, el("span", { class: "hidden" }, ` (${label})`));
}

/** text[from:to] with its figures. */
function withFigures(part, from, to) {
  const nodes = [];
  let at = from;
  for (const figure of part.verdicts.figures) {
    if (figure.start < at || figure.end > to || figure.verdict === "supported") continue;
    nodes.push(...withMarkers(part, at, figure.start));
    const said = styled(part, figure.start, figure.end);
    nodes.push(figure.verdict === "derived" ? derived(said, figure.formula) : unsupported(said, figure.verdict));
    at = figure.end;
  }
  nodes.push(...withMarkers(part, at, to));
  return nodes;
}

/** text[from:to] with its sentences: those that the evidence contradicts or lacks are marked as such, in a table once a row. */
function inline(answer, from, to, flagged = true) {
  const part = { ...answer, ...inlineOf(answer.text, from, to) };
  const nodes = [];
  let at = from;
  for (const sentence of part.verdicts.sentences) {
    const [start, end] = [Math.max(sentence.start, at), Math.min(sentence.end, to)];
    if (!UNSUPPORTED.includes(sentence.verdict) || start >= end) continue;
    nodes.push(...withFigures(part, at, start));
    const flag = flagged ? [" ", el("span", { class: `flag ${sentence.verdict}` }, t(`flag_${sentence.verdict}`))] : [];
    const words = withFigures(part, start, end);
    nodes.push(el("span", { class: `unsupported ${sentence.verdict}`, title: t(`sentence_${sentence.verdict}`) }, ...words, ...flag));
    at = end;
  }
  nodes.push(...withFigures(part, at, to));
  return nodes;
}

function table(answer, rows) {
  const cell = (tag) => ({ start, end }, index, row) => {
    const figure = FIGURE.test(answer.text.slice(start, end).replace(MARKER, "").trim());
    return el(tag, { class: figure ? "figure" : null }, ...inline(answer, start, end, index === row.length - 1));
  };
  const [head, ...others] = rows.map((row, index) => el("tr", {}, ...row.map(cell(index ? "td" : "th"))));
  return el("div", { class: "table" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...others)));
}

const KINDS = { heading: ["p", "part"], quote: ["p", "quoted"], text: ["p", null] };

/** Lines as paragraphs, lists, tables and code, as the Markdown in them asks for. */
export function paragraphs(text, citations, grounding) {
  const answer = { text, citations, verdicts: placed(text, grounding), used: new Map() };
  const blocks = [];
  const lists = []; // open ones, the outermost first: {indent, ordered, node}
  for (const block of blocksOf(text)) {
    if (block.kind !== "item") lists.length = 0;
    if (block.kind === "rule") blocks.push(el("hr"));
    else if (block.kind === "table") blocks.push(table(answer, block.rows));
    else if (block.kind === "code") blocks.push(el("pre", {}, text.slice(block.start, block.end)));
    else if (block.kind !== "item") {
      const [tag, kind] = KINDS[block.kind];
      blocks.push(el(tag, { class: kind }, ...inline(answer, block.start, block.end)));
    } else listFor(block, lists, blocks).append(el("li", {}, ...inline(answer, block.start, block.end)));
  }
  return blocks;
}

/** The list that an item belongs to; a new one where it is deeper, or of the other kind. */
function listFor(item, lists, blocks) {
  while (lists.length && lists.at(-1).indent > item.indent + 1) lists.pop();
  const ordered = item.number !== null;
  const top = lists.at(-1);
  const deeper = top && item.indent >= top.indent + 2;
  if (top && !deeper && top.ordered === ordered) return top.node;
  if (top && !deeper) lists.pop();
  const node = el(ordered ? "ol" : "ul", { start: ordered && item.number !== 1 ? item.number : null });
  const parent = lists.at(-1)?.node.lastElementChild;
  if (parent) parent.append(node);
  else blocks.push(node);
  lists.push({ indent: item.indent, ordered, node });
  return node;
}
