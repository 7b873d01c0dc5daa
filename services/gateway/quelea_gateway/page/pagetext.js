// A page's text with its tables as tables and the quoted span marked. Every character stays: the nodes' text is the
// page's text, so offsets into one are offsets into the other.

import { el } from "./dom.js";

export const FIGURE = /^[\s$€£¥(（+\-−–—]*[\d.,]+[\s%)）]*$|^[-−–—]$/;

/** Lines with tabs in a row are a table: [[{start, end} of each cell] of each row]; the rest is text. Code points. */
export function blocks(points) {
  const found = [];
  let start = 0;
  while (start < points.length) {
    const newline = points.indexOf("\n", start);
    const end = newline < 0 ? points.length : newline + 1;
    const cells = [];
    let from = start;
    for (let at = start; at < end; at += 1) {
      if (points[at] === "\t" && at + 1 < end) {
        cells.push({ start: from, end: at + 1 });
        from = at + 1;
      }
    }
    cells.push({ start: from, end });
    const kind = cells.length > 1 ? "rows" : "text";
    const last = found.at(-1);
    if (kind === "rows" && last?.rows) last.rows.push(cells);
    else if (kind === "rows") found.push({ rows: [cells] });
    else if (last?.text) last.text.end = end;
    else found.push({ text: { start, end } });
    start = end;
  }
  return found;
}

/** The page's nodes; the first mark has the id "quote". Offsets count code points, as the API does. */
export function pageNodes(text, span) {
  const points = Array.from(text);
  let marked = false;
  const slice = (from, to) => points.slice(from, to).join("");
  const pieces = ({ start, end }) => {
    if (!span || span.end <= start || span.start >= end) return [slice(start, end)];
    const from = Math.max(start, span.start);
    const to = Math.min(end, span.end);
    const words = slice(from, to);
    if (!words.trim()) return [slice(start, end)];
    const mark = el("mark", { id: marked ? null : "quote" }, words);
    marked = true;
    return [slice(start, from), mark, slice(to, end)].filter((piece) => piece !== "");
  };
  const cell = (place) => {
    const node = el("td", { class: FIGURE.test(slice(place.start, place.end).trim()) ? "figure" : null });
    node.append(...pieces(place));
    return node;
  };
  return blocks(points).flatMap((block) => {
    if (block.text) return pieces(block.text);
    const rows = block.rows.map((cells) => el("tr", {}, ...cells.map(cell)));
    return [el("div", { class: "table" }, el("table", {}, el("tbody", {}, ...rows)))];
  });
}
