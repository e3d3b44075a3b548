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

/** Schemas and readings of the fields that several operations share. */

export const person = lazy(() => z.object({ name: z.string(), email: z.string() }));
export type Person = z.infer<ReturnType<typeof person>>;

/** An object id, written out in full. */
export const sha = lazy(() =>
  z
    .string()
    .regex(/^[0-9a-f]{40}$/, 'has to be 40 lower-case hexadecimal digits')
    .transform(parseOid),
);

/** `true` or `false`; anything else is refused rather than guessed. */
export const flag = lazy(() =>
  z.enum(['true', 'false'], 'has to be true or false').transform((value) => value === 'true'),
);

/** An identity at `now` milliseconds; a name that is empty, once cleaned as Git cleans it, is refused. */
export function readIdentity(value: Person, what: string, now: number): Identity {
  if (value.name.includes('\0') || value.email.includes('\0'))
    throw problem('bad_request', `${what} holds a NUL byte.`);
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

/** A commit message, verbatim. Git cannot store a NUL in one. */
export function readMessage(text: string, what: string): string {
  if (text.includes('\0')) throw problem('bad_request', `${what} holds a NUL byte.`);
  if (text.trim() === '') throw problem('bad_request', `${what} is empty.`);
  return text;
}

export const patternList = lazy(() => z.array(z.string()).optional());

/** The lists of a request, with the names their members have in it. */
type Lists = Partial<Record<SelectionList, readonly [name: string, patterns: readonly string[] | undefined]>>;

/** Returns what the lists choose, in steps; undefined for every file. Throws `bad_request`, naming the list at fault. */
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
