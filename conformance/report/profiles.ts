import type { Reach } from '../rules/rule.js';

/**
 * Profiles by name. Each has a function that returns true if a rule fits. A profile is a part of the specification that
 * a deployment can offer without the other parts. A rule belongs to the first profile that it fits.
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

/**
 * Sections of the specification whose rules of reach `needs-setup` belong to the profile `companion`. These rules use
 * routes that are known only from published clients.
 */
const COMPANION_SECTIONS: readonly string[] = ['Other endpoints', 'Errors', 'Limits', 'Scopes', 'Repository record'];

/**
 * Name of a profile, such as `git`. A profile is a part of the specification that a deployment can offer without the
 * other parts.
 */
export type Profile = keyof typeof PROFILE_ROWS;

export const PROFILES = [
  'read',
  'write',
  'git',
  'restricted-keys',
  'companion',
  'hosting',
] as const satisfies Profile[];

/**
 * Result of a profile. A profile is a part of the specification that a deployment can offer without the other parts.
 */
export interface ProfileResult {
  readonly profile: Profile;
  /** Verdict on the profile. `not checked` if none of its rules was checked. */
  readonly verdict: 'conforms' | 'does not conform' | 'not checked';
  /** Number of checked rules of the profile. */
  readonly checked: number;
  /** Number of all rules of the profile, checked or not. */
  readonly total: number;
}

/** Properties of a rule that determine its profile. Both rules and rule results have them. */
export interface ProfiledRule {
  readonly id: string;
  readonly section: string;
  readonly reach: Reach;
  readonly read_only: boolean;
}

/** Returns the profile of a rule, such as `git` for the rule `git.push`. Each rule belongs to exactly one profile. */
export function profileOf(rule: ProfiledRule): Profile {
  const row = Object.entries(PROFILE_ROWS).find(([, fits]) => fits(rule));
  return row?.[0] as Profile;
}

/** Parses comma-separated profile names. Returns undefined if one name is unknown. */
export function readProfiles(text: string): readonly Profile[] | undefined {
  const names = text.split(',').map((name) => name.trim());
  return names.every((name): name is Profile => Object.hasOwn(PROFILE_ROWS, name)) ? names : undefined;
}
