import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { operations } from '../../api/index.js';
import { bytesOf } from '../../git/object/bytes.js';
import { renderFailure } from '../../pipeline/outcome.js';
import type { RequestContext } from '../../pipeline/request-context.js';
import { shuffled } from '../concurrency/shuffled.js';
import { packBody, type Service, startService } from '../service.js';

const REPO = 'team/app';
/** Timeouts in milliseconds that are very long. Only the client's disconnect can then end the work. */
const limits = { searchTimeout: 60_000, workTimeout: 60_000 };
/**
 * Number of bytes that an object store reserves for its next objects. Each test writes several times as much, so that
 * the test notices memory that is not released.
 */
const INDEX_ROOM = 1 << 20;
const AUTHOR = { name: 'A', email: 'a@b.c' };
const MERGE = { source_branch: 'topic', target_branch: 'main', strategy: 'merge', commit_message: 'M', author: AUTHOR };

/** Creates a repository in which all tested operations take long. */
async function setUp() {
  const service = await startService({ limits });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.call('POST', '/api/repos', { repo: REPO });
  const lines = Array.from({ length: 100_000 }, (_, line) => `${line % 50}`);
  const texts = Object.fromEntries(
    Array.from({ length: 6 }, (_, n) => [`text/${n}`, `${n}aaaa bbbb `.repeat(1 << 18)]),
  );
  const deep = Array.from({ length: 3_000 }, (_, file) => [`${'a/'.repeat(60)}${file}/${'a'.repeat(80)}`, `${file}\n`]);
  const commit = async (files: Record<string, string>, metadata = {}) => {
    const { status, json } = await service.commit(REPO, files, metadata);
    if (status !== 201) throw new Error(`commit-pack answered ${status}`);
    return json.commit.commit_sha as string;
  };
  await commit({ few: shuffled(lines, 1), ...Object.fromEntries(deep), ...texts });
  await commit({ few: shuffled(lines, 2) }, { target_branch: 'topic', base_branch: 'main' });
  return { service, sha: await commit({ few: shuffled(lines, 3) }) };
}

interface Story {
  readonly operation: string;
  readonly method?: 'GET';
  readonly target: string;
  readonly body?: unknown;
}

function storiesFor(sha: string): Story[] {
  const globs = Array.from({ length: 8 }, (_, glob) => `${'**/*'.repeat(1000)}${glob}`);
  const patched = Array.from(
    { length: 30_000 },
    (_, file) =>
      `diff --git a/n/${file} b/n/${file}\nnew file mode 100644\n--- /dev/null\n+++ b/n/${file}\n@@ -0,0 +1 @@\n+a\n`,
  );
  const metadata = { target_branch: 'main', commit_message: 'Patch', author: AUTHOR };
  const data = Buffer.from(patched.join('')).toString('base64');
  const lines = [{ metadata }, { diff_chunk: { data, eof: true } }].map((line) => `${JSON.stringify(line)}\n`);
  const files = Object.fromEntries(Array.from({ length: 30_000 }, (_, file) => [`p/${file}`, `${file}`.padEnd(100)]));
  return [
    { operation: 'diffCommits', method: 'GET', target: `diff?sha=${sha}` },
    { operation: 'diffBranch', method: 'GET', target: 'branches/diff?branch=topic' },
    { operation: 'blame', method: 'GET', target: 'blame?path=few' },
    { operation: 'mergePreview', method: 'GET', target: 'merge/preview?source_branch=topic&target_branch=main' },
    { operation: 'merge', target: 'merge', body: MERGE },
    { operation: 'grep', target: 'grep', body: { query: { pattern: '([ab]+c?)+[0-9]' }, paths: ['text'] } },
    { operation: 'archive', target: 'archive', body: { include_globs: globs } },
    { operation: 'diffCommit', target: 'diff-commit', body: lines.join('') },
    { operation: 'commitPack', target: 'commit-pack', body: packBody(files) },
  ];
}

/** Sends a request, and resets the connection while the server is working on it. */
async function leave(service: Service, { method, target, body }: Story): Promise<void> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) }).on('error', () => undefined);
  const bytes = Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
  const head = [
    `${method ?? 'POST'} /api/v1/repos/${target} HTTP/1.1`,
    `host: ${hostname}:${port}`,
    `authorization: Bearer ${await service.token({ repo: REPO })}`,
    `content-length: ${bytes.length}`,
  ];
  const sent = new Promise((resolve) =>
    socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]), resolve),
  );
  await sent;
  // Wait a few turns of the event loop, so that the server can read the request and begin to work.
  for (let turn = 0; turn < 3; turn++) await setImmediate();
  socket.resetAndDestroy();
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
}

const { service, sha } = await setUp();

t.test('a disconnect ends the work without effect on the repository or other clients', async (t) => {
  const { world } = service;
  const { org } = service.emulator;
  const printed = t.capture(console, 'error');
  const { git } = world.state.repositories.find(org, REPO)!;
  const written = () => [git.objects.size, [...git.refs.entries()]];
  await service.call('GET', '/api/v1/repo');
  const sockets = openSockets();
  for (const story of storiesFor(sha)) {
    const { operation } = story;
    const recorded = () => [...world.state.journal.entries()].filter((entry) => entry.operation === operation);
    const before = recorded().length;
    const held = world.engine.memory.used;
    const state = written();
    await leave(service, story);
    while (recorded().length === before) await setImmediate();
    t.ok(
      recorded().some(({ status, code }) => status === 499 && code === 'request_canceled'),
      `${operation}: the journal says so`,
    );
    t.same(written(), state, `${operation}: nothing is written`);
    t.ok(
      world.engine.memory.used - held < INDEX_ROOM,
      `${operation}: memory is given back, ${world.engine.memory.used - held} bytes are not`,
    );
    while (openSockets() > sockets) await setImmediate();
    t.equal((await service.call('GET', '/api/v1/repo')).status, 200, `${operation}: others go on`);
  }
  t.equal(git.refs.get(bytesOf('refs/heads/main')), sha);
  t.equal((await service.commit(REPO, { after: 'that' })).status, 201, 'and nobody waits for a writer that has left');
  t.same(printed(), [], 'nothing is printed beside the log');
});

t.test('a client that closed only its sending side gets its response', async (t) => {
  const token = await service.token({ repo: REPO });
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const host = `host: ${hostname}:${port}`;
  const query = '/api/v1/repos/merge/preview?source_branch=topic&target_branch=main';
  socket.end(`GET ${query} HTTP/1.1\r\n${host}\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`);
  const received = await text(socket);
  t.match(
    received,
    /^(HTTP\/1\.1 102 Processing\r\n\r\n){1,2}HTTP\/1\.1 200 OK/,
    'one that only closed its half gets it',
  );
});

t.test('only file metadata has its own status for disconnected clients', async (t) => {
  const { world } = service;
  const statusOf = (id: string) => {
    const operation = operations.find((each) => each.id === id);
    const signal = AbortSignal.abort();
    const context = {
      world,
      operation,
      request: { headers: {} },
      why: [],
      isForAdmin: false,
      signal,
    } as unknown as RequestContext;
    return renderFailure(context, context.signal.reason).status;
  };
  t.equal(statusOf('fileMetadata'), 408);
  t.equal(statusOf('grep'), 499);
});
