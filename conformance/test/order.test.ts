import t from 'tap';
import { mergeReports, type Options, run, startEmulator, type Target, UnmergeableReports } from '../index.js';
import type { Report } from '../report/results.js';
import { allRules } from '../rules/registry.js';
import { estimateRequests, readRecordedRequests } from '../run/budget.js';
import { startTestServer } from './test-server.js';

t.setTimeout(300_000);

/** What of a report has to be the same however the rules were run. */
function verdictsOf({ rules, exit_code, variants, setup }: Report) {
  return {
    exit_code,
    variants,
    setup: setup?.map(({ name }) => name).sort(),
    rules: rules.map(({ id, verdict }) => `${id}: ${verdict}`),
  };
}

const SHARDS = 3;

async function runInShards(target: Target, options: Options): Promise<Report[]> {
  const reports: Report[] = [];
  for (let index = 1; index <= SHARDS; index++) {
    reports.push(await run(target, { ...options, shard: { index, count: SHARDS } }));
  }
  return reports;
}

/**
 * A server that is wrong in many ways, and always in the same: refused tokens are 401 here and 403 there, some routes
 * are not there, some close the connection, one does not do what the set-up needs.
 */
const wrong = await startTestServer((request, response) => {
  const { method = '', url = '', headers } = request;
  const [path = ''] = url.split('?', 1);
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (headers.authorization === undefined) return answer(path.includes('file') ? 403 : 401, { code: 'forbidden' });
    if (path.endsWith('/archive')) return request.socket.destroy();
    if (path.endsWith('/notes')) return answer(404, { code: 'route_not_found' });
    if (method === 'POST' && path === '/api/repos') return answer(201, { url: 'x' });
    if (path.endsWith('/commit-pack')) return answer(500, {});
    answer(200, { items: [], has_more: false });
  });
});
t.teardown(() => wrong.close());
const emulator = await startEmulator();
t.teardown(() => emulator.stop());
const whole = await run(emulator.target);

const rate = Number.POSITIVE_INFINITY;
const only = 'auth,claim,scope,key,jwt,grep,archive,note,problem,err,commit,write,limit,rate,pack';

t.test('a wrong target gets the same verdicts in any order, from any number of workers, and in shards', async (t) => {
  for (const target of [wrong.target, { ...wrong.target, write: false, repo: 'app' }]) {
    const first = await run(target, { rate, only, width: 1 });
    t.equal(first.exit_code, 1);
    t.equal(first.counts.error, 0);
    t.ok(first.counts.fail > 20);
    for (const options of [{ width: 2 }, { width: 8 }, { width: 3, seed: 2 }]) {
      t.same(verdictsOf(await run(target, { rate, only, ...options })), verdictsOf(first), JSON.stringify(options));
    }
    const merged = mergeReports(await runInShards(target, { rate, only }));
    t.same(verdictsOf(merged), verdictsOf(first), 'in shards');
    t.same(merged.counts, first.counts);
  }
});

t.test('so does the emulator', async (t) => {
  t.equal(whole.exit_code, 0);
  t.same(verdictsOf(await run(emulator.target, { width: 3, seed: 42 })), verdictsOf(whole), 'shuffled');
});

t.test('shards share the rules, make no fixture twice, and merge into the whole', async (t) => {
  const shards = await runInShards(emulator.target, {});
  const ids = shards.flatMap(({ rules }) => rules.map(({ id }) => id));
  t.same(
    ids.sort(),
    allRules()
      .map(({ id }) => id)
      .sort(),
    'every rule is in one of them',
  );
  const groups = new Map(allRules().map(({ id, group }) => [id, group]));
  const places = new Map<string, Set<number>>();
  shards.forEach(({ rules }, index) => {
    for (const { id } of rules) {
      const group = groups.get(id) ?? '';
      places.set(group, (places.get(group) ?? new Set()).add(index));
    }
  });
  t.same(
    [...places].filter(([, { size }]) => size > 1),
    [],
    'a group is in one shard',
  );
  for (const { requests } of shards) t.ok(requests < 0.6 * whole.requests, 'and each does its part');
  t.same(verdictsOf(mergeReports(shards)), verdictsOf(whole));
  t.same(verdictsOf(mergeReports([...shards].reverse())), verdictsOf(whole), 'in any order');
  const [first, second, third] = shards;
  if (!first || !second || !third) throw new Error('there are three');
  for (const [reports, says] of [
    [[], /no report/],
    [[first, second], /shard 3\/3 is there 0 times/],
    [[first, second, third, third], /shard 3\/3 is there 2 times/],
    [[whole], /of no shard/],
    [[first, second, { ...third, target: { ...third.target, org: 'x' } }], /org of the target differs: demo and x/],
  ] as const) {
    t.throws(() => mergeReports(reports), { name: 'UnmergeableReports', message: says });
  }
  t.type(UnmergeableReports, 'function');
});

t.test('the estimate is near to what a run asks', async (t) => {
  const recorded = readRecordedRequests();
  const asked = whole.requests + (whole.cleanup?.made ?? 0);
  const estimated = estimateRequests(allRules(), { ...emulator.target, adminUrl: 'x' }, recorded);
  const share = Math.abs(asked - estimated) / asked;
  t.ok(share < 0.1, `${estimated} for ${asked}: print fixtures/rule-requests.json anew by test/record-requests.js`);
  t.ok(asked <= 6000, 'a full run asks 6,000 requests at most');
});
