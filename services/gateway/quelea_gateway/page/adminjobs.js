// Jobs: how far each is, and those that failed from outside tried again.

import { button, sayer, table } from "./adminparts.js";
import { get, post } from "./api.js";
import { el } from "./dom.js";
import { stateText } from "./jobs.js";
import { moment, t } from "./texts.js";

const PAGE = 100;
let onlyFailed = false;

export async function showJobs(place) {
  const said = sayer();
  const list = el("div");
  const more = button(t("adminMore"), () => load(false), { class: "quiet", id: "admin-more" });
  const only = el("input", { type: "checkbox", id: "jobs-only", checked: onlyFailed });
  let jobs = [];
  let token = "";
  const replay = async (ids) => {
    said.clear();
    try {
      const done = await post("/v1/jobs/replay", ids ? { ids } : {});
      said.say(t("jobsReplayed", { n: done.jobs.length }));
      await load(true);
    } catch (error) {
      said.fail(error);
    }
  };
  const row = (job) => [
    job.filename,
    stateText(job),
    t(`lane_${job.lane}`),
    moment(job.updated ?? job.created),
    job.replayable ? button(t("jobReplay"), () => replay([job.id]), { class: "quiet small", "aria-label": `${t("jobReplay")}: ${job.filename}` }) : "",
  ];
  async function load(fresh) {
    const reply = await get(`/v1/jobs?page_size=${PAGE}${onlyFailed ? "&replayable=true" : ""}&page_token=${encodeURIComponent(fresh ? "" : token)}`);
    jobs = fresh ? reply.jobs : [...jobs, ...reply.jobs];
    token = reply.next_page_token ?? "";
    more.hidden = !token;
    const head = ["jobFile", "jobState", "jobLane", "jobUpdated", "keyActions"].map((name) => t(name));
    list.replaceChildren(jobs.length ? table(t("admin_jobs"), head, jobs.map(row)) : el("p", { class: "meta" }, t("jobsNone")));
  }
  only.addEventListener("change", async () => {
    onlyFailed = only.checked;
    try {
      await load(true);
    } catch (error) {
      said.fail(error);
    }
  });
  await load(true);
  place.replaceChildren(
    el("div", { class: "admin-bar" }, el("label", { class: "check" }, only, " ", el("span", {}, t("jobsOnlyFailed"))), button(t("jobsReplay"), () => replay(null), { id: "jobs-replay" })),
    said.node,
    list,
    more,
  );
}
