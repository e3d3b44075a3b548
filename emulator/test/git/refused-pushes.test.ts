import t, { type Test } from 'tap';
import type { GivenOptions } from '../../config/options.js';
import { Workbench } from '../../git/test/workbench.js';
import type { RepositoryState } from '../../repositories/lifecycle.js';
import { type ServiceResponse, startService } from '../service.js';
import { pushBody } from './raw-push.js';

// Git pushes with two requests: the first lists the refs, the second sends the objects. If a push is not allowed, the
// emulator must refuse the first request, because Git shows an error of the second less clearly.

async function setUp(t: Test, options: GivenOptions = {}) {
  const service = await startService(options);
  const bench = await Workbench.create();
  t.teardown(async () => {
    await service.emulator.close();
    await bench[Symbol.asyncDispose]();
  });
  const sha = await service.seed('team/app');
  const repository = service.world.state.repositories.find('demo', 'team/app')!;
  const ask = (service_: string, headers: Record<string, string> = {}, path = 'team/app') =>
    service.call('GET', `/${path}.git/info/refs?service=${service_}`, { headers });
  const push = (headers: Record<string, string> = {}, path = 'team/app') => {
    const body = pushBody([{ old: '0'.repeat(40), new: sha, ref: 'refs/heads/other' }]);
    const type = { 'content-type': 'application/x-git-receive-pack-request' };
    return service.call('POST', `/${path}.git/git-receive-pack`, { body, headers: { ...type, ...headers } });
  };
  return { service, bench, repository, ask, push };
}

/** Returns the status, text and headers of a response. Leaves out headers that differ between equal responses. */
function comparable({ status, text, headers }: ServiceResponse) {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  return { status, text, headers: rest };
}

const STATES: readonly RepositoryState[] = ['syncing', 'thawing', 'archived', 'deleted'];

t.test('the advertisement for a push is refused as the push is, by state and by variant', async (t) => {
  for (const variants of [
    {},
    { syncing: '503', thawing: '503' },
    { syncBlocks: 'all', deletedRepository: '409' },
  ] as GivenOptions['variants'][]) {
    const { repository, ask, push } = await setUp(t, variants === undefined ? {} : { variants });
    for (const state of STATES) {
      for (const path of ['team/app', 'team/app+ephemeral', 'team/app+import']) {
        repository.update({ state });
        const advertised = await ask('git-receive-pack', {}, path);
        repository.update({ state });
        const pushed = await push({}, path);
        const what = `${state} ${path} ${JSON.stringify(variants)}`;
        // Expect success. An archived repository accepts pushes to `+import`, because an import may take several
        // pushes.
        if (state === 'archived' && path.endsWith('+import')) {
          t.equal(advertised.status, 200, what);
          continue;
        }
        t.ok(pushed.status >= 400, what);
        t.same(comparable(advertised), comparable(pushed), what);
      }
    }
  }
});

t.test('a state that was asked for by a fault refuses it as well; a fetch goes on', async (t) => {
  const { repository, ask, push } = await setUp(t);
  for (const fault of ['sync_in_progress;retry-after=7', 'repository_thawing;retry-after=9']) {
    const headers = { 'x-emulator-fault': fault };
    const advertised = await ask('git-receive-pack', headers);
    t.match(advertised, { status: 409, headers: { 'retry-after': fault.slice(-1), 'content-type': /^text\/plain/ } });
    t.same(comparable(advertised), comparable(await push(headers)), fault);
  }
  repository.update({ state: 'syncing' });
  t.equal((await ask('git-upload-pack')).status, 200);
  t.equal((await ask('git-receive-pack')).status, 409);
  t.equal((await ask('nonsense')).status, 403, 'a service that is none is still no service');
  repository.update({ state: 'active' });
  t.equal((await ask('git-receive-pack')).status, 200);
});

t.test('git shows why its push is refused', async (t) => {
  const { service, bench, repository } = await setUp(t);
  const remote = await service.remote('team/app');
  await bench.git('.', 'clone', '-q', remote, 'work');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'x');
  for (const [state, reason] of [
    ['syncing', /remote: The repository is being synchronized with its upstream(?:.|\n)*returned error: 409/],
    ['thawing', /remote: The repository is being restored from cold storage(?:.|\n)*returned error: 409/],
    ['deleted', /remote: The repository does not exist(?:.|\n)*not found/],
  ] as const) {
    repository.update({ state });
    const { status, stderr } = await bench.try('work', 'push', remote, 'main');
    t.equal(status, 128, state);
    t.match(stderr, reason, state);
    t.notMatch(stderr, /unexpected disconnect|hung up/, state);
  }
  repository.update({ state: 'active' });
  t.equal((await bench.try('work', 'push', remote, 'main')).status, 0);
});
