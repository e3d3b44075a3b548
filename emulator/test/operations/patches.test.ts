import t, { type Test } from 'tap';
import { RandomText } from '../../git/diff/test/random-text.js';
import { Workbench } from '../../git/test/workbench.js';
import { type Service, type ServiceResponse, startService } from '../service.js';
import { stateDigest } from '../world/state-digest.js';

// Tests patches over HTTP. Real git must be able to apply the diffs of the API. The API must accept every patch that
// real git applies.

const SEED = Number(process.env.PATCH_SEED ?? 3);
const COMMITS = Number(process.env.PATCH_COMMITS ?? 9);
/**
 * Lines for random files, by description. They are byte strings (one character per byte), because most of these bytes
 * cannot occur in JSON text.
 */
const LINES: Readonly<Record<string, string>> = {
  'UTF-8': 'gr\xc3\xb6\xc3\x9fe \xe6\x97\xa5 \xf0\x9f\x98\x80',
  'Latin-1': 'gr\xf6\xdfe',
  'a lone continuation': 'x\x80y',
  'a character cut off': 'x\xe6\x97',
  'an overlong form': '\xc0\xaf',
  'a lone surrogate': '\xed\xa0\x80',
  'CESU-8': '\xed\xa0\xbd\xed\xb8\x80',
  'beyond Unicode': '\xf4\x90\x80\x80',
  'a byte order mark': '\xef\xbb\xbfx',
  'a replacement character': '\xef\xbf\xbd',
  'line separators': 'a\xe2\x80\xa8b\xe2\x80\xa9c\xc2\x85d',
  'control characters': '\x01\x07\b\v\f\x1b\x7f',
  'a carriage return': 'a\rb',
  'a carriage return at the end': 'a\r',
  quotes: '"\\\'',
  'a hunk header': '@@ -1 +1 @@',
  'a header': 'diff --git a/x b/x',
  'a dash': '-- a',
  'white space': ' \t ',
  nothing: '',
  'a heading that is too long': `function ${'\xc3\xb6'.repeat(60)}`,
};
const LATE_NUL = `${'line\n'.repeat(1700)}\0 is beyond what Git looks at\n`;
const NAMES = [
  'plain',
  'sp ace',
  'trail ',
  'gr\xc3\xb6\xc3\x9fe',
  'gr\xf6\xdfe',
  '\xff\xfe',
  '\xed\xa0\x80',
  'ta\tb',
  'line\nfeed',
  'c\rr',
  'bell\x07',
  'del\x7f',
  'quo"te',
  'back\\slash',
  "it's",
  '-dash',
  'a b/a b',
  'a/b/c/d/e/f',
  'z'.repeat(250),
  `deep/${'y'.repeat(200)}/${'x'.repeat(200)}`,
];

interface File {
  readonly mode: string;
  readonly content: string;
}

class Files {
  readonly #files = new Map<string, File>();

  constructor(private readonly random: RandomText) {
    for (let count = 0; count < 12; count++) this.#put(this.#name(), this.#file());
  }

