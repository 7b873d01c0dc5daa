// Starting an evaluation: what the worker has, as a form.

import { post } from "./api.js";
import { $, el, show } from "./dom.js";
import { t } from "./texts.js";

const QUELEA = "quelea";

function fill(id, values, label = (one) => one) {
  const before = $(id).value;
  $(id).replaceChildren(...values.map((one) => el("option", { value: one, selected: one === before }, label(one))));
}

const counted = (sets) => (name) => t("setOf", { name, n: sets[name] });
const nobody = (name) => name || t("evaluationNobody");

function body() {
  const value = (name) => $(`evaluation-${name}`).value;
  const kind = value("kind");
  const name = value("name").trim();
  const judge = value("judge");
  if (kind === "omni") {
    return { kind, name, settings: { questions: value("questions"), system: value("system"), judges: judge ? [judge] : [] } };
  }
  const systems = [...$("evaluation-systems").querySelectorAll("input:checked")].map((one) => one.value);
  const per_task = Number(value("per-task")) || 0;
  return { kind, name, settings: { bench: value("bench"), systems, user: value("user"), judge, per_task } };
}

function chooseKind() {
  const kind = $("evaluation-kind").value;
  for (const node of $("evaluation-form").querySelectorAll("[data-kind]")) show(node, node.dataset.kind === kind);
}

/** The form; `started` is called after each start. */
export function startForm({ started }) {
  $("evaluation-kind").addEventListener("change", chooseKind);
  $("evaluation-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    show($("evaluation-refused"), false);
    try {
      await post("/v1/evaluations", body());
      started();
    } catch (error) {
      $("evaluation-refused").textContent = error.message;
      show($("evaluation-refused"), true);
    }
  });
  return {
    /** Show what there is to choose. */
    offer(options) {
      show($("evaluation-new"), options.may_start && options.worker);
      show($("evaluation-no-worker"), options.may_start && !options.worker);
      $("evaluation-no-worker").textContent = options.advice ?? "";
      const systems = [QUELEA, ...options.models];
      fill("evaluation-kind", ["omni", "arena"], (kind) => t(`kind_${kind}`));
      fill("evaluation-questions", Object.keys(options.question_sets), counted(options.question_sets));
      fill("evaluation-bench", Object.keys(options.benches), counted(options.benches));
      fill("evaluation-system", systems);
      fill("evaluation-judge", ["", ...options.models], nobody);
      fill("evaluation-user", ["", ...options.models], nobody);
      const chosen = new Set([...$("evaluation-systems").querySelectorAll("input:checked")].map((one) => one.value));
      const choice = (name) => el("label", {}, el("input", { type: "checkbox", value: name, checked: chosen.has(name) }), " ", name);
      $("evaluation-systems").replaceChildren(...systems.map(choice));
      chooseKind();
    },
  };
}
