import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { Workbench } from '../../git/test/workbench.js';
import { startAdmin } from '../admin/admin-service.js';

// needs: git

const PERSON = { name: 'Ada', email: 'ada@example.com' };
const PATCH = 'diff --git a/docs/a.txt b/docs/a.txt\n--- a/docs/a.txt\n+++ b/docs/a.txt\n@@ -1 +1 @@\n-a\n+b\n';

/** Starts an emulator with a repository that has the branches `main` and `topic`. */
async function stage(t: Test) {
  const { admin, call, service, seed, commit } = await startAdmin(t);
  const head = await seed('r', { 'docs/a.txt': 'a\n', 'src/b.txt': 'b\n' });
  await call('POST', '/api/v1/repos/branches/create', {
    repo: 'r',
    json: { base_ref: 'main', target_branch: 'topic' },
  });
  const send = (method: string, path: string, json: object) =>
    call(method, `/api/v1/repos/${path}`, { repo: 'r', json });
  const stream = (path: string, ...lines: object[]) =>
    call('POST', `/api/v1/repos/${path}`, {
      repo: 'r',
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    });
  const metadata = (branch: string, message = 'Change it') => ({
    target_branch: branch,
    commit_message: message,
    author: PERSON,
  });
  /** Writes, each on the branch or ref of the given short name. They have no effect if a fault refuses them. */
  const writes: Readonly<Record<string, (name: string) => Promise<{ status: number; text: string }>>> = {
    commitPack: (name) => commit('r', { 'docs/a.txt': `${name}\n` }, metadata(name)),
    diffCommit: (name) =>
      stream(
        'diff-commit',
        { metadata: metadata(name) },
        { diff_chunk: { data: Buffer.from(PATCH).toString('base64'), eof: true } },
      ),
    restoreCommit: (name) => stream('restore-commit', { metadata: { ...metadata(name), target_commit_sha: head } }),
    merge: (name) =>
      send('POST', 'merge', {
        source_branch: 'topic',
        strategy: 'merge',
        ...metadata(name),
        allow_unrelated_histories: true,
      }),
    createBranch: (name) => send('POST', 'branches/create', { base_ref: 'main', target_branch: name, force: true }),
    deleteBranch: (name) => send('DELETE', 'branches', { name }),
  };
  return { admin, call, service, send, stream, metadata, writes, head, commit };
}

t.test('match.ref selects writes through the API by their branch', async (t) => {
  const { admin, writes } = await stage(t);
  const spec = 'bad_gateway;match.ref=refs/heads/main';
  for (const [op, write] of Object.entries(writes)) {
    t.match(await admin('PUT', '/faults', { faults: [`${spec};match.op=${op}`].map((one) => ({ spec: one })) }), {
      status: 200,
    });
    t.not((await write('other')).status, 502, `${op} of another branch`);
    t.equal((await write('main')).status, 502, op);
  }
  await admin('PUT', '/faults', { faults: [{ spec }] });
  for (const [op, write] of Object.entries(writes))
    t.equal((await write('main')).status, 502, `${op}, without match.op`);
});

t.test('match.ref selects writes to tags and notes', async (t) => {
  const { admin, call, send, head } = await stage(t);
  const faults = [{ spec: 'bad_gateway;match.ref=refs/tags/v1' }, { spec: 'bad_gateway;match.ref=refs/notes/*s' }];
  t.match(await admin('PUT', '/faults', { faults }), { status: 200 });
  const tag = (name: string) => send('POST', 'tags', { name, ref: 'main' });
  t.same([(await tag('v1')).status, (await tag('v2')).status], [502, 200]);
  const remove = (name: string) => call('DELETE', `/api/repos/r/tags/${name}`, { repo: 'r' });
  t.same([(await remove('v1')).status, (await remove('v2')).status], [502, 200]);
  t.equal((await send('DELETE', 'tags', { name: 'v1' })).status, 502);
  const note = (more: object) => send('POST', 'notes', { sha: head, action: 'add', note: 'x', ...more });
  t.same([(await note({ notes_ref: 'review' })).status, (await note({})).status], [201, 502]);
  t.equal((await note({ notes_ref: 'refs/notes/reviews' })).status, 502);
  t.equal((await send('DELETE', 'notes', { sha: head })).status, 502);
});