  change(): void {
    const { random } = this;
    for (let count = 2 + random.below(6); count > 0; count--) {
      const paths = [...this.#files.keys()];
      const path = random.pick(paths);
      const file = this.#files.get(path);
      const kind = file ? random.below(8) : 0;
      if (!file || kind === 0) this.#put(this.#name(), this.#file());
      else if (kind === 1) this.#files.delete(path);
      else if (kind === 2) this.#files.set(path, this.#file());
      else if (file.mode === '160000') this.#files.set(path, { ...file, content: '7'.repeat(40) });
      else if (kind === 3) this.#move(path, file);
      else if (kind === 4) this.#move(path, { ...file, content: this.#edited(file.content) });
      else if (kind === 5 && file.mode !== '120000') this.#files.set(path, { ...file, mode: '100755' });
      else this.#files.set(path, { ...file, content: this.#edited(file.content) });
    }
  }

  commit(number: number): string {
    const head = `commit refs/heads/main\nmark :${number}\ncommitter x <x@y> ${number} +0000\ndata 1\nx\ndeleteall\n`;
    return head + [...this.#files].map(([path, file]) => entry(path, file)).join('');
  }

  #file(): File {
    const { random } = this;
    const kind = random.below(14);
    if (kind === 0) return { mode: '160000', content: String(1 + random.below(9)).repeat(40) };
    if (kind === 1) return { mode: '120000', content: `to/${random.pick(Object.values(LINES)) || 'x'}` };
    if (kind === 2) return { mode: '100644', content: '' };
    if (kind === 3) return { mode: '100644', content: LATE_NUL };
    if (kind === 4) return { mode: '100644', content: `\0${random.binary()}` };
    const known = Object.values(LINES);
    const lines = Array.from({ length: 1 + random.below(30) }, (_, at) =>
      random.below(3) === 0 ? random.pick(known) : `line ${at}`,
    );
    // Reduce half of the files to ASCII at random. Otherwise nearly all patches would be binary.
    const own = random.below(2) === 0 ? lines.map((line) => Buffer.from(line, 'latin1').toString('ascii')) : lines;
    const joined = own.join(random.pick(['\n', '\n', '\r\n', '\r']));
    return { mode: random.pick(['100644', '100755']), content: joined + random.pick(['\n', '\r\n', '\r', '']) };
  }

  #edited(content: string): string {
    const lines = content.split('\n');
    for (let count = 1 + this.random.below(3); count > 0; count--) {
      const line = this.random.below(2) === 0 ? this.random.pick(Object.values(LINES)) : 'new';
      lines.splice(this.random.below(lines.length + 1), this.random.below(2), line);
    }
    return lines.join('\n') || 'x';
  }

  #move(path: string, file: File): void {
    this.#files.delete(path);
    this.#put(this.#name(), file);
  }

  #name(): string {
    return this.random.pick(['', '', 'src/', 'l\xf6w/']) + this.random.pick(NAMES) + this.random.pick(['', '', '1']);
  }

  #put(path: string, file: File): void {
    for (const other of this.#files.keys()) {
      if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) this.#files.delete(other);
    }
    this.#files.set(path, file);
  }
}

