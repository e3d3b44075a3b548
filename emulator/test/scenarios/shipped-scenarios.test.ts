import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parse } from 'yaml';
import { Workbench } from '../../git/test/workbench.js';
import { startAdmin } from '../admin/admin-service.js';
import { type Service, type ServiceResponse, startService } from '../service.js';

const FOLDER = fileURLToPath(new URL('../../../../fixtures/scenarios/', import.meta.url));
const START = '2026-01-01T00:00:00Z';

interface Client {
  readonly service: Service;
  readonly bench: Workbench;
  /**
   * Repeats a request until it succeeds. Instead of waiting, advances the emulator's clock by each response's
   * `Retry-After`.
   */
  patiently(ask: () => Promise<ServiceResponse>): Promise<ServiceResponse>;
}

const read = ({ service }: Client) => service.call('GET', '/api/v1/repo', { repo: 'r' });

/**
 * Clients that complete the emulator's built-in scenarios, by scenario id. The test compares the results of two runs.
 */
const CLIENTS: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  'thaw-then-ok': async (client) => {
    await client.service.call('POST', '/api/repos', { repo: 'r' });
    return (await client.patiently(() => read(client))).json;
  },
  'flaky-clone': async ({ service, bench }) => {
    await service.seed('r');
    const url = await service.remote('r');
    const clone = (name: string) => bench.try('.', 'clone', '-q', url, name);
    const tries = [await clone('one'), await clone('two'), await clone('three')];
    t.same(
      tries.map(({ status }) => status),
      [128, 128, 0],
      tries.map(({ stderr }) => stderr).join(),
    );
    return bench.git('three', 'rev-parse', 'HEAD');
  },
  'lost-commit': async ({ service }) => {
    await service.call('POST', '/api/repos', { repo: 'r' });
    const commit = (expected: string) => service.commit('r', { a: 'a' }, { expected_head_sha: expected });
    const none = '0'.repeat(40);
    await t.rejects(commit(none));
    const again = await commit(none);
    t.equal(again.status, 409, again.text);
    const commits = await service.call('GET', '/api/v1/repos/commits', { repo: 'r' });
    t.equal(commits.json.commits.length, 1, 'the commit was made once');
    return commits.json;
  },
  'throttled-burst': async (client) => {
    await client.service.call('POST', '/api/repos', { repo: 'r' });
    const statuses: number[] = [];
    for (let time = 0; time < 8; time++) statuses.push((await client.patiently(() => read(client))).status);
    return statuses;
  },
  'clock-skew': async ({ service }) => {
    // Simulate a client that takes the current time from the `Date` header of the last response.
    let date = service.emulator.clock.now();
    const ask = async (method: string, target: string) => {
      const token = await service.token({ repo: 'r', ttl: 3600, now: date });
      const response = await service.call(method, target, { repo: 'r', token });
      date = Date.parse(response.headers.date!);
      return response.status;
    };
    const statuses = [await ask('POST', '/api/repos')];
    for (let time = 0; time < 5; time++) statuses.push(await ask('GET', '/api/v1/repo'));
    t.same(statuses.slice(-1), [200]);
    return statuses;
  },
  'sync-storm': async ({ service, bench }) => {
    await service.call('POST', '/api/repos', { repo: 'r' });
    const url = await service.remote('r');
    await bench.git('.', 'init', '-q', '-b', 'main', 'work');
    const said: (number | null)[] = [];
    for (let time = 0; time < 3; time++) {
      await bench.git('work', 'commit', '-q', '--allow-empty', '-m', `change ${time}`);
      said.push((await bench.try('work', 'push', '-q', url, 'main')).status);
      said.push((await bench.try('work', 'push', '-q', url, 'main:topic')).status);
      await service.emulator.clock.advance('PT2S');
    }
    t.same(said, [0, 128, 0, 128, 0, 128], 'pushes in the meantime are refused');
    return bench.git('work', 'ls-remote', url);
  },
  'partial-push': async ({ service, bench }) => {
    await service.call('POST', '/api/repos', { repo: 'r' });
    const url = await service.remote('r');
    await bench.git('.', 'init', '-q', '-b', 'main', 'work');
    await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'first');
    await bench.git('work', 'branch', 'topic');
    const first = await bench.try('work', 'push', url, 'main', 'topic');
    t.match(first, { status: 1, stderr: /main -> main \(hook declined\)/ });
    const between = await bench.git('work', 'ls-remote', url);
    t.match(between, /refs\/heads\/topic/);
    t.notMatch(between, /refs\/heads\/main/);
    t.match(await bench.try('work', 'push', url, 'main', 'topic'), { status: 0 });
    return bench.git('work', 'ls-remote', url);
  },
  'slow-archive': async ({ service }) => {
    await service.seed('r', { 'a.txt': 'text '.repeat(2000), 'b.txt': 'b\n' });
    const archive = () => service.call('POST', '/api/v1/repos/archive', { repo: 'r', json: {} });
    const short = await archive();
    const whole = await archive();
    t.same([short.status, whole.status], [200, 200]);
    t.ok(short.bytes.length < whole.bytes.length, `${short.bytes.length} of ${whole.bytes.length}`);
    return [short.bytes.toString('hex'), whole.bytes.toString('hex')];
  },
  'key-rotation': async ({ service }) => {
    const ask = async (method: string, target: string, key: string) => {
      const token = await service.token({ repo: 'r', key, kid: key });
      return (await service.call(method, target, { repo: 'r', token })).status;
    };
    const statuses = [await ask('POST', '/api/repos', 'es256'), await ask('GET', '/api/v1/repo', 'es256')];
    for (const key of ['es256', 'es384', 'es256', 'es384']) statuses.push(await ask('GET', '/api/v1/repo', key));
    t.same(statuses, [201, 200, 403, 200, 403, 200]);
    return statuses;
  },
  'auth-outage': async (client) => {
    const { service } = client;
    const made = await client.patiently(() => service.call('POST', '/api/repos', { repo: 'r' }));
    t.equal(made.status, 201);
    return (await read(client)).json;
  },
};

