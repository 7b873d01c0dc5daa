// Usage: a table by key, by day, or both, a chart by day, and the same as CSV.

import { all, labelled, table } from "./adminparts.js";
import { get, saveFile } from "./api.js";
import { el } from "./dom.js";
import { current, t } from "./texts.js";

const FIELDS = ["questions", "tokens_read", "tokens_written", "runs", "uploads", "refusals"];
const DAY_MS = 86_400_000;
const DAYS = 30;
const [WIDTH, HEIGHT] = [720, 120];
const chosen = { from: "", to: "", by: "key", field: "questions" };

const dayOf = (time) => new Date(time).toISOString().slice(0, 10);
const number = (value) => new Intl.NumberFormat(current() === "zh" ? "zh-CN" : "en-US").format(value);

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** A bar for each day between two, also for those without usage. */
function bars(values, from, to, label) {
  const days = [];
  for (let time = Date.parse(from); time <= Date.parse(to) && days.length < 400; time += DAY_MS) days.push(dayOf(time));
  const most = Math.max(1, ...values.values());
  const step = WIDTH / days.length;
  const picture = svg("svg", { class: "usage-bars", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
  days.forEach((day, place) => {
    const value = values.get(day) ?? 0;
    const height = (value / most) * (HEIGHT - 4);
    const bar = svg("rect", { x: (place * step + step * 0.15).toFixed(2), y: (HEIGHT - height).toFixed(2), width: (step * 0.7).toFixed(2), height: height.toFixed(2) });
    bar.append(svg("title", {}, `${day}: ${number(value)}`));
    picture.append(bar);
  });
  picture.append(svg("line", { x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT }));
  return el("figure", { class: "usage-chart" }, picture, el("figcaption", { class: "meta" }, el("span", {}, from), el("span", {}, label), el("span", {}, to)));
}

const address = (by, more = "") => `/v1/usage?from=${chosen.from}&to=${chosen.to}${by ? `&by=${by}` : ""}${more}`;

export async function showUsage(place) {
  chosen.to ||= dayOf(Date.now());
  chosen.from ||= dayOf(Date.parse(chosen.to) - (DAYS - 1) * DAY_MS);
  const problem = el("p", { class: "error-line", role: "alert", hidden: true });
  const result = el("div", { "aria-live": "polite" });
  const pick = (name, values, text) => {
    const field = el("select", { id: `usage-${name}` }, ...values.map((one) => el("option", { value: one, selected: one === chosen[name] }, t(text(one)))));
    field.addEventListener("change", () => {
      chosen[name] = field.value;
      load();
    });
    return field;
  };
  const day = (name) => {
    const field = el("input", { type: "date", id: `usage-${name}`, value: chosen[name], required: true });
    field.addEventListener("change", () => {
      if (!field.value) return;
      chosen[name] = field.value;
      load();
    });
    return field;
  };
  const cells = (row) => FIELDS.map((name) => number(row[name]));
  async function load() {
    result.setAttribute("aria-busy", "true");
    try {
      const [rows, days, sum] = await Promise.all([all(address(chosen.by), "usage"), all(address("day"), "usage"), get(address("day", "&page_size=1"))]);
      const head = [...(chosen.by === "key" ? [] : ["usageDay"]), ...(chosen.by === "day" ? [] : ["usageKey", "keyTenant"])];
      const first = (row) => [...(chosen.by === "key" ? [] : [row.day]), ...(chosen.by === "day" ? [] : [row.key, row.tenant])];
      const total = [t("usageAll"), ...head.slice(1).map(() => ""), ...cells(sum.all)];
      const values = new Map(days.map((row) => [row.day, row[chosen.field]]));
      const what = t(`usage_${chosen.field}`);
      const label = t("usageChart", { what, from: chosen.from, to: chosen.to, most: number(Math.max(0, ...values.values())) });
      const figures = FIELDS.map((_, at) => head.length + at);
      const names = [...head.map((name) => t(name)), ...FIELDS.map((name) => t(`usage_${name}`))];
      result.replaceChildren(
        ...(rows.length
          ? [bars(values, chosen.from, chosen.to, label), table(t("admin_usage"), names, [...rows.map((row) => [...first(row), ...cells(row)]), total], figures)]
          : [el("p", { class: "meta" }, t("usageNone"))]),
      );
      problem.hidden = true;
    } catch (error) {
      if (!place.hasChildNodes() || !result.isConnected) throw error;
      problem.textContent = error.message;
      problem.hidden = false;
    } finally {
      result.removeAttribute("aria-busy");
    }
  }
  await load();
  place.replaceChildren(
    el(
      "div",
      { class: "admin-bar" },
      labelled(t("usageFrom"), day("from")),
      labelled(t("usageTo"), day("to")),
      labelled(t("usageBy"), pick("by", ["key", "day", ""], (one) => `usageBy_${one}`)),
      labelled(t("usageShown"), pick("field", FIELDS, (one) => `usage_${one}`)),
      el("button", { type: "button", id: "usage-csv", on: { click: () => saveFile(address(chosen.by, "&format=csv"), `usage-${chosen.from}-${chosen.to}.csv`) } }, t("usageCsv")),
    ),
    problem,
    result,
    el("p", { class: "meta" }, t("usageHelp")),
  );
}
