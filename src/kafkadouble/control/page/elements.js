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

// Makes the children of a place equal to `made`, and leaves alone what is equal already: a button
// that is being pressed, the focus and a selected text survive, however often the state changes.
export function patch(place, made) {
  made.forEach((node, at) => {
    const old = place.childNodes[at];
    if (!old) place.append(node);
    else if (old.isEqualNode(node)) return;
    else if (old.cloneNode(false).isEqualNode(node.cloneNode(false))) patch(old, [...node.childNodes]);
    else old.replaceWith(node);
  });
  while (place.childNodes.length > made.length) place.lastChild.remove();
}

// A value of JSON as a tree that opens and closes. `noteOf` says what stands behind a value.
export function tree(name, value, noteOf = () => "", open = true) {
  const leaf = (text, note = "") => element("div", { class: "mono leaf" }, `${name}: `, text, element("span", { class: "bad" }, note));
  if (value === null || typeof value !== "object") return leaf(JSON.stringify(value), noteOf(name, value));
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (!entries.length) return leaf(isList ? "[]" : "{}");
  const inside = element("div");
  const made = element("details", { class: "mono", open }, element("summary", {}, isList ? `${name} [${entries.length}]` : name), inside);
  const fill = () => {
    if (!inside.childNodes.length) inside.append(...entries.map(([key, each]) => tree(isList ? `[${key}]` : key, each, noteOf, entries.length < 20)));
  };
  if (open) fill(); else made.addEventListener("toggle", fill, { once: true });
  return made;
}

export function message(text, isProblem = true) {
  const place = byId("message");
  place.textContent = text;
  place.classList.toggle("problem", isProblem);
  place.hidden = !text;
}

// Runs what a click does, and shows its error.
export const acting = (act) => async (event) => {
  event?.preventDefault?.();
  message("");
  try { await act(event); } catch (error) { message(error.message); }
};
