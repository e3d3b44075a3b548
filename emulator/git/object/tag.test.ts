import t from 'tap';
import { MemoryObjects } from '../test/memory-objects.js';
import { ScratchGit } from '../test/workbench.js';
import { MalformedObject } from './malformed-object.js';
import { MissingObject, type Oid } from './object.js';
import { parseTag, peel, peelToCommit, peelToTree, readTag, tagTarget, writeTag } from './tag.js';

const WHO = 'A U Thor <a@example.com> 1700000000 +0100';

t.test('what git tag wrote is read field by field and written back byte for byte', (t) => {
  using git = new ScratchGit();
  const commit = git.run(['commit-tree', git.run(['mktree']), '-m', 'first']);
  git.run(['tag', '-a', '-m', 'subject\n\nbody', 'v/1', commit]);
  const body = git.try(['cat-file', 'tag', 'v/1']).stdout;
  const tag = parseTag(body);
  t.same(tag, {
    object: commit,
    type: 'commit',
    tag: 'v/1',
    tagger: { name: 'C O Mitter', email: 'committer@example.com', seconds: 1700000060, offset: '-0330' },
    message: 'subject\n\nbody\n',
  });
  t.same(writeTag(tag), body);
  t.equal(tagTarget(body), commit);
  t.end();
});

t.test('tags without tagger or message are read, broken headers are not', (t) => {
  const head = `object ${'a'.repeat(40)}\ntype tree\ntag x\n`;
  const read = (text: string) => parseTag(Buffer.from(text, 'latin1'));
  t.same(read(head), { object: 'a'.repeat(40), type: 'tree', tag: 'x', message: '' });
  t.equal(read(`${head}\n`).message, '');
  t.equal(read(`${head}tagger \xe9 <a@b> 1 +0000\nencoding latin1\n\n\xe9`).tagger?.name, '\u00e9');
  t.equal(read(`${head}tagger nobody\n\nm`).tagger?.name, '', 'a broken tagger');
  for (const text of [
    '',
    'object 1\n',
    head.replace('type', 'tipe'),
    head.replace('tree', 'trees'),
    head.replace('tag', 'tog'),
  ]) {
    t.throws(() => read(text), MalformedObject, JSON.stringify(text));
  }
  t.throws(() => tagTarget(Buffer.from('object 1')), MalformedObject);
  t.end();
});

t.test('tags are followed to what they name', (t) => {
  const objects = new MemoryObjects();
  const blob = objects.add('blob', 'x');
  const tree = objects.tree({ f: 'x' });
  const commit = objects.add('commit', `tree ${tree}\nauthor ${WHO}\ncommitter ${WHO}\n\nm`);
  const tag = (object: Oid, type: string) => objects.add('tag', `object ${object}\ntype ${type}\ntag x\n\nm`);
  const tagged = tag(tag(commit, 'commit'), 'tag');
  t.equal(peel(objects, tagged), commit);
  t.equal(peel(objects, blob), blob);
  t.equal(peelToCommit(objects, tagged), commit);
  t.equal(peelToCommit(objects, tag(tree, 'tree')), undefined);
  t.equal(peelToTree(objects, tagged), tree);
  t.equal(peelToTree(objects, tree), tree);
  t.equal(peelToTree(objects, blob), undefined);
  t.equal(readTag(objects, tagged).type, 'tag');
  t.throws(() => readTag(objects, commit), MissingObject);
  t.throws(() => peel(objects, tag('a'.repeat(40), 'commit')), MissingObject);
  let deep = commit;
  for (let depth = 0; depth < 10_000; depth++) deep = tag(deep, depth === 0 ? 'commit' : 'tag');
  t.equal(peel(objects, deep), commit, '10,000 tags of tags');
  t.equal(peel(objects, tag(tag(deep, 'tag'), 'tag')), commit, 'as for git, there may be any number');
  t.end();
});
