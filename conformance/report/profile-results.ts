import { allRules } from '../rules/registry.js';
import { PROFILES, type ProfileResult, profileOf } from './profiles.js';
import type { Report, RuleResult } from './results.js';

const UNCHECKED: readonly RuleResult['verdict'][] = ['skip', 'blocked', 'error'];

/**
 * Computes the result of each profile, in the order of `PROFILES`. A profile is a part of the specification that a
 * deployment can offer without the other parts. A profile is omitted if the report lacks some of its rules.
 */
export function profileResults({ rules }: Pick<Report, 'rules'>): readonly ProfileResult[] {
  const known = allRules().map(({ writes, ...rule }) => profileOf({ ...rule, read_only: !writes }));
  return PROFILES.flatMap((profile) => {
    const own = rules.filter((rule) => profileOf(rule) === profile);
    if (own.length < known.filter((one) => one === profile).length) return [];
    const checked = own.filter(({ verdict }) => !UNCHECKED.includes(verdict)).length;
    const isBroken = own.some(({ verdict }) => verdict === 'fail' || verdict === 'flaky');
    const verdict = isBroken ? 'does not conform' : checked === 0 ? 'not checked' : 'conforms';
    return [{ profile, verdict, checked, total: own.length }];
  });
}

/** Returns one line of text per profile result, such as `git conforms, 12 of 14 rules checked`. */
export function profileLines(report: Pick<Report, 'rules'>): string[] {
  return profileResults(report).map(
    ({ profile, verdict, checked, total }) => `${profile.padEnd(15)}  ${verdict}, ${checked} of ${total} rules checked`,
  );
}
