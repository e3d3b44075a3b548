import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { linearHistory } from '../../git/test/history.js';
import { Schedule } from '../../schedule/schedule.js';
import type { CurrentWorld } from '../../world/current-world.js';
import type { World } from '../../world/world.js';
import { GitUpstream, hasGit } from '../git/git-upstream.js';
import { oidOf, packOf, pushBody, pushRaw } from '../git/raw-push.js';
import { commitObjects, ZERO } from '../journal/recorded-clients.js';
import { callerOf, type Service, type ServiceResponse, startService } from '../service.js';
import { serveWorld } from '../world/served-world.js';
import { stateDigest } from '../world/state-digest.js';
import { BRANCH_WRITERS, NOTES_WRITERS, type Situation, TAG_WRITERS } from './ref-writers.js';

// Tests requests that are in progress when the world is replaced by a snapshot or closed. The world is the whole state
// of the emulator. Such a request must end in the world in which it began. It must not change the new world.

/**
 * Numbers of event loop turns before the test replaces the world. They range from before the arrival of the request to
 * after its end.
 */
const TURNS = [1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30];

type Call = (situation: Situation) => Promise<unknown>;

const ref = { auth_type: 'public' };
const UPSTREAM = { provider: 'github', owner: 'acme', name: 'app', auth: ref };

function lfsUpload({ service, nonce }: Situation): Promise<ServiceResponse> {
  const body = Buffer.alloc(50_000, nonce);
  const oid = createHash('sha256').update(body).digest('hex');
  return service.call('PUT', `/team/app.git/info/lfs/objects/${oid}`, { body });
}

async function forkOf({ service, nonce }: Situation): Promise<ServiceResponse> {
  const base_repo = { provider: 'code', name: 'team/app', auth: { token: await service.token({ repo: 'team/app' }) } };
  return service.call('POST', '/api/repos', { repo: `fork/${nonce}`, json: { base_repo } });
}

function pushOf({ service, nonce }: Situation): Promise<ServiceResponse> {
  const objects = Array.from({ length: 30 }, (_, index) => commitObjects(`${nonce}-${index}`, ZERO));
  const commands = objects.map(([commit], index) => ({
    ref: `refs/heads/p/${nonce}/${index}`,
    old: ZERO,
    new: oidOf(commit),
  }));
  return pushRaw(service, 'team/app', pushBody(commands, packOf(objects.flat())));
}

const post = (path: string, json: (situation: Situation) => object, repo?: string): Call => {
  return (situation) => situation.service.call('POST', path, { json: json(situation), ...(repo && { repo }) });
};

/**
 * Calls that write more than a single ref, or other state such as an LFS object. Writers of a single ref have their own
 * table.
 */
const OTHER_WRITERS: Readonly<Record<string, Call>> = {
  'LFS upload': lfsUpload,
  fork: forkOf,
  'push of many refs': pushOf,
  sync: post('/api/v1/repos/pull-upstream', () => ({}), 'mirror'),
  'first sync': ({ service, nonce }) =>
    service.call('POST', '/api/repos', { repo: `s/${nonce}`, json: { base_repo: UPSTREAM } }),
  'create repository': ({ service, nonce }) => service.call('POST', '/api/repos', { repo: `new/${nonce}` }),
  'delete repository': ({ service }) => service.call('DELETE', '/api/repos/team%2Fapp'),
  webhook: post('/api/v1/webhooks', () => ({ url: 'http://127.0.0.1:1/', events: ['push'] })),
  lock: post('/team/app.git/info/lfs/locks', ({ nonce }) => ({ path: nonce })),
};

const WRITERS: Readonly<Record<string, Call>> = {
  ...Object.fromEntries(
    Object.entries({ ...BRANCH_WRITERS, ...TAG_WRITERS, ...NOTES_WRITERS }).map(([name, { call }]) => [name, call]),
  ),
  ...OTHER_WRITERS,
};

interface Stage {
  readonly service: Service;
  readonly situation: Omit<Situation, 'nonce'>;
  readonly seeded: string;
}

/**
 * Starts an emulator whose long work yields to other requests as often as possible. Its repository mirrors an upstream
 * repository with one more commit, so that a sync has work to do.
 */
