import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { randomNumbers } from '../../git/test/random-numbers.js';
import { shuffled } from '../concurrency/shuffled.js';
import { type CallOptions, type Service, type ServiceResponse, startService } from '../service.js';

const REPO = 'team/app';
/** Short time limit for searches in milliseconds, so that long work stops soon. The test asserts no times. */
const limits = { searchTimeout: 250 };

function randomLines(bytes: number, seed: number): Buffer {
  const next = randomNumbers(seed);
  const file = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at++) file[at] = at % 50 === 49 ? 10 : 97 + next(26);
  return file;
}

/** Creates a commit with files of any size. Sends their content in chunks of 3 MiB. */
async function commit(
  service: Service,
  files: Record<string, string | Buffer>,
  metadata: Record<string, unknown> = {},
): Promise<string> {
  const entries = Object.entries(files);
  const line = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);
  async function* body() {
    yield line({
      metadata: {
        target_branch: 'main',
        commit_message: 'Change files',
        author: { name: 'Ada', email: 'ada@example.com' },
        files: entries.map(([path], index) => ({ path, content_id: `c${index}`, operation: 'upsert' })),
        ...metadata,
      },
    });
    for (const [index, [, content]] of entries.entries()) {
      const bytes = Buffer.from(content as string);
      for (let at = 0; at === 0 || at < bytes.length; at += 3 << 20) {
        const data = bytes.toString('base64', at, at + (3 << 20));
        yield line({ blob_chunk: { content_id: `c${index}`, data, eof: at + (3 << 20) >= bytes.length } });
      }
    }
  }
  const response = await service.call('POST', '/api/v1/repos/commit-pack', { repo: REPO, body: body() });
  if (response.status !== 201)
    throw new Error(`commit-pack answered ${response.status}: ${response.text.slice(0, 500)}`);
  return response.json.commit.commit_sha;
}

/**
 * Sends one long request, and small requests while it runs. Prints the longest time of a small request. Asserts that at
 * least one small request finished first.
 */
async function besideOthers(t: Test, service: Service, method: string, target: string, options: CallOptions = {}) {
  let isDone = false;
  let answered = 0;
  let longest = 0;
  const hostile = service.call(method, target, options).finally(() => {
    isDone = true;
  });
  const token = await service.token({ repo: REPO });
  while (!isDone) {
    const start = performance.now();
    const { status } = await service.call('GET', '/api/v1/repo', { token });
    if (status !== 200) t.fail(`a small request was answered ${status}`);
    if (!isDone) answered++;
    longest = Math.max(longest, performance.now() - start);
    await setImmediate();
  }
  const response = await hostile;
  t.comment(`${response.status}; ${answered} small requests beside it, the longest ${Math.round(longest)} ms`);
  t.ok(answered > 0, 'others are answered first');
  return response;
}

function holdsProblem(t: Test, response: ServiceResponse, status: number): void {
  t.equal(response.status, status);
  t.equal(response.json?.status, status);
}

t.test('large and shuffled files are compared beside others, or given up', async (t) => {
  const service = await startService({ limits });
  t.teardown(() => service.emulator.close());
  await service.call('POST', '/api/repos', { repo: REPO });
  const lines = Array.from({ length: 80_000 }, (_, line) => `line ${line}`);
  const few = Array.from({ length: 80_000 }, (_, line) => `${line % 50}`);
  await commit(service, { random: randomLines(6 << 20, 1) });
  const random = await commit(service, { random: randomLines(6 << 20, 2) });
  await commit(service, { shuffled: shuffled(lines, 1), few: shuffled(few, 3) });
  const order = await commit(service, { shuffled: shuffled(lines, 2), few: shuffled(few, 4) });

  for (const sha of [random, order]) {
    for (const more of ['', '&git_apply_compatible=true']) {
      const response = await besideOthers(t, service, 'GET', `/api/v1/repos/diff?sha=${sha}${more}`);
      t.match(response.status, /^(200|504)$/);
    }
  }
  holdsProblem(t, await besideOthers(t, service, 'GET', `/api/v1/repos/diff?sha=${order}&path=few`), 504);
});

