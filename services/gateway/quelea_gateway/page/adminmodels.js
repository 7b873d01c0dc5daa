// What serves here: services, reader, encoder, gate, and the names that a question may ask for.

import { badge, table } from "./adminparts.js";
import { get } from "./api.js";
import { el, joined } from "./dom.js";
import { has, t } from "./texts.js";

const named = (kind, name) => (has(`${kind}_${name}`) ? t(`${kind}_${name}`) : name);

export async function showModels(place) {
  const [found, models] = await Promise.all([get("/v1/deployment"), get("/v1/models").catch(() => ({ data: [] }))]);
  const { reader, encoder, gate } = found;
  const services = found.services.map((one) => [
    named("service", one.name),
    one.version || "–",
    el("span", {}, badge(t(one.ready ? "modelsReady" : "modelsAway"), one.ready ? "kept" : "failed"), " ", el("span", { class: "meta" }, one.reason)),
  ]);
  const stored = encoder.model && t("modelsStored", { documents: encoder.documents, passages: encoder.passages });
  const facts = [
    ["modelsReader", reader.reader === "extractive" ? t("extractive") : joined(reader.model, reader.reader) || t("readerAway")],
    ["modelsPrompt", reader.prompt_version],
    ["modelsEvidence", reader.evidence_tokens],
    ["modelsContext", reader.context_tokens],
    ["modelsAdapters", reader.adapters.join(", ")],
    ["modelsEncoder", joined(encoder.model, encoder.dimension && t("modelsDimension", { n: encoder.dimension }))],
    ["modelsStore", joined(encoder.store, stored, encoder.model && !encoder.indexed && t("modelsIndexing"))],
    ["modelsGate", named("gate", gate.kind)],
    ["modelsVerifier", named("verifier", gate.verifier)],
    ["modelsAgent", t(found.agent ? "yes" : "no")],
    ["modelsServed", models.data.map((one) => one.id).join(", ")],
    ["modelsWriting", found.writing],
  ];
  place.replaceChildren(
    table(t("modelsServices"), [t("modelsServices"), t("modelsVersion"), t("jobState")], services),
    el("dl", { class: "admin-facts" }, ...facts.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, t(name)), el("dd", {}, String(value))])),
  );
}
