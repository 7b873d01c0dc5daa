// The Markdown that language models write, as places in the text: every part keeps its offsets, so that verdicts and
// citations find their words. What is not known here stays as it was written. Nothing of it is read as HTML.

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^ {0,3}(#{1,6})\s+/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}\s*$/;
const ITEM = /^(\s*)(?:([-•*+])|(\d{1,3})[.)])\s+/;
const QUOTE = /^ {0,3}>\s?/;
const BAR = /^\s*\|.*\|\s*$/;
const UNDER_HEAD = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;

/** Inline parts: what they are, and how many characters at either end are only marks. */
const INLINE = [
  ["code", /`[^`\n]+`/g, 1],
  ["strong", /\*\*(?=\S)[^\n]*?\S\*\*/g, 2],
  ["strong", /(?<!\w)__(?=\S)[^\n]*?\S__(?!\w)/g, 2],
  ["em", /(?<![\w*])\*(?=[^\s*])[^*\n]*?[^\s*]\*(?![\w*])/g, 1],
];
const QUOTED = /“[^”\n]*”/g; // the words of a source, which are no Markdown
const LINK = /\[([^\]\n]+)\]\(https?:\/\/[^\s)]+\)/g;

function trimmed(text, start, end) {
  while (start < end && /\s/.test(text[start])) start += 1;
  while (end > start && /\s/.test(text[end - 1])) end -= 1;
  return { start, end };
}

function cells({ text, start, end }) {
  const found = [];
  const { start: first, end: last } = trimmed(text, start, end);
  let from = first + 1;
  for (let at = from; at < last; at += 1) {
    if (text[at] !== "|" || text[at - 1] === "\\") continue;
    found.push(trimmed(text, from, at));
    from = at + 1;
  }
  return found;
}

/** Blocks in order: {kind, start, end}; of an item indent and number (null in a plain list), of a table its rows. */
export function blocksOf(text) {
  const lines = [...text.matchAll(/[^\n]*(?:\n|$)/g)]
    .filter((match) => match[0])
    .map((match) => ({ text, start: match.index, end: match.index + match[0].replace(/\n$/, "").length }));
  const said = (line) => (line ? text.slice(line.start, line.end) : "");
  const found = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const words = said(line);
    const after = (match) => trimmed(text, line.start + match[0].length, line.end);
    let match;
    if (!words.trim()) continue;
    if ((match = words.match(FENCE))) {
      let end = at + 1;
      while (end < lines.length && !said(lines[end]).trim().startsWith(match[1])) end += 1;
      if (end > at + 1) found.push({ kind: "code", start: lines[at + 1].start, end: lines[end - 1].end });
      at = end;
    } else if (BAR.test(words) && UNDER_HEAD.test(said(lines[at + 1]))) {
      const rows = [cells(line)];
      at += 1;
      while (BAR.test(said(lines[at + 1]))) rows.push(cells(lines[(at += 1)]));
      found.push({ kind: "table", start: line.start, end: lines[at].end, rows });
    } else if ((match = words.match(HEADING))) found.push({ kind: "heading", ...after(match) });
    else if (RULE.test(words)) found.push({ kind: "rule", start: line.start, end: line.end });
    else if ((match = words.match(ITEM))) {
      const number = match[3] ? Number(match[3]) : null;
      found.push({ kind: "item", indent: match[1].replaceAll("\t", "    ").length, number, ...after(match) });
    } else if ((match = words.match(QUOTE))) found.push({ kind: "quote", ...after(match) });
    else found.push({ kind: "text", ...trimmed(text, line.start, line.end) });
  }
  return found.filter((block) => block.kind === "rule" || block.start < block.end);
}

/** Of text[start:end]: {styles: [{start, end, tag}], hidden: [{start, end}] of characters that are only marks}. */
export function inlineOf(text, start, end) {
  const words = text.slice(start, end);
  const styles = [];
  const hidden = [];
  const verbatim = [...words.matchAll(QUOTED)].map((match) => ({ start: start + match.index, end: start + match.index + match[0].length }));
  const within = (place) => (at) => at >= place.start && at < place.end;
  const inCode = (at) => [...verbatim, ...styles.filter(({ tag }) => tag === "code")].some((place) => within(place)(at));
  for (const [tag, pattern, marks] of INLINE) {
    for (const match of words.matchAll(pattern)) {
      const [from, to] = [start + match.index, start + match.index + match[0].length];
      if (inCode(from) || inCode(to - 1)) continue;
      styles.push({ start: from + marks, end: to - marks, tag });
      hidden.push({ start: from, end: from + marks }, { start: to - marks, end: to });
    }
  }
  for (const match of words.matchAll(LINK)) {
    const from = start + match.index;
    if (inCode(from)) continue;
    const close = from + match[1].length + 1;
    hidden.push({ start: from, end: from + 1 }, { start: close, end: close + 1 });
    styles.push({ start: close + 1, end: from + match[0].length, tag: "small" });
  }
  return { styles, hidden };
}
