// Blind votes on an arena: two dialogues without names, side by side, and which helps better.

import { get, post } from "./api.js";
import { el, show } from "./dom.js";
import { t } from "./texts.js";
import { RATER, download, said } from "./evaluationitem.js";

const PAGE = 1000;
const CHOICES = ["left", "equal", "right"];

const rater = () => (localStorage.getItem(RATER) ?? "").trim();

/** The comparison that a person is to see; null while nobody has said who reads. */
export async function loadComparison(runId, number) {
  if (!rater()) return null;
  return get(`/v1/evaluations/${runId}/comparisons/${number}?${new URLSearchParams({ rater: rater() })}`);
}

function nameForm(named) {
  const name = el("input", { maxlength: 60, required: true, autocomplete: "name", value: rater() });
  const submit = (event) => {
    event.preventDefault();
    localStorage.setItem(RATER, name.value.trim());
    named();
  };
  return el(
    "form",
    { class: "turn labels", on: { submit } },
    el("p", {}, t("voteLead")),
    el("label", {}, el("span", {}, t("labelRater")), " ", name),
    el("button", { type: "submit", class: "primary" }, t("voteBegin")),
  );
}

const side = (name, turns) =>
  el("section", { class: "turn", "aria-label": name }, el("h3", {}, name), el("dl", { class: "dialogue" }, ...turns.map(said)));

/**
 * The page of a comparison.
 *
 * @param go takes the number of the comparison to see next, or null to leave.
 * @param renamed is called when the person has said who he is.
 */
export function voteView(runId, one, { go, renamed }) {
  if (!one) return [el("h2", { id: "evaluation-focus", tabindex: "-1" }, t("voteTitle")), nameForm(renamed)];
  const problem = el("p", { class: "error-line", role: "alert", hidden: true });
  const choose = async (choice) => {
    try {
      const told = await post(`/v1/evaluations/${runId}/votes`, { number: one.number, rater: rater(), choice });
      go(told.next);
    } catch (error) {
      problem.textContent = error.message;
      show(problem, true);
    }
  };
  const button = (choice) =>
    el("button", { type: "button", class: "primary", "aria-pressed": String(one.choice === choice), on: { click: () => choose(choice) } }, t(`vote_${choice}`));
  const step = (label, number) =>
    el("button", { type: "button", class: "quiet", disabled: number < 1 || number > one.total, on: { click: () => go(number) } }, t(label));
  const another = () => {
    localStorage.removeItem(RATER);
    renamed();
  };
  return [
    el("h2", { id: "evaluation-focus", tabindex: "-1" }, t("voteTitle")),
    el("p", { class: "meta" }, t("voteCount", { ...one, rater: rater() }), " ", el("button", { type: "button", class: "quiet small", on: { click: another } }, t("voteOther"))),
    one.complete ? null : el("p", { class: "notice" }, t("voteBroken")),
    el("div", { class: "pair" }, side("A", one.left), side("B", one.right)),
    problem,
    el(
      "div",
      { class: "vote-bar" },
      step("voteBack", one.number - 1),
      el("span", { role: "group", "aria-label": t("voteTitle") }, ...(one.complete ? CHOICES.map(button) : [])),
      step("voteSkip", one.number + 1),
    ),
  ].filter(Boolean);
}

/** How far people agree; nothing where nobody voted. */
export function voteFigures(told) {
  if (!told?.votes) return null;
  const alpha = told.alpha === null ? "–" : told.alpha.toFixed(3);
  const judge = told.same === null ? null : t("agreementJudge", { share: `${(100 * told.same).toFixed(0)} %`, units: told.judged });
  const line = t("agreementLine", { votes: told.votes, raters: Object.keys(told.raters).length, units: told.comparisons, alpha });
  return el(
    "div",
    {},
    el("p", {}, line),
    el("p", { class: "meta" }, t(told.shared ? "agreementShared" : "agreementAlone", { n: told.shared })),
    judge ? el("p", {}, judge) : null,
  );
}

/** All votes as the file that `quelea eval arena vote --add` reads. */
export async function saveVotes(run) {
  const lines = [];
  let token = "";
  do {
    const page = await get(`/v1/evaluations/${run.id}/votes?${new URLSearchParams({ page_size: PAGE, page_token: token })}`);
    for (const one of page.votes) lines.push(JSON.stringify(one));
    token = page.next_page_token;
  } while (token);
  download(`votes-${run.id}.jsonl`, lines);
  return lines.length;
}
