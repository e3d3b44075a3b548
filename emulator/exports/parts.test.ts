import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { operations } from '../api/index.js';
import { run } from '../cli/test/run.js';
import { resolveOptions } from '../config/options.js';
import { createEmulator } from '../library/emulator.js';
import { startServer } from '../server/server.js';
import type { StateName } from '../world/state.js';
import { EXPORT_PARTS, exportParts } from './parts.js';

const CLOCK = '2026-01-01T00:00:00Z';

async function start(t: Test) {
  const server = await startServer(resolveOptions({ port: 0, clock: CLOCK, allowWebhook: ['none.test'] }), operations);
  t.teardown(() => server.close({ graceMs: 0 }));
  const { baseUrl, ...emulator } = createEmulator(server);
  const url = baseUrl;
  const ask = async (method: string, path: string, body?: object, repo = 'a') => {
    const token = await emulator.token({
      repo,
      scopes: ['repo:write', 'git:write', 'git:read', 'org:read'],
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    t.ok(response.ok, `${method} ${path} ${response.ok || (await response.clone().text())}`);
    return (await response.json()) as Record<string, unknown>;
  };
  /** Returns what clients can see of one part of an export, as a value for `t.same`. */
  const see = async (part: string): Promise<unknown> => {
    const { state } = server.current.world;
    if (part === 'namespaces' || part === 'snapshots' || part === 'faults') {
      const { items } = (await (await fetch(`${url}/_emulator/${part}`)).json()) as { items: unknown[] };
      return items.length;
    }
    if (part === 'repositories')
      return [...state.repositories.snapshot().records.byId.values()].map(({ id, name }) => [id, name]);
    if (part === 'journal') return emulator.requests().length;
    if (part === 'organizations') return emulator.state.read().organizations;
    return JSON.parse(JSON.stringify(plain(state[part as StateName].snapshot())));
  };
  return { emulator: { ...emulator, url }, server, ask, see };
}

/** Converts maps and sets at any depth to sorted lists, so that two states can be compared regardless of order. */
function plain(value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) {
    return [...value].map(plain).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  if (Buffer.isBuffer(value)) return value.toString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

t.test('an export contains exactly the parts that the table declares', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parts-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [one, two, fresh] = [await start(t), await start(t), await start(t)];
  const { emulator, ask } = one;
  await ask('POST', '/api/v1/webhooks', { url: 'http://none.test/hook', events: ['push'] });
  await ask('POST', '/api/repos', {});
  await emulator.repository('a').seed({ 'a.txt': 'hello' });
  await ask('POST', '/api/v1/repos/branches/create', { base_ref: 'main', target_branch: 'next' });
  await ask('POST', '/api/v1/repos/grep', { query: { pattern: 'hello' } });
  emulator.quotas.change({ gateway: { capacity: 2_000, refill: '10/s' } });
  emulator.state.change({ organizations: { demo: { hosting: 'off' } }, limits: { maxFiles: 7 } });
  one.server.current.world.state.conversations.next();
  await emulator.snapshot();
  await emulator.namespace();
  emulator.fault('lost*1');
  await emulator.clock.freeze();
  await emulator.clock.advance(5);
  while (
    ((await one.see('deliveries')) as { byId: [string, { attempts: unknown[] }][] }).byId[0]?.[1].attempts.length === 0
  ) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { code, out } = await run(['export', folder, '--include-secrets', '--json', '--url', emulator.url]);
  t.equal(code, 0);
  t.same(JSON.parse(out).parts, exportParts());
  t.equal((await run(['import', folder, '--url', two.emulator.url])).code, 0);
  for (const [part, { in: isIn, what, why }] of Object.entries(EXPORT_PARTS)) {
    const [there, here, before] = [await one.see(part), await two.see(part), await fresh.see(part)];
    if (part !== 'scenarios') t.notSame(there, before, `${part} was used`);
    t.same(here, isIn ? there : before, `${part}: ${what}, ${why}`);
  }
  const { out: help } = await run(['export', '--help']);
  for (const { in: isIn, what } of exportParts()) {
    t.match(help.replaceAll(/\s+/g, ' '), `${isIn ? 'in' : 'out'} ${what}`);
  }
});
