import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { Workbench } from '../../git/test/workbench.js';
import type { Service } from '../service.js';
import { serveHistory } from './served-history.js';

// Compares the emulator's searches and archives with real git's output for the same repository.

interface FoundLine {
  readonly line_number: number;
  readonly text: string;
  readonly type: 'match' | 'context';
}

const show = (path: string, line: FoundLine) =>
  `${path}\0${line.line_number}${line.type === 'match' ? ':' : '-'}${line.text}`;

/**
 * Decodes a file name in git's output. Git quotes names with quotes or control characters. In this test, the quoted
 * names are valid JSON strings.
 */
const unquote = (name: string): string => (name.startsWith('"') ? JSON.parse(name) : name);

/** Searches a commit with `git grep`. Returns one string per found line. */
async function grepByGit(bench: Workbench, options: string[], pattern: string, ref: string): Promise<string[]> {
  const args = ['grep', '-n', '-E', '-I', '--heading', '--break', ...options, '-e', pattern, ref];
  const { status, stdout } = await bench.try('work', ...args);
  if (status !== 0) return [];
  let path = '';
  let isHeading = true;
  const lines: string[] = [];
  for (const line of Buffer.from(stdout, 'latin1').toString().replace(/\n$/, '').split('\n')) {
    if (isHeading) path = unquote(line.slice(ref.length + 1));
    else if (line !== '' && line !== '--') lines.push(`${path}\0${line}`);
    isHeading = line === '' || (isHeading && line === '');
  }
  return lines;
}

/**
 * Removes lines that only git reports. If a pattern matches the empty string, git reports an empty line after a file's
 * last line feed. The emulator does not.
 */
async function withoutPhantoms(git: (...args: string[]) => Promise<string>, lines: string[], ref: string) {
  const kept: string[] = [];
  for (const line of lines) {
    const [, path, number] = /^([^\0]*)\0(\d+)[:-]$/.exec(line) ?? [];
    const isReal = path === undefined || Number(number) <= (await git('show', `${ref}:${path}`)).split('\n').length;
    if (isReal) kept.push(line);
  }
  return kept;
}

async function grepHere(service: Service, body: Record<string, unknown>): Promise<string[]> {
  const lines: string[] = [];
  let cursor: string | null | undefined;
  do {
    const pagination = { ...(body.pagination as object), ...(cursor ? { cursor } : {}) };
    const { status, json, text } = await service.call('POST', '/api/v1/repos/grep', { json: { ...body, pagination } });
    if (status !== 200) throw new Error(text);
    for (const { path, lines: found } of json.matches) lines.push(...found.map((line: FoundLine) => show(path, line)));
    cursor = json.next_cursor;
  } while (cursor);
  return lines;
}

t.test('grep finds what git grep -E finds, with its context, on one page or many', async (t) => {
  await using served = await serveHistory(11, 40);
  const { service, bench, git } = served;
  const queries: [pattern: string, options: string[], extra: Record<string, unknown>][] = [
    ['alpha', [], {}],
    ['^alpha', [], {}],
    ['(alpha|beta) gamma', [], {}],
    ['größe', [], {}],
    ['[0-9]{2}$', ['-C2'], { context: { before: 2, after: 2 } }],
    ['GAMMA', ['-i'], { query: { pattern: 'GAMMA', case_sensitive: false } }],
    ['\\{', ['-B1'], { context: { before: 1 } }],
    ['^$', ['-A1'], { context: { after: 1 } }],
    ['語.*[1-5]', [], {}],
    ['nothing of the kind', [], {}],
  ];
  for (const ref of ['main']) {
    for (const [pattern, options, extra] of queries) {
      const body = { ref, query: { pattern }, ...extra };
      const expected = await withoutPhantoms(git, await grepByGit(bench, options, pattern, ref), ref);
      const wide = { pagination: { limit: 10_000 }, limits: { max_matches_per_file: 10_000 } };
      t.same(await grepHere(service, { ...body, ...wide }), expected, `${pattern} in ${ref}`);
      const isMatch = (line: string) => /^[^\0]*\0\d+:/.test(line);
      const matches = expected.filter(isMatch);
      for (const [limit, perFile, max] of [
        [1, 200, 2000],
        [3, 2, 2000],
        [5, 200, 4],
      ]) {
        if (matches.length > 60 && limit === 1) continue;
        const limits = { max_lines: max, max_matches_per_file: perFile };
        const paged = await grepHere(service, { ...body, pagination: { limit }, limits });
        t.same(paged.filter(isMatch), matches, `${pattern} in ${ref}, ${limit} matches a page`);
        t.same(
          paged.filter(
            (line) => !expected.includes(line) && !expected.includes(line.replace(/^([^\0]*\0\d+)-/, '$1:')),
          ),
          [],
        );
      }
    }
  }
});

t.test('an archive holds the tree git archive holds', async (t) => {
  await using served = await serveHistory(12, 40);
  const { service, bench, git } = served;
  const unpack = async (name: string, tar: Buffer, zipped: boolean) => {
    await mkdir(join(bench.path, name), { recursive: true });
    const { status, stderr } = await bench.run(name, 'tar', [zipped ? '-xzf' : '-xf', '-', '--no-same-owner'], tar);
    t.equal(status, 0, stderr);
    await bench.git(name, 'init', '-q', '-b', 'main', '.');
    await bench.git(name, 'add', '-A', '-f', '.');
    return bench.git(name, 'write-tree');
  };
  for (const [index, ref] of ['main', 'main~8', 'main~20'].entries()) {
    const response = await service.call('POST', '/api/v1/repos/archive', { json: { ref, archive: { prefix: 'p/q' } } });
    t.equal(response.status, 200);
    const tar = await bench.run('work', 'git', ['archive', '--format=tar', '--prefix=p/q/', ref]);
    const expected = Buffer.from(tar.stdout, 'latin1');
    t.equal(await unpack(`ours-${index}`, response.bytes, true), await unpack(`theirs-${index}`, expected, false), ref);
    const names = async (bytes: Buffer, zipped: boolean) =>
      (await bench.run('.', 'tar', [zipped ? '-tzf' : '-tf', '-', '--quoting-style=literal'], bytes)).stdout
        .split('\n')
        .sort();
    t.same(await names(response.bytes, true), await names(expected, false), 'the same entries');
  }
  const filtered = await service.call('POST', '/api/v1/repos/archive', {
    json: { include_globs: ['**/*.txt', '*.txt'], max_blob_size: 200 },
  });
  const listed = await bench.run('.', 'tar', ['-tzf', '-', '--quoting-style=literal'], filtered.bytes);
  const small = (await git('ls-tree', '-r', '-z', '--long', 'main'))
    .split('\0')
    .map((line) => /^1[02]0\d+ blob \w+ +(\d+)\t([\s\S]*\.txt)$/.exec(line))
    .filter((match) => match && Number(match[1]) <= 200)
    .map((match) => match![2]);
  const files = Buffer.from(listed.stdout, 'latin1').toString().split('\n');
  t.same(files.filter((name) => name !== '' && !name.endsWith('/')).sort(), small.sort());
});
