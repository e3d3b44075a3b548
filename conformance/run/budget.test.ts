import t from 'tap';
import { allRules, type Options, run, selectRules, type Target } from '../index.js';
import { startDeployment } from '../test/deployment.js';
import { startNamespace } from '../test/shared-emulator.js';
import { budgetOf } from './budget.js';

/**
 * Maximum relative difference between the announced and the actual number of requests. If a change of rules exceeds it,
 * record `fixtures/rule-requests.json` again with `test/record-requests.js`.
 */
const TOLERANCE = 0.3;

/** Runs rules. Returns the number of requests that the run announced, and the number that its report shows. */
async function measure(target: Target, options: Options, onBudget: () => void = () => undefined) {
  let announced = 0;
  const { requests } = await run(target, {
    ...options,
    rate: Number.POSITIVE_INFINITY,
    onBudget: (budget) => {
      announced = budget.requests;
      onBudget();
    },
  });
  return { announced, requests };
}

function isClose({ announced, requests }: { announced: number; requests: number }): boolean {
  return Math.abs(announced - requests) <= TOLERANCE * requests;
}

t.test('a run that writes announces about as many requests as it sends', async (t) => {
  const emulator = await startNamespace(t);
  const { baseUrl, target, asked } = await startDeployment(t);
  const { adminUrl: _admin, restrictedKey: _restricted, second: _second, ...rest } = target;
  const deployment = { ...rest, baseUrl, gitUrl: baseUrl, companion: false };
  for (const only of ['grep', 'grep.ref.default', 'err.route-not-found.no-auth', 'repo.record', 'restricted', 'file']) {
    const measured = await measure(emulator, { only });
    t.ok(isClose(measured), `${only} on the emulator: ${JSON.stringify(measured)}`);
    let before = 0;
    const live = await measure(deployment, { only }, () => {
      before = asked.length;
    });
    t.ok(isClose(live), `${only} on a deployment: ${JSON.stringify(live)}`);
    t.equal(live.requests, asked.length - before, 'and the report counts all of them');
  }
  for (const shard of [1, 2]) {
    const measured = await measure(emulator, { only: 'grep,commit,file,archive', shard: { index: shard, count: 2 } });
    t.ok(isClose(measured), `shard ${shard}: ${JSON.stringify(measured)}`);
  }
});

t.test('a run that only reads announces about as many requests as it sends', async (t) => {
  const { baseUrl, target, asked } = await startDeployment(t);
  const { adminUrl: _admin, ...rest } = target;
  const reading = { ...rest, baseUrl, gitUrl: baseUrl, write: false };
  for (const repo of ['docs', undefined]) {
    for (const options of [
      {},
      { only: 'grep' },
      { only: 'jwt' },
      { only: 'scope' },
      { shard: { index: 1, count: 4 } },
    ]) {
      let before = 0;
      const measured = await measure(repo === undefined ? reading : { ...reading, repo }, options, () => {
        before = asked.length;
      });
      t.ok(isClose(measured), `${JSON.stringify(options)} of ${repo}: ${JSON.stringify(measured)}`);
      t.equal(measured.requests, asked.length - before);
    }
  }
});

t.test(
  'the announced duration follows from the rate, or from the latency if few requests are concurrent',
  async (t) => {
    const { target } = await startDeployment(t);
    const plan = { rules: selectRules(allRules(), 'grep'), target, rate: 5, width: 4, keep: false };
    const quick = budgetOf({ ...plan, latency: 0.01 });
    t.equal(quick.seconds, Math.ceil(quick.requests / 5));
    const slow = budgetOf({ ...plan, latency: 2 });
    t.ok(Number(slow.seconds) > Number(quick.seconds), 'with a long latency, the rate is not reached');
    t.ok(Number(slow.seconds) <= slow.requests * 2);
    t.equal(budgetOf({ ...plan, latency: 0.01, window: 600 }).seconds, 600);
    t.equal(budgetOf({ ...plan, latency: 2, rate: Number.POSITIVE_INFINITY }).seconds, undefined);
  },
);
