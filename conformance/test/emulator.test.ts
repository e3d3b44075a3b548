import { join } from 'node:path';
import t from 'tap';
import { mergeReports, run, startTargetEmulator, UnmergeableReports } from '../index.js';
import { explain } from '../report/reporter.js';
import { allRules } from '../rules/registry.js';
import { runInShards, verdictsOf } from './shards.js';
import { startNamespace } from './shared-emulator.js';

/** Ids of the rules that a run against the emulator skips, by the reason in the report. */
const SKIPPED: Readonly<Record<string, readonly string[]>> = {
  'the target is on this machine': ['general.https', 'general.base-url.org-subdomain'],
};

const target = await startNamespace(t);

const report = await run(target, { strict: true });

for (const result of report.rules) {
  const title = `${result.id}: ${result.says}`;
  if (result.verdict === 'skip') t.pass(title, { skip: result.reason ?? true });
  else if (['pass', 'observed'].includes(result.verdict)) t.pass(title);
  else t.fail(title, { verdict: result.verdict, why: explain(result), curl: result.curl ?? '' });
}

t.equal(report.exit_code, 0, 'the emulator conforms, strictly');

t.test('only rules whose situation cannot occur are skipped', async (t) => {
  const skipped = report.rules.filter(({ verdict }) => verdict === 'skip').map(({ id, reason }) => `${id}: ${reason}`);
  const expected = Object.entries(SKIPPED).flatMap(([reason, ids]) => ids.map((id) => `${id}: ${reason}`));
  t.same(skipped.sort(), expected.sort());
});

t.test('only rules of reach emulator are checked on responses that a fault produced', async (t) => {
  const wrong = report.rules.filter(({ verdict, evidence, reach }) =>
    verdict === 'skip' ? evidence !== undefined : evidence !== 'observed' && reach !== 'emulator',
  );
  t.same(
    wrong.map(({ id, evidence }) => `${id}: ${evidence}`),
    [],
  );
  const injected = report.rules.filter(({ evidence }) => evidence === 'injected').map(({ id }) => id);
  t.ok(injected.includes('filemeta.err.503.replica'));
  t.notOk(injected.includes('filemeta.err.429.too-many'), 'what a state or a limit brings about is observed');
});

t.test(
  'with hosting and custom notes refs disabled, their refusal is checked, and the other rules are skipped',
  async (t) => {
    const variants = join(t.testdir({ 'variants.json': '{"customNotesRefs":"off"}' }), 'variants.json');
    const bare = await startTargetEmulator('--hosting', 'off', '--variants', variants);
    t.teardown(() => bare.close());
    const only = 'err.specific.hosting_*,err.specific.deployment_*,scope.read-family,version.other-names';
    const { rules } = await run(bare.target, { strict: true, only });
    t.same(Object.fromEntries(rules.map(({ id, verdict }) => [id, verdict])), {
      'err.specific.hosting_not_enabled': 'pass',
      'err.specific.hosting_project_not_found': 'skip',
      'err.specific.deployment_not_found': 'skip',
      'err.specific.deployment_project_name_in_use': 'skip',
      'scope.read-family': 'pass',
      'version.other-names': 'skip',
    });
  },
);

t.test('shuffled shards divide the rules, create no fixture twice, and merge into the full result', async (t) => {
  const shards = await runInShards(target, { strict: true, width: 3, seed: 42 });
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
  for (const { requests } of shards) t.ok(requests < 0.6 * report.requests, 'and each does its part');
  t.same(verdictsOf(mergeReports(shards)), verdictsOf(report));
  t.same(verdictsOf(mergeReports([...shards].reverse())), verdictsOf(report), 'in any order');
  const [first, second, third] = shards;
  if (!first || !second || !third) throw new Error('there are three');
  for (const [reports, says] of [
    [[], /no report/],
    [[first, second], /shard 3\/3 is given 0 times/],
    [[first, second, third, third], /shard 3\/3 is given 2 times/],
    [[report], /not of a shard/],
    [[first, second, { ...third, target: { ...third.target, org: 'x' } }], /org of the target differs: demo and x/],
  ] as const) {
    t.throws(() => mergeReports(reports), { name: 'UnmergeableReports', message: says });
  }
  t.type(UnmergeableReports, 'function');
});

t.test('the estimated number of requests is close to the actual number', async (t) => {
  const { requests, budget } = report;
  const estimated = budget?.requests ?? 0;
  const share = Math.abs(requests - estimated) / requests;
  t.ok(share < 0.1, `${estimated} for ${requests}: print fixtures/rule-requests.json anew by test/record-requests.js`);
  t.ok(requests <= 9000, 'a complete run sends at most 9,000 requests');
});
