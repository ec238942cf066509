// Small helpers to build the page. Text is always set as text, never as HTML.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key.startsWith("aria-")) made.setAttribute(key, String(value));
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.map((each) => (each instanceof Node ? each : String(each ?? ""))));
  return made;
}

export const byId = (id) => document.getElementById(id);

export function table(heads, rows) {
  const cells = (name, values) => values.map((value) => element(name, name === "td" ? { class: "mono" } : {}, value));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...cells("th", heads))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells("td", row)))));
}

// A value of JSON as a tree that opens and closes.
export function tree(name, value, open = true) {
  if (value === null || typeof value !== "object") return element("div", { class: "mono" }, name, ": ", JSON.stringify(value));
  const entries = Object.entries(value);
  const label = `${name} ${Array.isArray(value) ? `[${entries.length}]` : ""}`;
  if (!entries.length) return element("div", { class: "mono" }, label, Array.isArray(value) ? "" : "{}");
  const inside = element("div");
  const made = element("details", { class: "mono", open }, element("summary", {}, label), inside);
  const fill = () => { if (!inside.childNodes.length) inside.append(...entries.map(([key, each]) => tree(key, each, entries.length < 20))); };
  if (open) fill(); else made.addEventListener("toggle", fill, { once: true });
  return made;
}

export function message(text) {
  const place = byId("message");
  place.textContent = text;
  place.hidden = !text;
}

// Runs what a click does, and shows its error.
export const acting = (act) => async (event) => {
  event?.preventDefault?.();
  message("");
  try { await act(event); } catch (error) { message(error.message); }
};
