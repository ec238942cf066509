// The views of state: topics, groups, transactions, brokers, rules. Each is a function from what the
// server sent to elements.

import { call } from "./api.js";
import { acting, byId, element, table } from "./elements.js";

const dash = (value) => (value === null || value === undefined || value === "" ? "–" : String(value));
const button = (label, act) => element("button", { type: "button", onclick: acting(act) }, label);
const nothing = (what) => element("p", { class: "dim" }, `There are no ${what}.`);

function topics(found) {
  return Object.values(found).flatMap((topic) => [
    element("h2", {}, topic.name, " ", element("span", { class: "dim mono" }, topic.id, " ", JSON.stringify(topic.configs))),
    table(["partition", "leader", "epoch", "replicas", "in sync", "start", "high watermark", "last stable", "end"],
      Object.values(topic.partitions).map((each) => [
        each.partition, each.leader === null ? element("span", { class: "bad" }, "none") : each.leader, each.leader_epoch,
        each.replicas.join(", "), element("span", { class: each.isr.length < each.replicas.length ? "bad" : "" }, each.isr.join(", ")),
        dash(each.start_offset), dash(each.high_watermark), dash(each.last_stable_offset), dash(each.end_offset)])),
  ]);
}

function groups(found) {
  return Object.values(found).flatMap((group) => {
    const lags = Object.entries(group.lags).flatMap(([topic, partitions]) => Object.entries(partitions).map(([index, lag]) => [topic, index, lag]));
    const offset = (topic, index) => group.offsets[topic]?.[index]?.offset;
    return [
      element("h2", {}, group.id, " ", element("span", { class: "dim" }, `${group.type}, ${group.state}, ${dash(group.protocol)}`)),
      table(["member", "client", "host", "assignment"], group.members.map((each) => [
        each.id, each.client_id, each.host, each.assignment.map(([topic, index]) => `${topic}-${index}`).join(", ")])),
      table(["topic", "partition", "committed", "lag"], lags.map(([topic, index, lag]) => [topic, index, dash(offset(topic, index)), lag])),
    ];
  });
}

function transactions(found) {
  return [table(["transactional id", "state", "producer id", "epoch", "partitions"], Object.entries(found).map(([id, each]) => [
    id, each.state, each.producer_id, each.producer_epoch, each.partitions.map(([topic, index]) => `${topic}-${index}`).join(", ")]))];
}

const ACTIONS = {
  running: [["Kill", "kill_broker"], ["Stop", "stop_broker"], ["Pause", "pause_broker"], ["Isolate", "isolate_broker"]],
  paused: [["Resume", "resume_broker"]],
  isolated: [["Join", "join_broker"]],
  stopped: [["Start", "start_broker"]],
};

function brokers(found) {
  const alone = Object.keys(found).length === 1;
  const single = { running: [["Down", "down"]], stopped: [["Up", "up"]] };
  const actions = (each) => (alone ? single : ACTIONS)[each.state].map(([label, verb]) => button(label, () => call(verb, alone ? {} : { broker: each.id })));
  return [table(["broker", "address", "state", "fenced", ""], Object.values(found).map((each) => [
    each.id, each.address, element("span", { class: each.state === "running" ? "good" : "bad" }, each.state), each.is_fenced ? "yes" : "no",
    element("span", {}, ...actions(each))]))];
}

function rules(found) {
  return [table(["id", "rule", "hits", ""], found.map((each) => [
    each.id, typeof each.rule === "string" ? each.rule : JSON.stringify(each.rule), each.hits, button("Release", () => call("remove_rule", { rule: each.id }))]))];
}

const VIEWS = { topics, groups, transactions, rules };
const WORDS = { topics: "topics", groups: "groups", transactions: "transactional ids", rules: "armed rules" };

// Shows a view that came from the server.
export function show(name, value) {
  if (name === "describe_cluster") {
    byId("cluster").textContent = `${value.bootstrap_servers ?? ""} · cluster ${value.cluster_id ?? ""}`;
    byId("brokers").replaceChildren(...brokers(value.brokers ?? {}));
    return;
  }
  const place = name === "rules" ? byId("armed") : byId(name);
  if (!place || !VIEWS[name]) return;
  place.replaceChildren(...(Object.keys(value).length ? VIEWS[name](value) : [nothing(WORDS[name])]));
}