async function stage(t: Test): Promise<Stage> {
  const upstream = await GitUpstream.start();
  let time = 0;
  const schedule = new Schedule({ now: () => (time += 100) });
  const options = { upstreamHost: { github: upstream.origin }, clock: Date.parse('2026-01-01T00:00:00Z') };
  const service = await startService(options, { schedule });
  t.teardown(async () => {
    await service.emulator.close({ graceMs: 0 });
    await upstream[Symbol.asyncDispose]();
  });
  const root = await service.seed('team/app', { base: 'base' });
  await service.commit('team/app', { merged: 'merged' }, { target_branch: 'topic', base_branch: 'main' });
  const { json } = await service.commit('team/app', { name: 'name' }, { target_branch: 'name', base_branch: 'main' });
  const tip: string = json.commit.commit_sha;
  for (const [kind, value] of [
    ['tags', tip],
    ['notes', tip],
  ] as const)
    await pushRaw(service, 'team/app', pushBody([{ ref: `refs/${kind}/name`, old: ZERO, new: value }]));
  upstream.create('acme/app', linearHistory(3));
  t.equal((await service.call('POST', '/api/repos', { repo: 'mirror', json: { base_repo: UPSTREAM } })).status, 201);
  await service.world.background.syncs.idle();
  upstream.import('acme/app', linearHistory(1, { branch: 'later', tags: false }));
  return { service, situation: { service, name: 'name', tip, root }, seeded: await service.emulator.snapshot() };
}

/**
 * Returns the HTTP status of a response. Some calls throw if a failed response lacks members. The result is then the
 * 5xx status that the error names, or 400.
 */
