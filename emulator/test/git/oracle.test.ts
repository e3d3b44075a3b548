import { createHash } from 'node:crypto';
import t from 'tap';
import { randomNumbers } from '../../git/test/random-numbers.js';
import { serveHistory } from './served-history.js';

// Compares the emulator's responses about a repository with real git's output for it.

const SEEDS = [1, 2];

type Git = (...args: string[]) => Promise<string>;

interface TreeLine {
  readonly mode: string;
  readonly type: string;
  readonly oid: string;
  readonly size: string;
  readonly path: string;
}

async function treeOf(git: Git, ref: string, ...options: string[]): Promise<TreeLine[]> {
  const lines = (await git('ls-tree', '-z', '--long', ...options, ref)).split('\0').filter((line) => line !== '');
  return lines.map((line) => {
    const [, mode, type, oid, size, path] = /^(\d+) (\w+) (\w+) +(\S+)\t([\s\S]*)$/.exec(line)!;
    return { mode: mode!, type: type!, oid: oid!, size: size === '-' ? '0' : size!, path: path! };
  });
}

/** Returns a pathspec that matches only this path. Otherwise git would interpret special characters such as `*`. */
const literal = (path: string) => `:(literal)${path}`;

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}

/**
 * Returns the exact message of a commit, except that one final line feed is missing. The `git` function of this test
 * removes it from any output.
 */
async function messageOf(git: Git, sha: string): Promise<string> {
  const raw = await git('cat-file', 'commit', sha);
  return raw.slice(`${raw}\n`.indexOf('\n\n') + 2);
}

