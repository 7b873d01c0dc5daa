// How far a job is, in words.

import { has, t } from "./texts.js";

export const ended = (job) => job.state === "succeeded" || job.state === "failed";

export function stateText(job) {
  if (job.state === "succeeded") return t(job.unchanged ? "unchanged" : "succeeded");
  if (job.state === "failed") return t("failed", { error: job.error ?? "" });
  if (job.state === "queued") return t("queued");
  const stage = has(`stage_${job.stage}`) ? t(`stage_${job.stage}`) : t("running");
  return job.progress.total ? t("progress", { stage, ...job.progress }) : stage;
}
