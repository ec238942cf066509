// The view of requests: a list that builds only the rows in sight, and the details of one request.

import { call, get } from "./api.js";
import { acting, byId, element, message, tree } from "./elements.js";

const ROW = 24; // pixels

// The topics, partitions, groups and transactional ids that a request names.
function about(request) {
  const names = request.parts.map((each) => (each.topic === undefined ? each.group ?? each.transactional_id : each.partition === undefined ? each.topic : `${each.topic}-${each.partition}`));
  return [...new Set(names.filter(Boolean))].join(", ");
}

// A line of a hexdump: offset, bytes, field and value. The name of the message, with which each
// field begins, is in the heading. A long line is continued below its field.
const LINE = /^(\s*[0-9a-f]+ {2})([0-9a-f]{2}(?: [0-9a-f]{2})*\s*)?(?:\w+\.)?(.*?)( = .*)?$/;

function dumped(line) {
  const [, offset, bytes, field, value] = line.match(LINE) ?? [null, "", "", line];
  const path = field.split(/(?<=\.)/).flatMap((each) => [each, element("wbr")]);
  return element("div", {}, element("span", { class: "dim" }, offset), bytes ?? "", element("span", { class: "dim" }, ...path), element("strong", {}, value ?? ""));
}

const ANONYMOUS = "User:ANONYMOUS"; // the principal without a login
const HIDDEN = "not kept, or it may hold secrets";

export class RequestView {
  constructor(store) {
    this.store = store;
    this.errorNames = {}; // code -> name
    this.follows = true;
    this.chosen = null;
    this.form = "tree";
    this.paused = false;
    this.list = byId("list");
    this.rows = byId("rows");
    this.list.addEventListener("scroll", () => {
      this.follows = this.list.scrollTop + this.list.clientHeight >= this.list.scrollHeight - ROW;
      this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(this.list);
    // On press, not on click: while requests come, rows are drawn again between press and release.
    this.list.addEventListener("mousedown", (event) => {
      const row = event.button === 0 && event.target.closest(".row");
      if (row) this.choose(Number(row.dataset.number));
    });
    byId("filter").addEventListener("input", () => this.narrow());
    byId("errors").addEventListener("change", () => this.narrow());
    byId("pause").addEventListener("click", () => this.pause());
    byId("clear").addEventListener("click", acting(() => this.clear()));
    byId("close").addEventListener("click", () => this.close());
    byId("fail-next").addEventListener("click", acting(() => this.failNext()));
    for (const each of document.querySelectorAll("[data-form]")) each.addEventListener("click", () => this.show(each.dataset.form));
  }

  narrow() {
    this.store.narrow(byId("filter").value, byId("errors").checked);
    this.follows = true;
    this.draw();
  }

  pause() {
    this.paused = !this.paused;
    byId("pause").setAttribute("aria-pressed", this.paused);
    byId("pause").textContent = this.paused ? "Go on" : "Pause";
    this.draw();
  }

  // Requests came, or ended.
  add(events) {
    for (const { name, data } of events) {
      if (name === "lost") this.store.missed += data.requests;
      else if (name === "restarted") this.forget();
      else this.store.add(data);
    }
    this.draw();
    if (events.some(({ data }) => data.number === this.chosen)) this.load();
  }

  async clear() {
    await call("clear_requests");
    this.forget();
  }

  forget() {
    this.store.clear();
    this.close();
  }

  // Draws the rows in sight. While it is paused, rows that came later are counted, not drawn.
  draw() {
    if (!this.paused) this.count = this.store.shown.length;
    const count = Math.min(this.count ?? 0, this.store.shown.length);
    this.rows.style.height = `${count * ROW}px`;
    if (this.follows && !this.paused) this.list.scrollTop = this.rows.scrollHeight;
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW) - 5);
    const last = Math.min(count, first + Math.ceil(this.list.clientHeight / ROW) + 10);
    this.rows.replaceChildren(...this.store.shown.slice(first, last).map((each, index) => this.row(each, first + index)));
    const kept = `${count} of ${this.store.all.length} requests`;
    byId("empty").hidden = this.store.all.length > 0;
    byId("count").textContent = this.store.missed ? `${kept}, ${this.store.missed} missed` : kept;
  }

