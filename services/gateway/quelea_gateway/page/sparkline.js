// A line of figures as a small picture.

const [WIDTH, HEIGHT, EDGE] = [76, 20, 3];

function node(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** Values in order, null where there is none; zero is drawn where values lie on both sides of it. */
export function sparkline(values, label) {
  const known = values.filter((value) => value !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const x = (place) => EDGE + (place * (WIDTH - 2 * EDGE)) / Math.max(1, values.length - 1);
  const y = (value) => (most === least ? HEIGHT / 2 : HEIGHT - EDGE - ((value - least) * (HEIGHT - 2 * EDGE)) / (most - least));
  const points = values.flatMap((value, place) => (value === null ? [] : [[x(place).toFixed(1), y(value).toFixed(1)]]));
  const picture = node("svg", { class: "sparkline", width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  if (least < 0 && most > 0) picture.append(node("line", { class: "zero", x1: 0, x2: WIDTH, y1: y(0).toFixed(1), y2: y(0).toFixed(1) }));
  picture.append(node("polyline", { points: points.map((point) => point.join(",")).join(" ") }));
  const [cx, cy] = points.at(-1);
  picture.append(node("circle", { cx, cy, r: 2.2 }));
  return picture;
}
