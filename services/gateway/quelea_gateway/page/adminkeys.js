// Keys: listed, added, rotated, revoked. A secret is shown once, in a dialog.

import { badge, button, confirmed, labelled, sayer, table } from "./adminparts.js";
import { call, get, post } from "./api.js";
import { el } from "./dom.js";
import { moment, t } from "./texts.js";

const OVERLAP_HOURS = 24;

function showSecret(made) {
  const secret = el("input", { readonly: true, value: made.secret, class: "secret", "aria-label": t("keySecret", { name: made.name }), spellcheck: "false" });
  const copy = button(t("keyCopy"), async () => {
    secret.select();
    try {
      await navigator.clipboard.writeText(made.secret);
      copy.textContent = t("keyCopied");
    } catch {
      // Not allowed without https: it is selected, and Ctrl+C copies it.
    }
  });
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: "secret-title" }, t("keySecret", { name: made.name })),
    el("p", {}, t("keySecretText")),
    el("div", { class: "url-form" }, secret, copy),
    el("div", { class: "dialog-foot" }, el("button", { class: "primary" }, t("adminDone"))),
  );
  const dialog = el("dialog", { id: "secret-dialog", "aria-labelledby": "secret-title" }, form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  secret.select();
}

function form(done, said) {
  const name = el("input", { name: "name", required: true, maxlength: "64", autocomplete: "off" });
  const tenant = el("input", { name: "tenant", value: "default", required: true, maxlength: "64", autocomplete: "off" });
  const right = el("select", { name: "right" }, ...["read", "write", "manage"].map((one) => el("option", { value: one }, t(`right_${one}`))));
  const days = el("input", { name: "days", type: "number", min: "0", max: "3650", value: "0" });
  const administrator = el("input", { name: "administrator", type: "checkbox" });
  const add = async (event) => {
    event.preventDefault();
    said.clear();
    const body = { name: name.value.trim(), tenant: tenant.value.trim(), rights: { "*": right.value }, administrator: administrator.checked, days: Number(days.value) || 0 };
    try {
      const made = await post("/v1/keys", body);
      await done();
      showSecret(made);
    } catch (error) {
      said.fail(error);
    }
  };
  return el(
    "details",
    { class: "about", id: "key-new" },
    el("summary", {}, t("keyAdd")),
    el(
      "form",
      { on: { submit: add } },
      labelled(t("keyName"), name),
      labelled(t("keyTenant"), tenant),
      labelled(t("keyRight"), right),
      labelled(t("keyDays"), days),
      el("label", { class: "check" }, administrator, " ", el("span", {}, t("keyAdministrator"))),
      el("div", { class: "form-foot" }, el("button", { type: "submit", class: "primary" }, t("keyAddButton"))),
    ),
  );
}

function rightsOf(key) {
  const rights = Object.entries(key.rights).map(([name, right]) => `${name}: ${t(`right_${right}`)}`);
  return el("span", {}, rights.join(", "), key.administrator ? " " : "", key.administrator ? badge(t("keyAdministrator")) : "");
}

export async function showKeys(place) {
  const said = sayer();
  const list = el("div");
  const rotate = async (key) => {
    const hours = el("input", { type: "number", min: "0", max: "2160", value: String(OVERLAP_HOURS), required: true });
    const text = el("label", {}, t("keyRotateText", { name: key.name }), " ", hours);
    if (!(await confirmed(t("keyRotate"), [text], t("keyRotate")))) return;
    try {
      const made = await post(`/v1/keys/${key.id}/rotate`, { overlap_hours: Number(hours.value) });
      await load();
      showSecret(made);
    } catch (error) {
      said.fail(error);
    }
  };
  const revoke = async (key) => {
    if (!(await confirmed(t("keyRevoke"), [el("p", {}, t("keyRevokeText", { name: key.name }))], t("keyRevoke"), "danger"))) return;
    try {
      await call(`/v1/keys/${key.id}`, { method: "DELETE" });
      await load();
      said.say(t("keyRevoked", { name: key.name }));
    } catch (error) {
      said.fail(error);
    }
  };
  const row = (key) => [
    el("span", {}, key.name, key.own ? " " : "", key.own ? badge(t("keyOwn"), "kept") : "", key.expired ? " " : "", key.expired ? badge(t("keyExpired"), "rejected") : ""),
    key.id,
    key.tenant,
    rightsOf(key),
    el("span", {}, moment(key.created), key.rotating_until ? el("div", { class: "meta" }, t("keyOverlap", { until: moment(key.rotating_until) })) : ""),
    key.expires ? moment(key.expires).slice(0, 10) : t("never"),
    key.last_used ? moment(key.last_used) : t("never"),
    el(
      "span",
      { class: "row-actions" },
      key.expired ? "" : button(t("keyRotate"), () => rotate(key), { class: "quiet small", "aria-label": `${t("keyRotate")}: ${key.name}` }),
      key.own ? "" : button(t("keyRevoke"), () => revoke(key), { class: "quiet small", "aria-label": `${t("keyRevoke")}: ${key.name}` }),
    ),
  ];
  const head = ["keyName", "keyId", "keyTenant", "keyRights", "keyCreated", "keyExpires", "keyLastUsed", "keyActions"];
  async function load() {
    const found = { keys: [], required: true };
    let token = "";
    do {
      const reply = await get(`/v1/keys?page_size=1000&page_token=${encodeURIComponent(token)}`);
      found.keys.push(...reply.keys);
      found.required = reply.required;
      token = reply.next_page_token;
    } while (token);
    list.replaceChildren(
      found.required ? "" : el("p", { class: "notice" }, t("keysOff")),
      found.keys.length ? table(t("admin_keys"), head.map((name) => t(name)), found.keys.map(row)) : el("p", { class: "meta" }, t("keysNone")),
    );
  }
  await load();
  place.replaceChildren(form(load, said), said.node, list);
}
