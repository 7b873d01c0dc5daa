// A chart of an answer's figures where they are one line over several periods.

import { el } from "./dom.js";
import { current, t } from "./texts.js";

const LEAST_POINTS = 3;
const MOST_LINES = 4;
const COMPUTED = ["change", "compound_growth", "share", "remainder", "calculation"];

/** "2024" of a calendar year, else its month. */
const label = (end) => (end.endsWith("-12-31") ? end.slice(0, 4) : end.slice(0, 7));

const nameOf = (figure) => (figure.metric ? figure.metric.replaceAll("_", " ") : figure.operands[0].label);

/** Points of each line that has enough of them, in the unit of the first; null where there is no line. */
export function linesOf(figures) {
  const lines = new Map();
  for (const figure of figures ?? []) {
    if (COMPUTED.includes(figure.metric)) continue;
    const key = JSON.stringify([figure.company, figure.metric || figure.operands[0].concept || figure.operands[0].label, figure.unit]);
    if (!lines.has(key)) lines.set(key, []);
    lines.get(key).push({ line: `${figure.company} · ${nameOf(figure)}`, end: figure.period_end, value: Number(figure.value), unit: figure.unit });
  }
  const long = [...lines.values()].filter((points) => new Set(points.map((point) => point.end)).size >= LEAST_POINTS);
  const shown = long.filter(([first]) => first.unit === long[0][0].unit).slice(0, MOST_LINES);
  for (const points of shown) {
    for (const point of points) point.line = points[0].line; // a line may be called otherwise in other years
  }
  return shown.length ? shown : null;
}

function scaleOf(points) {
  const most = Math.max(...points.map((point) => Math.abs(point.value)));
  const steps = current() === "zh" ? [[1e8, "亿"], [1e4, "万"]] : [[1e9, "billion"], [1e6, "million"], [1e3, "thousand"]];
  return steps.find(([size]) => most >= size) ?? [1, ""];
}

/** A Vega-Lite specification (https://vega.github.io/vega-lite/docs/spec.html) in the page's colours. */
export function chartSpec(lines, colours) {
  const points = lines.flat();
  const { unit } = points[0];
  const [size, word] = unit === "percent" || unit.includes("/") ? [1, ""] : scaleOf(points);
  const title = [word, unit === "percent" ? "%" : unit].filter(Boolean).join(" ");
  const axis = { labelColor: colours.ink, titleColor: colours.ink, domainColor: colours.line, tickColor: colours.line, gridColor: colours.line };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: 420,
    height: 180,
    background: colours.ground,
    data: { values: points.map(({ line, end, value }) => ({ line, end: label(end), value: value / size })) },
    mark: { type: "line", point: { size: 50 }, strokeWidth: 2 },
    encoding: {
      x: { field: "end", type: "ordinal", title: null, axis: { ...axis, labelAngle: 0 } },
      y: { field: "value", type: "quantitative", title, axis: { ...axis, tickCount: 5, titleAngle: 0, titleAlign: "left", titleAnchor: "end", titleY: -8 } },
      color: { field: "line", type: "nominal", title: null, sort: null, scale: { range: colours.lines }, legend: { orient: "bottom", labelColor: colours.ink, labelLimit: 400 } },
    },
    config: { view: { stroke: null }, font: "system-ui, sans-serif" },
  };
}

function colours() {
  const probe = el("span");
  document.body.append(probe);
  const of = (name) => {
    probe.setAttribute("class", `colour-${name}`);
    return getComputedStyle(probe).color; // light or dark is decided by then
  };
  const found = { ink: of("ink"), line: of("line"), ground: of("card"), lines: ["accent", "second", "third", "fourth"].map(of) };
  probe.remove();
  return found;
}

let loading = null;

function script(file) {
  return new Promise((done, failed) => {
    const node = el("script", { src: `/page/vendor/${file}` });
    node.addEventListener("load", done);
    node.addEventListener("error", () => failed(new Error(file)));
    document.head.append(node);
  });
}

/** Vega, Vega-Lite and the interpreter, once. */
function libraries() {
  loading ??= script("vega.min.js")
    .then(() => script("vega-lite.min.js"))
    .then(() => import("./vendor/vega-interpreter.js"))
    .catch((error) => {
      loading = null;
      throw error;
    });
  return loading;
}

async function drawInto(place, lines) {
  const { expressionInterpreter } = await libraries();
  const { vega, vegaLite } = globalThis;
  const runtime = vega.parse(vegaLite.compile(chartSpec(lines, colours())).spec, null, { ast: true });
  const view = new vega.View(runtime, { expr: expressionInterpreter, renderer: "svg", hover: false });
  await view.initialize(place).runAsync();
  return view;
}

async function save(view) {
  const link = el("a", { href: await view.toImageURL("png", 2), download: "quelea-chart.png" });
  link.click();
}

/** A chart of the figures, drawn when its libraries are there; null where they are no development. */
export function chart(figures) {
  const lines = linesOf(figures);
  if (!lines) return null;
  const names = lines.map((points) => points[0].line).join(", ");
  const place = el("div", { class: "chart-place" });
  const button = el("button", { type: "button", class: "quiet small", hidden: true }, t("chartSave"));
  drawInto(place, lines).then(
    (view) => {
      button.hidden = false;
      button.addEventListener("click", () => save(view));
    },
    () => place.replaceChildren(el("p", { class: "meta" }, t("chartFailed"))),
  );
  return el("figure", { class: "chart", "aria-label": t("chartOf", { names }) }, place, button);
}
