// Made by helpers/generate; do not edit.
'use strict';

class Verbs {
  acls(options) {
    return this._verb('acls', {}, options);
  }

  addBroker(options) {
    return this._verb('add_broker', {}, options);
  }

  advance(seconds, options) {
    return this._verb('advance', { seconds }, options);
  }

  arm(rule, options) {
    return this._verb('arm', { rule }, options);
  }

  assertNotSeen(options) {
    return this._verb('assert_not_seen', {}, options);
  }

  assertSeen(options) {
    return this._verb('assert_seen', {}, options);
  }

  bandwidth(bytesPerSecond, options) {
    return this._verb('bandwidth', { bytes_per_second: bytesPerSecond }, options);
  }

  bearerToken(user, options) {
    return this._verb('bearer_token', { user }, options);
  }

  bootstrap(listener, options) {
    return this._verb('bootstrap', { listener }, options);
  }

  bootstrapOnBroker(broker, listener, options) {
    return this._verb('bootstrap_on_broker', { broker, listener }, options);
  }

  bumpEpoch(topic, partition, options) {
    return this._verb('bump_epoch', { topic, partition }, options);
  }

  changeField(api, path, value, options) {
    return this._verb('change_field', { api, path, value }, options);
  }

  clearRequests(options) {
    return this._verb('clear_requests', {}, options);
  }

  clearRules(options) {
    return this._verb('clear_rules', {}, options);
  }

  clientConfig(options) {
    return this._verb('client_config', {}, options);
  }

  commitOffsets(group, offsets, options) {
    return this._verb('commit_offsets', { group, offsets }, options);
  }

  compact(topic, options) {
    return this._verb('compact', { topic }, options);
  }

  corruptRecords(options) {
    return this._verb('corrupt_records', {}, options);
  }

  createAcls(acls, options) {
    return this._verb('create_acls', { acls }, options);
  }

  createPartitions(topic, partitions, options) {
    return this._verb('create_partitions', { topic, partitions }, options);
  }

  createTopic(name, options) {
    return this._verb('create_topic', { name }, options);
  }

  cutFrame(api, bytes, options) {
    return this._verb('cut_frame', { api, bytes }, options);
  }

  delay(api, seconds, options) {
    return this._verb('delay', { api, seconds }, options);
  }

  deleteAcls(acls, options) {
    return this._verb('delete_acls', { acls }, options);
  }

  deleteGroup(group, options) {
    return this._verb('delete_group', { group }, options);
  }

  deleteRecords(topic, partition, options) {
    return this._verb('delete_records', { topic, partition }, options);
  }

  deleteTopic(name, options) {
    return this._verb('delete_topic', { name }, options);
  }

  describeCluster(options) {
    return this._verb('describe_cluster', {}, options);
  }

  disconnect(api, options) {
    return this._verb('disconnect', { api }, options);
  }

  diskError(options) {
    return this._verb('disk_error', {}, options);
  }

  diskFull(options) {
    return this._verb('disk_full', {}, options);
  }

  diskSlow(seconds, options) {
    return this._verb('disk_slow', { seconds }, options);
  }

  down(options) {
    return this._verb('down', {}, options);
  }

  dropAnswer(api, options) {
    return this._verb('drop_answer', { api }, options);
  }

  dropSnapshot(name, options) {
    return this._verb('drop_snapshot', { name }, options);
  }

  electLeaders(options) {
    return this._verb('elect_leaders', {}, options);
  }

  endOffsets(topic, options) {
    return this._verb('end_offsets', { topic }, options);
  }

  epochs(topic, partition, options) {
    return this._verb('epochs', { topic, partition }, options);
  }

  expireMember(group, memberId, options) {
    return this._verb('expire_member', { group, member_id: memberId }, options);
  }

  expireSaslSessions(options) {
    return this._verb('expire_sasl_sessions', {}, options);
  }

  expireSession(broker, options) {
    return this._verb('expire_session', { broker }, options);
  }

