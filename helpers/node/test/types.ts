// Compiled only: what a TypeScript program writes.
import { KafkaError, start, type Double, type GroupDescription, type Rule, type TopicRecord } from '../lib/index';

export async function used(): Promise<string | undefined> {
  const kafka: Double = await start({ brokers: 3, topics: { orders: 2 } });
  await kafka.createTopic('invoices', { partitions: 2, config: { 'cleanup.policy': 'compact' } });
  const secured: Double = await start({ security: 'SASL_SSL', users: { alice: 'secret' }, acls: [], certificate: 'expired', scenario: 'a.yaml' });
  const settings: Record<string, any> = await secured.clientConfig({ client: 'kafkajs', user: 'alice' });
  await secured.createAcls([`User:${settings.sasl.username} allow READ topic:orders`]);
  const rule: Rule = await kafka.fail('Produce', 'NOT_LEADER_OR_FOLLOWER', { times: 2, topic: 'orders' });
  await rule.wait({ hits: 2 });
  const leader: number | null = await kafka.leader('orders', 0);
  if (leader !== null) await kafka.killBroker(leader);
  const records: TopicRecord[] = await kafka.waitForRecords('orders', { signal: AbortSignal.timeout(1000) });
  // @ts-expect-error: createTopic has no such parameter
  await kafka.createTopic('more', { lag: 1 });
  // @ts-expect-error: Kafka has no such API
  await kafka.fail('Prodce', 'NOT_LEADER_OR_FOLLOWER');
  // @ts-expect-error: Kafka has no such error
  await kafka.fail('Produce', 'NOT_A_ERROR');
  // @ts-expect-error: wait_for_request waits for one API
  await kafka.waitForRequest('*');
  // @ts-expect-error: groups have no such state
  await kafka.waitForGroup('shop', { state: 'Steady' });
  // @ts-expect-error: a pair has two parts
  await kafka.latency(0.1, { link: [1, 2, 3] });
  // @ts-expect-error: a program elsewhere cannot call a function
  await kafka.assertSeen({ where: () => true });
  try {
    await kafka.reset();
  } catch (error) {
    if (error instanceof KafkaError) return error.errorName;
  }
  return records[0]?.value?.toString();
}

/** What verbs return is given back. */
export async function givenBack(kafka: Double): Promise<boolean> {
  await kafka.delay('*', 0.1, { times: null });
  const records: TopicRecord[] = await kafka.waitForRecords('orders', { where: async (each) => each.value !== null });
  await kafka.produceAll('orders', records);
  await kafka.produce('orders', { headers: records[0]?.headers, key: records[0]?.key });
  await kafka.restore(await kafka.snapshot());
  const group: GroupDescription = await kafka.waitForGroup('shop', { state: 'Stable' });
  await kafka.waitForGroup('shop', { state: group.state });
  await kafka.commitOffsets('other', group.offsets);
  await kafka.commitOffsets('other', new Map([[['orders', 0], 5n]]));
  await kafka.setAssignment('shop', Object.fromEntries(group.members.map((each) => [each.id, each.assignment])));
  const rule = await kafka.fail('Produce', 6);
  await kafka.arm(rule);
  await kafka.waitForRule(rule);
  const seen = await kafka.waitForRequest('Produce', { error: true });
  await kafka.assertNotSeen({ apis: [seen.api], error: seen.errors[0], since: seen });
  const findings = await kafka.lint();
  await kafka.lint({ ignore: findings.map((each) => each.rule) });
  const { brokers } = await kafka.describeCluster();
  const epochs: (number | null)[] = [group.epoch, group.assignmentEpoch, ...group.members.map((each) => each.epoch)];
  return brokers[1]?.isFenced === true && brokers[1].state === 'running' && epochs.includes(null);
}
