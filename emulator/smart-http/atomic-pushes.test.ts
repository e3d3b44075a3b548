import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import { type Oid, parseOid, ZERO_OID } from '../git/object/object.js';
import { oidOf, PackBuilder } from '../git/odb/test/pack-builder.js';
import type { RefChange } from '../git/refs/ref-change.js';
import { createRepository } from '../git/test/memory-repository.js';
import { Workbench } from '../git/test/workbench.js';
import { sample } from '../test/sample.js';
import { packet } from './pkt-line.js';
import { TestServer } from './test/test-server.js';

// Compares how `git receive-pack` and this server respond to pushes, with and without the capability `atomic`. Both
// must report the same result for each ref and the same messages to the user.

const WHO = 'A <a@example.com> 1700000000 +0000';
const BLOB = oidOf('blob', 'b');
const TREE_BODY = Buffer.concat([Buffer.from('100644 a\0'), Buffer.from(BLOB, 'hex')]);
const TREE = oidOf('tree', TREE_BODY);
const FIRST_BODY = `tree ${TREE}\nauthor ${WHO}\ncommitter ${WHO}\n\none\n`;
const FIRST = oidOf('commit', FIRST_BODY);
const SECOND_BODY = `tree ${TREE}\nparent ${FIRST}\nauthor ${WHO}\ncommitter ${WHO}\n\ntwo\n`;
const SECOND = oidOf('commit', SECOND_BODY);

const create = (name: string, oid = FIRST): RefChange => move(name, ZERO_OID, oid);
const move = (name: string, old: Oid, next: Oid): RefChange => ({
  name: bytesOf(`refs/heads/${name}`),
  old,
  new: next,
});
const NEW = create('new');

/**
 * Pushes as lists of ref updates. The branches `main`, `other` and `dir/sub` of the repository point to the commit
 * `FIRST`, and HEAD refers to `main`.
 */
const CASES: Readonly<Record<string, readonly RefChange[]>> = {
  'a stale ref': [move('main', SECOND, FIRST), NEW],
  'a stale ref at the end': [NEW, move('main', SECOND, FIRST)],
  'a ref that exists': [create('main', SECOND), NEW],
  'a ref that is gone': [move('gone', FIRST, SECOND), NEW],
  'the deletion of a ref that is gone': [move('gone', FIRST, ZERO_OID), NEW],
  'the deletion of a ref that never was': [move('gone', ZERO_OID, ZERO_OID), NEW],
  'the deletion of a ref that has moved': [move('other', SECOND, ZERO_OID), NEW],
  'a ref below a ref': [create('main/x'), NEW],
  'a ref above a ref': [create('dir'), NEW],
  'a ref above and a ref below': [create('p'), create('p/q'), NEW],
  'a ref below, and then a ref above': [create('p/q'), create('p'), NEW],
  'two refs below, and then one above': [create('p/q'), create('p/r'), create('p')],
  'a ref between two others': [create('p/q'), create('p/q/r'), create('p')],
  'a ref far below two others': [create('p/q/r'), create('p/q'), create('p')],
  'a ref below one that comes, and above one that exists': [create('x'), create('dir'), create('x/y')],
  'a ref below one that goes': [move('other', FIRST, ZERO_OID), create('other/x')],
  'two in the way': [move('main', SECOND, FIRST), create('main/x'), NEW],
  'a name that is none': [create('a..b'), NEW],
  'a name that is none at the end': [NEW, create('a..b')],
  'two names that are none': [NEW, create('a..b'), create('c..d')],
  'the current branch': [move('main', FIRST, ZERO_OID), NEW],
  'a branch that is no commit': [create('blob', BLOB), NEW],
  'a branch that was a commit': [move('other', FIRST, BLOB), NEW],
  'a ref twice': [NEW, NEW],
  'a ref twice, to two commits': [NEW, create('new', SECOND)],
  'what a hook declines': [create('denied'), NEW],
  'what a hook declines, and a stale ref': [create('denied'), move('main', SECOND, FIRST)],
  'a stale ref, and what a hook declines': [move('main', SECOND, FIRST), create('denied')],
  'nothing in the way': [move('main', FIRST, SECOND), NEW, move('other', FIRST, ZERO_OID)],
};

/** Number of cases that a normal test run checks. With `TEST_SAMPLES=all`, all cases are checked. */
const SAMPLE = 10;

interface Report {
  readonly lines: readonly string[];
  readonly messages: readonly string[];
}

function bodyOf(commands: readonly RefChange[], capabilities: string): Buffer {
  const lines = commands.map(({ name, old, new: next }) => `${old} ${next} ${name}`);
  const pack = new PackBuilder();
  if (commands === BASE) {
    pack.whole('blob', 'b');
    pack.whole('tree', TREE_BODY);
    pack.whole('commit', FIRST_BODY);
    pack.whole('commit', SECOND_BODY);
  }
  const carriesPack = commands.some((command) => command.new !== ZERO_OID);
  return Buffer.concat([
    ...lines.map((line, index) => packet(bytesOf(index === 0 ? `${line}\0${capabilities}` : line))),
    Buffer.from('0000'),
    ...(carriesPack ? [pack.build()] : []),
  ]);
}