t.test('match.path and match.message select commits through the API', async (t) => {
  const { admin, commit, writes, metadata } = await stage(t);
  const status = async (spec: string, files: Record<string, string>, message?: string) => {
    t.match(await admin('PUT', '/faults', { faults: [{ spec }] }), { status: 200 }, spec);
    return (await commit('r', files, metadata('main', message))).status;
  };
  t.equal(await status('bad_gateway;match.path=docs/*', { 'docs/deep/x.txt': 'x' }), 502);
  t.equal(await status('bad_gateway;match.path=docs/*', { 'src/x.txt': 'x' }), 201);
  t.equal(await status('bad_gateway;match.path=*.md', { 'src/y.txt': 'x', 'README.md': 'x' }), 502);
  t.equal(await status('bad_gateway;match.message=Fix*', { 'a.txt': '1' }, 'Fix it\n\nbody\n'), 502);
  t.equal(await status('bad_gateway;match.message=Fix it', { 'a.txt': '1' }, 'Fix it\n'), 502);
  t.equal(await status('bad_gateway;match.message=Fix*', { 'a.txt': '1' }, 'Do not Fix'), 201);
  t.equal(await status('bad_gateway;match.path=docs/*', { 'a.txt': '2' }), 201);
  t.equal((await writes.diffCommit!('main')).status, 502, 'a patch');
  t.match((await admin('GET', '/requests?order=newest&limit=2')).json.items[1], {
    why: [/git\.path is a\.txt, not docs\/\*/],
  });
});

t.test('conditions on the body read the lines of NDJSON', async (t) => {
  const { admin, commit, metadata, stream } = await stage(t);
  const status = async (fault: object, files = { 'src/x.txt': 'x'.repeat(100) }) => {
    const { status, text } = await admin('PUT', '/faults', { faults: [fault] });
    t.equal(status, 200, text);
    return (await commit('r', files, metadata('main'))).status;
  };
  const refuse = { error: { code: 'bad_gateway' } };
  const of = (body: object) => ({ do: refuse, match: { http: { body } } });
  t.equal(await status({ spec: 'bad_gateway;match.body./metadata/target_branch=ma*' }), 502);
  t.equal(await status({ spec: 'bad_gateway;match.body./metadata/target_branch*=ai' }), 502);
  t.equal(await status({ spec: 'bad_gateway;match.body./metadata/commit_message~=^Change.it$' }), 502);
  t.equal(await status({ spec: 'bad_gateway;match.body./metadata/commit_message~=^it' }), 201);
  t.equal(await status({ spec: 'bad_gateway;match.body.$.metadata.files[%2A].path=src/*' }), 502);
  t.equal(await status(of({ '$.metadata.files[?@.operation == "delete"]': { present: true } })), 201);
  t.equal(await status(of({ '/metadata/files/0/path': { equals: 'src/x.txt' } })), 502);
  const data = Buffer.from('x'.repeat(100)).toString('base64');
  t.equal(await status(of({ '$.blob_chunk.data': { contains: data } })), 502, 'a later line');
  t.equal(await status(of({ '/blob_chunk/eof': { equals: true }, '/metadata/author/name': 'Ada' })), 502, 'two lines');
  t.equal(await status(of({ '/none': { present: false } })), 502);

  await admin('PUT', '/faults', { faults: [of({ '': { contains: 'x' } })] });
  t.match(await stream('commit-pack', { metadata: 1 }), { status: 400 }, 'an invalid body gets its own error');
  t.match(await stream('commit-pack'), { status: 400 });
});

t.test('a body that was read for a condition is served unchanged', async (t) => {
  const { admin, call, commit, metadata, writes } = await stage(t);
  await admin('PUT', '/faults', { faults: [{ spec: 'bad_gateway;match.path=none' }] });
  const content = 'y'.repeat(3_000_000);
  t.equal((await commit('r', { 'big.txt': content }, metadata('main'))).status, 201);
  t.equal((await call('GET', '/api/v1/repos/file?path=big.txt&ref=main', { repo: 'r' })).text, content);
  await admin('PUT', '/faults', { faults: [{ spec: 'bad_gateway;match.ref=none' }] });
  await admin('PATCH', '/state', { limits: { maxJsonBytes: 50 } });
  t.match(await writes.restoreCommit!('main'), { status: 413 }, 'the limit of the operation applies');
  await admin('PATCH', '/state', { limits: { maxCommitBytes: 1_000 } });
  t.equal((await commit('r', { 'big.txt': content }, metadata('main'))).status, 413);
});

