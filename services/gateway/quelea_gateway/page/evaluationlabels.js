// Judging items by hand: a form beside the item, without the judge's verdicts; all labels as a file.

import { get, post } from "./api.js";
import { el, show } from "./dom.js";
import { RATER, download, metricName } from "./evaluationitem.js";
import { t } from "./texts.js";

const PAGE = 1000;

function choice(aspect, turn, scale) {
  const name = `${aspect}-${turn}`;
  const radio = (value) =>
    el("label", {}, el("input", { type: "radio", name, value, "data-aspect": aspect, "data-turn": turn }), ` ${t(`label_${aspect}_${value}`)}`);
  return el("fieldset", {}, el("legend", {}, metricName(aspect)), ...scale.map(radio));
}

/** The form of an item; `saved` is called when its labels are stored. */
export function labelForm(runId, item, scales, saved) {
  const turns = item.dialogues.flatMap((one) => one.turns.filter((said) => said.role === "answer")).length;
  const rater = el("input", { maxlength: 60, required: true, autocomplete: "name", value: localStorage.getItem(RATER) ?? "" });
  const problem = el("p", { class: "error-line", role: "alert", hidden: true });
  const groups = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    if (turns > 1) groups.push(el("h3", {}, t("labelTurn", { n: turn })));
    for (const [aspect, scale] of Object.entries(scales)) groups.push(choice(aspect, turn, scale));
  }
  const submit = async (event) => {
    event.preventDefault();
    const chosen = [...event.target.querySelectorAll("input:checked")];
    const labels = chosen.map(({ value, dataset }) => ({ aspect: dataset.aspect, turn: Number(dataset.turn), label: Number(value) }));
    localStorage.setItem(RATER, rater.value.trim());
    try {
      await post(`/v1/evaluations/${runId}/labels`, { item_id: item.id, rater: rater.value, labels });
      saved();
    } catch (error) {
      problem.textContent = error.message;
      show(problem, true);
    }
  };
  if (!turns) return el("p", { class: "notice" }, t("labelNothing"));
  return el(
    "form",
    { class: "turn labels", on: { submit } },
    el("h3", {}, t("labelTitle")),
    el("p", { class: "meta" }, t("labelBlind")),
    el("label", {}, el("span", {}, t("labelRater")), " ", rater),
    ...groups,
    problem,
    el("button", { type: "submit", class: "primary" }, t("labelSave")),
  );
}

/** All labels as the file that `quelea eval omni agreement` reads: an object a line. */
export async function saveLabels(run) {
  const lines = [];
  let token = "";
  do {
    const page = await get(`/v1/evaluations/${run.id}/labels?${new URLSearchParams({ page_size: PAGE, page_token: token })}`);
    for (const one of page.labels) lines.push(JSON.stringify(one));
    token = page.next_page_token;
  } while (token);
  download(`labels-${run.id}.jsonl`, lines);
  return lines.length;
}
