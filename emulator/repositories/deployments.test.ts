import t from 'tap';
import { oid } from '../git/test/oid.js';
import { type Deployment, type KeyedRequests, NO_DEPLOYMENTS } from './deployments.js';
import { emptyMap } from './sorted-records.js';

const deployment = (sequence: number): Deployment => ({
  id: `d${sequence}`,
  sequence,
  target: 'preview',
  ref: 'main',
  commit: oid('a'.repeat(40)),
  createdAt: sequence,
});

t.test('deployments are found by id and listed newest first', async (t) => {
  let deployments = NO_DEPLOYMENTS;
  for (let sequence = 1; sequence <= 40; sequence++) deployments = deployments.with(deployment(sequence));
  t.equal(deployments.size, 40);
  t.same(deployments.get('d7'), deployment(7));
  t.equal(deployments.get('d41'), undefined);
  const sequences = (before?: number) => [...deployments.reversed(before)].map(({ sequence }) => sequence);
  t.same(
    sequences(),
    Array.from({ length: 40 }, (_, index) => 40 - index),
  );
  t.same(sequences(4), [3, 2, 1], 'a page goes on below the position it is given');
  t.same(sequences(1), []);
  t.same([...NO_DEPLOYMENTS.reversed()], [], 'a value is not changed by what is made of it');
});

t.test('an idempotency key leads to the request that first used it', async (t) => {
  const request = '{"ref":"main"}';
  const none: KeyedRequests = emptyMap();
  const one = none.with('k', { request, id: 'd1' }, true);
  t.same(one.get('k'), { request, id: 'd1' });
  t.equal(one.get('other'), undefined);
  t.equal(none.get('k'), undefined);
});