/**
 * Plays a scenario to its end with its client. Resolves to everything that the client can observe (`shown`), and to the
 * scenario's record before and after.
 */
async function play(
  file: string,
): Promise<{ readonly shown: string; readonly scenario: unknown; readonly before: unknown }> {
  const id = file.replace(/\.yaml$/, '');
  const service = await startService({ scenario: FOLDER + file, clock: START });
  await using bench = await Workbench.create();
  const look = async () => (await service.call('GET', `/_emulator/scenarios/${id}`, { token: null })).json;
  try {
    const before = await look();
    const patiently: Client['patiently'] = async (ask) => {
      for (;;) {
        const response = await ask();
        if (response.status < 400) return response;
        await service.emulator.clock.advance(Number(response.headers['retry-after'] ?? 1) * 1000);
      }
    };
    const responses = await CLIENTS[id]!({ service, bench, patiently });
    const journal = service.emulator.requests().map(({ started: _, duration: __, ...entry }) => entry);
    const { port } = new URL(service.url);
    const shown = JSON.stringify({ answers: responses, journal }, undefined, 1)
      .replaceAll(`:${port}`, ':PORT')
      .replace(/"(fingerprint|signature|digest)": "[^"]*"/g, '"$1": "…"');
    return { shown, scenario: await look(), before };
  } finally {
    await service.emulator.close({ graceMs: 0 });
  }
}

t.test('every shipped scenario runs to its end, with the same result twice', async (t) => {
  const files = readdirSync(FOLDER);
  t.same(files.map((file) => file.replace(/\.yaml$/, '')).sort(), Object.keys(CLIENTS).sort());
  for (const file of files) {
    const { id, about } = parse(readFileSync(FOLDER + file, 'utf8'));
    t.equal(`${id}.yaml`, file);
    t.ok(about.length > 20, `${id} says what it is about`);
    const [first, second] = [await play(file), await play(file)];
    t.match(first.before, { started: true, verification: { met: false } }, `${id} expects something`);
    t.match(first.scenario, { verification: { met: true }, problems: [] }, `${id}: ${JSON.stringify(first.scenario)}`);
    t.equal(second.shown, first.shown, `${id} is the same again`);
  }
});

t.test('shipped scenarios are listed, and can be registered unchanged', async (t) => {
  const { admin } = await startAdmin(t);
  const { items } = (await admin('GET', '/shipped-scenarios')).json;
  t.match(items.length, 10);
  for (const { id, about, text, definition } of items) {
    t.ok(text.includes(`\nid: ${id}\n`) && about.length > 20, id);
    t.match(await admin('POST', '/scenarios', definition), { status: 201, json: { id, about: definition.about } });
  }
  t.equal((await admin('GET', '/scenarios')).json.items.length, 10);
});
