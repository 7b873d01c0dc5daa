// Prompts: versions listed, edited as a new one, tried, compared, put in force, rolled back.

import { all, badge, button, confirmed, labelled, sayer, table } from "./adminparts.js";
import { call, get, post } from "./api.js";
import { el } from "./dom.js";
import { moment, t } from "./texts.js";

const SIGNS = { same: " ", removed: "−", added: "+" };
const TRIED = ["answer", "short_answer"]; // answers are written with one of them
let chosen = "answer en";

function diffView(found) {
  const changed = found.lines.some((line) => line.kind !== "same");
  const line = (one) =>
    el("div", { class: `diff-line ${one.kind}` }, el("span", { class: "diff-sign", "aria-label": one.kind === "same" ? null : t(one.kind === "added" ? "lineAdded" : "lineRemoved"), role: one.kind === "same" ? null : "img" }, SIGNS[one.kind]), el("span", {}, one.text));
  return el(
    "section",
    { class: "admin-card", id: "prompt-diff", tabindex: "-1" },
    el("h3", {}, t("promptDiff", { before: found.before, after: found.after })),
    changed ? el("div", { class: "diff" }, ...found.lines.map(line)) : el("p", { class: "meta" }, t("promptSame")),
  );
}

export async function showPrompts(place) {
  const said = sayer();
  const prompts = await all("/v1/prompts", "prompts");
  const problems = (await get("/v1/prompts?page_size=1")).problems;
  const keyOf = (one) => `${one.name} ${one.language}`;
  if (!prompts.some((one) => keyOf(one) === chosen) && prompts.length) chosen = keyOf(prompts[0]);
  const choice = el("select", { id: "prompt-choice" }, ...prompts.map((one) => el("option", { value: keyOf(one), selected: keyOf(one) === chosen }, `${one.name} · ${one.language}`)));
  const list = el("div");
  const below = el("div");
  const path = () => `/v1/prompts/${chosen.split(" ").map(encodeURIComponent).join("/")}`;

  async function attempt(work, done) {
    said.clear();
    try {
      const now = await work();
      await load();
      if (done) said.say(done(now));
      return true;
    } catch (error) {
      said.fail(error);
      return false;
    }
  }
  async function activate(one) {
    if (!(await confirmed(t("promptActivate"), [el("p", {}, t("promptActivateText", one))], t("promptActivate")))) return;
    await attempt(() => post(`${path()}/activate`, { version: one.version }), (now) => t("promptNow", now));
  }
  async function rollBack(one) {
    if (!(await confirmed(t("promptRollBack"), [el("p", {}, t("promptRollBackText", one))], t("promptRollBack")))) return;
    await attempt(() => post(`${path()}/roll-back`, {}), (now) => t("promptNow", now));
  }
  async function remove(one) {
    if (!(await confirmed(t("promptDelete"), [el("p", {}, t("promptDeleteText", one))], t("promptDelete"), "danger"))) return;
    await attempt(() => call(`${path()}/versions/${encodeURIComponent(one.version)}`, { method: "DELETE" }));
  }
  async function compare(one) {
    said.clear();
    try {
      below.replaceChildren(diffView(await get(`${path()}/diff?before=active&after=${encodeURIComponent(one.version)}`)));
      below.firstElementChild.focus();
    } catch (error) {
      said.fail(error);
    }
  }
  function edit(one) {
    said.clear();
    const text = el("textarea", { id: "prompt-text", rows: "22", spellcheck: "false", maxlength: "12000", lang: chosen.split(" ")[1], "aria-describedby": "prompt-help" });
    text.value = one.text.replace(/^version:.*\n/, "");
    const note = el("input", { id: "prompt-note", maxlength: "500", autocomplete: "off" });
    const question = el("input", { id: "prompt-question", maxlength: "8000", autocomplete: "off" });
    const trial = el("div", { id: "prompt-trial", "aria-live": "polite" });
    const tell = sayer();
    const save = async () => {
      tell.clear();
      try {
        const saved = await post(`${path()}/versions`, { text: text.value, note: note.value, based_on: one.version });
        await load();
        said.say(t("promptStored", saved));
      } catch (error) {
        tell.fail(error);
      }
    };
    const ask = async (event) => {
      event.preventDefault();
      if (!question.value.trim()) return;
      tell.clear();
      trial.replaceChildren(el("p", { class: "wait" }, t("promptTrying")));
      try {
        const answer = await post(`${path()}/try`, { text: text.value, question: question.value });
        trial.replaceChildren(el("h4", {}, t("promptTried", { version: answer.prompt_version })), el("div", { class: "answer" }, ...answer.answer.split("\n").filter(Boolean).map((line) => el("p", {}, line))));
      } catch (error) {
        trial.replaceChildren(el("p", { class: "error-line" }, error.message));
      }
    };
    below.replaceChildren(
      el(
        "section",
        { class: "admin-card", id: "prompt-editor" },
        el("h3", {}, t("promptDraft", one)),
        el("label", { class: "hidden", for: "prompt-text" }, t("promptText")),
        text,
        el("p", { class: "meta", id: "prompt-help" }, t("promptTextHelp")),
        labelled(t("promptWhy"), note),
        TRIED.includes(chosen.split(" ")[0]) ? el("form", { class: "url-form", on: { submit: ask } }, labelled(t("promptQuestion"), question), el("button", { type: "submit", id: "prompt-try" }, t("promptTry"))) : "",
        trial,
        tell.node,
        el("div", { class: "dialog-foot" }, button(t("promptLeave"), () => below.replaceChildren(), { class: "quiet" }), button(t("promptSave"), save, { class: "primary", id: "prompt-save" })),
      ),
    );
    text.focus();
  }
  const row = (fixed) => (one) => {
    const act = (name, work) => button(t(name), () => work(one), { class: "quiet small", "aria-label": `${t(name)}: ${one.version}` });
    return [
      el("span", {}, one.version, " ", one.active ? badge(t("promptActive"), "kept") : "", one.problems.length ? badge(t("promptUnfit"), "failed") : ""),
      one.built_in ? t("promptBuiltIn") : moment(one.created),
      one.author,
      el("span", {}, one.note, one.problems.length ? el("div", { class: "meta" }, one.problems.join(" ")) : ""),
      fixed
        ? ""
        : el(
            "span",
            { class: "row-actions" },
            act("promptEdit", edit),
            one.active ? "" : act("promptCompare", compare),
            one.active || one.problems.length ? "" : act("promptActivate", activate),
            one.active && !one.built_in ? act("promptRollBack", rollBack) : "",
            one.built_in || one.active ? "" : act("promptDelete", remove),
          ),
    ];
  };
  async function load() {
    below.replaceChildren();
    const fixed = !prompts.find((one) => keyOf(one) === chosen)?.editable;
    const versions = await all(`${path()}/versions`, "versions");
    const head = ["promptVersion", "promptSaved", "promptBy", "promptNote", "keyActions"].map((name) => t(name));
    list.replaceChildren(fixed ? el("p", { class: "notice" }, t("promptFixed")) : "", table(t("promptVersions"), head, versions.map(row(fixed))));
  }
  choice.addEventListener("change", () => {
    chosen = choice.value;
    attempt(async () => {});
  });
  await load();
  place.replaceChildren(el("div", { class: "admin-bar" }, labelled(t("promptChoose"), choice)), ...problems.map((text) => el("p", { class: "notice", lang: "en" }, text)), said.node, list, below);
}
