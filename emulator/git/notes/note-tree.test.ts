import { createHash } from 'node:crypto';
import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { EMPTY_TREE_OID, type Oid, oidIn } from '../object/object.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { oid } from '../test/oid.js';
import { walkTree } from '../test/walk-tree.js';
import { ScratchGit } from '../test/workbench.js';
import { eachNote, findNote, setNote } from './note-tree.js';

const WHO = 'A U Thor <a@example.com> 1700000000 +0100';

function targets(count: number): Oid[] {
  return Array.from({ length: count }, (_, at) => oidIn(createHash('sha1').update(`target ${at}`).digest()));
}

/**
 * Returns all notes in a notes tree, in stored order. Each pair has the annotated object and the blob with the note.
 */
function listNotes(objects: MemoryObjects, tree: Oid): [target: Oid, blob: Oid][] {
  return [...walkTree(objects, tree)].map(({ path, oid: blob }) => [oid(path.replaceAll('/', '')), blob]);
}

function readBack(git: ScratchGit, objects: MemoryObjects, tree: Oid): string[] {
  git.copy(objects);
  const commit = git.add('commit', `tree ${tree}\nauthor ${WHO}\ncommitter ${WHO}\n\nnotes\n`);
  git.run(['update-ref', 'refs/notes/commits', commit]);
  return git.run(['notes', 'list']).split('\n').sort();
}

t.test('git notes reads the written notes, at every size, and stores them in the same layout', (t) => {
  using git = new ScratchGit();
  const all = targets(400);
  const objects = new MemoryObjects();
  const blob = objects.add('blob', 'note\n');
  let tree = EMPTY_TREE_OID;
  for (const [at, target] of all.entries()) {
    tree = setNote(objects, tree, target, blob);
    if (![0, 1, 60, 399].includes(at)) continue;
    t.same(
      readBack(git, objects, tree),
      all
        .slice(0, at + 1)
        .map((each) => `${blob} ${each}`)
        .sort(),
      `${at + 1} notes`,
    );
    t.same(
      listNotes(objects, tree),
      all
        .slice(0, at + 1)
        .sort()
        .map((each) => [each, blob]),
    );
  }
  const paths = [...walkTree(objects, tree)].map(({ path }) => path);
  t.match(paths[0], /^[0-9a-f]{2}\/[0-9a-f]{38}$/, '400 notes are fanned out');
  t.end();
});

t.test('the layout changes at the same note as in Git', (t) => {
  using git = new ScratchGit();
  const all = targets(130);
  const objects = new MemoryObjects();
  const blob = objects.add('blob', 'note\n');
  const last = objects.add('commit', `tree ${EMPTY_TREE_OID}\nauthor ${WHO}\ncommitter ${WHO}\n\nlast\n`);
  for (let count = 25; count <= 125; count += 4) {
    const flat = objects.tree(Object.fromEntries(all.slice(0, count).map((each) => [each, [0o100644, blob]])));
    readBack(git, objects, flat);
    git.run(['notes', 'add', '-C', blob, last]);
    const expected = git.run(['rev-parse', 'refs/notes/commits^{tree}']);
    t.equal(setNote(objects, flat, last, blob), expected, `${count} notes`);
  }
  t.end();
});

t.test('a note is found, replaced and removed in any layout', (t) => {
  const objects = new MemoryObjects();
  const [one, two] = [objects.add('blob', '1'), objects.add('blob', '2')];
  const [a, b] = targets(2) as [Oid, Oid];
  const flat = objects.tree({ [a]: [0o100644, one] });
  const fanned = objects.tree({ [a.slice(0, 2)]: { [a.slice(2)]: [0o100644, one] } });
  const deep = objects.tree({ [a.slice(0, 2)]: { [a.slice(2, 4)]: { [a.slice(4)]: [0o100644, one] } } });
  for (const tree of [flat, fanned, deep]) {
    t.equal(runSync(findNote(objects, tree, a)), one);
    t.equal(runSync(findNote(objects, tree, b)), undefined);
    t.equal(runSync(findNote(objects, setNote(objects, tree, a, two), a)), two);
    t.same(
      listNotes(objects, setNote(objects, tree, b, two)).sort(),
      [
        [a, one],
        [b, two],
      ].sort(),
    );
    t.equal(setNote(objects, tree, a, undefined), EMPTY_TREE_OID);
    t.equal(setNote(objects, tree, b, undefined), flat, 'few notes become flat again, as Git has it');
  }
  t.equal(runSync(findNote(objects, EMPTY_TREE_OID, a)), undefined);
  t.end();
});

t.test('files that are not notes are kept', (t) => {
  const objects = new MemoryObjects();
  const blob = objects.add('blob', 'x');
  const [a] = targets(1) as [Oid];
  const tree = objects.tree({ README: 'read', [a.slice(0, 2)]: { other: 'kept', [a.slice(2)]: [0o100644, blob] } });
  const paths = (root: Oid) => [...walkTree(objects, root)].map(({ path }) => path);
  t.same(paths(setNote(objects, tree, a, undefined)).sort(), ['README', `${a.slice(0, 2)}/other`].sort());
  t.same(paths(setNote(objects, tree, a, blob)).sort(), ['README', a, `${a.slice(0, 2)}/other`].sort());
  t.end();
});

t.test('removing notes one by one ends in the empty tree, and Git reads every stage', (t) => {
  using git = new ScratchGit();
  const all = targets(150);
  const objects = new MemoryObjects();
  const blob = objects.add('blob', 'note\n');
  let tree = all.reduce((root, target) => setNote(objects, root, target, blob), EMPTY_TREE_OID);
  for (const [at, target] of all.entries()) {
    tree = setNote(objects, tree, target, undefined);
    if (at === 100) t.equal(readBack(git, objects, tree).length, 49);
  }
  t.equal(tree, EMPTY_TREE_OID);
  t.end();
});

t.test('notes are found and listed as git lists them, however they are laid out', (t) => {
  using git = new ScratchGit();
  for (const count of [1, 30, 400]) {
    const objects = new MemoryObjects();
    const blob = objects.add('blob', 'note\n');
    let tree = EMPTY_TREE_OID;
    for (const target of targets(count)) tree = setNote(objects, tree, target, blob);
    const listed = [...eachNote(objects, tree)].filter((note) => note !== undefined);
    t.same(
      listed.map(([target, note]) => `${note} ${target}`),
      readBack(git, objects, tree),
    );
    for (const target of targets(count)) t.equal(runSync(findNote(objects, tree, target)), blob);
    t.equal(runSync(findNote(objects, tree, oid('0'.repeat(40)))), undefined);
  }
  t.end();
});

t.test('entries that are not notes are skipped', (t) => {
  const objects = new MemoryObjects();
  const blob = objects.add('blob', 'x\n');
  const [target] = targets(1) as [Oid];
  const folder = { [`${target.slice(2)}.txt`]: [0o100644, blob] as const };
  const root = objects.tree({ README: 'read', [target.slice(0, 2)]: folder, zz: folder });
  t.same([...eachNote(objects, root)], [undefined, undefined, undefined, undefined]);
  t.equal(runSync(findNote(objects, root, target)), undefined);
  t.end();
});
