// Building the page. Text only ever becomes text: nothing that came from a document is read as HTML.

export const $ = (id) => document.getElementById(id);

/** el("p", {class: "meta"}, "text", otherNode): strings become text nodes. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [type, handler] of Object.entries(value)) node.addEventListener(type, handler);
    else if (value === true) node.setAttribute(name, "");
    else node.setAttribute(name, String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

export function show(node, shown) {
  node.hidden = !shown;
}

/** An address that may be a link: http and https only, never a script. Empty for any other. */
export function outside(address) {
  try {
    const url = new URL(address);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : "";
  } catch {
    return "";
  }
}

export const joined = (...parts) => parts.filter(Boolean).join(" · ");