const BASE: readonly RefChange[] = [
  create('main'),
  create('other'),
  create('dir/sub'),
  { name: bytesOf('refs/tags/two'), old: ZERO_OID, new: SECOND },
];
const PLAIN = 'report-status side-band-64k';

/** Extracts the report (side-band 1) and the messages to the user (side-band 2) from a response, as lists of lines. */
function reportOf(response: Buffer): Report {
  const bands: Record<number, Buffer[]> = { 1: [], 2: [] };
  for (let at = 0; at + 4 <= response.length; ) {
    const length = Number.parseInt(response.toString('latin1', at, at + 4), 16);
    if (length > 4) bands[response[at + 4]!]!.push(response.subarray(at + 5, at + length));
    at += Math.max(length, 4);
  }
  const [report, text] = [Buffer.concat(bands[1]!).toString('latin1'), Buffer.concat(bands[2]!).toString()];
  return {
    lines: [...report.matchAll(/[0-9a-f]{4}((?:unpack|ok|ng)[^\n]*)\n/g)].map((match) => match[1]!),
    messages: text.split('\n').filter((line) => line !== ''),
  };
}

async function askGit(bench: Workbench, folder: string, commands: readonly RefChange[], capabilities: string) {
  await bench.git('.', 'init', '-q', '--bare', '-b', 'main', folder);
  const push = (body: Buffer) => bench.run('.', 'git', ['receive-pack', '--stateless-rpc', folder], body);
  await push(bodyOf(BASE, PLAIN));
  const hook = join(bench.path, folder, 'hooks', 'update');
  await writeFile(hook, '#!/bin/sh\ncase "$1" in *denied) exit 1;; esac\n');
  await chmod(hook, 0o755);
  const { stdout } = await push(bodyOf(commands, capabilities));
  const refs = await bench.git(folder, 'for-each-ref', '--format=%(refname) %(objectname)');
  return { report: reportOf(Buffer.from(stdout, 'latin1')), refs };
}

async function askUs(commands: readonly RefChange[], capabilities: string) {
  const repository = createRepository();
  const updateHook = ({ change }: { change: RefChange }) =>
    change.name.endsWith('denied') ? 'hook declined' : undefined;
  await using server = await TestServer.start(repository, { updateHook });
  const push = async (body: Buffer) => {
    const headers = { 'content-type': 'application/x-git-receive-pack-request' };
    const response = await fetch(`${server.url()}/git-receive-pack`, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
    });
    return reportOf(Buffer.from(await response.arrayBuffer()));
  };
  await push(bodyOf(BASE, PLAIN));
  const report = await push(bodyOf(commands, capabilities));
  return { report, refs: [...repository.refs.entries()].map(([name, { oid }]) => `${name} ${oid}`).join('\n') };
}

/** Returns the messages that name a ref. Other messages differ between versions of Git. */
function sentencesOf({ messages }: Report): string[] {
  return messages
    .filter((line) => /^(error: cannot |error: multiple |error: refusing |warning: )/.test(line))
    .map((line) => line.replace('refusing to create funny', 'refusing to update funny'));
}

t.test('an atomic push is reported as git reports it', async (t) => {
  await using bench = await Workbench.create();
  for (const [index, [name, commands]] of sample(t, Object.entries(CASES), SAMPLE).entries()) {
    const git = await askGit(bench, `atomic-${index}.git`, commands, `${PLAIN} atomic`);
    const ours = await askUs(commands, `${PLAIN} atomic`);
    t.same(ours.report.lines, git.report.lines, name);
    t.same(sentencesOf(ours.report), sentencesOf(git.report), name);
    t.equal(ours.refs, git.refs, name);
  }
});

/**
 * Reasons for refused ref updates that Git reports since version 2.50. Earlier versions report only `failed to update
 * ref`.
 */
const REASONS =
  /(?<=^ng \S+ )(?:reference already exists|reference does not exist|incorrect old value provided|refname conflict|invalid new value provided)$/;

t.test('any other push is reported as git reports it', async (t) => {
  await using bench = await Workbench.create();
  for (const [index, [name, commands]] of sample(t, Object.entries(CASES), SAMPLE).entries()) {
    const git = await askGit(bench, `plain-${index}.git`, commands, PLAIN);
    const ours = await askUs(commands, PLAIN);
    const old = (lines: readonly string[]) => lines.map((line) => line.replace(REASONS, 'failed to update ref'));
    t.same(old(ours.report.lines), old(git.report.lines), name);
    t.same(sentencesOf(ours.report), sentencesOf(git.report), name);
    t.equal(ours.refs, git.refs, name);
  }
});

t.test('an atomic push fails as a whole even where git would accept the other refs', async (t) => {
  const lost = create('lost', parseOid('9'.repeat(40)));
  const hidden = { name: bytesOf('refs/namespaces/ephemeral/refs/heads/x'), old: ZERO_OID, new: FIRST };
  for (const [first, reason] of [
    [lost, 'missing necessary objects'],
    [hidden, 'deny updating a hidden ref'],
  ] as const) {
    const { report, refs } = await askUs([first, NEW], `${PLAIN} atomic`);
    t.same(report.lines, ['unpack ok', `ng ${first.name} ${reason}`, `ng ${NEW.name} atomic push failure`]);
    t.notMatch(refs, NEW.name);
  }
});