  expireTransaction(transactionalId, options) {
    return this._verb('expire_transaction', { transactional_id: transactionalId }, options);
  }

  fail(api, error, options) {
    return this._verb('fail', { api, error }, options);
  }

  flush(topic, partition, options) {
    return this._verb('flush', { topic, partition }, options);
  }

  freeze(options) {
    return this._verb('freeze', {}, options);
  }

  groups(options) {
    return this._verb('groups', {}, options);
  }

  halfOpen(options) {
    return this._verb('half_open', {}, options);
  }

  hangTransaction(topic, partition, options) {
    return this._verb('hang_transaction', { topic, partition }, options);
  }

  ignore(api, options) {
    return this._verb('ignore', { api }, options);
  }

  isolateBroker(broker, options) {
    return this._verb('isolate_broker', { broker }, options);
  }

  isr(topic, partition, options) {
    return this._verb('isr', { topic, partition }, options);
  }

  joinBroker(broker, options) {
    return this._verb('join_broker', { broker }, options);
  }

  killBroker(broker, options) {
    return this._verb('kill_broker', { broker }, options);
  }

  latency(seconds, options) {
    return this._verb('latency', { seconds }, options);
  }

  leader(topic, partition, options) {
    return this._verb('leader', { topic, partition }, options);
  }

  leaderEpoch(topic, partition, options) {
    return this._verb('leader_epoch', { topic, partition }, options);
  }

  lint(options) {
    return this._verb('lint', {}, options);
  }

  loseFlushes(options) {
    return this._verb('lose_flushes', {}, options);
  }

  metrics(options) {
    return this._verb('metrics', {}, options);
  }

  moveCoordinator(group, to, options) {
    return this._verb('move_coordinator', { group, to }, options);
  }

  moveLeader(topic, partition, to, options) {
    return this._verb('move_leader', { topic, partition, to }, options);
  }

  moveTransactionCoordinator(transactionalId, to, options) {
    return this._verb('move_transaction_coordinator', { transactional_id: transactionalId, to }, options);
  }

  oversizedFrame(api, bytes, options) {
    return this._verb('oversized_frame', { api, bytes }, options);
  }

  partition(topic, partition, options) {
    return this._verb('partition', { topic, partition }, options);
  }

  pause(api, options) {
    return this._verb('pause', { api }, options);
  }

  pauseBroker(broker, options) {
    return this._verb('pause_broker', { broker }, options);
  }

  produce(topic, options) {
    return this._verb('produce', { topic }, options);
  }

  produceAll(topic, records, options) {
    return this._verb('produce_all', { topic, records }, options);
  }

  reassign(topic, partition, replicas, options) {
    return this._verb('reassign', { topic, partition, replicas }, options);
  }

  rebalance(group, options) {
    return this._verb('rebalance', { group }, options);
  }

  records(topic, options) {
    return this._verb('records', { topic }, options);
  }

  refuseConnections(options) {
    return this._verb('refuse_connections', {}, options);
  }

  removeBroker(broker, options) {
    return this._verb('remove_broker', { broker }, options);
  }

  removeMembers(group, options) {
    return this._verb('remove_members', { group }, options);
  }

  removeQuota(options) {
    return this._verb('remove_quota', {}, options);
  }

  removeRule(rule, options) {
    return this._verb('remove_rule', { rule }, options);
  }

  removeUser(user, options) {
    return this._verb('remove_user', { user }, options);
  }

  report(options) {
    return this._verb('report', {}, options);
  }

  requests(options) {
    return this._verb('requests', {}, options);
  }

  reset(options) {
    return this._verb('reset', {}, options);
  }

  resetAfter(bytes, options) {
    return this._verb('reset_after', { bytes }, options);
  }

  resetOffsets(group, topic, to, options) {
    return this._verb('reset_offsets', { group, topic, to }, options);
  }

  respond(api, body, options) {
    return this._verb('respond', { api, body }, options);
  }

  restore(snapshot, options) {
    return this._verb('restore', { snapshot }, options);
  }

