import { allRules } from '../rules/registry.js';
import { PROFILES, type Profile, profileOf } from './profiles.js';
import type { Report, RuleResult } from './results.js';

/** Result of a profile (part of the specification that a deployment can offer without the others). */
export interface ProfileResult {
  readonly profile: Profile;
  /** `not checked` if no rule of the profile has a verdict about the target. */
  readonly verdict: 'conforms' | 'does not conform' | 'not checked';
  readonly checked: number;
  readonly total: number;
  /** True if the report contains each rule of the profile. */
  readonly isComplete: boolean;
}

const UNCHECKED: readonly RuleResult['verdict'][] = ['skip', 'blocked', 'error'];

/** Returns the result of each profile that has a rule in the report, in the order of `PROFILES`. */
export function profileResults({ rules }: Pick<Report, 'rules'>): readonly ProfileResult[] {
  const known = allRules().map(({ writes, ...rule }) => profileOf({ ...rule, read_only: !writes }));
  return PROFILES.flatMap((profile) => {
    const own = rules.filter((rule) => profileOf(rule) === profile);
    if (own.length === 0) return [];
    const checked = own.filter(({ verdict }) => !UNCHECKED.includes(verdict)).length;
    const isBroken = own.some(({ verdict }) => verdict === 'fail' || verdict === 'flaky');
    const verdict = isBroken ? 'does not conform' : checked === 0 ? 'not checked' : 'conforms';
    const isComplete = own.length === known.filter((one) => one === profile).length;
    return [{ profile, verdict, checked, total: own.length, isComplete }];
  });
}

/** Returns one line of text for each profile whose rules are all in the report: `git              conforms, 12 of 14 rules checked`. */
export function profileLines(report: Pick<Report, 'rules'>): string[] {
  const complete = profileResults(report).filter(({ isComplete }) => isComplete);
  return complete.map(
    ({ profile, verdict, checked, total }) => `${profile.padEnd(15)}  ${verdict}, ${checked} of ${total} rules checked`,
  );
}
