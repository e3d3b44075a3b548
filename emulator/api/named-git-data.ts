import { parsePatch } from '../git/apply/parse-patch.js';
import { PatchError } from '../git/apply/patch-error.js';
import { textOf } from '../git/object/bytes.js';
import type { Operation } from '../operation/operation.js';
import type { Steps } from '../schedule/steps.js';

/*
 * Functions that find refs, paths and commit messages in requests, for conditions of faults. They run before the body is
 * validated, so they accept values of any type and ignore values that are not strings.
 */

type Names = NonNullable<Operation['names']>;
type Request = Parameters<NonNullable<Names['refs']>>[0];

/** Returns a member of a JSON value; undefined if absent. `path` has dots between names: `metadata.target_branch`. */
function memberAt(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return found;
}

/** Returns the values of the first member in `paths` that each JSON value of the body has. */
function membersIn({ values }: Pick<Request, 'values'>, ...paths: readonly string[]): unknown[] {
  return values.flatMap((value) => {
    const found = paths.map((path) => memberAt(value, path)).find((one) => one !== undefined);
    return found === undefined ? [] : [found];
  });
}

function prefixed(prefix: string, values: readonly unknown[]): string[] {
  return values.flatMap((value) => (typeof value === 'string' ? [prefix + value] : []));
}

/** Names of a write to the branch that one of the members names. The first member that is present counts. */
export function ofBranch(...paths: readonly string[]): Pick<Required<Names>, 'refs'> {
  return { refs: (request) => prefixed('refs/heads/', membersIn(request, ...paths)) };
}

/** Names of a write to a tag: the parameter `tag` of the path, or the member `name` of the body. */
export const OF_TAG: Names = {
  refs: (request) => prefixed('refs/tags/', [request.params.tag, ...membersIn(request, 'name')]),
};

/** Names of a write to a notes ref. `fullName` completes a short name, such as `review`. */
export function ofNotesRef(fullName: (given: string) => string, standard: string): Names {
  return {
    refs: (request) => {
      const given = membersIn(request, 'notes_ref', 'ref').filter((one) => typeof one === 'string' && one !== '');
      return given.length === 0 ? [standard] : given.map((one) => fullName(one as string));
    },
  };
}

/** Names of a request that commits to a branch. `at` is the path of the object with its members, such as `metadata.`. */
export function ofCommit(at: string): Pick<Required<Names>, 'refs' | 'messages'> {
  return {
    ...ofBranch(`${at}target_branch`),
    messages: (request) => membersIn(request, `${at}commit_message`),
  };
}

/** Yields a work unit per file, and returns the paths of the changed files in the metadata of commit-pack. */
export function* pathsOfFiles(request: Request): Steps<readonly unknown[]> {
  const paths: unknown[] = [];
  for (const file of membersIn(request, 'metadata.files').flat()) {
    paths.push(memberAt(file, 'path'));
    yield 1;
  }
  return paths;
}

/** Returns the old and new paths of the files in the patch of diff-commit. Empty if the patch is invalid. */
export function* pathsOfPatch(request: Request): Steps<readonly unknown[]> {
  const parts = membersIn(request, 'diff_chunk.data').filter((data) => typeof data === 'string');
  const patch = Buffer.concat(parts.map((data) => Buffer.from(data as string, 'base64')));
  yield patch.length / BYTES_PER_UNIT;
  try {
    const files = yield* parsePatch(patch);
    const paths = files.flatMap(({ oldPath, newPath }) => [oldPath, newPath]);
    return [...new Set(paths)].flatMap((path) => (path === undefined ? [] : [textOf(path)]));
  } catch (error) {
    if (error instanceof PatchError) return [];
    throw error;
  }
}

/** Approximate number of bytes of base64 that are decoded and copied in one work unit (a microsecond). */
const BYTES_PER_UNIT = 1_000;
