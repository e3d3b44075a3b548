import { z } from 'zod';
import { type ByteString, bytesOf } from '../git/object/bytes.js';
import { cleanIdentityPart, type Identity } from '../git/object/identity.js';
import { parseOid } from '../git/object/object.js';
import { describePathIssue, readPath } from '../git/object/path.js';
import type { PathMatcher } from '../git/pathspec/path-matcher.js';
import { BadSelection, type SelectionList, selectFiles } from '../git/pathspec/select-files.js';
import { describeRefNameIssue, readBranchName } from '../git/refs/ref-name.js';
import { problem } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import type { Steps } from '../schedule/steps.js';

/** Schemas and parsers of request members that several API operations share. */

export const person = lazy(() => z.object({ name: z.string(), email: z.string() }));
export type Person = z.infer<ReturnType<typeof person>>;

/** Schema of a full object id of 40 hexadecimal digits. */
export const sha = lazy(() =>
  z
    .string()
    .regex(/^[0-9a-f]{40}$/, 'must be a full object id: 40 lower-case hexadecimal digits')
    .transform(parseOid),
);

/** Schema of a boolean query parameter. The text must be `true` or `false`. */
export const flag = lazy(() =>
  z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true'),
);

/**
 * Returns an author or committer as Git stores it. `now` is the time of the identity, in milliseconds since 1970.
 * `what` names the member in error messages. Throws `bad_request` if the name or the e-mail address is empty after
 * Git's clean-up.
 */
export function readIdentity(value: Person, what: string, now: number): Identity {
  if (value.name.includes('\0') || value.email.includes('\0'))
    throw problem('bad_request', `${what} contains a NUL byte, which Git cannot store.`);
  const name = cleanIdentityPart(value.name);
  const email = cleanIdentityPart(value.email);
  if (name === '') throw problem('bad_request', `${what}.name is empty after Git has removed white space and <>.`);
  if (email === '') throw problem('bad_request', `${what}.email is empty after Git has removed white space and <>.`);
  return { name, email, seconds: Math.floor(now / 1000), offset: '+0000' };
}

export function readBranch(text: string, what: string): ByteString {
  const reading = readBranchName(text);
  if (reading.issue === undefined) return reading.name;
  throw problem('bad_request', `${what} ${describeRefNameIssue(reading.issue)}.`);
}

export function readFilePath(text: string, what: string, mode?: number): ByteString {
  const reading = readPath(text, mode);
  if (reading.issue === undefined) return reading.path;
  throw problem('bad_request', `${what} ${describePathIssue(reading.issue)}.`);
}

/** Returns a commit message unchanged. Throws `bad_request` if it is empty or contains NUL, which Git cannot store. */
export function readMessage(text: string, what: string): string {
  if (text.includes('\0')) throw problem('bad_request', `${what} contains a NUL byte, which Git cannot store.`);
  if (text.trim() === '') throw problem('bad_request', `${what} must not be empty or only white space.`);
  return text;
}

export const patternList = lazy(() => z.array(z.string()).optional());

/**
 * Lists of file patterns in a request, such as globs to include. The name of the request member is used in error
 * messages.
 */
type Lists = Partial<Record<SelectionList, readonly [name: string, patterns: readonly string[] | undefined]>>;

/**
 * Returns a matcher for the files that the pattern lists select; undefined if no file is excluded. Throws `bad_request`
 * with the name of the invalid list.
 */
export function* readSelection(lists: Lists): Steps<PathMatcher | undefined> {
  const given = Object.entries(lists).filter(([, [, patterns]]) => patterns !== undefined);
  try {
    return yield* selectFiles(Object.fromEntries(given.map(([list, [, patterns]]) => [list, patterns!.map(bytesOf)])));
  } catch (error) {
    if (!(error instanceof BadSelection)) throw error;
    const at = error.list === undefined ? undefined : lists[error.list];
    throw problem('bad_request', `${at?.[0] ?? given.map(([, [name]]) => name).join(', ')} ${error.message}.`);
  }
}