t.test('match.path and match.message select pushes', async (t) => {
  const { admin, service, metadata, commit } = await stage(t);
  await using bench = await Workbench.create();
  const url = await service.remote('r');
  await bench.git('.', 'clone', '-q', url, 'work');
  const push = async (spec: string, path: string, message: string) => {
    t.match(await admin('PUT', '/faults', { faults: [{ spec }] }), { status: 200 }, spec);
    await mkdir(dirname(join(bench.path, 'work', path)), { recursive: true });
    await writeFile(join(bench.path, 'work', path), `${message}\n`);
    await bench.git('work', 'add', '-A');
    await bench.git('work', 'commit', '-q', '-m', message);
    return (await bench.try('work', 'push', url, 'HEAD:main')).stderr;
  };
  t.notMatch(await push('ng;ref=refs/heads/main;reason=no docs;match.path=docs/*', 'src/c.txt', 'One'), /no docs/);
  t.match(await push('ng;ref=refs/heads/main;reason=no docs;match.path=docs/*', 'docs/c.txt', 'Two'), /no docs/);
  t.match(await push('ng;ref=refs/heads/main;reason=wip;match.message=WIP*', 'src/d.txt', 'WIP three'), /wip/);
  t.notMatch(await push('ng;ref=refs/heads/main;reason=wip;match.message=fixup*', 'src/e.txt', 'Four'), /wip/);
  t.match(await push('lost@git.report;status=504;match.path=src/f.txt', 'src/f.txt', 'Five'), /HTTP 504/);
  const both = 'bad_gateway@response.head;match.message=Six';
  t.match(await push(both, 'src/g.txt', 'Six'), /HTTP 502/);
  t.equal(
    (await commit('r', { 'docs/a.txt': 'z' }, metadata('main', 'Six'))).status,
    502,
    'the same fault of a commit',
  );
});

t.test('match.content selects commits through the API by what they add to files', async (t) => {
  const { admin, commit, writes, metadata, stream } = await stage(t);
  const arm = async (fault: object) => {
    const { status, text } = await admin('PUT', '/faults', { faults: [fault] });
    t.equal(status, 200, text);
  };
  const status = async (fault: object, files: Record<string, string>) => {
    await arm(fault);
    return (await commit('r', files, metadata('main'))).status;
  };
  const of = (content: object) => ({ do: { error: { code: 'bad_gateway' } }, match: { git: { content } } });
  t.equal(await status({ spec: 'bad_gateway;match.content.a.txt=secret' }, { 'a.txt': 'secret' }), 502, 'equal');
  t.equal(await status({ spec: 'bad_gateway;match.content.a.txt=secret' }, { 'a.txt': 'a secret' }), 201);
  t.equal(await status({ spec: 'bad_gateway;match.content.*.txt*=secret' }, { 'b/a.txt': 'a secret\n' }), 502);
  t.equal(await status({ spec: 'bad_gateway;match.content.*.md*=secret' }, { 'b/a.txt': 'a secret\n' }), 201);
  t.equal(
    await status({ spec: 'bad_gateway;match.content.*~=AKIA[0-9A-Z]{16}' }, { x: 'k=AKIA0123456789ABCDEF' }),
    502,
  );
  t.equal(await status({ spec: 'bad_gateway;match.content.*~=AKIA[0-9A-Z]{16}' }, { x: 'k=AKIA' }), 201);
  t.equal(await status(of({ 'a?txt': { contains: 'ü' } }), { 'a.txt': 'über' }), 502, 'UTF-8');
  t.equal(await status(of({ 'a.txt': { contains: 'one' }, 'b.txt': { contains: 'two' } }), { 'a.txt': 'one' }), 201);
  t.equal(
    await status(of({ 'a.txt': { contains: 'one' }, 'b.txt': { contains: 'two' } }), {
      'a.txt': 'one!',
      'b.txt': 'two',
    }),
    502,
    'both',
  );
  t.equal(await status(of({ 'no.txt': { present: false } }), { 'a.txt': '1' }), 502);
  const long = `${'x'.repeat(1_048_576 - 3)}endrest`;
  t.equal(await status(of({ '*': { contains: 'end' } }), { 'a.txt': long }), 502, 'the first MiB');
  t.equal(await status(of({ '*': { contains: 'rest' } }), { 'a.txt': long }), 201, 'after the first MiB');

  await arm({ spec: 'bad_gateway;match.content.docs/a.txt*=b' });
  t.equal((await writes.diffCommit!('main')).status, 502, 'a patch');
  await arm({ spec: 'bad_gateway;match.content.docs/a.txt*=a' });
  t.not((await writes.diffCommit!('main')).status, 502, 'a line that the patch removes');
  const chunks = (...texts: readonly string[]) =>
    texts.map((text, index) => ({
      blob_chunk: { content_id: 'c', data: Buffer.from(text).toString('base64'), eof: index === texts.length - 1 },
    }));
  await arm({ spec: 'bad_gateway;match.content.c.txt=one two' });
  const files = [{ path: 'c.txt', operation: 'upsert', content_id: 'c' }];
  const written = await stream('commit-pack', { metadata: { ...metadata('main'), files } }, ...chunks('one ', 'two'));
  t.equal(written.status, 502, 'a content in two chunks');
  t.match(await stream('commit-pack', { metadata: { ...metadata('main'), files: 1 } }, { blob_chunk: 7 }), {
    status: 400,
  });
});

