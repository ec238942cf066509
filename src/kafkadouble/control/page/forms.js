// A form for any verb, made from its description, and the place where its result is shown.

import { call } from "./api.js";
import { acting, byId, element, tree } from "./elements.js";

// The input for a parameter, and how its text becomes a value.
function input(parameter) {
  const { name, kind, schema, required } = parameter;
  const options = schema.enum ?? schema.anyOf?.find((each) => each.enum)?.enum;
  const common = { name, id: `parameter-${name}`, required };
  if (kind === "switch") return element("select", common, ...["", "true", "false"].map((each) => element("option", { value: each }, each)));
  if (options) return element("select", common, ...["", ...options].map((each) => element("option", { value: each }, each)));
  return element("input", { ...common, type: "text", placeholder: parameter.default === undefined || parameter.default === null ? "" : JSON.stringify(parameter.default) });
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
  const fields = verb.parameters.flatMap((each) => [
    element("label", { for: `parameter-${each.name}` }, each.name), input(each), element("span", { class: "dim" }, each.allowed)]);
  const form = element("form", { class: "verb", onsubmit: submit }, ...fields, element("button", { type: "submit" }, verb.name));
  return [element("p", {}, verb.summary), form, result];
}

// A choice of verbs, and the form of the chosen one.
export function chooser(place, verbs, label, first) {
  const form = element("div");
  const select = element("select", { "aria-label": label, onchange: () => form.replaceChildren(...formOf(verbs.find((each) => each.name === select.value))) },
    ...verbs.map((each) => element("option", { value: each.name }, `${each.subject}: ${each.name}`)));
  byId(place).append(element("div", { class: "bar" }, element("label", {}, `${label} `, select)), form);
  select.value = first;
  select.dispatchEvent(new Event("change"));
}
