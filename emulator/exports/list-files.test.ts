import t from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import { runSync } from '../schedule/steps.js';
import { MemoryTree } from '../sources/memory-tree.js';
import { joinLists, listOf, splitList, type WrittenList } from './list-files.js';
import { digestIn } from './read-json.js';

/**
 * Stores a list in files that are named by content hash. Returns the files. `shown` counts the items that were
 * converted to JSON.
 */
function split(items: ReadonlyMap<string, object>, before?: WrittenList) {
  let shown = 0;
  const files = new Map<string, Buffer>();
  const list = listOf(items.size, items, (key, value) => {
    shown++;
    return { key, ...value };
  });
  const written = runSync(splitList(list, before, (name, content) => files.set(name, content)));
  return { written, files, shown };
}

const many = (count: number) =>
  new Map<string, object>(Array.from({ length: count }, (_, at) => [`key-${at}`, { at }] as const));

const whole = (items: ReadonlyMap<string, object>) => Array.from(items, ([key, value]) => ({ key, ...value }));

t.test('a short list is stored in one file, and a long one is split', async (t) => {
  t.same(split(many(255)).written, { json: whole(many(255)), parts: [] });
  const { written, files } = split(many(5000));
  t.ok(files.size > 20 && files.size < 100, `${files.size} files`);
  t.same(written.json, { lists: [...files.keys()] });
  t.ok([...files.keys()].every((name) => digestIn('list', name)));
});

t.test('unchanged parts of a list are neither formatted nor written again', async (t) => {
  const items = many(5000);
  const first = split(items);
  t.same(split(new Map(items), first.written), { shown: 0, files: new Map(), written: first.written });
  const changes: [string, (changed: Map<string, object>) => Map<string, object>][] = [
    ['changed', (changed) => changed.set('key-2500', { at: 'other' })],
    ['added', (changed) => changed.set('one-more', {})],
    [
      'removed',
      (changed) => {
        changed.delete('key-0');
        return changed;
      },
    ],
  ];
  for (const [what, change] of changes) {
    const changed = change(new Map(items));
    const { files, shown, written } = split(changed, first.written);
    t.equal(files.size, 1, what);
    t.ok(shown <= 1024, `${what}: ${shown} items were shown`);
    const tree = new MemoryTree('The folder');
    for (const [name, content] of new Map([...first.files, ...files])) tree.add(bytesOf(`r.git/${name}`), [content]);
    const named: string[] = [];
    const joined = await joinLists({ a: { list: written.json } }, tree, 'r.git/', (path) => named.push(path));
    t.same(joined, { a: { list: whole(changed) } }, what);
    t.same(
      named,
      (written.json as { lists: string[] }).lists.map((name) => `r.git/${name}`),
    );
  }
});

t.test('files that are not parts of the list, or are out of order, are not joined', async (t) => {
  const tree = new MemoryTree('The folder');
  const name = `list-${'a'.repeat(40)}.json`;
  for (const value of [
    { lists: 'x' },
    { lists: ['../x'] },
    { lists: [name, name] },
    { lists: [name], more: 1 },
    [{ lists: [name] }],
  ])
    t.same(await joinLists({ value }, tree, ''), { value });
  await t.rejects(joinLists({ lists: [name] }, tree, ''), {
    message: new RegExp(`^The folder has no file ${name}\\b`),
  });
  tree.add(bytesOf(name), [Buffer.from('[]')]);
  await t.rejects(joinLists({ lists: [name] }, tree, ''), { message: /was changed/ });
  // Name the file with the correct hash (SHA-1 of `{}`), so that only its content can cause the refusal.
  const other = 'list-bf21a9e8fbc5a3846fb05b4fa0859e0917b2202f.json';
  tree.add(bytesOf(other), [Buffer.from('{}')]);
  await t.rejects(joinLists({ lists: [other] }, tree, ''), { message: /must contain a JSON array/ });
});
