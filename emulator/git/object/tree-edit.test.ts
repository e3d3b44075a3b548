import fc from 'fast-check';
import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { walkTree } from '../test/walk-tree.js';
import { ScratchGit } from '../test/workbench.js';
import { type ByteString, bytesOf } from './bytes.js';
import { EMPTY_TREE_OID, type Oid } from './object.js';
import { findEntry } from './read-tree.js';
import { MODE_EXECUTABLE, MODE_GITLINK, MODE_SYMLINK } from './tree.js';
import { EditConflict, type EditIssue, applyEdits as editSteps, type TreeEdit } from './tree-edit.js';

function paths(objects: MemoryObjects, tree: Oid): string[] {
  return [...walkTree(objects, tree)].map(({ path }) => path);
}

function setUp() {
  const objects = new MemoryObjects();
  const blob = objects.add('blob', 'x');
  const base = objects.tree({ a: '1', dir: { b: '2', deep: { c: '3' } }, run: [MODE_EXECUTABLE, blob], z: '4' });
  const edit = (path: string, mode?: number): TreeEdit => ({
    path: bytesOf(path),
    oid: blob,
    ...(mode !== undefined && { mode }),
  });
  const remove = (path: string): TreeEdit => ({ path: bytesOf(path), delete: true });
  return { objects, blob, base, edit, remove };
}

const applyEdits = (...given: Parameters<typeof editSteps>) => runSync(editSteps(...given));

t.test('files are added, replaced and removed; emptied folders are removed', (t) => {
  const { objects, base, edit, remove } = setUp();
  const after = (...edits: TreeEdit[]) => paths(objects, applyEdits(objects, base, edits));
  t.same(after(edit('new/x/y')), ['a', 'dir/b', 'dir/deep/c', 'new/x/y', 'run', 'z']);
  t.same(after(remove('dir/deep/c')), ['a', 'dir/b', 'run', 'z']);
  t.same(after(remove('dir')), ['a', 'run', 'z'], 'a folder as a whole');
  t.same(after(remove('dir/deep/c'), remove('dir/b')), ['a', 'run', 'z']);
  t.same(after(remove('dir/deep'), edit('dir/deep/n')), ['a', 'dir/b', 'dir/deep/n', 'run', 'z'], 'a folder replaced');
  t.same(after(remove('nothing'), remove('a/b/c'), remove('dir/x/y')), paths(objects, base), 'what is not there');
  t.end();
});

t.test('no edits, or edits without effect, keep the id of the tree', (t) => {
  const { objects, base, blob, remove } = setUp();
  const size = objects.size;
  t.equal(applyEdits(objects, base, []), base);
  t.equal(applyEdits(objects, base, [{ path: bytesOf('run'), oid: blob }, remove('x/y')]), base);
  t.equal(objects.size, size, 'nothing was written');
  t.equal(applyEdits(objects, base, ['a', 'dir', 'run', 'z'].map(remove)), EMPTY_TREE_OID);
  t.ok(objects.find(EMPTY_TREE_OID) >= 0, 'the empty tree is stored');
  t.equal(applyEdits(objects, EMPTY_TREE_OID, []), EMPTY_TREE_OID);
  t.end();
});

t.test('an edit without a mode keeps the mode of an existing file', (t) => {
  const { objects, base, blob } = setUp();
  const other = objects.add('blob', 'other');
  const modeOf = (path: string, mode?: number) => {
    const tree = applyEdits(objects, base, [{ path: bytesOf(path), oid: other, mode }]);
    return runSync(findEntry(objects, tree, bytesOf(path)))?.mode.toString(8);
  };
  t.equal(modeOf('run'), '100755');
  t.equal(modeOf('run', 0o100644), '100644');
  t.equal(modeOf('new'), '100644');
  t.equal(modeOf('new', MODE_SYMLINK), '120000');
  const linked = objects.tree({ sub: [MODE_GITLINK, blob] });
  const path = bytesOf('sub');
  t.equal(runSync(findEntry(objects, applyEdits(objects, linked, [{ path, oid: other }]), path))?.mode, 0o100644);
  t.end();
});

t.test('a path cannot be edited twice, or be a file and a folder', (t) => {
  const { objects, base, edit, remove } = setUp();
  const cases: [EditIssue, string, TreeEdit[]][] = [
    ['duplicate', 'x', [edit('x'), edit('x')]],
    ['duplicate', 'a', [edit('a'), remove('a')]],
    ['duplicate', 'a', [remove('a'), remove('a')]],
    ['file-in-the-way', 'x', [edit('x'), edit('x/y')]],
    ['file-in-the-way', 'x', [edit('x/y'), edit('x')]],
    ['file-in-the-way', 'a', [edit('a/b/c')]],
    ['file-in-the-way', 'dir/b', [edit('dir/b/c')]],
    ['folder-in-the-way', 'dir', [edit('dir')]],
    ['folder-in-the-way', 'dir', [edit('dir'), remove('dir/b')]],
  ];
  for (const [issue, path, edits] of cases) {
    t.throws(() => applyEdits(objects, base, edits), new EditConflict(issue, bytesOf(path)), `${issue} ${path}`);
  }
  t.same(paths(objects, applyEdits(objects, base, [remove('a'), edit('a/b')])).slice(0, 1), ['a/b'], 'file by folder');
  const emptied = [edit('dir'), remove('dir/b'), remove('dir/deep')];
  t.same(paths(objects, applyEdits(objects, base, emptied)), ['a', 'dir', 'run', 'z'], 'folder by file');
  t.end();
});

t.test('a path of 10,000 folders can be edited', (t) => {
  const objects = new MemoryObjects();
  const path = bytesOf(`${'d/'.repeat(10_000)}f`);
  const tree = applyEdits(objects, EMPTY_TREE_OID, [{ path, oid: objects.add('blob', '') }]);
  t.same(paths(objects, tree), [path]);
  t.equal(applyEdits(objects, tree, [{ path, delete: true }]), EMPTY_TREE_OID);
  t.end();
});

t.test('any set of edits gives the tree that Git writes from the same index', (t) => {
  using git = new ScratchGit();
  git.add('blob', '');
  const name = fc.constantFrom('a', 'a.b', 'a-b', 'b', 'A', 'ab', '\u00e9');
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => bytesOf(names.join('/')));
  const step = fc.array(fc.tuple(path, fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 12 });
  for (const steps of fc.sample(fc.tuple(step, step), { numRuns: 40, seed: 5 })) {
    const objects = new MemoryObjects();
    const oid = objects.add('blob', '');
    let tree = EMPTY_TREE_OID;
    const files = new Map<ByteString, string>();
    for (const list of steps) {
      const edits: TreeEdit[] = [];
      for (const [each, isDeleted, isExecutable] of list) {
        const clashes = [...files.keys()].some((file) => file.startsWith(`${each}/`) || each.startsWith(`${file}/`));
        if (clashes || edits.some((edit) => edit.path === each)) continue;
        edits.push(
          isDeleted ? { path: each, delete: true } : { path: each, oid, mode: isExecutable ? 0o100755 : 0o100644 },
        );
        if (isDeleted) files.delete(each);
        else files.set(each, isExecutable ? '100755' : '100644');
      }
      tree = applyEdits(objects, tree, edits);
    }
    git.run(['read-tree', '--empty']);
    const lines = [...files].map(([file, mode]) => `${mode} ${oid}\t${file}\0`).join('');
    git.run(['update-index', '-z', '--index-info'], Buffer.from(lines, 'latin1'));
    t.equal(tree, git.run(['write-tree']), JSON.stringify(steps));
  }
  t.end();
});
