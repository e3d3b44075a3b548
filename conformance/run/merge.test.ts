import t from 'tap';
import { PROFILES, type Profile } from '../report/profiles.js';
import type { RuleResult, Verdict, Watched } from '../report/results.js';
import { reportWith, resultOf } from '../report/test/sample-report.js';
import { allRules } from '../rules/registry.js';
import type { Level } from '../rules/rule.js';
import { mergeReports } from './merge.js';
import { addWatched, type RuleVerdict } from './verdict.js';

const LEVELS: readonly Level[] = ['MUST', 'SHOULD', 'MAY', 'UNSPECIFIED'];
const ID = 'err.generic.499';
const VERDICTS: readonly Verdict[] = [
  'pass',
  'fail',
  'warn',
  'observed',
  'variant',
  'skip',
  'blocked',
  'error',
  'flaky',
];

/**
 * All verdicts that a rule's own check can have. `undefined` means that the rule has no check, because it only judges
 * responses to the requests of other rules.
 */
const OWN: readonly (RuleVerdict | undefined)[] = [
  undefined,
  ...VERDICTS.map((verdict): RuleVerdict => ({ verdict, reason: `own ${verdict}` })),
];

/**
 * Returns the three possible observations of a rule in one shard (part of a run): no response, three correct responses,
 * or a wrong response.
 */
function watchedIn(shard: number): Watched[] {
  const broken = { reason: `seen in shard ${shard}`, evidence: 'observed' as const };
  return [
    { id: ID, answers: 0, evidence: 'observed' },
    { id: ID, answers: 3, evidence: 'observed' },
    { id: ID, answers: 3, evidence: 'observed', broken },
  ];
}

t.test('merged shards have the verdict of the whole run, for every verdict and observation', async (t) => {
  for (const level of LEVELS)
    for (const own of OWN)
      for (const requests of [undefined, 3])
        for (const first of watchedIn(1))
          for (const second of watchedIn(2)) {
            const whole = addWatched(level, own, join(first, second));
            const merged = mergeReports([shardOf(1, first, resultIn(level, own, first, requests)), shardOf(2, second)]);
            const name = `${level}, own ${own?.verdict}, ${requests} requests, ${JSON.stringify([first, second])}`;
            t.equal(merged.rules.find(({ id }) => id === ID)?.verdict, whole.verdict, name);
          }
});

t.test('merged shards have the results of the profiles, of which each shard has only some rules', async (t) => {
  const rules = allRules().map(({ id, section, says, level, reach, writes }) => ({
    ...resultOf(id === 'git.push' ? 'fail' : 'pass', id, { level }),
    ...{ section, says, reach, read_only: !writes },
  }));
  const half = (index: number, profiles?: readonly Profile[]) => {
    const part = rules.filter((_, at) => at % 2 === index - 1) as RuleResult[];
    const mode = { write: true, strict: false, shard: { index, count: 2 }, ...(profiles && { profiles }) };
    return reportWith(part, { mode, watched: [] });
  };
  const { profiles = [] } = mergeReports([half(1), half(2)]);
  t.same(
    profiles.map(({ profile, verdict }) => [profile, verdict]),
    PROFILES.map((name) => [name, name === 'git' ? 'does not conform' : 'conforms']),
  );
  t.equal(
    profiles.reduce((sum, { checked }) => sum + checked, 0),
    rules.length,
  );
  t.doesNotThrow(() => mergeReports([half(1, ['git', 'read']), half(2, ['read', 'git'])]));
  t.throws(() => mergeReports([half(1, ['git', 'read']), half(2, ['git'])]), /the selected rules differs/);
});

function resultIn(level: Level, own: RuleVerdict | undefined, seen: Watched, requests?: number): RuleResult {
  return { ...resultOf('skip', ID, { level }), requests, ...addWatched(level, own, seen) } as RuleResult;
}

function shardOf(index: number, seen: Watched, ...results: readonly RuleResult[]) {
  return reportWith(results, { mode: { write: true, strict: false, shard: { index, count: 2 } }, watched: [seen] });
}

function join(first: Watched, second: Watched): Watched {
  return { ...second, ...first, answers: first.answers + second.answers };
}
