import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { FaultKinds } from '@emulator/admin/faults.js';
import type { OperationRecord } from '@emulator/admin/operations.js';
import t from 'tap';
import { parseFault } from '../../faults/grammar.js';
import { EMPTY, offersFor, settle, specOf } from '../faults/draft.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/**
 * Published library of the emulator. It is loaded at run time instead of imported, because the tests of the page are
 * compiled without the types of Node.
 */
const { startEmulator } = createRequire(import.meta.url)(`${ROOT}dist/bundle/emulator/index.cjs`) as {
  startEmulator(options: object): Promise<{ readonly adminUrl: string; close(): Promise<void> }>;
};

t.test('the form offers exactly the stages and codes of the operation', async (t) => {
  const emulator = await startEmulator({ port: 0 });
  t.teardown(() => emulator.close());
  const read = async (path: string) => (await fetch(`${emulator.adminUrl}/${path}`)).json();
  const operations: OperationRecord[] = (await read('operations?limit=1000')).items;
  const kinds: FaultKinds = await read('fault-kinds');
  for (const { id, stages, codes } of operations) {
    for (const { name } of kinds.items) {
      const draft = settle({ ...EMPTY, operations: [id], name, hasOtherCodes: false }, kinds, operations);
      const offers = offersFor(draft, kinds, operations);
      t.same(offers.offered.codes.map((code) => code.name).sort(), [...codes].sort(), id);
      const strange = offers.stages.filter((one) => !stages.includes(one) || one === 'accept');
      t.same([strange, offers.stages.length > 0], [[], true], `${name} of ${id}`);
      const isListed = codes.includes(name) || offers.offered.kinds.some((kind) => kind.name === name);
      t.equal(draft.name, isListed ? name : 'rate_limited', 'what is not offered gives way');
    }
  }
  const latency = { ...EMPTY, name: 'latency', operations: ['commitPack'] };
  t.same(
    offersFor(latency, kinds, operations).stages,
    ['headers', 'body', 'auth', 'before', 'after', 'response.head', 'response.body'],
    'in their order',
  );
  const keysOf = (keys: Record<string, string>) =>
    offersFor({ ...latency, keys }, kinds, operations).keys.map(({ key }) => key);
  t.same(
    [keysOf({}), keysOf({ jitter: '5' })],
    [
      ['ms', 'jitter'],
      ['ms', 'jitter', 'dist'],
    ],
  );
  t.same(settle({ ...latency, keys: { ms: '1', dist: 'normal' } }, kinds, operations).keys, { ms: '1' });
  t.same(offersFor({ ...latency, operations: [] }, kinds, operations).stages, Object.keys(kinds.stages));
  const conditionsOf = (id: string) =>
    offersFor({ ...EMPTY, operations: [id] }, kinds, operations).conditions.map(({ key }) => key);
  t.same(
    ['match.repo', 'match.ref', 'match.service', 'match.body', 'match.header', 'match.op'].map((key) =>
      ['getRepository', 'gitReceivePack', 'createBranch'].filter((id) => conditionsOf(id).includes(key)).join(' '),
    ),
    [
      'getRepository gitReceivePack createBranch',
      'gitReceivePack createBranch',
      'gitReceivePack',
      'createBranch',
      'getRepository gitReceivePack createBranch',
      '',
    ],
    'conditions that a request of the operation can meet',
  );
});

t.test('a draft contains the values of the fields', (t) => {
  const condition = (key: string, value: string, name = '') => ({ key, name, value });
  const draft = {
    ...EMPTY,
    operations: ['grep', 'blame'],
    keys: { 'retry-after': '7', t: '' },
    skip: '2',
    stage: 'after',
    conditions: [
      condition('match.repo', 'team/*'),
      condition('match.scopes.has', 'a, b'),
      condition('match.protocol', '2'),
      condition('match.header', 'x', '__proto__'),
      condition('match.header', 'y; =,', 'X-B'),
      condition('match.sub', ''),
      { ...condition('match.claims', '^a|b$', 'team*'), how: '~' as const },
    ],
    further: { 'when.every': '2', note: 'so', ttl: '' },
  };
  const header = JSON.parse('{"__proto__":"x","X-B":"y; =,"}');
  t.same(
    JSON.stringify(parseFault(specOf(draft), 'spec').fault),
    JSON.stringify({
      when: { skip: 2, times: 1, every: 2 },
      at: 'after',
      match: {
        op: ['grep', 'blame'],
        repo: 'team/*',
        token: { scopes: { has: ['a', 'b'] }, claims: { 'team*': { regex: '^a|b$' } } },
        git: { protocol: 2 },
        http: { header },
      },
      note: 'so',
      do: { error: { code: 'rate_limited', retryAfter: 7 } },
    }),
  );
  t.equal(specOf(EMPTY), 'rate_limited*1;retry-after=2');
  t.end();
});
