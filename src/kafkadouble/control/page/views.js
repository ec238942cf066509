// The views of state: topics, groups, transactions, brokers, rules. Each is a function from what the
// server sent to elements. A view is drawn while it is in sight; its tab counts in any case.

import { call } from "./api.js";
import { acting, byId, element, patch, table } from "./elements.js";

const latest = {}; // view -> what the server sent last

const dash = (value) => (value === null || value === undefined || value === "" ? "–" : String(value));
const nothing = (what) => [element("p", { class: "dim" }, `There are no ${what}.`)];
const partitions = (found) => dash(found.map(([topic, index]) => `${topic}-${index}`).join(", "));

// An object as words: topic=orders, times=2.
const words = (found = {}) => Object.entries(found).map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");

// A button that calls a verb. The attributes tell buttons with the same label apart.
const button = (label, verb, parameters) => element("button",
  { type: "button", "data-verb": verb, "data-parameters": JSON.stringify(parameters), onclick: acting(() => call(verb, parameters)) }, label);

function topics(found) {
  return Object.values(found).flatMap((topic) => [
    element("h2", {}, topic.name, " ", element("span", { class: "dim mono" }, topic.id, " ", words(topic.configs))),
    table(["partition", "leader", "leader epoch", "replicas", "in sync", "start", "high watermark", "last stable", "end"],
      Object.values(topic.partitions).map((each) => [
        each.partition, each.leader === null ? element("span", { class: "bad" }, "none") : each.leader, each.leader_epoch,
        each.replicas.join(", "), element("span", { class: each.isr.length < each.replicas.length ? "bad" : "" }, each.isr.join(", ")),
        dash(each.start_offset), dash(each.high_watermark), dash(each.last_stable_offset), dash(each.end_offset)])),
  ]);
}

function groups(found) {
  return Object.values(found).flatMap((group) => {
    const lags = Object.entries(group.lags).flatMap(([topic, each]) => Object.entries(each).map(([index, lag]) => [topic, index, lag]));
    const offset = (topic, index) => group.offsets[topic]?.[index]?.offset;
    const lag = lags.length ? lags.reduce((sum, each) => sum + each[2], 0) : undefined;
    // Only the members of classic groups have no epoch.
    const epochs = group.epoch !== undefined;
    const epoch = epochs ? `, epoch ${group.epoch}` : "";
    return [
      element("h2", {}, group.id, " ", element("span", { class: "dim" }, `${group.type}, ${group.state}, ${dash(group.protocol)}${epoch}, lag ${dash(lag)}`)),
      group.members.length ? table(["member", ...(epochs ? ["epoch"] : []), "client", "host", "assignment"], group.members.map((each) => [
        each.id, ...(epochs ? [dash(each.epoch)] : []), each.client_id, each.host, partitions(each.assignment)])) : nothing("members")[0],
      lags.length ? table(["topic", "partition", "committed", "lag"], lags.map(([topic, index, each]) => [
        topic, index, dash(offset(topic, index)), each])) : nothing("committed offsets")[0],
    ];
  });
}

function transactions(found) {
  return [table(["transactional id", "state", "producer id", "epoch", "partitions"], Object.entries(found).map(([id, each]) => [
    id, each.state, each.producer_id, each.producer_epoch, partitions(each.partitions)]))];
}

const ACTIONS = {
  running: [["Kill", "kill_broker"], ["Stop", "stop_broker"], ["Pause", "pause_broker"], ["Isolate", "isolate_broker"]],
  paused: [["Resume", "resume_broker"]],
  isolated: [["Join", "join_broker"]],
  stopped: [["Start", "start_broker"]],
};
const SINGLE = { running: [["Down", "down"]], stopped: [["Up", "up"]] };

function brokers({ brokers: found = {}, controller_id: controller }) {
  const alone = Object.keys(found).length === 1;
  const actions = (each) => (alone ? SINGLE : ACTIONS)[each.state].map(([label, verb]) => button(label, verb, alone ? {} : { broker: each.id }));
  const led = Object.values(latest.topics ?? {}).flatMap((topic) => Object.values(topic.partitions)).map((each) => each.leader);
  return [
    table(["broker", "address", "state", "fenced", "partitions led", ""], Object.values(found).map((each) => [
      each.id, each.address, element("span", { class: each.state === "running" ? "good" : "bad" }, each.state), each.is_fenced ? "yes" : "no",
      led.filter((leader) => leader === each.id).length, element("span", { class: "actions" }, ...actions(each))])),
    element("p", { class: "dim" }, `The active controller is node ${dash(controller)}.`),
  ];
}

function rules(found) {
  const parts = ({ action: { type, ...how }, match, trigger }) => [[type, words(how)].filter(Boolean).join(": "), words(match), words(trigger).replace("times=null", "every time")];
  return [table(["id", "action", "match", "trigger", "hits", ""], found.map((each) => [
    each.id, ...(typeof each.rule === "string" ? [each.rule, "", ""] : parts(each.rule)), each.hits, button("Release", "remove_rule", { rule: each.id })]))];
}

// Tab -> its view, the place for it, how it is made, and what there may be none of.
const VIEWS = {
  topics: ["topics", "topics", topics, "topics"],
  groups: ["groups", "groups", groups, "groups"],
  transactions: ["transactions", "transactions", transactions, "transactional ids"],
  brokers: ["describe_cluster", "brokers", brokers, "brokers"],
  rules: ["rules", "armed", rules, "armed rules"],
};

// Draws the view of a tab, if it is in sight.
export function draw(tab) {
  const [view, place, make, what] = VIEWS[tab] ?? [];
  if (!(view in latest) || byId(tab).hidden) return;
  patch(byId(place), Object.keys(latest[view]).length ? make(latest[view]) : nothing(what));
}

function count(tab, found) {
  byId(`count-${tab}`).textContent = Object.keys(found).length || "";
}

// Takes a view that came from the server.
export function show(name, value) {
  latest[name] = value;
  if (name === "describe_cluster") {
    byId("cluster").textContent = byId("cluster").title = `${value.bootstrap_servers ?? ""} · cluster ${value.cluster_id ?? ""}`;
    count("brokers", value.brokers ?? {});
  } else if (name in VIEWS) count(name, value);
  for (const tab of Object.keys(VIEWS)) if (VIEWS[tab][0] === name || (tab === "brokers" && name === "topics")) draw(tab);
}
