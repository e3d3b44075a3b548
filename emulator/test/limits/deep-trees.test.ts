import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { SLICE } from '../../schedule/schedule.js';
import { packOf, pushBody, pushRaw, type RawObject } from '../git/raw-push.js';
import { type Service, startService } from '../service.js';

const REPO = 'team/app';
const ZERO = '0'.repeat(40);
const WHO = 'A <a@example.com> 1700000000 +0000';
const DEPTH = 3000;

/** Pushes a commit with `depth` nested folders named `d`. Each folder also has a file `f`. */
async function pushDeep(service: Service, depth: number): Promise<string> {
  const objects: RawObject[] = [];
  const add = (type: RawObject['type'], body: Buffer | string): string => {
    const bytes = Buffer.from(body);
    objects.push({ type, body: bytes });
    return createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
  };
  const entry = (mode: string, name: string, oid: string) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);
  const file = entry('100644', 'f', add('blob', 'needle\n'));
  let tree = add('tree', file);
  for (let level = 0; level < depth; level++) tree = add('tree', Buffer.concat([entry('40000', 'd', tree), file]));
  const commit = add('commit', `tree ${tree}\nauthor ${WHO}\ncommitter ${WHO}\n\ndeep\n`);
  const update = pushBody([{ ref: 'refs/heads/deep', old: ZERO, new: commit }], packOf(objects));
  const response = await pushRaw(service, REPO, update);
  if (response.status !== 200) throw new Error(`the push was answered ${response.status}`);
  return commit;
}

/**
 * Returns the most units of work in one slice since the previous call. A slice is the time between two yields to other
 * requests.
 */
function longestSlice(service: Service): number {
  const { schedule } = service.world.engine;
  const { longestSlice } = schedule;
  schedule.longestSlice = 0;
  return longestSlice;
}

t.test('a tree far deeper than any path of a file system is read in slices', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed(REPO, { a: 'a' });
  const commit = await pushDeep(service, DEPTH);
  const pathAt = (level: number) => `${'d/'.repeat(level)}f`;
  const get = (target: string) => service.call('GET', `/api/v1/repos/${target}`);
  const post = (target: string, json: unknown) => service.call('POST', `/api/v1/repos/${target}`, { json });
  longestSlice(service);

  const listed = await get('files?ref=deep');
  t.same(
    listed.json.paths,
    Array.from({ length: DEPTH + 1 }, (_, at) => pathAt(DEPTH - at)),
  );
  t.equal(listed.json.entries.length, DEPTH + 1);
  t.same((await get('files?ref=deep&recursive=false')).json.entries, [
    { path: 'd', type: 'tree', mode: '040000' },
    { path: 'f', type: 'blob', mode: '100644' },
  ]);
  const below = `${'d/'.repeat(2000)}d`;
  t.equal((await get(`files?ref=deep&path=${below}`)).json.paths.length, DEPTH - 2000);
  const page = await get('files?ref=deep&limit=2');
  t.same((await get(`files?ref=deep&limit=1&cursor=${page.json.next_cursor}`)).json.paths, [pathAt(DEPTH - 2)]);
  t.same((await get(`files?ref=deep&path=${pathAt(2000)}`)).json.paths, [pathAt(2000)], 'a file lists itself');
  t.ok(longestSlice(service) < SLICE + 2000, 'listing');

  const found = await post('grep', {
    ref: 'deep',
    query: { pattern: 'needle' },
    paths: [`${'d/'.repeat(1500)}`],
    file_filters: { include_globs: [`${'d/'.repeat(1501)}**/f`], exclude_globs: [`**/${'d/'.repeat(2043)}f`] },
    pagination: { limit: 10_000 },
    limits: { max_lines: 2000 },
  });
  t.same(
    found.json.matches.map(({ path }: { path: string }) => path.length),
    Array.from({ length: 2042 - 1501 + 1 }, (_, at) => 2 * (2042 - at) + 1),
  );
  t.ok(longestSlice(service) < SLICE + 2000, 'searching');

  const { status, bytes } = await post('archive', { ref: 'deep', include_globs: ['f'] });
  const tar = gunzipSync(bytes);
  t.equal(status, 200);
  t.ok(tar.includes(`path=${pathAt(DEPTH)}\n`));
  t.equal(tar.toString('latin1').split('needle\n').length - 1, DEPTH + 1);
  t.ok(longestSlice(service) < SLICE + 2000, 'packing');

  const described = await get('files/metadata?ref=deep');
  t.same(
    described.json.files.map(({ path, size }: { path: string; size: number }) => [path, size]),
    Array.from({ length: DEPTH + 1 }, (_, at) => [pathAt(DEPTH - at), 7]),
  );
  t.match(described.json, { ref: 'deep', commits: { [commit]: { author: 'A', message: 'deep\n' } } });
  t.ok(longestSlice(service) < SLICE + 2000, 'describing');

  t.equal((await get(`file?ref=deep&path=${pathAt(2040)}`)).text, 'needle\n');
  t.equal((await get(`commit?sha=${encodeURIComponent(`deep:${pathAt(DEPTH)}`)}`)).status, 404, 'no commit');
  t.equal((await get(`commit?sha=${encodeURIComponent('deep~0')}`)).json.commit.sha, commit);
});

t.test('lists of patterns are counted to the limit, and bounded', async (t) => {
  const service = await startService({ limits: { searchTimeout: 10, workTimeout: 2 } });
  t.teardown(() => service.emulator.close());
  await service.seed(REPO, { [`${'a/'.repeat(2040)}f`]: 'x' });
  const post = (target: string, json: unknown) => service.call('POST', `/api/v1/repos/${target}`, { json });
  const hostile = new Array(20).fill(`${'**/*a*/'.repeat(200)}b`);
  const lists = { include_globs: hostile };
  const query = { pattern: 'x' };
  longestSlice(service);
  t.match(await post('grep', { query, file_filters: lists }), { status: 504, json: { code: 'gateway_timeout' } });
  t.match(await post('archive', lists), { status: 500, json: { code: 'internal_error' } });
  t.ok(longestSlice(service) < SLICE + 4000);

  const many = new Array(101).fill('a');
  const long = ['x'.repeat(4097)];
  const full = new Array(9).fill('x'.repeat(4096));
  for (const [name, refused] of [
    ['include_globs', (list: string[]) => post('archive', { include_globs: list })],
    ['exclude_globs', (list: string[]) => post('archive', { exclude_globs: list })],
    ['paths', (list: string[]) => post('grep', { query, paths: list })],
    ...['include_globs', 'exclude_globs', 'extension_filters'].map(
      (member) =>
        [
          `file_filters.${member}`,
          (list: string[]) => post('grep', { query, file_filters: { [member]: list } }),
        ] as const,
    ),
  ] as const) {
    t.match(await refused(many), { status: 400, json: { detail: `${name} has more than 100 patterns.` } });
    t.match(await refused(long), { status: 400, json: { detail: new RegExp(`^${name} has a .* longer than 4096`) } });
    t.match(await refused(full), { status: 400, json: { detail: `${name} have more than 32768 bytes of patterns.` } });
  }
});