/** Computes the id of a blob: the SHA-1 of `blob`, a space, the length in bytes, a NUL and the content. */
function blobId(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

for (const seed of SEEDS) {
  const served = serveHistory(seed, 60);
  t.teardown(async () => (await served)[Symbol.asyncDispose]());

  t.test(`history ${seed}: who touched each path last, and sizes and modes`, async (t) => {
    const { service, git } = await served;
    for (const ref of ['main', 'main~7', 'v1^{}^']) {
      const { json } = await service.call('GET', `/api/v1/repos/files/metadata?ref=${encodeURIComponent(ref)}`);
      const expected: string[] = [];
      for (const { mode, size, path } of await treeOf(git, ref, '-r')) {
        expected.push(`${mode} ${size} ${await git('log', '-1', '--format=%H', ref, '--', literal(path))} ${path}`);
      }
      t.same(
        json.files.map(
          (file: Record<string, unknown>) => `${file.mode} ${file.size} ${file.last_commit_sha} ${file.path}`,
        ),
        expected,
        ref,
      );
      const touched = new Set(json.files.map((file: { last_commit_sha: string }) => file.last_commit_sha));
      t.same(new Set(Object.keys(json.commits)), touched, 'one summary per distinct commit');
      for (const [sha, summary] of Object.entries<Record<string, string>>(json.commits)) {
        const [author, date] = (await git('log', '-1', '--format=%an%n%aI', sha)).split('\n');
        t.same([summary.author, Date.parse(summary.date!)], [author, Date.parse(date!)], sha);
        t.equal(summary.message!.replace(/\n$/, ''), await messageOf(git, sha), sha);
      }
    }
  });

  t.test(`history ${seed}: lists of commits, whole and of a path, page by page`, async (t) => {
    const { service, git } = await served;
    const all = async (query: string) => {
      const shas: string[] = [];
      for (let cursor = ''; cursor !== '&cursor=null'; ) {
        const { status, json } = await service.call('GET', `/api/v1/repos/commits?limit=7${query}${cursor}`);
        if (status !== 200) return status;
        shas.push(...json.commits.map(({ sha }: { sha: string }) => sha));
        cursor = `&cursor=${json.next_cursor}`;
      }
      return shas;
    };
    const heads = linesOf(await git('for-each-ref', '--format=%(refname:short)', 'refs/heads'));
    for (const head of heads) t.same(await all(`&ref=${head}`), linesOf(await git('log', '--format=%H', head)), head);
    const paths = (await treeOf(git, 'main', '-r', '-t')).map(({ path }) => path);
    for (const path of paths) {
      const expected = linesOf(await git('log', '--format=%H', 'main', '--', literal(path)));
      t.same(await all(`&path=${encodeURIComponent(path)}`), expected, path);
    }
    const format = '%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%aI';
    const { json } = await service.call('GET', '/api/v1/repos/commits?limit=100');
    const records = linesOf(await git('log', `--format=${format}`)).map((line) => line.split('\0'));
    t.same(
      json.commits.map((commit: Record<string, string> & { parent_shas: string[] }) => [
        commit.sha,
        commit.parent_shas.join(' '),
        commit.author_name,
        commit.author_email,
        commit.committer_name,
        commit.committer_email,
        Date.parse(commit.date!),
      ]),
      records.map((record) => [...record.slice(0, 6), Date.parse(record[6]!)]),
    );
    for (const { sha, message } of json.commits) {
      t.equal(message.replace(/\n$/, ''), await messageOf(git, sha), sha);
    }
  });

  t.test(`history ${seed}: revisions, trees and bytes`, async (t) => {
    const { service, git, bench } = await served;
    const revisions = [
      'main',
      'HEAD',
      'main~3',
      'main^',
      'main^2',
      'v1',
      'v1^{}',
      'v1~2^{commit}',
      'main~2^2~1',
      'c1',
      'nothing',
    ];
    const some = linesOf(await git('rev-list', '--all')).filter((_, index) => index % 9 === 0);
    for (const revision of [...revisions, ...some.map((oid) => oid.slice(0, 12))]) {
      const expected = await bench.try('work', 'rev-parse', '--verify', '-q', `${revision}^{commit}`);
      const { status, json } = await service.call('GET', `/api/v1/repos/commit?sha=${encodeURIComponent(revision)}`);
      t.equal(
        status === 200 ? json.commit.sha : status,
        expected.status === 0 ? expected.stdout.trim() : 404,
        revision,
      );
    }
    for (const ref of ['main', 'main~11']) {
      for (const [options, query] of [
        [['-r'], ''],
        [[], '&recursive=false'],
      ] as const) {
        const shown = await service.call('GET', `/api/v1/repos/files?ref=${encodeURIComponent(ref)}${query}`);
        t.same(
          shown.json.entries.map(({ mode, path }: { mode: string; path: string }) => `${mode} ${path}`),
          (await treeOf(git, ref, ...options)).map(({ mode, path }) => `${mode} ${path}`),
        );
      }
      for (const { type, oid, path } of await treeOf(git, ref, '-r')) {
        if (type !== 'blob') continue;
        const query = `path=${encodeURIComponent(path)}&ref=${encodeURIComponent(ref)}`;
        const file = await service.call('GET', `/api/v1/repos/file?${query}`);
        t.equal(file.headers['x-blob-sha'], oid, path);
        t.equal(blobId(file.bytes), oid, `${path}: every byte`);
        t.equal(file.headers['x-last-commit-sha'], await git('log', '-1', '--format=%H', ref, '--', literal(path)));
      }
    }
  });
}

t.test('branch names are the ones git check-ref-format takes', async (t) => {
  await using served = await serveHistory(3, 3);
  const { service, bench } = served;
  const random = randomNumbers(7);
  const parts = [
    'a',
    'B',
    '.',
    '..',
    '/',
    '-',
    '@',
    '{',
    '~',
    '^',
    ':',
    '?',
    '*',
    '[',
    '\\',
    ' ',
    '\x7f',
    '\t',
    'ü',
    '.lock',
    'HEAD',
    'refs/',
  ];
  const made = Array.from({ length: 80 }, () =>
    Array.from({ length: 1 + random(4) }, () => parts[random(parts.length)]).join(''),
  );
  const names = new Set([
    '-x',
    'x.lock',
    'a..b',
    'a/.b',
    'a.',
    '/a',
    'a/',
    'a//b',
    'a@{b',
    'x^{}',
    '0'.repeat(40),
    'e\u0301',
    ...made,
  ]);
  let refused = 0;
  for (const name of names) {
    const { status } = await bench.try('work', 'check-ref-format', '--branch', name);
    // Ask git with two commands, because `--branch` also expands `@{-1}` and similar text, which is not a branch name.
    // Unlike git, the API also refuses `HEAD`, its alias `@`, and names that begin with `refs/`.
    const plain = await bench.try('work', 'check-ref-format', `refs/heads/${name}`);
    const isGood = status === 0 && plain.status === 0 && !['HEAD', '@'].includes(name) && !name.startsWith('refs/');
    const created = await service.call('POST', '/api/v1/repos/branches/create', {
      json: { target_branch: name, base_branch: 'main' },
    });
    if (!isGood) refused += 1;
    t.ok(
      isGood ? [200, 409].includes(created.status) : created.status === 400,
      `${JSON.stringify(name)}: ${created.text}`,
    );
  }
  t.ok(refused > 30 && names.size - refused > 5, `both kinds were tried: ${refused} of ${names.size} refused`);
  await bench.git('.', 'clone', '-q', '--mirror', await service.remote('team/app'), 'mirror.git');
  await bench.git('mirror.git', 'fsck', '--strict', '--no-dangling');
});