t.test('searches for anything, with any globs, end beside others', async (t) => {
  const service = await startService({ limits });
  t.teardown(() => service.emulator.close());
  await service.call('POST', '/api/repos', { repo: REPO });
  const files = Array.from({ length: 5_000 }, (_, file) => [
    `${'a/'.repeat(60)}${file}/${'a'.repeat(80)}`,
    `${file}\n`,
  ]);
  await commit(service, {
    ...Object.fromEntries(files),
    long: `${'a'.repeat(60)}\n`.repeat(100_000),
    text: 'aaaa bbbb '.repeat(1 << 19),
  });

  const patterns: readonly (readonly [pattern: string, statuses: RegExp])[] = [
    ['(a+)+$', /^(200|504)$/],
    ['(a|a)*b', /^(200|504)$/],
    ['(a*)*(a*)*c', /^(200|504)$/],
    ['(.*)(.*)(.*)(.*)(.*)x', /^(200|504)$/],
    ['a{1,1000}b', /^(200|400|504)$/],
    ['((a{1,100}){1,100}){1,100}', /^400$/],
    ['(?=a)b', /^400$/],
    ['(a)\\1', /^400$/],
    ['('.repeat(1000), /^400$/],
    ['a'.repeat(1025), /^400$/],
    ['(?i:ſ|K)*.{0,50}z', /^(200|504)$/],
  ];
  for (const [pattern, statuses] of patterns) {
    const json = { query: { pattern } };
    const response = await service.call('POST', '/api/v1/repos/grep', { json });
    t.match(response.status, statuses, `${pattern.slice(0, 40)} is answered ${response.status}`);
  }
  const slow = { query: { pattern: '([ab]+c?)+[0-9]' } };
  await besideOthers(t, service, 'POST', '/api/v1/repos/grep', { json: slow });

  // Test globs with the maximum number, total size and length. For each limit, also test a request just above it.
  const globs = (glob: string, count: number, bytes: number) =>
    Array.from({ length: count }, (_, index) => `${glob.slice(0, bytes)}${index}`);
  for (const glob of ['*a'.repeat(2048), '**/a'.repeat(1024), '**/*'.repeat(1024), '[a-z]*'.repeat(700)]) {
    for (const [count, bytes, statuses] of [
      [100, 320, /^(200|504)$/],
      [8, 4090, /^(200|504)$/],
      [100, 4090, /^400$/],
    ] as const) {
      const json = { query: { pattern: 'a' }, file_filters: { include_globs: globs(glob, count, bytes) } };
      const found = await service.call('POST', '/api/v1/repos/grep', { json });
      t.match(found.status, statuses, `${count} of ${glob.slice(0, 8)}: grep ${found.status}`);
    }
  }
  const many = { include_globs: globs('**/*'.repeat(1024), 8, 4090) };
  t.equal((await besideOthers(t, service, 'POST', '/api/v1/repos/archive', { json: many })).status, 200);
  const refused = await service.call('POST', '/api/v1/repos/grep', {
    json: { query: { pattern: 'a' }, file_filters: { include_globs: ['a'.repeat(4097)] } },
  });
  holdsProblem(t, refused, 400);
});

t.test(
  'a long file is blamed, a large patch applied and a merge full of conflicts refused beside others',
  async (t) => {
    const service = await startService({ limits });
    t.teardown(() => service.emulator.close());
    await service.call('POST', '/api/repos', { repo: REPO });
    const lines = Array.from({ length: 40_000 }, (_, line) => `line ${line}`);
    await commit(service, { long: shuffled(lines, 1), small: 'a\n' });
    for (let round = 2; round < 6; round++) await commit(service, { long: shuffled(lines, round) });
    const blamed = await besideOthers(t, service, 'GET', '/api/v1/repos/blame?path=long');
    t.match(blamed.status, /^(200|504)$/, `blame: ${blamed.status}`);

    const patch = async (text: string) => {
      const metadata = { target_branch: 'main', commit_message: 'Patch', author: { name: 'A', email: 'a@b.c' } };
      const chunks = [`${JSON.stringify({ metadata })}\n`];
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 3 << 20) {
        const diff_chunk = { data: bytes.toString('base64', at, at + (3 << 20)), eof: at + (3 << 20) >= bytes.length };
        chunks.push(`${JSON.stringify({ diff_chunk })}\n`);
      }
      return besideOthers(t, service, 'POST', '/api/v1/repos/diff-commit', { body: chunks.join('') });
    };
    const added = (name: string, text: string) =>
      `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n${text}`;
    const oneHunk = `@@ -0,0 +1,500000 @@\n${'+abcdefg\n'.repeat(500_000)}`;
    t.equal((await patch(added('wide', oneHunk))).status, 201, 'one hunk of 500,000 lines');
    const many = Array.from({ length: 15_000 }, (_, file) => added(`many/${file}`, '@@ -0,0 +1 @@\n+a\n'));
    t.equal((await patch(many.join(''))).status, 201, '15,000 files');
    const hunks = Array.from(
      { length: 10_000 },
      (_, hunk) => `@@ -${(hunk % 7) * 5000 + 1} +1 @@\n-none ${hunk}\n+b\n`,
    );
    holdsProblem(t, await patch(`--- a/long\n+++ b/long\n${hunks.join('')}`), 400);

    const side = (text: string) =>
      Object.fromEntries(Array.from({ length: 3_000 }, (_, file) => [`${file % 100}/${file}`, `${text}\n`]));
    const base = await commit(service, side('base'));
    await commit(service, side('theirs'), { target_branch: 'topic', expected_head_sha: base, base_branch: 'main' });
    await commit(service, side('ours'));
    const names = 'source_branch=topic&target_branch=main';
    const shown = await besideOthers(t, service, 'GET', `/api/v1/repos/merge/preview?${names}&include_content=true`);
    t.match(shown.status, /^(200|504)$/, `preview: ${shown.status}`);
    const json = {
      source_branch: 'topic',
      target_branch: 'main',
      strategy: 'merge',
      commit_message: 'Merge',
      author: { name: 'A', email: 'a@b.c' },
    };
    const merged = await besideOthers(t, service, 'POST', '/api/v1/repos/merge', { json });
    t.match(merged.status, /^(409|504)$/, `merge: ${merged.status}`);
  },
);
