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

/** Schemas and readers of fields that several operations share. */

export const person = lazy(() => z.object({ name: z.string(), email: z.string() }));
export type Person = z.infer<ReturnType<typeof person>>;

/** Object id with all its digits. */
export const sha = lazy(() =>
  z
    .string()
    .regex(/^[0-9a-f]{40}$/, 'must be 40 lower-case hexadecimal digits')
    .transform(parseOid),
);

/** Boolean query parameter: `true` or `false`. */
export const flag = lazy(() =>
  z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true'),
);

/**
 * Returns an identity with a time, in milliseconds since 1970. Throws `bad_request` if the name is empty after Git's
 * clean-up.
 */
export function readIdentity(value: Person, what: string, now: number): Identity {
  if (value.name.includes('\0') || value.email.includes('\0'))
    throw problem('bad_request', `${what} contains a NUL byte, which Git cannot store.`);
  const name = cleanIdentityPart(value.name);
  const email = cleanIdentityPart(value.email);
  if (name === '') throw problem('bad_request', `${what}.name is empty.`);
  if (email === '') throw problem('bad_request', `${what}.email is empty.`);
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

/** Returns a commit message unchanged. Throws `bad_request` for NUL, which Git cannot store. */
export function readMessage(text: string, what: string): string {
  if (text.includes('\0')) throw problem('bad_request', `${what} contains a NUL byte, which Git cannot store.`);
  if (text.trim() === '') throw problem('bad_request', `${what} is empty.`);
  return text;
}

export const patternList = lazy(() => z.array(z.string()).optional());

/** Lists of patterns in a request, with the names of their members. */
type Lists = Partial<Record<SelectionList, readonly [name: string, patterns: readonly string[] | undefined]>>;

/**
 * Returns a matcher for the files that the lists select; undefined if they select all files. Throws `bad_request` with
 * the name of the invalid list.
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
