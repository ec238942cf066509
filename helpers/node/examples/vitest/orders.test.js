import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { start } from 'kafkadouble';

let kafka;
beforeAll(async () => {
  kafka = await start({ topics: { orders: 2 } });
}, 60_000);
beforeEach(() => kafka.reset()); // empty, with the topics of the start
afterAll(() => kafka.stop());

test('an order arrives', () =>
  kafka.reporting(async () => {
    await kafka.produce('orders', { value: 'two pears' });
    const [record] = await kafka.waitForRecords('orders');
    expect(record.value.toString()).toBe('two pears');
  }));

test('the next test finds no order', () =>
  kafka.reporting(async () => {
    expect(await kafka.records('orders')).toEqual([]);
  }));