async function statusOf(sent: Promise<unknown>): Promise<number> {
  try {
    const response = await sent;
    return (response as ServiceResponse | undefined)?.status ?? 200;
  } catch (error) {
    const status = Number.parseInt((error as Error).message, 10);
    // Treat any other error as a refused request. Ref writers read members that only successful responses have.
    return Number.isNaN(status) ? 400 : status;
  }
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

/**
 * One way to replace the world while requests are in progress, such as restoring a snapshot. The world is the whole
 * state of the emulator.
 */
interface Replacement {
  /** Creates the world in which the requests begin, and a client for it. */
  begin(): Promise<{ service: Service; world: World }>;
  /** Replaces the world that `begin` created. Resolves to the world that is current afterwards. */
  replace(): Promise<World>;
}

const REPLACEMENTS: Readonly<Record<string, (stage: Stage, t: Test) => Replacement>> = {
  restore: ({ service, seeded }) => ({
    async begin() {
      await service.current.restore(seeded);
      return { service, world: service.world };
    },
    async replace() {
      await service.current.restore(seeded);
      return service.world;
    },
  }),
  reset: ({ service, seeded }) => ({
    async begin() {
      await service.current.restore(seeded);
      return { service, world: service.world };
    },
    async replace() {
      await service.current.reset();
      return service.world;
    },
  }),
  removal: ({ service, seeded }, t) => {
    let fork: CurrentWorld;
    let close = async () => {};
    t.teardown(() => close());
    return {
      async begin() {
        await close();
        fork = service.current.fork({ snapshot: seeded });
        const served = await serveWorld(fork);
        close = served.close;
        return { service: { ...service, call: callerOf(served.url, service.token) }, world: fork.world };
      },
      // Return the original world, not the fork. Closing the fork must leave the original world and the snapshot
      // unchanged.
      async replace() {
        await fork.close();
        return service.world;
      },
    };
  },
};

for (const [kind, replacementOf] of Object.entries(REPLACEMENTS)) {
  t.test(`a write in progress at a ${kind} does not write to the new world`, { skip: !hasGit }, async (t) => {
    const staged = await stage(t);
    const { situation, seeded } = staged;
    const { current } = staged.service;
    const { begin, replace } = replacementOf(staged, t);
    const statuses = new Map<string, Set<number>>();
    await begin();
    const expected = stateDigest(await replace(), { memory: false });
    const { memory } = current.engine;
    const { used } = memory;
    for (const [name, call] of Object.entries(WRITERS)) {
      const seen = new Set<number>();
      statuses.set(name, seen);
      for (const count of TURNS) {
        const { service, world: before } = await begin();
        const answered = statusOf(call({ ...situation, service, nonce: `n${count}` }));
        await turns(count);
        const after = await replace();
        const requests = after.state.requests.snapshot();
        const status = await answered;
        await before.background.syncs.idle();
        if (status !== 503 && status >= 500) t.fail(`${name} after ${count} turns: ${status}`);
        // Skip requests that arrived after the replacement, because they may change the new state.
        if (after.state.requests.snapshot() > requests) continue;
        seen.add(status);
        if (stateDigest(after, { memory: false }) !== expected) t.fail(`${name} after ${count} turns, ${status}`);
      }
    }
    await begin();
    await replace();
    t.equal(memory.used, used, 'and nothing is held for what was not written');
    const refused = [...statuses].filter(([, seen]) => seen.has(503)).map(([name]) => name);
    t.ok(refused.length > statuses.size / 2, `refused: ${refused.join(', ')}`);
    t.ok(
      [...statuses.values()].some((seen) => seen.has(201)),
      'and some were done before',
    );
    current.removeSnapshot(seeded);
    await current.reset();
    t.equal(memory.used, 0);
  });
}

const get = (target: string): Call => {
  return ({ service }) => service.call('GET', target);
};

const READS: Readonly<Record<string, Call>> = {
  file: get('/api/v1/repos/file?path=folder-1/file-1.txt'),
  files: get('/api/v1/repos/files'),
  'file metadata': get('/api/v1/repos/files/metadata'),
  commits: get('/api/v1/repos/commits'),
  branches: get('/api/v1/repos/branches'),
  blame: get('/api/v1/repos/blame?path=folder-1/file-1.txt'),
  grep: post('/api/v1/repos/grep', () => ({ query: { pattern: 'text' } })),
  archive: post('/api/v1/repos/archive', () => ({})),
  'list of refs': get('/team/app.git/info/refs?service=git-upload-pack'),
  fetch: async ({ service, tip }) => {
    const headers = { 'git-protocol': 'version=2', 'content-type': 'application/x-git-upload-pack-request' };
    const body = `0011command=fetch00010032want ${tip}\n0009done\n0000`;
    return service.call('POST', '/team/app.git/git-upload-pack', { headers, body });
  },
};

for (const kind of ['reset', 'removal']) {
  t.test(`a read in progress at a ${kind} ends in the world in which it began`, { skip: !hasGit }, async (t) => {
    const staged = await stage(t);
    const { service, situation } = staged;
    for (let round = 0; round < 5; round++) {
      const files = Array.from({ length: 40 }, (_, at) => [
        `folder-${at % 7}/file-${at}.txt`,
        `text ${round} ${at}\n`.repeat(at),
      ]);
      t.equal((await service.commit('team/app', Object.fromEntries(files))).status, 201);
    }
    const { json } = await service.call('GET', '/api/v1/repos/branch?name=main');
    const tip: string = json.branch.head_sha;
    const { begin, replace } = REPLACEMENTS[kind]!({ ...staged, seeded: await service.emulator.snapshot() }, t);
    const ask = async (name: string, asked: Service) => {
      const { status, bytes } = (await READS[name]!({
        ...situation,
        tip,
        service: asked,
        nonce: 'n',
      })) as ServiceResponse;
      // Remove the session id. It differs in each ref advertisement of protocol version 0.
      return `${status} ${bytes.toString('latin1').replace(/session-id=\S+/, '')}`;
    };
    let whole = 0;
    for (const name of Object.keys(READS)) {
      const quiet = await ask(name, (await begin()).service);
      t.match(quiet, /^200 /, name);
      for (const count of TURNS) {
        const { service: asked } = await begin();
        const answered = ask(name, asked);
        await turns(count);
        const after = await replace();
        const requests = after.state.requests.snapshot();
        const response = await answered;
        if (after.state.requests.snapshot() > requests) continue;
        if (response === quiet) whole++;
        else t.fail(`${name} after ${count} turns: ${response.slice(0, 200)}`);
      }
    }
    t.ok(whole > (Object.keys(READS).length * TURNS.length) / 2);
  });
}
