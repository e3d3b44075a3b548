import t, { type Test } from 'tap';
import { operations } from '../../api/index.js';
import type { GivenOptions } from '../../config/options.js';
import { DEFAULT_VARIANTS } from '../../config/variants.js';
import { bytesOf } from '../../git/object/bytes.js';
import { linearHistory } from '../../git/test/history.js';
import { refusalOf } from '../../repositories/lifecycle.js';
import type { BaseRepository } from '../../repositories/repository.js';
import { GitUpstream, hasGit } from '../git/git-upstream.js';
import { type Service, startService } from '../service.js';
import { WebhookReceiver } from './webhook-receiver.js';

const SYNC_EVENTS = ['repo.sync.failed', 'repo.sync.started', 'repo.sync.succeeded'];

async function stage(t: Test, options: GivenOptions = {}) {
  const upstream = await GitUpstream.start();
  const receiver = await WebhookReceiver.start();
  const service = await startService({ upstreamHost: { github: upstream.origin, gitea: upstream.origin }, ...options });
  t.teardown(async () => {
    await service.emulator.close();
    await upstream[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });
  const hook = { url: receiver.url, events: SYNC_EVENTS, secret: 's' };
  t.equal((await service.call('POST', '/api/v1/webhooks', { json: hook })).status, 201);
  return { upstream, receiver, service };
}

const PUBLIC = { provider: 'github', owner: 'acme', name: 'app', auth: { auth_type: 'public' } };
const GENERIC = { provider: 'gitea', owner: 'acme', name: 'app', upstream_host: 'git.example' };

function create(service: Service, repo: string, base_repo: unknown, more: object = {}) {
  return service.call('POST', '/api/repos', { repo, json: { base_repo, ...more } });
}

function pull(service: Service, repo: string, options: object = {}) {
  return service.call('POST', '/api/v1/repos/pull-upstream', { repo, json: {}, ...options });
}

function refsOf(service: Service, repo: string): string {
  const { refs } = service.world.state.repositories.find('demo', repo)!.git;
  return [...refs.entries(bytesOf('refs/heads/')), ...refs.entries(bytesOf('refs/tags/'))]
    .map(([name, { oid }]) => `${name} ${oid}`)
    .join('\n');
}

t.test('a repository follows a real upstream', { skip: hasGit ? false : 'no git here' }, async (t) => {
  const { upstream, receiver, service } = await stage(t);
  const { syncs } = service.world.background;
  upstream.create('acme/app', linearHistory(30));

  const created = await create(service, 'mirror', PUBLIC);
  t.match(created, { status: 201, json: { base_repo: { provider: 'github', owner: 'acme', name: 'app' } } });
  t.same(Object.keys(created.json.base_repo), ['provider', 'owner', 'name']);
  await syncs.idle();
  t.equal(refsOf(service, 'mirror'), upstream.refs('acme/app'), 'the first sync comes by itself');
  const whole = upstream.seen.at(-1)!.answered;
  const file = await service.call('GET', '/api/v1/repos/file?path=folder-0/deep/file-0.txt', { repo: 'mirror' });
  t.equal(file.text, `${upstream.git('acme/app.git', ['show', 'main:folder-0/deep/file-0.txt'])}\n`);

  await t.test('new commits arrive with the next pull, as a thin pack', async (t) => {
    upstream.import('acme/app', linearHistory(3, { branch: 'topic', from: 'refs/heads/main^0', tags: false }));
    const before = service.world.state.repositories.find('demo', 'mirror')!.git.objects.size;
    t.match(await pull(service, 'mirror'), {
      status: 202,
      json: { message: 'Repository sync initiated successfully' },
    });
    await syncs.idle();
    t.equal(refsOf(service, 'mirror'), upstream.refs('acme/app'));
    t.ok(upstream.seen.at(-1)!.answered < whole / 3, 'the upstream was told what is here');
    const added = service.world.state.repositories.find('demo', 'mirror')!.git.objects.size - before;
    t.ok(added > 0 && added < 60, `only what is new was fetched (${added} objects)`);
  });

  await t.test('refs that were rewritten or removed upstream are rewritten or removed in the repository', async (t) => {
    await service.commit('mirror', { 'local.txt': 'x' }, { target_branch: 'local', base_branch: 'main' });
    upstream.git('acme/app.git', ['update-ref', 'refs/heads/main', 'refs/heads/main~5']);
    upstream.git('acme/app.git', ['tag', '-d', 'v10']);
    upstream.git('acme/app.git', ['branch', '-D', 'topic']);
    upstream.git('acme/app.git', ['branch', 'topic/under', 'main']);
    await pull(service, 'mirror');
    await syncs.idle();
    t.equal(refsOf(service, 'mirror'), upstream.refs('acme/app'));
    t.notMatch(refsOf(service, 'mirror'), /local|v10 /);
  });

  await t.test('a sync without new commits succeeds', async () => {
    await pull(service, 'mirror');
    await syncs.idle();
  });

  const events = await receiver.until(8);
  t.same(
    events.map(({ json }) => [json.type, json.run_count, json.is_first_sync]),
    [
      ['repo.sync.started', 0, true],
      ['repo.sync.succeeded', 1, true],
      ['repo.sync.started', 1, false],
      ['repo.sync.succeeded', 2, false],
      ['repo.sync.started', 2, false],
      ['repo.sync.succeeded', 3, false],
      ['repo.sync.started', 3, false],
      ['repo.sync.succeeded', 4, false],
    ],
  );
});

t.test('a second emulator can be the upstream, with a token as the password', async (t) => {
  const { receiver, service } = await stage(t);
  const other = await startService({ org: ['other'] });
  t.teardown(() => other.emulator.close());
  const tip = await other.seed('acme/app');
  const { syncs } = service.world.background;
  const base = { ...GENERIC, upstream_host: other.emulator.gitHost };
  const forgejo = { ...base, provider: 'forgejo' };

  const created = await create(service, 'mirror', forgejo);
  t.match(created, { status: 201, json: { base_repo: { provider: 'forgejo', owner: 'acme', name: 'app' } } });
  await syncs.idle();
  t.match(await receiver.until(2), [{}, { json: { type: 'repo.sync.failed', run_count: 1, error: /status 401/ } }]);

  const password = await other.token({ repo: 'acme/app', scopes: ['git:read'] });
  const stored = await service.call('POST', '/api/repos/mirror/git-credentials', {
    repo: 'mirror',
    json: { username: 't', password },
  });
  t.equal(stored.status, 201);
  await pull(service, 'mirror');
  await syncs.idle();
  t.equal(refsOf(service, 'mirror'), `refs/heads/main ${tip}`);
  t.match(await receiver.until(4), [{}, {}, {}, { json: { type: 'repo.sync.succeeded', run_count: 2 } }]);
  const said = JSON.stringify([...service.world.state.deliveries.all(), ...service.world.state.journal.entries()]);
  t.notOk(said.includes(password), 'the password is nowhere to be seen');
});

t.test('while a sync runs the repository is syncing, and other writes wait', async (t) => {
  const { upstream, service } = await stage(t);
  const { syncs } = service.world.background;
  let release = (_status: number) => {};
  const held = new Promise<number>((resolve) => {
    release = resolve;
  });
  upstream.answer = () => held;
  t.equal((await create(service, 'mirror', GENERIC)).status, 201);
  const busy = { status: 409, json: { code: 'sync_in_progress' } };
  t.match(await pull(service, 'mirror'), busy);
  t.match(await service.call('DELETE', '/api/repos/mirror/base', { repo: 'mirror' }), busy);
  t.match(await service.commit('mirror', { a: 'b' }), { ...busy, headers: { 'retry-after': '1' } });
  t.match(await service.call('POST', '/api/v1/repos/grep', { repo: 'mirror', json: { query: { pattern: 'a' } } }), {
    status: 503,
  });
  t.equal((await service.call('GET', '/api/repos/mirror', { repo: 'mirror' })).status, 200, 'the record can be read');
  const store = () => {
    const sent = { repo: 'mirror', json: { password: 'x' } };
    return service.call('POST', '/api/v1/repos/git-credentials', sent);
  };
  t.match(await store(), busy, 'a credential is not stored');
  release(404);
  await syncs.idle();
  t.equal((await service.commit('mirror', { a: 'b' })).status, 201);
  const { id } = (await store()).json;
  service.emulator.state.change({ repositories: { mirror: { state: 'syncing' } } });
  for (const [method, path, json] of [
    ['PUT', `/api/repos/mirror/git-credentials/${encodeURIComponent(id)}`, { password: 'y' }],
    ['DELETE', `/api/repos/mirror/git-credentials/${encodeURIComponent(id)}`, undefined],
    ['PUT', '/api/v1/repos/git-credentials', { id, password: 'y' }],
    ['DELETE', '/api/v1/repos/git-credentials', { id }],
  ] as const) {
    t.match(await service.call(method, path, { repo: 'mirror', json }), busy, `${method} ${path}`);
  }
});

t.test('every write to a repository is refused while it is syncing', async (t) => {
  const states = operations.filter(({ subject, effect }) => subject === 'repository' && effect !== 'read');
  t.ok(states.length > 20);
  for (const { id, effect } of states)
    t.equal(refusalOf('syncing', { id, effect }, DEFAULT_VARIANTS), 'sync_in_progress', id);
});

t.test('every failed sync is reported, and a cancelled sync is not', async (t) => {
  const { upstream, receiver, service } = await stage(t);
  const { syncs } = service.world.background;
  const failure = async (): Promise<string> => {
    const before = receiver.received.length;
    t.equal((await pull(service, 'mirror')).status, 202);
    await syncs.idle();
    const { json } = (await receiver.until(before + 2)).at(-1)!;
    t.match(json, { type: 'repo.sync.failed', completed_at: String, run_count: before / 2 + 1 });
    return json.error;
  };
  const move = (changes: Partial<BaseRepository>) => {
    const repository = service.world.state.repositories.find('demo', 'mirror')!;
    repository.update({ baseRepo: { ...repository.record.baseRepo!, ...changes } });
  };
  upstream.answer = () => 403;
  await create(service, 'mirror', GENERIC);
  await receiver.until(2);
  t.match(await failure(), /returned status 403/);
  const asked = upstream.seen.length;
  upstream.answer = () => 502;
  t.match(await failure(), /returned status 502/);
  t.equal(upstream.seen.length - asked, 3, 'an upstream in trouble is asked again, until the retries are used up');
  upstream.answer = () => 200;
  t.match(await failure(), /does not support version 2/);
  move({ provider: 'forgejo', host: '127.0.0.1:1' });
  t.match(await failure(), /cannot be reached \(ECONNREFUSED\)/);
  move({ provider: 'forgejo', host: '192.0.2.1' });
  t.match(await failure(), /is not allowed\. Start/, 'nothing but loopback is reached unless allowed');

  move({ provider: 'gitea' });
  upstream.answer = () => new Promise(() => {});
  const before = receiver.received.length;
  await pull(service, 'mirror');
  await receiver.until(before + 1);
  await service.emulator.close();
  t.equal(receiver.events().at(-1), 'repo.sync.started', 'nobody hears of a run that was canceled');
  t.equal(service.world.state.repositories.find('demo', 'mirror')!.record.state, 'active');
});

t.test('a sync that the service cancels is not reported, and the repository accepts writes', async (t) => {
  const { upstream, receiver, service } = await stage(t);
  upstream.answer = () => new Promise(() => {});
  await create(service, 'mirror', GENERIC);
  await receiver.until(1);
  service.emulator.state.change({ repositories: { mirror: { state: 'active' } } });
  t.equal((await service.commit('mirror', { a: 'b' })).status, 201);
  await service.world.background.syncs.idle();
  upstream.answer = () => 404;
  t.equal((await pull(service, 'mirror')).status, 202);
  await receiver.until(3);
  t.same(receiver.events(), ['repo.sync.started', 'repo.sync.started', 'repo.sync.failed']);
});

t.test('detaching the upstream ends synchronization, and may be repeated', async (t) => {
  const { upstream, service } = await stage(t);
  upstream.answer = () => 404;
  await create(service, 'mirror', GENERIC);
  await service.world.background.syncs.idle();
  for (const target of ['/api/repos/mirror/base', '/api/v1/repos/base']) {
    t.match(await service.call('DELETE', target, { repo: 'mirror' }), {
      status: 200,
      json: { message: 'repository detached' },
    });
  }
  t.notOk((await service.call('GET', '/api/repos/mirror', { repo: 'mirror' })).json.base_repo);
  t.equal((await pull(service, 'mirror')).status, 400);
});

t.test('an upstream that GitHub does not serve is refused before the repository is created', async (t) => {
  const { upstream, service } = await stage(t);
  const refused = async (response: number, status: number) => {
    upstream.answer = () => response;
    t.match(await create(service, 'mirror', PUBLIC), {
      status,
      json: { code: 'forge_repository_inaccessible', status },
    });
    t.equal((await service.call('GET', '/api/repos/mirror', { repo: 'mirror' })).status, 404);
  };
  await refused(404, 404);
  await refused(401, 401);
  await refused(451, 451);
  await refused(500, 412);
  await refused(302, 412);
  const app = { provider: 'github', owner: 'acme', name: 'app' };
  for (const forgeApps of [0, 2]) {
    service.world.state.organizations.update('demo', { forgeApps });
    t.match(await create(service, 'mirror', app), { status: 412, json: { code: 'forge_app_not_configured' } });
  }
  if (!hasGit) return;
  upstream.create('acme/app');
  upstream.answer = () => undefined;
  t.equal((await create(service, 'public', PUBLIC)).status, 201, 'a public mirror needs no application');
  service.world.state.organizations.update('demo', { forgeApps: 1 });
  t.equal((await create(service, 'mirror', app)).status, 201);
  await service.world.background.syncs.idle();
  t.match(await create(service, 'mirror', app), { status: 409, json: { code: 'upstream_already_configured' } });
  t.match(await create(service, 'mirror', undefined), { status: 409, json: { code: 'conflict' } });
});

t.test(
  'objects from an upstream are checked like pushed objects',
  { skip: hasGit ? false : 'no git here' },
  async (t) => {
    for (const fsck of ['strict', 'off'] as const) {
      const { upstream, receiver, service } = await stage(t, { fsck });
      upstream.create('acme/app', linearHistory(2));
      // Create an upstream tree with an entry `.git`. The sync must refuse it, because a checkout would treat the entry
      // as a repository.
      const inner = upstream.git('acme/app.git', ['rev-parse', 'main^{tree}']);
      const entry = Buffer.concat([Buffer.from('40000 .git\0'), Buffer.from(inner, 'hex')]);
      const put = (type: string, body: Buffer) =>
        upstream.git('acme/app.git', ['hash-object', '-t', type, '-w', '--literally', '--stdin'], body);
      const tree = put('tree', entry);
      const person = 'A <a@x> 1700000000 +0000';
      const commit = put('commit', Buffer.from(`tree ${tree}\nauthor ${person}\ncommitter ${person}\n\nbad\n`));
      upstream.git('acme/app.git', ['update-ref', 'refs/heads/bad', commit]);
      await create(service, 'mirror', PUBLIC);
      await service.world.background.syncs.idle();
      const [, ended] = await receiver.until(2);
      const expected =
        fsck === 'off' ? { type: 'repo.sync.succeeded' } : { type: 'repo.sync.failed', error: /hasDotgit/ };
      t.match(ended!.json, expected, fsck);
      t.equal(refsOf(service, 'mirror'), fsck === 'off' ? upstream.refs('acme/app') : '', `${fsck}: all refs or none`);
    }
  },
);

t.test('the number of forge applications and their error codes are start options', async (t) => {
  const service = await startService({ forgeApps: 0, forgePrefix: 'acme' });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  const app = { provider: 'github', owner: 'acme', name: 'app' };
  t.match(await create(service, 'mirror', app), { status: 412, json: { code: 'acme_app_not_configured' } });
  const document = await service.call('GET', '/_emulator/openapi.json', { token: null });
  t.match(document.text, '`acme_repository_inaccessible`');
  const paths = Object.entries(document.json.paths).filter(([path]) => !path.startsWith('/_emulator'));
  t.notMatch(JSON.stringify(paths), 'forge_');
  for (const code of ['acme_app_not_configured', 'forge_app_not_configured']) {
    t.match(
      service.emulator.requests({ code }),
      [{ code: 'acme_app_not_configured' }],
      `${code} finds what was answered`,
    );
    t.match(service.emulator.verify({ requests: [{ match: { code }, count: 1 }] }), { met: true });
  }
  t.same(service.emulator.requests({ code: 'app_not_configured' }), []);
  for (const name of ['acme_repository_inaccessible', 'forge_repository_inaccessible']) {
    const answered = { status: 412, json: { code: 'acme_repository_inaccessible' } };
    const read = (headers: Record<string, string>) => service.call('GET', '/api/repos', { headers });
    const told = { 'x-emulator-fault-fired': name };
    t.match(await read({ 'x-emulator-fault': `${name};retry-after=1` }), { ...answered, headers: told }, 'by a header');
    t.match(await read({ 'x-emulator-fault': `code:${name}` }), answered);
    const token = await service.token({
      repo: 'mirror',
      claims: { emu: { faults: [{ do: { error: { code: name } } }] } },
    });
    t.match(await service.call('GET', '/api/repos', { token }), answered, 'by a token, as JSON');
    for (const given of [name, { do: { error: { code: name } } }, { sequence: ['pass', { error: { code: name } }] }]) {
      const handle = service.emulator.fault(given as never);
      const first = await read({});
      t.match(first.status === 412 ? first : await read({}), answered, JSON.stringify(given));
      handle.remove();
    }
    t.match(
      await service.call('POST', '/_emulator/faults', { token: null, json: { id: `set:${name}`, spec: name } }),
      { status: 201 },
      'by the admin API',
    );
    t.match(await read({}), answered);
    await service.emulator.reset();
  }
  const none = await service.call('GET', '/api/repos', { headers: { 'x-emulator-fault': 'acme_not_configured' } });
  t.match(none, { status: 400, json: { detail: /unknown fault acme_not_configured/ } });
});

t.test('an invalid base_repo is refused with 400', async (t) => {
  const { service } = await stage(t);
  const bad: [object, RegExp][] = [
    [{ ...GENERIC, provider: 'cvs' }, /provider is "cvs", but must be one of/],
    [{ ...GENERIC, upstream_host: undefined }, /upstream_host is required/],
    [{ ...GENERIC, upstream_host: 'https://git.example/x' }, /upstream_host must be a host/],
    [{ ...GENERIC, owner: undefined }, /owner/],
    [{ ...GENERIC, owner: 'a/../..' }, /owner/],
    [{ ...GENERIC, name: '' }, /name/],
    [{ ...GENERIC, operation: 'fork' }, /operation must be sync/],
    [{ ...PUBLIC, auth: { auth_type: 'ssh' } }, /auth_type must be public/],
    [{ ...PUBLIC, default_branch: 'a b' }, /default_branch/],
    [{ provider: 'code', name: 'x', operation: 'fork' }, /auth.token is required/],
    [{ provider: 'code', name: 'x', operation: 'sync', auth: { token: 't' } }, /operation must be fork or snapshot/],
    [{ provider: 'code', name: 'x', operation: 'snapshot', auth: { token: 't' } }, /ref is required/],
    [{ provider: 'code', name: 'x', sha: 'HEAD', auth: { token: 't' } }, /sha/],
  ];
  for (const [base, detail] of bad) {
    t.match(
      await create(service, 'x', base),
      { status: 400, json: { code: 'bad_request', detail } },
      JSON.stringify(base),
    );
  }
  t.match(await create(service, 'x', undefined, { initial_commit: { message: 'm' } }), { status: 400 });
});

t.test(
  'refs that the policy of a token protects stay unchanged in the sync that it starts',
  { skip: hasGit ? false : 'no git here' },
  async (t) => {
    const { upstream, service } = await stage(t);
    const { syncs } = service.world.background;
    upstream.create('acme/app', linearHistory(10, { tags: false }));
    await create(service, 'mirror', PUBLIC);
    await syncs.idle();
    const before = refsOf(service, 'mirror');
    upstream.git('acme/app.git', ['update-ref', 'refs/heads/main', 'refs/heads/main~5']);
    upstream.git('acme/app.git', ['branch', 'more', 'main']);
    const token = (refs: unknown) => service.token({ repo: 'mirror', scopes: ['git:write'], claims: { refs } });
    t.equal((await pull(service, 'mirror', { token: await token([['main', ['no-push']]]) })).status, 403);
    t.equal((await pull(service, 'mirror', { token: await token([['main', ['no-force-push']]]) })).status, 202);
    await syncs.idle();
    t.equal(refsOf(service, 'mirror'), `${before}\n${upstream.refs('acme/app').split('\n')[1]}`);
  },
);
