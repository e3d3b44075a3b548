import type { FilePatch } from '../git/apply/file-patch.js';
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
/** Contents of files, and the work units (microseconds) spent on them. */
type FileParts = Generator<{ readonly path: string; readonly bytes: Buffer } | number, void>;

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
  const paths = (yield* patchOf(request)).flatMap(({ oldPath, newPath }) => [oldPath, newPath]);
  return [...new Set(paths)].flatMap((path) => (path === undefined ? [] : [textOf(path)]));
}

/** Parses the patch of diff-commit. Returns an empty array if it is invalid. */
function* patchOf(request: Request): Steps<readonly FilePatch[]> {
  const parts = membersIn(request, 'diff_chunk.data').filter((data) => typeof data === 'string');
  const patch = Buffer.concat(parts.map((data) => Buffer.from(data as string, 'base64')));
  yield patch.length / BYTES_PER_UNIT;
  try {
    return yield* parsePatch(patch);
  } catch (error) {
    if (error instanceof PatchError) return [];
    throw error;
  }
}

/** Yields the contents in the chunks of commit-pack. A content that several files share is yielded for each of them. */
export function* contentsOfFiles(request: Request): FileParts {
  const parts = new Map<unknown, Buffer[]>();
  for (const chunk of membersIn(request, 'blob_chunk')) {
    const [id, data] = [memberAt(chunk, 'content_id'), memberAt(chunk, 'data')];
    if (typeof data !== 'string') continue;
    yield data.length / BYTES_PER_UNIT;
    const found = parts.get(id);
    if (found) found.push(Buffer.from(data, 'base64'));
    else parts.set(id, [Buffer.from(data, 'base64')]);
  }
  for (const file of membersIn(request, 'metadata.files').flat()) {
    const path = memberAt(file, 'path');
    const content = parts.get(memberAt(file, 'content_id'));
    if (typeof path === 'string' && content) yield { path, bytes: Buffer.concat(content) };
    yield 1;
  }
}

/** Yields the new lines in the patch of diff-commit: the unchanged and the added lines of its hunks. */
export function* contentsOfPatch(request: Request): FileParts {
  for (const { newPath, hunks, binary } of yield* patchOf(request)) {
    if (newPath === undefined) continue;
    const literal = binary?.method === 'literal' ? [binary.data] : [];
    yield { path: textOf(newPath), bytes: Buffer.concat([...hunks.map(({ newText }) => newText), ...literal]) };
  }
}

/** Approximate number of bytes of base64 that are decoded and copied in one work unit (a microsecond). */
const BYTES_PER_UNIT = 1_000;
