import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { oid } from '../test/oid.js';
import { ScratchGit } from '../test/workbench.js';
import { writeTag } from '../test/write-tag.js';
import { bytesOf } from './bytes.js';
import { MalformedObject } from './malformed-object.js';
import { MissingObject, type Oid } from './object.js';
import { findCommit, findTree, peelTags, tagTarget } from './tag.js';

const WHO = 'A U Thor <a@example.com> 1700000000 +0100';

t.test('a tag written by git tag is parsed, and written with the same bytes', (t) => {
  using git = new ScratchGit();
  const commit = git.oid(['commit-tree', git.run(['mktree']), '-m', 'first']);
  git.run(['tag', '-a', '-m', 'subject\n\nbody', 'v/1', commit]);
  const body = git.try(['cat-file', 'tag', 'v/1']).stdout;
  t.equal(tagTarget(body), commit);
  const tagger = { name: 'C O Mitter', email: 'committer@example.com', seconds: 1700000060, offset: '-0330' };
  const tag = bytesOf('v/1');
  t.same(writeTag({ object: commit, type: 'commit', tag, tagger, message: 'subject\n\nbody\n' }), body);
  t.end();
});

t.test('only the first line of a tag must be well-formed to follow it', (t) => {
  const target = oid('a'.repeat(40));
  for (const text of [`object ${target}\ntype tree\ntag x\n`, `object ${target}\n`, `object ${target}`]) {
    t.equal(tagTarget(Buffer.from(text)), target, JSON.stringify(text));
  }
  t.equal(tagTarget(Buffer.from(`object ${target.toUpperCase()}\n`)), target);
  for (const text of [
    '',
    'object 1',
    'object 1\n',
    `object ${target}a\n`,
    `objekt ${target}\n`,
    `object ${'g'.repeat(40)}\n`,
  ]) {
    t.throws(() => tagTarget(Buffer.from(text)), MalformedObject, JSON.stringify(text));
  }
  t.end();
});

t.test('tags are followed to the objects that they name', (t) => {
  const objects = new MemoryObjects();
  const blob = objects.add('blob', 'x');
  const tree = objects.tree({ f: 'x' });
  const commit = objects.add('commit', `tree ${tree}\nauthor ${WHO}\ncommitter ${WHO}\n\nm`);
  const tag = (object: Oid, type: string) => objects.add('tag', `object ${object}\ntype ${type}\ntag x\n\nm`);
  const tagged = tag(tag(commit, 'commit'), 'tag');
  t.equal(runSync(peelTags(objects, tagged)), commit);
  t.equal(runSync(peelTags(objects, blob)), blob);
  t.equal(runSync(findCommit(objects, tagged)), commit);
  t.equal(runSync(findCommit(objects, tag(tree, 'tree'))), undefined);
  t.equal(runSync(findTree(objects, tagged)), tree);
  t.equal(runSync(findTree(objects, tree)), tree);
  t.equal(runSync(findTree(objects, blob)), undefined);
  t.throws(() => runSync(peelTags(objects, tag(oid('a'.repeat(40)), 'commit'))), MissingObject);
  let deep = commit;
  for (let depth = 0; depth < 10_000; depth++) deep = tag(deep, depth === 0 ? 'commit' : 'tag');
  t.equal(runSync(peelTags(objects, deep)), commit, '10,000 tags of tags');
  t.equal(runSync(peelTags(objects, tag(tag(deep, 'tag'), 'tag'))), commit, 'as for git, there may be any number');
  t.end();
});
