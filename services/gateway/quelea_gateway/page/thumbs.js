// Thumbs on an answer: up or down, and why; stored by the gateway for an evaluation.

import { post } from "./api.js";
import { currentConversation } from "./conversations.js";
import { el } from "./dom.js";
import { icon } from "./icons.js";
import { t } from "./texts.js";

const REASONS = {
  up: ["accurate", "complete", "well_sourced"],
  down: ["wrong_figure", "wrong_company_or_period", "wrong_source", "incomplete", "off_topic", "should_have_answered"],
};

/** Both thumbs, and once one is given its reasons and a line to say more. The turn remembers it when the page is drawn anew, its conversation when it is opened again. */
export function thumbs(turn, answer) {
  const state = el("span", { class: "meta", role: "status" });
  const why = el("input", { type: "text", maxlength: 2000, "aria-label": t("thumbWhy"), placeholder: t("thumbWhy"), value: turn.why ?? "" });
  const reasons = el("fieldset", { class: "reasons" });
  const form = el("form", { class: "why", hidden: !turn.thumb }, reasons, el("span", { class: "why-line" }, why, el("button", { type: "submit", class: "quiet small" }, t("thumbSend"))));
  const buttons = Object.keys(REASONS).map((thumb) =>
    el("button", { type: "button", class: "quiet small thumb", "aria-label": t(`thumb_${thumb}`), title: t(`thumb_${thumb}`), "aria-pressed": String(turn.thumb === thumb), "data-thumb": thumb }, icon(thumb)),
  );
  const drawReasons = () => {
    const boxes = (REASONS[turn.thumb] ?? []).map((name) =>
      el("label", {}, el("input", { type: "checkbox", value: name, checked: turn.reasons?.includes(name) }), " ", t(`reason_${name}`)),
    );
    reasons.replaceChildren(el("legend", { class: "hidden" }, t("thumbReasons")), ...boxes);
  };
  const ticked = () => [...reasons.querySelectorAll("input:checked")].map((box) => box.value);
  const give = async (thumb) => {
    const given = thumb === turn.thumb ? ticked() : [];
    try {
      await post("/v1/feedback", {
        question: answer.standalone?.question ?? turn.question, // a follow-up says nothing by itself
        answer: turn.text,
        thumb,
        why: why.value.trim(),
        reasons: given,
        as_of: answer.as_of,
        model: answer.model,
        prompt_version: answer.prompt_version,
        document_ids: [...new Set(answer.citations.map((citation) => citation.document_id))].slice(0, 100),
        conversation_id: currentConversation(), // shown there when it is opened again
      });
    } catch (error) {
      state.textContent = error.message;
      return;
    }
    Object.assign(turn, { thumb, why: why.value, reasons: given });
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.thumb === thumb));
    drawReasons();
    form.hidden = false;
    state.textContent = t("thumbThanks");
  };
  for (const button of buttons) button.addEventListener("click", () => give(button.dataset.thumb));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    give(turn.thumb);
  });
  drawReasons();
  return el("span", { class: "export thumbs" }, ...buttons, form, state);
}