  row(request, index) {
    const failed = request.errors.length > 0 || request.outcome === "disconnected";
    const outcome = request.errors.join(", ") || request.outcome;
    const colour = failed ? "bad" : request.outcome === "waiting" ? "wait" : "good";
    const rules = request.rules.length ? ` (rule: ${request.rules.join(", ")})` : "";
    const made = element("div", { class: "row", role: "option", title: request.text, "aria-selected": request.number === this.chosen, "data-number": request.number },
      element("span", { class: "dim" }, request.text.split(" ")[0]), element("span", {}, `${request.api} v${request.version}`),
      element("span", {}, [request.client_id, request.principal === ANONYMOUS ? "" : request.principal].filter(Boolean).join(" ")), element("span", { class: "dim" }, `broker ${request.broker}`),
      element("span", {}, about(request)),
      element("span", { class: colour }, outcome + rules),
      element("span", { class: "number" }, request.took === null ? "" : `${request.took} ms`),
      element("span", { class: "number dim" }, `${request.size} B`));
    made.style.top = `${index * ROW}px`;
    return made;
  }

  move(by) {
    const at = this.store.shown.findIndex((each) => each.number === this.chosen);
    const next = at < 0 ? this.store.shown.length - 1 : Math.max(0, Math.min(this.store.shown.length - 1, at + by));
    if (this.store.shown[next]) this.choose(this.store.shown[next].number, next);
  }

  async choose(number, index = null) {
    this.chosen = number;
    if (index !== null) {
      const top = index * ROW;
      if (top < this.list.scrollTop) this.list.scrollTop = top;
      if (top + ROW > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + ROW - this.list.clientHeight;
    }
    this.follows = false;
    this.draw();
    await this.load();
  }

  async load() {
    const number = this.chosen;
    const body = byId("detail-body");
    byId("detail").hidden = false;
    byId("detail-title").textContent = this.store.places.get(number)?.text ?? `request ${number}`;
    try {
      const made = this.form === "tree" ? this.treeOf(await get(`requests/${number}`)) : this.hexdumpOf(await get(`requests/${number}/hexdump`));
      if (number === this.chosen) body.replaceChildren(...made);
    } catch (error) {
      if (number === this.chosen) body.replaceChildren(element("p", { class: "bad" }, error.message));
    }
  }

  treeOf({ request, answer, ...rest }) {
    const noteOf = (name, value) => (/errorCode$/i.test(name) && value !== 0 && this.errorNames[value] ? ` ${this.errorNames[value]}` : "");
    return [tree("request", request), tree("answer", answer, noteOf), tree("more", rest, undefined, false)];
  }

  hexdumpOf({ request, answer }) {
    const part = (name, text) => [
      element("h2", {}, [name, text?.match(/ (\w+(?:Request|Response))\b/)?.[1]].filter(Boolean).join(": ")),
      element("pre", { class: "hexdump" }, ...(text === null ? [HIDDEN] : text.split("\n").map(dumped)))];
    return [...part("request", request), ...part("answer", answer)];
  }

  show(form) {
    this.form = form;
    for (const each of document.querySelectorAll("[data-form]")) each.setAttribute("aria-pressed", each.dataset.form === form);
    if (this.chosen !== null) this.load();
  }

  close() {
    this.chosen = null;
    byId("detail").hidden = true;
    this.draw();
  }

  async failNext() {
    const chosen = this.store.places.get(this.chosen);
    if (!chosen) return;
    await call("fail", { api: chosen.api, error: "UNKNOWN_SERVER_ERROR", ...(chosen.client_id ? { client_id: chosen.client_id } : {}) });
    message(`The next ${chosen.api}${chosen.client_id ? ` of ${chosen.client_id}` : ""} fails with UNKNOWN_SERVER_ERROR, unless you release the rule.`, false);
  }
}
