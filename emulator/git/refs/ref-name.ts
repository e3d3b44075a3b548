import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesOf } from '../object/bytes.js';

/** Maximum length in bytes of a branch name in a request of the HTTP API. A push may create longer names, as in Git. */
const MAX_BRANCH_BYTES = requestLimit('branchBytes');

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Rules of `git check-ref-format` for ref names. Each rule has a code, a pattern, and a description of a violation. A
 * name violates the rule if it matches the pattern.
 */
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

/** Additional rules of the HTTP API for branch and tag names: description of the violation by code. */
const SHORT_NAME_ISSUES = {
  dash: 'begins with a dash',
  'refs-prefix': 'begins with `refs/`',
  head: 'is `HEAD`',
  'too-long': `is longer than ${MAX_BRANCH_BYTES} bytes`,
  'not-text': 'is not well-formed Unicode text',
  'one-level': 'has only one component',
} as const;

export type RefNameIssue = (typeof REF_RULES)[number][0] | keyof typeof SHORT_NAME_ISSUES;

const REASONS = new Map<RefNameIssue, string>([
  ...REF_RULES.map(([issue, , reason]) => [issue, reason] as const),
  ...(Object.entries(SHORT_NAME_ISSUES) as [RefNameIssue, string][]),
]);

/**
 * Returns the description of a violated rule, such as "is empty". The description continues a sentence that begins with
 * "the branch name".
 */
export function describeRefNameIssue(issue: RefNameIssue): string {
  return REASONS.get(issue)!;
}

/**
 * Returns the code of the first rule of `git check-ref-format` that `name` violates; undefined if the name is valid. If
 * `oneLevel` is set, names without a slash are valid too (`--allow-onelevel`).
 */
export function refNameIssue(name: ByteString, { oneLevel = false } = {}): RefNameIssue | undefined {
  for (const [issue, pattern] of REF_RULES) {
    if (pattern.test(name)) return issue;
  }
  return oneLevel || name.includes('/') ? undefined : 'one-level';
}

/** Returns true if `name` is a full ref name, such as `refs/heads/main`. */
export function isRefName(name: ByteString): boolean {
  return refNameIssue(name) === undefined;
}

/**
 * Result of validating a branch or tag name given by a client. It is the name as a byte string, or the code of the
 * violated rule.
 */
export type NameReading = { readonly name: ByteString; readonly issue?: undefined } | { readonly issue: RefNameIssue };

/**
 * Validates the short name of a branch (without `refs/heads/`). Accepts the names that `git check-ref-format --branch`
 * accepts, with three exceptions: names that start with `refs/`, the name `HEAD`, and names longer than
 * `MAX_BRANCH_BYTES` bytes.
 */
export function readBranchName(text: string): NameReading {
  if (LONE_SURROGATE.test(text)) return { issue: 'not-text' };
  const name = bytesOf(text);
  const issue = branchNameIssue(name);
  return issue === undefined ? { name } : { issue };
}

/**
 * Validates the short name of a tag. The rules for branches apply, because `git tag` also refuses `HEAD` and a leading
 * dash.
 */
export const readTagName = readBranchName;

function branchNameIssue(name: ByteString): RefNameIssue | undefined {
  if (name.length > MAX_BRANCH_BYTES) return 'too-long';
  if (name.startsWith('-')) return 'dash';
  if (name === 'HEAD') return 'head';
  if (name.startsWith('refs/')) return 'refs-prefix';
  return refNameIssue(name, { oneLevel: true });
}
