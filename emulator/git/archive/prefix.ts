import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesOf } from '../object/bytes.js';

/** Reason why the path prefix of an archive is refused. The message of `InvalidPrefix` describes it. */
export type PrefixIssue = 'absolute' | 'backslash' | 'dot_segment' | 'control_character' | 'not_text' | 'too_long';

const MAX_BYTES = requestLimit('prefixBytes');

const MESSAGES: Record<PrefixIssue, string> = {
  absolute: 'must be relative: it starts with a slash',
  backslash: 'must not contain a backslash',
  dot_segment: 'must not contain "." or ".." segments',
  control_character: 'must not contain control characters',
  not_text: 'must be well-formed text',
  too_long: `must be at most ${MAX_BYTES} bytes`,
};

// Patterns that a prefix must not match, each with its reason. They are checked in this order, on the text that the
// client sent.
const RULES: readonly (readonly [PrefixIssue, RegExp])[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  ['control_character', /[\x00-\x1f\x7f]/],
  ['not_text', /\p{Surrogate}/u],
  ['absolute', /^\//],
  ['backslash', /\\/],
  ['dot_segment', /(?:^|\/)\.{1,2}(?:\/|$)/],
];

export class InvalidPrefix extends Error {
  override readonly name = 'InvalidPrefix';
  constructor(readonly issue: PrefixIssue) {
    super(`the prefix ${MESSAGES[issue]}`);
  }
}

/**
 * Checks a prefix from a client and returns it as bytes. The result ends with `/`, unless it is empty. Throws
 * `InvalidPrefix`.
 */
export function parsePrefix(prefix: string): ByteString {
  // The length is checked first, so that the regular expressions never read a long text.
  if (prefix.length > MAX_BYTES) throw new InvalidPrefix('too_long');
  for (const [issue, rule] of RULES) {
    if (rule.test(prefix)) throw new InvalidPrefix(issue);
  }
  const bytes = bytesOf(prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`);
  if (bytes.length > MAX_BYTES) throw new InvalidPrefix('too_long');
  return bytes;
}
