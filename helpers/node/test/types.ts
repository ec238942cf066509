// Compiled only: what a TypeScript program writes.
import { KafkaError, start, type Double, type Rule, type TopicRecord } from '../lib/index';

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
  try {
    await kafka.reset();
  } catch (error) {
    if (error instanceof KafkaError) return error.errorName;
  }
  return records[0]?.value?.toString();
}
