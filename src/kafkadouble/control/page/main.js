// Starts the page: the views and their keys, the streams, and the clock.

import { call, follow, get } from "./api.js";
import { acting, byId, element, message } from "./elements.js";
import { chooser } from "./forms.js";
import { RequestView } from "./requests.js";
import { RequestStore } from "./store.js";
import { draw, show } from "./views.js";

const TABS = ["requests", "topics", "groups", "transactions", "brokers", "rules", "verbs"];
const THEME = "kafkadouble-theme";
const CLOCK_MS = 1000;

const store = new RequestStore();
const view = new RequestView(store);

function choose(tab) {
  for (const each of TABS) {
    byId(each).hidden = each !== tab;
    byId(`tab-${each}`).setAttribute("aria-selected", each === tab);
  }
  location.hash = tab;
  view.draw();
  draw(tab);
}

function makeTabs() {
  document.querySelector("nav").append(...TABS.map((each) => element("button",
    { type: "button", role: "tab", id: `tab-${each}`, "aria-controls": each, onclick: () => choose(each) }, each[0].toUpperCase() + each.slice(1), element("span", { id: `count-${each}`, class: "count" }))));
  choose(TABS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "requests");
}

function state(now, why = "") {
  byId("connection").dataset.state = now;
  byId("connection").textContent = now;
  byId("connection").title = why;
}

function keys(event) {
  if (event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = KEYS[event.key] ?? (TABS[event.key - 1] && (() => choose(TABS[event.key - 1])));
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
}

const KEYS = {
  "/": () => { choose("requests"); byId("filter").focus(); },
  j: () => view.move(1), ArrowDown: () => view.move(1), k: () => view.move(-1), ArrowUp: () => view.move(-1),
  Home: () => view.move(-store.shown.length), End: () => { view.follows = true; view.draw(); },
  " ": () => view.pause(), h: () => view.show(view.form === "tree" ? "hexdump" : "tree"),
  Escape: () => { view.close(); message(""); }, "?": () => byId("help").showModal(),
};

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  localStorage.setItem(THEME, document.documentElement.dataset.theme);
}

let clock = null; // the time of the last look, to see whether the clock stands still

async function tick() {
  try {
    const { now_ms } = await call("describe_cluster");
    const stands = clock === now_ms;
    clock = now_ms;
    byId("clock").textContent = new Date(now_ms).toISOString().replace("T", " ").replace("Z", "");
    byId("clock").classList.toggle("wait", stands);
    byId("freeze").textContent = stands ? "Unfreeze" : "Freeze";
  } catch { /* the state of the connection says it */ }
}

function makeClock() {
  byId("freeze").addEventListener("click", acting(async () => { await call(byId("freeze").textContent.toLowerCase()); await tick(); await tick(); }));
  byId("advance").addEventListener("click", acting(async () => { await call("advance", { seconds: Number(byId("seconds").value) }); await tick(); await tick(); }));
  byId("reset").addEventListener("click", acting(async () => { await call("reset"); view.forget(); }));
  setInterval(() => { if (!document.hidden) tick(); }, CLOCK_MS);
  tick();
}

async function makeForms() {
  const [{ verbs }, { apis, errors }] = await Promise.all([get("verbs"), get("names")]);
  const offered = (id, names) => document.body.append(element("datalist", { id }, ...names.map((value) => element("option", { value }))));
  offered("apis", apis);
  offered("errors", Object.values(errors));
  view.errorNames = errors;
  byId("rules").append(element("div", { id: "armed" }));
  chooser("rules", verbs.filter((each) => each.subject === "faults" && each.result === "RuleHandle"), "Arm a rule", "fail");
  chooser("verbs", verbs.filter((each) => each.subject !== "waiting"), "Call a verb", "create_topic");
}

const saved = localStorage.getItem(THEME);
if (saved) document.documentElement.dataset.theme = saved;
byId("theme").addEventListener("click", theme);
document.addEventListener("keydown", keys);
makeTabs();
makeClock();
await makeForms();
follow(() => `events?after=${store.last ?? 0}`, (events) => view.add(events), state);
follow(() => "views", (events) => { for (const { name, data } of events) show(name, data); }, () => {});
