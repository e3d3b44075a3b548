import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { GitRepository } from '../../git/repository/repository.js';
import { linearHistory } from '../../git/test/history.js';
import { createRepository } from '../../git/test/memory-repository.js';
import { Workbench } from '../../git/test/workbench.js';
import { TestServer, type TestServerOptions } from './test-server.js';

/** Repository on a test server, and a folder in which real git can use it. */
export interface Stage extends AsyncDisposable {
  readonly bench: Workbench;
  readonly repository: GitRepository;
  readonly server: TestServer;
}

/**
 * Serves a repository with 40 commits on `main`, 8 commits on `side` from `v20`, a merge with one more commit, and tags
 * of all kinds. The folder `work` has the same history for real git.
 */
export async function stage(options: TestServerOptions = {}): Promise<Stage> {
  const bench = await Workbench.create();
  const repository = createRepository();
  const server = await TestServer.start(repository, options);
  const dispose = async () => {
    await server[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  };
  try {
    await fill(bench, server.url());
  } catch (error) {
    await dispose();
    throw error;
  }
  return { bench, repository, server, [Symbol.asyncDispose]: dispose };
}

/** Prepared work tree, which the first test creates. Each test copies it. */
let prepared: Promise<Workbench> | undefined;

async function fill(bench: Workbench, url: string): Promise<void> {
  prepared ??= prepare();
  await cp(join((await prepared).path, 'work'), join(bench.path, 'work'), { recursive: true });
  await bench.git('work', 'push', '-q', url, 'main', 'side', '--tags');
}

async function prepare(): Promise<Workbench> {
  const bench = await Workbench.create();
  t.teardown(() => bench[Symbol.asyncDispose]());
  await bench.import('work', linearHistory(40));
  const side = linearHistory(8, { branch: 'side', files: 6, from: 'v20^{commit}' });
  await bench.feed(side, 'work', 'fast-import', '--quiet');
  await bench.git('work', 'reset', '-q', '--hard', 'main');
  await bench.git('work', 'merge', '-q', '--no-ff', '-s', 'ours', '-m', 'merge', 'side');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'top');
  await bench.git('work', 'tag', 'light', 'main~4');
  await bench.git('work', 'tag', '-a', '-m', 'of a tag', 'nested', 'v30');
  return bench;
}

/**
 * Returns the sorted ids of all objects that are reachable from the revisions, or from all refs if there are no
 * revisions.
 */
export async function objectsOf(bench: Workbench, folder: string, ...revisions: string[]): Promise<string[]> {
  return (
    await bench.git(
      folder,
      'rev-list',
      '--objects',
      '--no-object-names',
      ...(revisions.length > 0 ? revisions : ['--all']),
    )
  )
    .split('\n')
    .sort();
}
