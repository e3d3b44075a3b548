import t, { type Test } from 'tap';
import { type CallOptions, type Service, startService } from '../service.js';

const HOSTING = ['git:read', 'git:write', 'repo:write', 'deployment:read', 'deployment:write'];

async function stage(t: Test) {
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z') });
  t.teardown(() => service.emulator.close());
  return service;
}

/** Sends a request with a token for all deployment operations. */
function call(service: Service, method: string, target: string, options: CallOptions = {}) {
  return service.call(method, target, { scopes: HOSTING, ...options });
}

const DEPLOYMENTS = '/api/repos/team%2Fapp/deployments';

t.test('a deployment is created once per idempotency key', async (t) => {
  const service = await stage(t);
  const tip = await service.seed('team/app');
  t.match(await call(service, 'POST', DEPLOYMENTS, { json: {} }), {
    status: 404,
    json: { code: 'hosting_project_not_found' },
  });
  await call(service, 'PATCH', '/api/repos/team%2Fapp', { json: { deployment: {} } });

  const headers = { 'idempotency-key': 'key-1' };
  const first = await call(service, 'POST', DEPLOYMENTS, { headers, json: { ref: 'main' } });
  t.match(first, {
    status: 201,
    headers: { 'idempotency-key': 'key-1', location: `${DEPLOYMENTS}/${first.json.id}` },
    json: { target: 'preview', ref: 'main', commit_sha: tip, status: 'queued' },
  });
  t.notOk(first.headers['idempotent-replayed']);
  const again = await call(service, 'POST', DEPLOYMENTS, { headers, json: { ref: 'main' } });
  t.match(again, {
    status: 200,
    headers: { 'idempotent-replayed': 'true' },
    json: { id: first.json.id, status: 'ready' },
  });
  t.match(await call(service, 'POST', DEPLOYMENTS, { headers, json: { ref: 'main', target: 'production' } }), {
    status: 422,
    json: { code: 'idempotency_key_reused' },
  });
  t.match(await call(service, 'POST', DEPLOYMENTS, { headers: { 'idempotency-key': 'a b' } }), { status: 400 });
  t.match(await call(service, 'POST', DEPLOYMENTS, { json: { ref: 'none' } }), {
    status: 404,
    json: { code: 'ref_not_found' },
  });
  t.match(await call(service, 'POST', DEPLOYMENTS, { json: { target: 'moon' } }), { status: 400 });
  const bodiless = await call(service, 'POST', DEPLOYMENTS);
  t.match(bodiless, { status: 201, json: { ref: 'main', target: 'preview' } });

  t.match(await call(service, 'GET', first.headers.location!), { status: 200, json: { id: first.json.id } });
  t.match(await call(service, 'GET', `${DEPLOYMENTS}/none`), { status: 404, json: { code: 'deployment_not_found' } });
  const page = await call(service, 'GET', `${DEPLOYMENTS}?limit=1`);
  t.match(page.json, { deployments: [{ id: bodiless.json.id }], has_more: true });
  const rest = await call(service, 'GET', `${DEPLOYMENTS}?cursor=${page.json.next_cursor}`);
  t.match(rest.json, { deployments: [{ id: first.json.id }], has_more: false, next_cursor: null });
  t.equal(rest.json.deployments.length, 1);
  t.match(await call(service, 'GET', `${DEPLOYMENTS}?cursor=x`), { status: 400 });
  t.match(await service.call('GET', DEPLOYMENTS), { status: 403, json: { code: 'insufficient_scope' } });
});

t.test('a hosting project is part of its repository', async (t) => {
  const service = await stage(t);
  const deployment = {
    project_name: 'site',
    deploy_on_push: true,
    framework: 'vite',
    env: { KEY: 'hidden', OLD: 'x' },
  };
  const created = await call(service, 'POST', '/api/repos', { json: { deployment } });
  t.equal(created.status, 201);
  t.same(created.json.deployment, {
    project_name: 'site',
    deploy_on_push: true,
    production_branch: null,
    framework: 'vite',
    root_directory: null,
    build_command: null,
    install_command: null,
    output_directory: null,
    serverless_function_region: null,
  });
  const change = { framework: null, production_branch: 'live', env: { OLD: null } };
  const patched = await call(service, 'PATCH', '/api/v1/repo', { json: { deployment: change } });
  t.match(patched, {
    status: 200,
    json: { deployment: { project_name: 'site', framework: null, production_branch: 'live' } },
  });
  const { env } = service.world.state.repositories.find('demo', 'team/app')!.record.hosting!;
  t.same([...env], [['KEY', 'hidden']]);
  t.notMatch(created.text + patched.text, /hidden/);

  await service.seed('other');
  const taken = { status: 409, json: { code: 'deployment_project_name_in_use' } };
  t.match(
    await call(service, 'PATCH', '/api/repos/other', { repo: 'other', json: { deployment: { project_name: 'site' } } }),
    taken,
  );
  t.match(
    await call(service, 'POST', '/api/repos', { repo: 'third', json: { deployment: { project_name: 'site' } } }),
    taken,
  );
  t.equal((await call(service, 'GET', '/api/repos/third', { repo: 'third' })).status, 404, 'and nothing is made');
  t.match(await service.call('PATCH', '/api/v1/repo', { json: { deployment: { env: {} } } }), {
    status: 403,
    json: { code: 'insufficient_scope' },
  });
  for (const bad of [{ env: { 'a b': 'x' } }, { serverless_function_region: 'xxxxx' }, { project_name: '' }]) {
    t.match(
      await call(service, 'PATCH', '/api/v1/repo', { json: { deployment: bad } }),
      { status: 400 },
      JSON.stringify(bad),
    );
  }
  t.equal((await service.call('DELETE', '/api/v1/repos/delete')).status, 200);
  t.equal(
    (
      await call(service, 'PATCH', '/api/repos/other', {
        repo: 'other',
        json: { deployment: { project_name: 'site' } },
      })
    ).status,
    200,
  );

  service.world.state.organizations.update('demo', { hostingEnabled: false });
  t.match(await service.call('PATCH', '/api/repos/other', { repo: 'other', json: { deployment: {} } }), {
    status: 403,
    json: { code: 'hosting_not_enabled' },
  });
  t.match(await call(service, 'GET', '/api/repos/other/deployments', { repo: 'other' }), {
    status: 403,
    json: { code: 'forbidden' },
  });
});

t.test('an emulator started without hosting refuses hosting requests with hosting_not_enabled', async (t) => {
  const service = await startService({ hosting: 'off' });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  const created = await service.call('POST', '/api/repos', { repo: 'site', json: { deployment: {} } });
  t.match(created, { status: 403, json: { code: 'hosting_not_enabled' } });
  t.equal((await service.call('GET', '/api/v1/repo', { repo: 'site' })).status, 404, 'and makes nothing');
});
