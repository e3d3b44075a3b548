import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesOf } from '../object/bytes.js';

/** Maximum length of a branch name given to the API. Longer names are accepted from pushes, as in Git. */
const MOST_BRANCH_BYTES = requestLimit('branchBytes');

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Rules of `git check-ref-format`: code, pattern that a ref name must not match, and description. */
const REF_RULES = [
  ['empty', /^$/, 'is empty'],
  ['only-at', /^@$/, 'is `@`'],
  ['empty-component', /^\/|\/\/|\/$/, 'begins or ends with a slash, or has two in a row'],
  ['dot-component', /(?:^|\/)\./, 'has a component that begins with a dot'],
  ['double-dot', /\.\./, 'has two dots in a row'],
  ['character', /[\0- \x7f~^:?*[\\]/, 'has a control character, a space, or one of `~^:?*[\\`'],
  ['at-brace', /@\{/, 'contains `@{`'],
  ['final-dot', /\.$/, 'ends with a dot'],
  ['lock', /\.lock(?:\/|$)/, 'has a component that ends with `.lock`'],
] as const;

/** Further rules of the API for branch and tag names. */
const SHORT_NAME_FAULTS = {
  dash: 'begins with a dash',
  'refs-prefix': 'begins with `refs/`',
  head: 'is `HEAD`',
  'too-long': `is longer than ${MOST_BRANCH_BYTES} bytes`,
  'not-text': 'is not well-formed Unicode text',
  'one-level': 'has only one component',
} as const;

export type RefNameFault = (typeof REF_RULES)[number][0] | keyof typeof SHORT_NAME_FAULTS;

const REASONS = new Map<RefNameFault, string>([
  ...REF_RULES.map(([fault, , reason]) => [fault, reason] as const),
  ...(Object.entries(SHORT_NAME_FAULTS) as [RefNameFault, string][]),
]);

/** Returns the description of a broken rule. It completes the sentence "the branch name …". */
export function describeRefNameFault(fault: RefNameFault): string {
  return REASONS.get(fault)!;
}

/**
 * Returns the rule that `name` breaks, or undefined if `git check-ref-format` accepts it (with `--allow-onelevel` if
 * `oneLevel`).
 */
export function refNameFault(name: ByteString, { oneLevel = false } = {}): RefNameFault | undefined {
  for (const [fault, pattern] of REF_RULES) {
    if (pattern.test(name)) return fault;
  }
  return oneLevel || name.includes('/') ? undefined : 'one-level';
}

/** Returns true if `name` is a full ref name, such as `refs/heads/main`. */
export function isRefName(name: ByteString): boolean {
  return refNameFault(name) === undefined;
}

/** A branch or tag name given by a client as a byte string, or the rule that it breaks. */
export type NameReading = { readonly name: ByteString; readonly fault?: undefined } | { readonly fault: RefNameFault };

/**
 * Validates the short name of a branch. Accepts what `git check-ref-format --branch` accepts, except names that start
 * with `refs/`, the name `HEAD`, and names longer than `MOST_BRANCH_BYTES` bytes.
 */
export function readBranchName(text: string): NameReading {
  if (LONE_SURROGATE.test(text)) return { fault: 'not-text' };
  const name = bytesOf(text);
  const fault = branchNameFault(name);
  return fault === undefined ? { name } : { fault };
}

/** Tags follow the same rules as branches: `git tag` also refuses `HEAD` and a leading dash. */
export const readTagName = readBranchName;

function branchNameFault(name: ByteString): RefNameFault | undefined {
  if (name.length > MOST_BRANCH_BYTES) return 'too-long';
  if (name.startsWith('-')) return 'dash';
  if (name === 'HEAD') return 'head';
  if (name.startsWith('refs/')) return 'refs-prefix';
  return refNameFault(name, { oneLevel: true });
}