t.test('an error refuses a push by its path, message or content before a ref moves', async (t) => {
  const { admin, call, service } = await stage(t);
  await using bench = await Workbench.create();
  const url = await service.remote('r');
  await bench.git('.', 'clone', '-q', url, 'work');
  const tip = async () => (await bench.git('.', 'ls-remote', url, 'refs/heads/main')).split('\t')[0];
  const push = async (spec: string, path: string, content: string, ref = 'main') => {
    const { status, text } = await admin('PUT', '/faults', { faults: [{ spec }] });
    t.equal(status, 200, text);
    await writeFile(join(bench.path, 'work', path), content);
    await bench.git('work', 'add', '-A');
    await bench.git('work', 'commit', '-q', '-m', `Write ${path}`);
    const before = await tip();
    const { stderr } = await bench.try('work', 'push', url, `HEAD:${ref}`);
    return { stderr, hasMoved: (await tip()) !== before };
  };
  const refused = { hasMoved: false, stderr: /HTTP 502/ };
  t.match(await push('bad_gateway;match.path=secret.txt', 'secret.txt', '1'), refused);
  t.match(await push('bad_gateway;match.path=none.txt', 'secret.txt', '2'), { hasMoved: true });
  t.match(await push('bad_gateway;match.message=Write c*', 'c.txt', '1'), refused);
  t.match(await push('bad_gateway;match.content.*~=AKIA[0-9]+', 'd.txt', 'key AKIA123\n'), refused);
  t.match(await push('bad_gateway;match.content.*~=AKIA[a-z]+', 'd.txt', 'key AKIA1234\n'), { hasMoved: true });
  t.match(await push('bad_gateway;match.ref=refs/heads/main', 'e.txt', '1'), refused);
  t.match(await push('bad_gateway;match.ref=refs/heads/other', 'e.txt', '2'), { hasMoved: true });
  t.match(await push('sideband@git.receive;band=3;text=no secrets;match.path=f.txt', 'f.txt', '1'), {
    hasMoved: false,
    stderr: /no secrets/,
  });
  t.match(await push('cut@git.receive;how=rst;match.path=g.txt', 'g.txt', '1'), { hasMoved: false });
  t.match(await push('latency@git.receive;ms=1;match.path=h.txt', 'h.txt', '1'), { hasMoved: true });
  t.match((await admin('GET', '/faults')).json.items, [{ fired: 1 }]);

  await admin('PUT', '/faults', { faults: [{ spec: 'hold@git.receive;latch=l;match.path=i.txt' }] });
  await writeFile(join(bench.path, 'work', 'i.txt'), '1');
  await bench.git('work', 'add', '-A');
  await bench.git('work', 'commit', '-q', '-m', 'Wait');
  const waiting = bench.try('work', 'push', url, 'HEAD:main');
  const isHeld = async () => (await admin('GET', '/latches')).text.includes('"l"');
  for (let count = 0; count < 1_000 && !(await isHeld()); count++) await new Promise((done) => setTimeout(done, 10));
  const other = { repo: 'r', json: { base_ref: 'main', target_branch: 'meanwhile' } };
  t.match(await call('POST', '/api/v1/repos/branches/create', other), { status: 200 }, 'other writers do not wait');
  await admin('POST', '/latches/l/release');
  await waiting;
  t.equal(await tip(), (await bench.git('work', 'rev-parse', 'HEAD')).trim(), 'the push continues');
});

t.test('a condition that cannot be known where the fault fires is refused', async (t) => {
  const { admin } = await stage(t);
  const rows: readonly (readonly [spec: string, detail: RegExp])[] = [
    ['bad_gateway;match.path=a;match.op=createBranch', /no operation matches .*match\.git\.path/],
    ['bad_gateway;match.ref=a;match.op=getRepository', /no operation matches .*match\.git\.ref/],
    [
      'bad_gateway@before;match.path=a;match.op=gitReceivePack',
      /match\.git\.path is not yet known at before.*known at .*git\.receive, git\.report/,
    ],
    ['bad_gateway;match.content.a.txt=x;match.op=restoreCommit', /no operation matches .*match\.git\.content/],
    ['bad_gateway;match.content.a.txt~=(', /match\.git\.content: "a\.txt": "\(" is not a regular expression/],
    ['bad_gateway@auth;match.ref=a', /match\.git\.ref is not yet known at auth/],
    ['bad_gateway;match.path=', /the key match\.path of the fault bad_gateway must be a text/],
    ['bad_gateway;match.body.$.a[=x', /"\$\.a\[" is not a JSONPath/],
    ['bad_gateway;match.body./a~=(', /"\(" is not a regular expression in RE2 syntax/],
    ['bad_gateway;match.body./a=x;match.body./a~=x', /has the key match\.body\.\/a~ twice/],
  ];
  for (const [spec, detail] of rows) {
    t.match(await admin('POST', '/faults', { spec }), { status: 400, json: { detail } }, spec);
  }
});
