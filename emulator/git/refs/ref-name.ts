import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesOf } from '../object/bytes.js';

/** A longer name is none that is made here; Git takes it where it is pushed. */
const MOST_BRANCH_BYTES = requestLimit('branchBytes');

const LONE_SURROGATE = /\p{Surrogate}/u;

/** The rules of `git check-ref-format`: what a ref name must not match, and how to say so. */
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

/** What the API asks of a branch or tag name beyond that. */
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

/** The fault as the end of a sentence: "the branch name …". */
export function describeRefNameFault(fault: RefNameFault): string {
  return REASONS.get(fault)!;
}

/** What makes `name` no ref name; undefined when `git check-ref-format` accepts it (`--allow-onelevel` with `oneLevel`). */
export function refNameFault(name: ByteString, { oneLevel = false } = {}): RefNameFault | undefined {
  for (const [fault, pattern] of REF_RULES) {
    if (pattern.test(name)) return fault;
  }
  return oneLevel || name.includes('/') ? undefined : 'one-level';
}

/** Whether `name` is a full ref name, such as `refs/heads/main`. */
export function isRefName(name: ByteString): boolean {
  return refNameFault(name) === undefined;
}

/** A branch or tag name given by a client, as refs know it, or what is wrong with it. */
export type NameReading = { readonly name: ByteString; readonly fault?: undefined } | { readonly fault: RefNameFault };

/**
 * Reads the short name of a branch: what `git check-ref-format --branch` accepts, without a `refs/` prefix, not `HEAD`,
 * and of at most `MOST_BRANCH_BYTES` bytes.
 */
export function readBranchName(text: string): NameReading {
  if (LONE_SURROGATE.test(text)) return { fault: 'not-text' };
  const name = bytesOf(text);
  const fault = branchNameFault(name);
  return fault === undefined ? { name } : { fault };
}

/** The same rules for tags: `git tag` refuses `HEAD` and a leading dash as well. */
export const readTagName = readBranchName;

function branchNameFault(name: ByteString): RefNameFault | undefined {
  if (name.length > MOST_BRANCH_BYTES) return 'too-long';
  if (name.startsWith('-')) return 'dash';
  if (name === 'HEAD') return 'head';
  if (name.startsWith('refs/')) return 'refs-prefix';
  return refNameFault(name, { oneLevel: true });
}
