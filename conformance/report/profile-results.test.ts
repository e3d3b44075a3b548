import t from 'tap';
import { allRules } from '../rules/registry.js';
import { profileResults } from './profile-results.js';
import { PROFILES, profileOf } from './profiles.js';
import type { RuleResult, Verdict } from './results.js';

const rules = allRules().map(({ writes, ...rule }) => ({ ...rule, read_only: !writes }));

/** Returns a report in which all rules have the verdict `usual`, except for those in `others`. */
function reportWith(usual: Verdict, others: Readonly<Record<string, Verdict>> = {}) {
  return { rules: rules.map((rule) => ({ ...rule, verdict: others[rule.id] ?? usual }) as unknown as RuleResult) };
}

t.test('each profile has rules, and each rule has the profile that its subject needs', async (t) => {
  const profiles = new Map(rules.map((rule) => [rule.id, profileOf(rule)]));
  t.same(new Set(profiles.values()), new Set(PROFILES));
  const expected = {
    'grep.route': 'read',
    'pack.route': 'write',
    'git.push': 'git',
    'scope.matrix.git-push.git-write': 'git',
    'restricted.lifetime.3601': 'restricted-keys',
    'key.restricted': 'restricted-keys',
    'other.effect.branches': 'companion',
    'err.specific.hosting_not_enabled': 'hosting',
  };
  for (const [id, profile] of Object.entries(expected)) t.equal(profiles.get(id), profile, id);
});

t.test('a profile conforms if none of its rules is broken and at least one was checked', async (t) => {
  const verdicts = (report: ReturnType<typeof reportWith>) =>
    Object.fromEntries(profileResults(report).map(({ profile, verdict }) => [profile, verdict]));
  t.same(
    Object.values(verdicts(reportWith('pass'))),
    PROFILES.map(() => 'conforms'),
  );
  t.same(
    Object.values(verdicts(reportWith('skip'))),
    PROFILES.map(() => 'not checked'),
  );
  t.match(verdicts(reportWith('pass', { 'git.push': 'fail' })), { git: 'does not conform', write: 'conforms' });
  t.match(verdicts(reportWith('skip', { 'git.push': 'observed' })), { git: 'conforms', write: 'not checked' });
  t.match(verdicts(reportWith('pass', { 'pack.route': 'flaky' })), { git: 'conforms', write: 'does not conform' });
});

t.test('a profile of features that a deployment does not offer is not checked', async (t) => {
  const others = Object.fromEntries(rules.filter(({ reach }) => reach === 'needs-setup').map(({ id }) => [id, 'skip']));
  const verdicts = profileResults(reportWith('pass', others as Record<string, Verdict>));
  t.same(
    verdicts.filter(({ verdict }) => verdict === 'not checked').map(({ profile }) => profile),
    ['restricted-keys', 'companion', 'hosting'],
  );
});

t.test(
  'the result of a profile counts its rules, and is absent if the report does not contain all of them',
  async (t) => {
    const whole = reportWith('pass', { 'git.push': 'skip' });
    const [git] = profileResults({ rules: whole.rules.filter((rule) => profileOf(rule) === 'git') });
    t.match(git, { profile: 'git', checked: (git?.total ?? 0) - 1 });
    t.same(profileResults({ rules: whole.rules.filter(({ id }) => id === 'git.push') }), []);
  },
);
