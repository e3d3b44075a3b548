import { setTimeout as sleep } from 'node:timers/promises';
import { packLines } from '../../api/commit-pack.js';
import type { Target } from '../../target/target.js';
import { call, remove } from './seed.js';

/**
 * Second client of the organization under test, which sends requests while the suite runs. Disposal stops the client.
 */
export interface Traffic extends AsyncDisposable {
  /** Number of repositories that this client has created so far. */
  readonly repositories: number;
}

/** Pause in milliseconds between two requests of this client. It leaves enough CPU time for the suite under test. */
const PAUSE = 5;

/**
 * Starts a client that repeats five steps until disposal: create a repository, commit, read, try a sync that fails, and
 * delete an older repository.
 */
export function startTraffic(target: Target): Traffic {
  const stop = new AbortController();
  let repositories = 0;
  const work = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const repo = `somebody/else-${repositories}`;
      const as = { repo, scopes: ['repo:write', 'git:write', 'git:read'] };
      const base_repo = { provider: 'gitea', owner: 'o', name: 'n', upstream_host: '127.0.0.1:9' };
      const json = repositories % 2 === 0 ? {} : { base_repo };
      const lines = packLines({ defaultBranch: 'main' }, { 'README.md': 'straw and needle, foobar\n' });
      for (const step of [
        () => call(target, 'POST', '/api/repos', { as, json }),
        () => call(target, 'POST', '/api/v1/repos/commit-pack', { as, lines }),
        () => call(target, 'GET', '/api/v1/repos/files/metadata', { as }),
        () => call(target, 'GET', '/api/v1/repo', { as: { ...as, scopes: [] } }),
        // Keep the three newest repositories, so that the organization always contains repositories that the suite did
        // not create.
        () => (repositories > 3 ? remove(target, `somebody/else-${repositories - 3}`) : Promise.resolve(0)),
      ]) {
        await step();
        await sleep(PAUSE);
      }
      repositories += 1;
    }
  };
  const working = work();
  // Prevent Node.js from reporting an early rejection as unhandled. The disposal awaits the promise and handles the
  // rejection.
  working.catch(() => undefined);
  return {
    get repositories() {
      return repositories;
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await working;
    },
  };
}
