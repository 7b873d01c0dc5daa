// Thumbs on an answer: up or down, and why; stored by the gateway for an evaluation.

import { post } from "./api.js";
import { el } from "./dom.js";
import { t } from "./texts.js";

const SIGNS = { up: "👍", down: "👎" };

/** Both thumbs, and once one is given a line to say why. The turn remembers it when the page is drawn anew. */
export function thumbs(turn, answer) {
  const state = el("span", { class: "meta", role: "status" });
  const why = el("input", { type: "text", maxlength: 2000, "aria-label": t("thumbWhy"), placeholder: t("thumbWhy"), value: turn.why ?? "" });
  const form = el("form", { class: "why", hidden: !turn.thumb }, why, el("button", { type: "submit", class: "quiet small" }, t("thumbSend")));
  const buttons = Object.entries(SIGNS).map(([thumb, sign]) =>
    el("button", { type: "button", class: "quiet small", "aria-label": t(`thumb_${thumb}`), title: t(`thumb_${thumb}`), "aria-pressed": String(turn.thumb === thumb), "data-thumb": thumb }, sign),
  );
  const give = async (thumb) => {
    try {
      await post("/v1/feedback", {
        question: answer.standalone?.question ?? turn.question, // a follow-up says nothing by itself
        answer: turn.text,
        thumb,
        why: why.value.trim(),
        as_of: answer.as_of,
        model: answer.model,
        prompt_version: answer.prompt_version,
        document_ids: [...new Set(answer.citations.map((citation) => citation.document_id))].slice(0, 100),
      });
    } catch (error) {
      state.textContent = error.message;
      return;
    }
    Object.assign(turn, { thumb, why: why.value });
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.thumb === thumb));
    form.hidden = false;
    state.textContent = t("thumbThanks");
  };
  for (const button of buttons) button.addEventListener("click", () => give(button.dataset.thumb));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    give(turn.thumb);
  });
  return el("span", { class: "export thumbs" }, ...buttons, form, state);
}