/** Formats one file for a `git fast-import` stream, as an `M` line followed by its data. */
function entry(path: string, { mode, content }: File): string {
  const name = `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
  if (mode === '160000') return `M ${mode} ${content} ${name}\n`;
  return `M ${mode} inline ${name}\ndata ${content.length}\n${content}\n`;
}

/**
 * Starts an emulator with a repository. Creates the same commits for real git in the folder `work`. The branch `main`
 * is at the last commit.
 */
async function serve(t: Test, commits: readonly string[]) {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  const bench = await Workbench.create();
  t.teardown(() => bench[Symbol.asyncDispose]());
  await service.call('POST', '/api/repos');
  await bench.git('.', 'init', '-q', '-b', 'main', 'work');
  await bench.feed(Buffer.from(commits.join(''), 'latin1'), 'work', 'fast-import', '--quiet');
  await bench.git('work', 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  await bench.git('work', 'push', '-q', await service.remote('team/app'), 'main');
  await bench.git('.', 'init', '-q', 'apply');
  const shas = (await bench.git('work', 'rev-list', '--reverse', 'main')).split('\n');
  const trees = new Map<string, string>();
  for (const sha of shas) trees.set(sha, await bench.git('work', 'rev-parse', `${sha}^{tree}`));
  return { service, bench, shas, treeOf: (sha: string) => trees.get(sha)! };
}

interface DiffFile {
  readonly path: string;
  readonly raw: string;
  readonly bytes: number;
}

async function diff(service: Service, query: Record<string, string>, path = 'diff') {
  const { status, json, text } = await service.call('GET', `/api/v1/repos/${path}?${new URLSearchParams(query)}`);
  if (status !== 200) throw new Error(text);
  const files: DiffFile[] = json.files;
  return { files, patch: files.map(({ raw }) => raw).join(''), filtered: json.filtered_files as { path: string }[] };
}

function commitPatch(service: Service, patch: string | Buffer, branch = 'main'): Promise<ServiceResponse> {
  const author = { name: 'Ada', email: 'ada@example.com' };
  const lines = [
    { metadata: { target_branch: branch, commit_message: 'Patch', author } },
    { diff_chunk: { data: Buffer.from(patch).toString('base64'), eof: true } },
  ];
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return service.call('POST', '/api/v1/repos/diff-commit', { body });
}

/**
 * Applies a patch with real git, and returns the id of the resulting tree. The repository `apply` has only the commit
 * before the patch. If git had the new blob of a binary file, it would not use the data in the patch.
 */
async function apply(bench: Workbench, base: string, patch: string): Promise<string> {
  await bench.git('apply', 'fetch', '-q', '--no-tags', '../work', base);
  await bench.git('apply', 'read-tree', base);
  if (patch !== '')
    await bench.feed(Buffer.from(patch), 'apply', 'apply', '--cached', '--binary', '--whitespace=nowarn');
  return bench.git('apply', 'write-tree', '--missing-ok');
}

t.test('the concatenated patches of a diff turn any tree into any other, whatever the bytes', async (t) => {
  const random = new RandomText(SEED);
  const files = new Files(random);
  const commits = Array.from({ length: COMMITS }, (_, at) => {
    if (at > 0) files.change();
    return files.commit(at + 1);
  });
  const { service, bench, shas, treeOf } = await serve(t, commits);
  const pairs = shas.slice(1).map((sha, at) => [shas[at]!, sha] as const);
  for (let count = 0; count < 4; count++) pairs.push([random.pick(shas), random.pick(shas)]);
  let binary = 0;
  for (const [base, sha] of pairs) {
    const shown = await diff(service, { sha, base_sha: base, git_apply_compatible: 'true', path: '' });
    t.same(shown.filtered, [], 'whoever names a path sees everything');
    t.equal(await apply(bench, base, shown.patch), treeOf(sha), `${base}..${sha}`);
    for (const file of shown.files) t.equal(file.bytes, Buffer.byteLength(file.raw), file.path);
    binary += shown.files.filter(({ raw }) => raw.includes('\nGIT binary patch\n')).length;
  }
  t.ok(binary > 0, 'some of them were binary');
});

t.test('only files that are not UTF-8 become binary, and only with the flag', async (t) => {
  const names = Object.keys(LINES);
  const file = (line: string, more: string) => ({ mode: '100644', content: `${line}\none\n${more}` });
  const state = (more: string) => names.map((name) => entry(name, file(LINES[name]!, more))).join('');
  const commits = [1, 2].map((number) => new Files(new RandomText(1)).commit(number).split('deleteall\n')[0]!);
  const { service, bench, shas, treeOf } = await serve(t, [
    `${commits[0]}${state('two\n')}`,
    `${commits[1]}${state('three\nfour\n')}`,
  ]);
  const [base, sha] = shas as [string, string];
  const isText = (name: string) => {
    const bytes = Buffer.from(LINES[name]!, 'latin1');
    return Buffer.from(bytes.toString()).equals(bytes);
  };
  for (const query of [{ sha }, { sha, base_sha: base }] as Record<string, string>[]) {
    const shown = await diff(service, { ...query, git_apply_compatible: 'true' });
    t.same(shown.filtered, [], 'such files are shown without being named');
    t.same(
      shown.files.map(({ path }) => path),
      [...names].sort(),
    );
    for (const { path, raw, ...counts } of shown.files) {
      t.equal(raw.includes('\nGIT binary patch\n'), !isText(path), path);
      t.match(counts, { bytes: Buffer.byteLength(raw), additions: 2, deletions: 1, is_eof: true }, path);
    }
    t.equal(await apply(bench, base, shown.patch), treeOf(sha));
  }
  const plain = await diff(service, { sha });
  for (const { path, raw } of plain.files) t.match(raw, /^@@ -1,3 \+1,4 @@/m, `${path} without the flag`);
  t.equal(plain.files.length, names.length);
});

t.test('git apply --index and diff-commit accept the patches', async (t) => {
  const files = new Files(new RandomText(SEED + 1));
  const commits = [1, 2, 3, 4].map((number) => {
    files.change();
    return files.commit(number);
  });
  const { service, bench, shas, treeOf } = await serve(t, commits);
  for (const [at, sha] of shas.entries()) {
    const base = shas[at - 1];
    if (base === undefined) continue;
    const { patch } = await diff(service, { sha, gitApplyCompatible: 'true', path: '' });
    await bench.git('work', 'checkout', '-q', '-f', base);
    await bench.git('work', 'clean', '-q', '-ffdx');
    await bench.feed(Buffer.from(patch), 'work', 'apply', '--index', '--whitespace=nowarn');
    t.equal(await bench.git('work', 'write-tree'), treeOf(sha));
    t.equal(await bench.git('work', 'diff-files', '--name-only'), '', 'and the checkout has the same');

    await bench.git('work', 'push', '-q', await service.remote('team/app'), `${base}:refs/heads/at-${at}`);
    const written = await commitPatch(service, patch, `at-${at}`);
    t.match(written, { status: 201, json: { commit: { tree_sha: treeOf(sha) } } }, written.text.slice(0, 300));
  }
});

t.test('the patches of a branch comparison apply', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed('team/app', { latin: Buffer.from('gr\xf6\xdfe\n', 'latin1'), space: 'a b\n' });
  const changes = { latin: Buffer.from('gr\xf6\xdfer\n', 'latin1'), space: 'a  b\n' };
  await service.commit('team/app', changes, { target_branch: 'topic', base_branch: 'main' });
  const without = await diff(service, { branch: 'topic' }, 'branches/diff');
  t.match(without.files, [{ path: 'latin', raw: /^-gr\ufffd\ufffde$/m }]);
  for (const flag of ['git_apply_compatible', 'gitApplyCompatible']) {
    const { files, patch } = await diff(service, { branch: 'topic', [flag]: 'true' }, 'branches/diff');
    t.match(files, [
      { path: 'latin', raw: /^GIT binary patch$/m },
      { path: 'space', raw: /^\+a {2}b$/m },
    ]);
    const target = `by-${flag}`.toLowerCase().replaceAll('_', '-');
    await service.call('POST', '/api/repos/team%2Fapp/branches/create', {
      json: { target_branch: target, base_branch: 'main' },
    });
    t.equal((await commitPatch(service, patch, target)).status, 201);
    const file = await service.call('GET', `/api/v1/repos/file?path=latin&ref=${target}`);
    t.same(file.bytes, changes.latin);
  }
});

t.test('a patch with CR LF in all lines creates a commit, and a patch that git refuses stores nothing', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed('team/app', { crlf: 'a\r\nb\r\n', 'to move': 'x\n', file: 'f\n' });
  const change = 'diff --git a/crlf b/crlf\nindex 1..2 100644\n--- a/crlf\n+++ b/crlf\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n';
  const rename = 'diff --git a/to move b/moved\nsimilarity index 100%\nrename from to move\nrename to moved\n';
  const written = await commitPatch(service, `${change}${rename}`.replaceAll('\n', '\r\n'));
  t.match(written, { status: 201, json: { commit: { blob_count: 2 } } });
  t.equal((await service.call('GET', '/api/v1/repos/file?path=crlf')).text, 'a\r\nc\r\n');
  t.equal((await service.call('GET', '/api/v1/repos/file?path=moved')).text, 'x\n');

  const before = stateDigest(service.world);
  const created = (path: string) =>
    `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+1\n`;
  for (const patch of [
    created('file/below'),
    `${created('y')}${created('y/z')}`,
    created('y').replaceAll('\n', '\r\n').replace('+1', '1'),
  ]) {
    const refused = await commitPatch(service, patch);
    t.match(refused, { status: 400, json: { code: 'bad_request', detail: /does not apply/ } }, patch);
  }
  t.equal(stateDigest(service.world), before);
});
