import { randomHistory } from '../../git/test/history.js';
import { Workbench } from '../../git/test/workbench.js';
import { type Service, startService } from '../service.js';

/**
 * Starts an emulator with a generated repository `team/app`. Creates the same repository for real git in the folder
 * `work`, so that tests can compare the results of both.
 */
export async function serveHistory(
  seed: number,
  commits: number,
): Promise<{ service: Service; bench: Workbench; git: (...args: string[]) => Promise<string> } & AsyncDisposable> {
  const service = await startService();
  const bench = await Workbench.create();
  await service.call('POST', '/api/repos');
  await bench.git('.', 'init', '-q', '-b', 'main', 'work');
  await bench.feed(randomHistory(seed, commits), 'work', 'fast-import', '--quiet', '--force');
  await bench.git('work', 'config', 'core.quotePath', 'false');
  await bench.git('work', 'push', '-q', '--mirror', await service.remote('team/app'));
  return {
    service,
    bench,
    git: async (...args) => Buffer.from(await bench.git('work', ...args), 'latin1').toString(),
    async [Symbol.asyncDispose]() {
      await service.emulator.close();
      await bench[Symbol.asyncDispose]();
    },
  };
}
