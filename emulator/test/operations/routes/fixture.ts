import type { Test } from 'tap';
import type { GivenOptions } from '../../../config/options.js';
import { type Service, type ServiceResponse, startService } from '../../service.js';
import { contentRows } from './content-rows.js';
import { historyRows } from './history-rows.js';
import { repositoryRows } from './repository-rows.js';
import type { Fixture, RouteRow, RouteRows, Sent } from './row.js';

export const ROWS: RouteRows = { ...repositoryRows, ...historyRows, ...contentRows };
export const EVERY_SCOPE = ['git:read', 'git:write', 'repo:write', 'org:read', 'deployment:read', 'deployment:write'];

export async function stage(t: Test, options: GivenOptions = {}) {
  // No server listens at this upstream address, so a sync fails in the background.
  const upstreamHost = { github: 'http://127.0.0.1:1' };
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z'), upstreamHost, ...options });
  t.teardown(() => service.emulator.close());
  return service;
}

/**
 * Creates the repository that the requests of the route table use. Returns the ids of its commits and other objects.
 */
export async function makeFixture(service: Service, name: string): Promise<Fixture> {
  const call = async (method: string, path: string, json: unknown, headers = {}): Promise<ServiceResponse> => {
    const target = `/api/repos/${encodeURIComponent(name)}${path}`;
    const response = await service.call(method, target, { repo: name, scopes: EVERY_SCOPE, json, headers });
    if (response.status > 201) throw new Error(`${method} ${path} answered ${response.status}: ${response.text}`);
    return response;
  };
  const first = await service.seed(name, { t: 'one\n' });
  const second = await service.commit(name, { 'a b': 'hello\n' });
  const third = await service.commit(name, { t: 'two\n' }, { target_branch: 'topic', base_branch: 'main' });
  await service.call('POST', '/api/repos', { repo: `${name}-bare` });
  await call('POST', '/branches/create', { target_branch: 'scratch', base_ref: 'main', target_is_ephemeral: true });
  await call('POST', '/tags', { name: 'v1/rc', target: first });
  const note = await call('POST', '/notes', { sha: first, note: 'noted' });
  const credential = await call('POST', '/git-credentials', { password: 'p' });
  await call('PATCH', '', { deployment: {} });
  const deployment = await call('POST', '/deployments', { ref: 'main' }, { 'idempotency-key': 'fixture' });
  const baseRepo = {
    provider: 'github',
    owner: 'acme',
    name: 'app',
    host: undefined,
    access: 'public',
    runs: 0,
  } as const;
  service.world.state.repositories.find('demo', name)!.update({ baseRepo });
  return {
    name,
    first,
    tip: second.json.commit.commit_sha,
    topic: third.json.commit.commit_sha,
    notes: note.json.new_ref_sha,
    credential: credential.json.id,
    deployment: deployment.json.id,
  };
}

function targetOf(route: string, repo: string, { credential, deployment }: Fixture, { query = {} }: Sent): string {
  const values = { repo_name: repo, tag: 'v1/rc', credential_id: credential, deployment_id: deployment };
  const path = route.replace(/\{(\w+)\}/g, (_, key: keyof typeof values) => encodeURIComponent(values[key]));
  // Encode parameters like published clients: a space becomes `+`, and a parameter with several values is repeated.
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) for (const one of [value].flat()) search.append(key, one as string);
  return search.size === 0 ? path : `${path}?${search}`;
}

export function send(
  service: Service,
  row: RouteRow,
  route: string,
  fixture: Fixture,
  sent: Sent,
): Promise<ServiceResponse> {
  const { json, body, headers = {} } = sent;
  const repo = fixture.name + (row.suffix ?? '');
  return service.call(row.method, targetOf(route, repo, fixture, sent), {
    repo: row.claim ?? repo,
    scopes: row.scopes,
    // Set Content-Type also if there is no body. Some clients send this header with every request.
    headers: { 'content-type': body === undefined ? 'application/json' : 'application/x-ndjson', ...headers },
    ...(json === undefined ? {} : { json }),
    ...(body === undefined ? {} : { body }),
  });
}
