// A form for any verb, made from its description, and the place where its result is shown.

import { call } from "./api.js";
import { acting, byId, element, tree } from "./elements.js";

// What is allowed, with the words of JSON for those of Python.
const inJson = (allowed) => allowed.replace(/\bNone\b/g, "null").replace(/\bTrue\b/g, "true").replace(/\bFalse\b/g, "false");

// The input for a parameter, and how its text becomes a value.
function input(parameter) {
  const { name, kind, schema, required } = parameter;
  const options = kind === "switch" ? ["true", "false"] : schema.enum ?? schema.anyOf?.find((each) => each.enum)?.enum;
  if (options) return element("select", { name, required }, ...["", ...options].map((each) => element("option", { value: each }, each)));
  const usual = parameter.default === undefined || parameter.default === null ? "" : JSON.stringify(parameter.default);
  return element("input", { name, required, type: name === "password" ? name : "text", autocomplete: "off", placeholder: usual, list: LISTS[name] });
}

const LISTS = { api: "apis", error: "errors" }; // parameter -> the names that are offered for it

function field(parameter) {
  const mark = parameter.required ? element("span", { class: "bad", title: "needed" }, " *") : "";
  return element("label", { class: "field" }, element("span", {}, parameter.name, mark), input(parameter), element("small", { class: "dim" }, inJson(parameter.allowed)));
}

function valueOf(parameter, text) {
  if (parameter.kind === "text") return text;
  try { return JSON.parse(text); } catch { return text; } // the server says what is allowed
}

function formOf(verb) {
  const result = element("div", { class: "result" });
  const submit = acting(async (event) => {
    const given = {};
    for (const each of verb.parameters) {
      const text = event.target.elements[each.name].value;
      if (text !== "") given[each.name] = valueOf(each, text);
    }
    result.replaceChildren(tree("result", await call(verb.name, given)));
  });
  const fields = element("div", { class: "fields" }, ...verb.parameters.map(field));
  const form = element("form", { class: "verb", onsubmit: submit }, fields, element("button", { type: "submit" }, verb.name));
  return [element("p", {}, verb.summary), form, result];
}

// A choice of verbs, and the form of the chosen one.
export function chooser(place, verbs, label, first) {
  const form = element("div");
  const subjects = [...new Set(verbs.map((each) => each.subject))].sort();
  const options = (subject) => verbs.filter((each) => each.subject === subject).map((each) => element("option", { value: each.name }, each.name));
  const select = element("select", { "aria-label": label, onchange: () => form.replaceChildren(...formOf(verbs.find((each) => each.name === select.value))) },
    ...subjects.map((each) => element("optgroup", { label: each }, ...options(each))));
  byId(place).append(element("div", { class: "bar" }, element("label", {}, `${label} `, select)), form);
  select.value = first;
  select.dispatchEvent(new Event("change"));
}
