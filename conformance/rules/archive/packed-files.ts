import { archive } from '../../api/requests.js';
import { expectSame, expectStatus } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { historyRepository } from '../../fixtures/history.js';
import { patternRepository } from '../../fixtures/patterns.js';
import { readPaths, type TarFile } from './tar.js';

/**
 * Returns the paths of all files that an archive of the history repository (fixture with known commits) can contain,
 * for any of its refs.
 */
export async function knownPaths(t: RuleContext): Promise<string[]> {
  return [...Object.keys((await historyRepository(t)).files), 'feature.txt', 'link'];
}

/**
 * Requests an archive of the history repository (fixture with known commits) and returns its files. `prefix` is the
 * path prefix that the request asks for; it is removed from the returned paths.
 */
export async function files(t: RuleContext, body: object = {}, prefix = ''): Promise<TarFile[]> {
  const { name } = await historyRepository(t);
  const response = expectStatus(await archive(t, name, body), 200);
  return readPaths(response, await knownPaths(t), prefix);
}

/**
 * Requests an archive of the history repository (fixture with known commits) and returns the sorted paths of its files.
 * `prefix` is the path prefix that the request asks for.
 */
export async function paths(t: RuleContext, body: object = {}, prefix = ''): Promise<string[]> {
  return (await files(t, body, prefix)).map((file) => file.name).sort();
}

/**
 * Requests an archive of the pattern repository. Fails the rule unless the archive contains exactly the files for which
 * `isExpected` returns true. `prefix` is the path prefix that the request asks for.
 */
export async function packs(
  t: RuleContext,
  body: object,
  isExpected: (path: string) => boolean,
  prefix = '',
): Promise<void> {
  const { name, files } = await patternRepository(t);
  const known = Object.keys(files);
  const packed = readPaths(expectStatus(await archive(t, name, body), 200), known, prefix).map((file) => file.name);
  const what = `the archive for ${JSON.stringify(body)} must contain exactly these files`;
  expectSame(packed.sort(), known.filter(isExpected).sort(), what);
}

export async function onMain(t: RuleContext): Promise<string[]> {
  return Object.keys((await historyRepository(t)).files).sort();
}

export function textOf(packed: readonly TarFile[], path: string): string | undefined {
  return packed.find((file) => file.name === path)?.bytes.toString();
}