  resumeBroker(broker, options) {
    return this._verb('resume_broker', { broker }, options);
  }

  retain(topic, options) {
    return this._verb('retain', { topic }, options);
  }

  roll(topic, partition, options) {
    return this._verb('roll', { topic, partition }, options);
  }

  rules(options) {
    return this._verb('rules', {}, options);
  }

  scale(factor, options) {
    return this._verb('scale', { factor }, options);
  }

  scenarioSteps(options) {
    return this._verb('scenario_steps', {}, options);
  }

  setAssignment(group, assignment, options) {
    return this._verb('set_assignment', { group, assignment }, options);
  }

  setCertificate(certificate, options) {
    return this._verb('set_certificate', { certificate }, options);
  }

  setClientMetrics(name, config, options) {
    return this._verb('set_client_metrics', { name, config }, options);
  }

  setQuota(options) {
    return this._verb('set_quota', {}, options);
  }

  setTopicConfig(topic, config, options) {
    return this._verb('set_topic_config', { topic, config }, options);
  }

  setUser(user, password, options) {
    return this._verb('set_user', { user, password }, options);
  }

  shortFrame(api, bytes, options) {
    return this._verb('short_frame', { api, bytes }, options);
  }

  sliceFrames(bytes, options) {
    return this._verb('slice_frames', { bytes }, options);
  }

  slowClose(seconds, options) {
    return this._verb('slow_close', { seconds }, options);
  }

  slowFrame(api, bytesPerSecond, options) {
    return this._verb('slow_frame', { api, bytes_per_second: bytesPerSecond }, options);
  }

  snapshot(options) {
    return this._verb('snapshot', {}, options);
  }

  snapshots(options) {
    return this._verb('snapshots', {}, options);
  }

  staleMetadata(options) {
    return this._verb('stale_metadata', {}, options);
  }

  startBroker(broker, options) {
    return this._verb('start_broker', { broker }, options);
  }

  stopBroker(broker, options) {
    return this._verb('stop_broker', { broker }, options);
  }

  telemetry(options) {
    return this._verb('telemetry', {}, options);
  }

  throttle(api, seconds, options) {
    return this._verb('throttle', { api, seconds }, options);
  }

  topics(options) {
    return this._verb('topics', {}, options);
  }

  transactions(options) {
    return this._verb('transactions', {}, options);
  }

  truncate(topic, partition, offset, options) {
    return this._verb('truncate', { topic, partition, offset }, options);
  }

  uncleanElection(topic, partition, options) {
    return this._verb('unclean_election', { topic, partition }, options);
  }

  unfreeze(options) {
    return this._verb('unfreeze', {}, options);
  }

  unusedRules(options) {
    return this._verb('unused_rules', {}, options);
  }

  up(options) {
    return this._verb('up', {}, options);
  }

  waitForBroker(broker, options) {
    return this._verb('wait_for_broker', { broker }, options);
  }

  waitForGroup(group, options) {
    return this._verb('wait_for_group', { group }, options);
  }

  waitForIsr(topic, partition, isr, options) {
    return this._verb('wait_for_isr', { topic, partition, isr }, options);
  }

  waitForLeader(topic, partition, options) {
    return this._verb('wait_for_leader', { topic, partition }, options);
  }

  waitForRecords(topic, options) {
    return this._verb('wait_for_records', { topic }, options);
  }

  waitForRequest(api, options) {
    return this._verb('wait_for_request', { api }, options);
  }

  waitForRule(rule, options) {
    return this._verb('wait_for_rule', { rule }, options);
  }

  waitForTopic(topic, options) {
    return this._verb('wait_for_topic', { topic }, options);
  }

  waitForTransaction(transactionalId, state, options) {
    return this._verb('wait_for_transaction', { transactional_id: transactionalId, state }, options);
  }

  wrongCorrelationId(api, options) {
    return this._verb('wrong_correlation_id', { api }, options);
  }
}

module.exports = { Verbs };
