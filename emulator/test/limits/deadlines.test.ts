import t from 'tap';
import { startService } from '../service.js';
import { stateDigest } from '../world/state-digest.js';

const AUTHOR = { name: 'A', email: 'a@b.c' };
const NAMES = { source_branch: 'topic', target_branch: 'main' };
const PATCH = 'diff --git a/p b/p\nnew file mode 100644\n--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+x\n';
const PATCH_LINES = [
  { metadata: { target_branch: 'main', commit_message: 'Patch', author: AUTHOR } },
  { diff_chunk: { data: Buffer.from(PATCH).toString('base64'), eof: true } },
];

/**
 * Requests of operations that have a deadline, and the response when the deadline passes. It is 504, except for
 * archives, because the specification lists no 504 for them.
 */
const ROWS: readonly (readonly [method: string, target: string, body: unknown, status: number, code: string])[] = [
  ['GET', 'diff?sha=main', undefined, 504, 'gateway_timeout'],
  ['GET', 'branches/diff?branch=topic', undefined, 504, 'gateway_timeout'],
  ['GET', 'blame?path=a', undefined, 504, 'gateway_timeout'],
  ['GET', 'merge/preview?source_branch=topic&target_branch=main', undefined, 504, 'gateway_timeout'],
  ['POST', 'merge', { ...NAMES, strategy: 'merge', commit_message: 'M', author: AUTHOR }, 504, 'gateway_timeout'],
  ['POST', 'grep', { query: { pattern: 'a' } }, 504, 'gateway_timeout'],
  ['POST', 'diff-commit', PATCH_LINES, 504, 'gateway_timeout'],
  ['POST', 'archive', {}, 500, 'internal_error'],
];

t.test('work that exceeds its limit is aborted and leaves nothing behind', async (t) => {
  const service = await startService({ limits: { searchTimeout: 0, workTimeout: 0 } });
  t.teardown(() => service.emulator.close());
  await service.seed('team/app', { a: 'a\n', b: 'b\n' });
  await service.commit('team/app', { a: 'theirs\n' }, { target_branch: 'topic', base_branch: 'main' });
  await service.commit('team/app', { a: 'ours\n' });
  const { world } = service;
  const before = stateDigest(world);
  for (const [method, target, body, status, code] of ROWS) {
    const text = Array.isArray(body) ? body.map((line) => `${JSON.stringify(line)}\n`).join('') : JSON.stringify(body);
    const response = await service.call(method, `/api/v1/repos/${target}`, text === undefined ? {} : { body: text });
    t.match(response, { status, json: { status, code } }, target);
    t.equal(stateDigest(world), before, `${target} leaves no trace`);
  }
  t.equal((await service.commit('team/app', { c: 'c' })).status, 201, 'and the next writer is not kept waiting');
});
