import type { Reach } from '../rules/rule.js';

/**
 * Profiles: parts of the specification that a deployment can offer without the others, with the rules that belong to
 * each. A rule belongs to the first profile that fits it.
 */
const PROFILE_ROWS = {
  hosting: ({ id, reach }) => reach === 'needs-setup' && /hosting|deployment|idempotency/.test(id),
  'restricted-keys': ({ id, section, reach }) =>
    reach === 'needs-setup' && (section === 'Restricted keys' || id === 'key.restricted'),
  companion: ({ section, reach }) => reach === 'needs-setup' && COMPANION_SECTIONS.includes(section),
  git: ({ id, section }) => section === 'Git over HTTPS' || /\.git-(fetch|push)\b/.test(id),
  write: ({ read_only }) => !read_only,
  read: () => true,
} as const satisfies Readonly<Record<string, (rule: ProfiledRule) => boolean>>;

/** Sections whose rules of reach `needs-setup` use routes that only published clients show. */
const COMPANION_SECTIONS: readonly string[] = ['Other endpoints', 'Errors', 'Limits', 'Scopes', 'Repository record'];

/** Name of a profile, such as `git`. */
export type Profile = keyof typeof PROFILE_ROWS;

export const PROFILES = [
  'read',
  'write',
  'git',
  'restricted-keys',
  'companion',
  'hosting',
] as const satisfies Profile[];

/** Result of a profile. */
export interface ProfileResult {
  readonly profile: Profile;
  /** `not checked` if no rule of the profile has a verdict about the target. */
  readonly verdict: 'conforms' | 'does not conform' | 'not checked';
  /** Number of its rules that have a verdict about the target. */
  readonly checked: number;
  /** Number of its rules. */
  readonly total: number;
}

/** Members of a rule, or of its result in a report, that decide its profile. */
export interface ProfiledRule {
  readonly id: string;
  readonly section: string;
  readonly reach: Reach;
  readonly read_only: boolean;
}

/** Returns the only profile to which a rule belongs, such as `git` for the rule `git.push`. */
export function profileOf(rule: ProfiledRule): Profile {
  const row = Object.entries(PROFILE_ROWS).find(([, fits]) => fits(rule));
  return row?.[0] as Profile;
}

/** Parses profile names that are separated by commas. Returns undefined if a name is unknown. */
export function readProfiles(text: string): readonly Profile[] | undefined {
  const names = text.split(',').map((name) => name.trim());
  return names.every((name): name is Profile => Object.hasOwn(PROFILE_ROWS, name)) ? names : undefined;
}
