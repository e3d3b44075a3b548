import { setTimeout as sleep } from 'node:timers/promises';
import { packLines } from '../../api/commit-pack.js';
import type { Target } from '../../target/target.js';
import { call, remove } from './seed.js';

/** Requests of another client in the organization. Disposing of it ends them. */
export interface Traffic extends AsyncDisposable {
  /** Number of repositories created so far. */
  readonly repositories: number;
}

/** Pause in milliseconds between two requests, so that the suite gets its share of the CPU. */
const PAUSE = 5;

/** Creates repositories, commits to them, reads them, fails to sync them and deletes them, one after the other. */
export function startTraffic(target: Target): Traffic {
  const stop = new AbortController();
  let repositories = 0;
  const work = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const repo = `somebody/else-${repositories}`;
      const as = { repo, scopes: ['repo:write', 'git:write', 'git:read'] };
      const base_repo = { provider: 'gitea', owner: 'o', name: 'n', upstream_host: '127.0.0.1:9' };
      const json = repositories % 2 === 0 ? {} : { base_repo };
      const lines = packLines({ 'README.md': 'straw and needle, foobar\n' });
      for (const step of [
        () => call(target, 'POST', '/api/repos', { as, json }),
        () => call(target, 'POST', '/api/v1/repos/commit-pack', { as, lines }),
        () => call(target, 'GET', '/api/v1/repos/files/metadata', { as }),
        () => call(target, 'GET', '/api/v1/repo', { as: { ...as, scopes: [] } }),
        // Some repositories are kept for a while.
        () => (repositories > 3 ? remove(target, `somebody/else-${repositories - 3}`) : Promise.resolve(0)),
      ]) {
        await step();
        await sleep(PAUSE);
      }
      repositories += 1;
    }
  };
  const working = work();
  // The promise is awaited by the disposal, so a rejection is handled there.
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
