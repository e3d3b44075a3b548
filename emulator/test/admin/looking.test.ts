import { Validator } from '@seriousme/openapi-schema-validator';
import t, { type Test } from 'tap';
import { ADMIN_PREFIX } from '../../admin/path.js';
import { adminRoutes } from '../../admin/routes.js';
import { TAG } from '../../git/object/object.js';
import { WebhookReceiver } from '../operations/webhook-receiver.js';
import { type Service, startService } from '../service.js';
import { stateDigest } from '../world/state-digest.js';
import { changedParts } from '../world/world-parts.js';
import { touchEverything } from '../world/world-story.js';

/**
 * Returns a request target for each GET route of the admin API, except for the event stream. Path parameters get values
 * that exist in the service.
 */
async function targetsIn(service: Service): Promise<string[]> {
  const { state } = service.world;
  const { git, record } = state.repositories.find('demo', 'a')!;
  const commit = record.refs.headOid!;
  const quarantine = git.objects.quarantine();
  const tag = quarantine.write(TAG, Buffer.from(`object ${commit}\ntype commit\ntag v1\n`));
  quarantine.publish();
  const tree = await service.call('GET', `${ADMIN_PREFIX}/repositories/a/tree/${commit}`, { token: null });
  const { oid } = tree.json.items.find(({ type }: { type: string }) => type === 'blob');
  const fault = service.emulator.fault({ match: { org: 'nobody' }, do: { hold: 'x' } });
  const ids: Readonly<Record<string, string>> = {
    '/repositories/{name}/tree/{oid}': commit,
    '/repositories/{name}/blob/{oid}': oid,
    '/repositories/{name}/tag/{oid}': tag,
    '/repositories/{name}/commits/{oid}': commit,
    '/repositories/{name}/commits/{oid}/diff': commit,
    '/requests/{id}': [...state.journal.entries()][0]!.id,
    '/faults/{id}': fault.id,
    '/faults/{id}/forms': fault.id,
    '/scenarios/{id}': service.world.scenarios.register({ id: 'story' }, { operations: [], organization: 'demo' })
      .scenario.id,
    '/namespaces/{id}': (await service.emulator.namespace()).id,
  };
  const queries: Readonly<Record<string, string>> = {
    '/repositories/{name}/content': '?path=f.txt',
    '/repositories/{name}/blame': '?path=f.txt',
  };
  return adminRoutes
    .filter(({ method, path }) => method === 'GET' && path !== '/requests/stream')
    .flatMap(({ path }) => {
      const filled = path.replace(/\{(?:id|oid)\}/, ids[path] ?? '').replace('{file}', 'main.js');
      const target = ADMIN_PREFIX + filled + (queries[path] ?? '');
      const names = path.includes('{oid}') ? ['a'] : ['a', 'b', 'cold'];
      return target.includes('{name}') ? names.map((name) => target.replace('{name}', name)) : [target];
    });
}

async function setUp(t: Test) {
  const receiver = await WebhookReceiver.start();
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z') });
  t.teardown(async () => {
    await service.emulator.close({ graceMs: 0 });
    await receiver[Symbol.asyncDispose]();
  });
  await touchEverything(service, receiver, 'one');
  await service.seed('cold', { 'f.txt': 'f\n' });
  await service.emulator.snapshot();
  service.emulator.state.change({ repositories: { cold: { state: 'archived' } } });
  return service;
}

t.test('GET and HEAD change nothing: no clock, counter, id or journal, and no repository wakes', async (t) => {
  const service = await setUp(t);
  const targets = await targetsIn(service);
  const before = { world: service.world, snapshot: service.world.snapshot() };
  const digest = stateDigest(service.world);
  for (const method of ['GET', 'HEAD']) {
    for (const target of targets) {
      const response = await service.call(method, target, { token: null });
      // Expect 404 for these targets. The repository `b` has no commits, and the service has no HTTPS.
      const isAbsent = /\/repositories\/b\/(?:commits|compare|last-commits|content\?.*|blame\?.*)$|\/ca$/.test(target);
      const status = isAbsent ? 404 : target === ADMIN_PREFIX ? 308 : 200;
      t.equal(response.status, status, `${method} ${target}: ${response.text}`);
      t.equal(response.headers['x-request-id'], undefined);
      t.same(changedParts(before, service.world), [], `${method} ${target}`);
    }
  }
  for (const target of ['/_emulator/nothing', '/_emulator/requests/none', '/_emulator//', '//_emulator/state']) {
    t.match(await service.call('GET', target, { token: null }), { status: /^40[04]$/ }, target);
    t.match(await service.call('POST', target, { token: null, json: {} }), { status: /^40[045]$/ }, target);
  }
  t.same(changedParts(before, service.world), []);
  t.equal(stateDigest(service.world), digest);
  const state = await service.call('GET', '/_emulator/repositories/cold', { token: null });
  t.match(state.json, { name: 'cold', state: 'archived', objects: 3, refs: 1 });
  t.match((await service.call('GET', '/_emulator/repositories/b', { token: null })).json, { state: 'deleted' });
  t.match(
    await service.call('GET', '/api/v1/repo', { repo: 'cold' }),
    { status: 409 },
    'a request to the API wakes the repository',
  );
  t.same(changedParts(before, service.world).sort(), ['clock', 'journal', 'repositories', 'requests']);
});

t.test('responses of the admin routes match their OpenAPI document', async (t) => {
  const service = await setUp(t);
  const { json: document } = await service.call('GET', '/_emulator/openapi.json', { token: null });
  const result = await new Validator().validate(structuredClone(document));
  t.ok(result.valid, JSON.stringify(result.errors, null, 2));
  const ids = Object.values(document.paths as Record<string, Record<string, { operationId: string }>>).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  t.equal(new Set(ids).size, ids.length, 'operation ids are unique');
  for (const target of await targetsIn(service)) {
    const { status, json } = await service.call('GET', target, { token: null });
    if (status !== 200) continue;
    const route = adminRoutes.find(
      ({ method, path }) => method === 'GET' && patternOf(path).test(target.replace(/\?.*/, '')),
    )!;
    t.match(document.paths[ADMIN_PREFIX + route.path].get, { operationId: route.id, tags: ['Emulator'] });
    const reply = route.replies[200];
    if (typeof reply === 'object') t.same(reply.safeParse(json).error, undefined, target);
  }
});

function patternOf(path: string): RegExp {
  return new RegExp(`^${ADMIN_PREFIX}${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
}
