import { z } from 'zod';
import { bytesOf } from '../git/object/bytes.js';
import type { PathMatcher } from '../git/pathspec/path-matcher.js';
import { BadSelection, type SelectionList, selectFiles } from '../git/pathspec/select-files.js';
import { problem } from '../http/problem.js';
import { once } from '../memory/once.js';
import type { Steps } from '../schedule/steps.js';

export const patternList = once(() => z.array(z.string()).optional());

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
