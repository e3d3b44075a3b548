import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { sample } from '../sample.js';
import { type Service, startService } from '../service.js';
import { readEverything, writeEverything } from '../world/read-everything.js';
import { GitUpstream } from './git-upstream.js';
import { type RandomPush, randomPushes } from './random-objects.js';
import { oidOf, packOf, pushBody, pushRaw, type RawObject, reportOf } from './raw-push.js';

// needs: git

// Tests that every object that the emulator accepts can be read. Pushes random objects to git and to the emulator. If
// both accept an object, every reading operation must handle it on every ref.

const ZERO = '0'.repeat(40);
const NAMES = [
  'refs/heads/main',
  'refs/heads/t\u00f6pic',
  'refs/tags/v1',
  'refs/tags/r/c',
  'refs/notes/commits',
  'refs/notes/odd',
  'refs/other/place',
  'refs/remotes/origin/HEAD',
];
const REMOTES = ['team/app', 'team/app+import', 'team/app+ephemeral'];
const RUNS = 2;
const SAMPLES = 2;

/**
 * Temporary folder with the repositories that receive pushes with git. Each push goes into a new copy of an empty
 * repository.
 */
const folder = mkdtempSync(join(tmpdir(), 'accepted-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const empty = join(folder, 'empty');
spawnSync('git', ['init', '-q', '--bare', '--template=', empty]);
let copies = 0;

/** Pushes the emulator's input to git. Returns the refs that git has changed. */
function acceptedByGit(body: Buffer, fsck: string): string[] {
  const cwd = join(folder, String(copies++));
  cpSync(empty, cwd, { recursive: true });
  const check = `receive.fsckObjects=${fsck === 'strict'}`;
  const { stdout } = spawnSync('git', ['-c', check, 'receive-pack', '--stateless-rpc', '.'], { cwd, input: body });
  return [...stdout.toString().matchAll(/ok (refs\/[^\n]*)/g)].map((match) => match[1]!);
}

t.setTimeout(600_000);

for (const fsck of ['strict', 'off'] as const) {
  t.test(`fsck ${fsck}: objects that git accepts are accepted, and can be read`, async (t) => {
    let done = 0;
    const property = fc.asyncProperty(randomPushes(NAMES, fsck === 'off'), fc.nat(2), async (push, remote) => {
      const service = await startService({ fsck });
      try {
        await service.call('POST', '/api/repos');
        const { body, moved, answer: response } = await send(service, push, REMOTES[remote]);
        const lost = acceptedByGit(body, fsck).filter((ref) => !moved.includes(ref));
        if (lost.length > 0) throw new Error(`git takes in ${lost.join()}: ${reportOf(response).join('; ')}`);
        // Read the repository once. A push to `+import` may leave it in cold storage, and this read makes it available
        // again.
        await service.call('GET', '/api/v1/repo');
        done += moved.length;
        const faults = await readEverything(service, push, { seed: done, samples: SAMPLES });
        if (faults.length > 0) throw new Error(faults.slice(0, 5).join('\n'));
      } finally {
        await service.emulator.close({ graceMs: 0 });
      }
    });
    const outcome = await fc.check(property, {
      numRuns: RUNS,
      seed: 11,
      endOnFailure: true,
    });
    t.notOk(outcome.failed, outcome.failed ? String(outcome.errorInstance).slice(0, 3000) : '');
    t.ok(done > 0, `${done} refs were moved`);
  });
}

for (const fsck of ['strict', 'off'] as const) {
  t.test(`fsck ${fsck}: writes on accepted objects can be read`, async (t) => {
    let written = 0;
    const property = fc.asyncProperty(randomPushes(NAMES, fsck === 'off'), fc.nat(1000), async (push, seed) => {
      const service = await startService({ fsck });
      try {
        await service.call('POST', '/api/repos');
        await send(service, push);
        const before = service.world.state.repositories.find(service.emulator.org, 'team/app')!.git.objects.size;
        const faults = await writePlainly(service);
        faults.push(...(await writeEverything(service, push, { seed, samples: 1 })));
        faults.push(...(await readEverything(service, push, { seed, samples: 1 })));
        if (faults.length > 0) throw new Error(faults.slice(0, 5).join('\n'));
        written += service.world.state.repositories.find(service.emulator.org, 'team/app')!.git.objects.size - before;
      } finally {
        await service.emulator.close({ graceMs: 0 });
      }
    });
    const outcome = await fc.check(property, { numRuns: RUNS, seed: 12, endOnFailure: true });
    t.notOk(outcome.failed, outcome.failed ? String(outcome.errorInstance).slice(0, 3000) : '');
    t.ok(written > 0, `${written} objects were written`);
  });
}

t.test('objects of an upstream can be read after a sync', async (t) => {
  await using upstream = await GitUpstream.start();
  let run = 0;
  const property = fc.asyncProperty(randomPushes(NAMES, true), async (push) => {
    const name = `r${run++}`;
    upstream.create(`o/${name}`);
    const commands = push.tips.map(({ ref, oid }) => ({ ref, old: ZERO, new: oid }));
    upstream.git(`o/${name}.git`, ['receive-pack', '--stateless-rpc', '.'], pushBody(commands, packOf(push.objects)));
    const service = await startService({ fsck: 'off', upstreamHost: { github: upstream.origin } });
    try {
      const base_repo = { provider: 'github', owner: 'o', name, auth: { auth_type: 'public' } };
      const created = await service.call('POST', '/api/repos', { json: { base_repo } });
      if (created.status !== 201) throw new Error(created.text);
      await service.world.background.syncs.idle();
      const { refs } = service.world.state.repositories.find(service.emulator.org, 'team/app')!.git;
      const here = [...refs.entries()].map(([ref, { oid }]) => `${Buffer.from(ref, 'latin1')} ${oid}`).join('\n');
      if (here !== upstream.refs(`o/${name}`)) throw new Error(`the refs are ${here}`);
      const faults = await readEverything(service, push, { seed: run, samples: SAMPLES });
      if (faults.length > 0) throw new Error(faults.slice(0, 5).join('\n'));
    } finally {
      await service.emulator.close({ graceMs: 0 });
    }
  });
  const outcome = await fc.check(property, { numRuns: RUNS, seed: 13, endOnFailure: true });
  t.notOk(outcome.failed, outcome.failed ? String(outcome.errorInstance).slice(0, 3000) : '');
});

const AUTHOR = { name: 'Ada', email: 'ada@example.com' };
const PATCH = 'diff --git a/p b/p\nnew file mode 100644\n--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+x\n';

/**
 * Sends write requests that must succeed for any content of the branch and the notes. Returns a description of each
 * failed request.
 */
async function writePlainly(service: Service): Promise<string[]> {
  const metadata = { target_branch: 'main', commit_message: 'm', author: AUTHOR };
  const chunk = { diff_chunk: { data: Buffer.from(PATCH).toString('base64'), eof: true } };
  const first = await service.commit('team/app', { 'new/file': 'x' });
  const note = (ref: string, action: string) =>
    service.call('POST', '/api/v1/repos/notes', { json: { sha: 'main', notes_ref: ref, action, note: 'text' } });
  const responses = {
    'commit-pack': first,
    'diff-commit': await service.call('POST', '/api/v1/repos/diff-commit', {
      body: `${JSON.stringify({ metadata })}\n${JSON.stringify(chunk)}\n`,
    }),
    'notes of its own': await note('fresh', 'add'),
    'more notes': await note('fresh', 'append'),
    // The next two writes may fail with a conflict (409). These notes refs have random content, such as a tree instead
    // of a commit.
    'notes on what is there': await note('odd', 'append'),
    'notes on the default': await note('commits', 'append'),
    restore: await service.call('POST', '/api/v1/repos/restore-commit', {
      json: { metadata: { ...metadata, target_commit_sha: first.json.commit?.commit_sha } },
    }),
  };
  return Object.entries(responses)
    .filter(([name, { status }]) => status !== 201 && !(name.startsWith('notes on') && status === 409))
    .map(([name, { status, text }]) => `${name}: ${status} ${text}`);
}

/** Pushes new refs and their objects to the emulator. Returns the refs that it accepted. */
async function send(service: Service, push: RandomPush, remote = 'team/app') {
  const commands = push.tips.map(({ ref, oid }) => ({ ref, old: ZERO, new: oid }));
  const body = pushBody(commands, packOf(push.objects));
  const response = await pushRaw(service, remote, body, { repo: 'team/app' });
  if (response.status !== 200) throw new Error(`the push answered ${response.status}: ${response.text}`);
  const moved = reportOf(response)
    .filter((line) => line.startsWith('ok '))
    .map((line) => line.slice(3));
  return { body, moved, answer: response };
}

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const WHO = 'A <a@e> 1700000000 +0000';

function object(type: RawObject['type'], text: string): RawObject & { oid: string } {
  const body = Buffer.from(text, 'latin1');
  return { type, body, oid: oidOf({ type, body }) };
}

const bytes = (oid: string) => Buffer.from(oid, 'hex').toString('latin1');
const tagOf = (oid: string, type: string) => object('tag', `object ${oid}\ntype ${type}\ntag v\ntagger ${WHO}\n\nm\n`);
const commitOf = (tree: string, ...parents: string[]) =>
  object(
    'commit',
    `tree ${tree}\n${parents.map((parent) => `parent ${parent}\n`).join('')}author ${WHO}\ncommitter ${WHO}\n\nm\n`,
  );

const BLOB = object('blob', 'text\n');
const TREE = object('tree', `100644 a\0${bytes(BLOB.oid)}`);
const COMMIT = commitOf(TREE.oid);
const TAG = tagOf(COMMIT.oid, 'commit');
const KINDS = { blob: BLOB, tree: TREE, commit: COMMIT, tag: TAG };
const ALL = Object.values(KINDS);

function chain(length: number): (RawObject & { oid: string })[] {
  const tags = [TAG];
  while (tags.length < length) tags.push(tagOf(tags.at(-1)!.oid, 'tag'));
  return tags;
}

/** Additional objects for one push each. The ref of the push points to the last object. */
const TARGETS: Readonly<Record<string, readonly (RawObject & { oid: string })[]>> = {
  'a tag of the empty tree': [tagOf(EMPTY_TREE, 'tree')],
  ...Object.fromEntries(
    ['commit', 'blob', 'tag'].map((type) => [`a tag of the empty tree, as ${type}`, [tagOf(EMPTY_TREE, type)]]),
  ),
  'a commit of the empty tree': [commitOf(EMPTY_TREE)],
  'a folder that is empty': [object('tree', `40000 d\0${bytes(EMPTY_TREE)}`)],
  'a file that is the empty tree': [object('tree', `100644 d\0${bytes(EMPTY_TREE)}`)],
  'a submodule that is the empty tree': [object('tree', `160000 d\0${bytes(EMPTY_TREE)}`)],
  'a submodule that is a blob': [object('tree', `160000 d\0${bytes(BLOB.oid)}`)],
  'a parent that is the empty tree': [commitOf(TREE.oid, EMPTY_TREE)],
  'many tags of tags': chain(10_002),
  ...Object.fromEntries(
    Object.entries(KINDS).flatMap(([kind, { oid }]) => [
      ...Object.keys(KINDS).map((type) => [`a tag that calls a ${kind} a ${type}`, [tagOf(oid, type)]]),
      [`a commit whose tree is a ${kind}`, [commitOf(oid)]],
      [`a commit whose parent is a ${kind}`, [commitOf(TREE.oid, oid)]],
      [`a folder that is a ${kind}`, [object('tree', `40000 d\0${bytes(oid)}`)]],
      [`a file that is a ${kind}`, [object('tree', `100644 d\0${bytes(oid)}`)]],
    ]),
  ),
};
/** Number of `TARGETS` that a normal test run checks. */
const SAMPLE = 16;
/**
 * Targets that only git accepts. Without fsck, git does not check the types of objects in a tree. The emulator always
 * refuses an entry with an object of the wrong type.
 */
const STRICTER = /^a file that is (a (tree|commit|tag)|the empty tree)$/;

for (const fsck of ['strict', 'off'] as const) {
  t.test(`fsck ${fsck}: a ref may point to what git allows, and it can be read`, async (t) => {
    const service = await startService({ fsck });
    t.teardown(() => service.emulator.close({ graceMs: 0 }));
    await service.call('POST', '/api/repos');
    const taken: RandomPush[] = [];
    const targets = sample(t, Object.entries(TARGETS), SAMPLE);
    for (const [index, [name, objects]] of targets.entries()) {
      const places = [`refs/tags/t${index}`, `refs/notes/n${index}`, `refs/heads/b${index}`];
      const push = {
        objects: [...new Map([...ALL, ...objects].map((one) => [one.oid, one])).values()],
        tips: places.map((ref) => ({ ref, oid: objects.at(-1)!.oid })),
      };
      const { body, moved } = await send(service, push);
      const expected = STRICTER.test(name) && fsck === 'off' ? [] : acceptedByGit(body, fsck);
      t.same(moved, expected, name);
      taken.push({ ...push, tips: push.tips.filter(({ ref }) => moved.includes(ref)) });
    }
    const push = { objects: ALL, tips: taken.flatMap(({ tips }) => tips) };
    t.ok(
      push.tips.length > (targets.length > SAMPLE ? 20 : 0),
      `${push.tips.length} refs of ${targets.length} targets`,
    );
    t.same(await readEverything(service, push, { seed: 1, samples: 1 }), []);
  });
}

t.test('the empty tree may be the target of a ref without being sent', async (t) => {
  for (const fsck of ['strict', 'off'] as const) {
    const service = await startService({ fsck });
    await service.call('POST', '/api/repos');
    const push = {
      objects: ALL,
      tips: ['refs/tags/v1', 'refs/notes/commits'].map((ref) => ({ ref, oid: EMPTY_TREE })),
    };
    const { body, moved } = await send(service, push);
    t.same(moved, acceptedByGit(body, fsck));
    t.same(await readEverything(service, push, { seed: 1, samples: 4 }), []);
    const tag = await service.call('GET', '/api/v1/repos/tag?name=v1');
    t.same([tag.status, tag.json.tag.sha], [200, EMPTY_TREE]);
    await service.emulator.close({ graceMs: 0 });
  }
});
