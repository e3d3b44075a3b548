import { createHash } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { serveHistory } from './served-history.js';

// Compares the emulator's responses about blame and diff with real git's output for the same repository.

interface BlamedLine {
  readonly [member: string]: string;
}

/**
 * Parses the output of `git blame --line-porcelain`. Returns one record per line of the file, with the API's member
 * names.
 */
function parseBlame(porcelain: string): BlamedLine[] {
  const lines: BlamedLine[] = [];
  let line: Record<string, string> = {};
  for (const text of porcelain.split('\n')) {
    const [word, ...rest] = text.split(' ');
    const value = rest.join(' ');
    if (/^[0-9a-f]{40}$/.test(word!)) line = { commit_sha: word!, original: rest[0]!, final: rest[1]! };
    else if (text.startsWith('\t')) lines.push(line);
    else if (word === 'previous') line.previous = rest[0]!;
    else if (word!.endsWith('-mail')) line[word!] = value.slice(1, -1);
    else line[word!] = value;
  }
  return lines;
}

t.test('blame names for every line what git blame names', async (t) => {
  await using served = await serveHistory(13, 40);
  const { service, git } = served;
  for (const ref of ['main', 'main~8']) {
    const tree = (await git('ls-tree', '-r', '-z', ref)).split('\0').filter((line) => / blob /.test(line));
    for (const path of tree.map((line) => line.slice(line.indexOf('\t') + 1))) {
      const expected = parseBlame(await git('blame', '--line-porcelain', ref, '--', path));
      const query = `path=${encodeURIComponent(path)}&ref=${encodeURIComponent(ref)}`;
      const { json } = await service.call('GET', `/api/v1/repos/blame?${query}`);
      t.same(
        json.lines.map((line: Record<string, string>) => [
          line.line_number,
          line.commit_sha,
          line.original_line_number,
          line.previous_commit_sha,
          line.author_name,
          line.author_email,
          Date.parse(line.author_time!) / 1000,
          line.committer_name,
          Date.parse(line.committer_time!) / 1000,
          line.summary,
        ]),
        expected.map((line) => [
          Number(line.final),
          line.commit_sha,
          Number(line.original),
          line.previous,
          line.author,
          line['author-mail'],
          Number(line['author-time']),
          line.committer,
          Number(line['committer-time']),
          line.summary,
        ]),
        `${path} at ${ref}`,
      );
    }
  }
});

t.test('diffs apply with git apply, and count as git diff --numstat', async (t) => {
  await using served = await serveHistory(14, 30);
  const { service, bench, git } = served;
  const commits = (await git('rev-list', '--all')).split('\n');
  const pairs: [base: string | undefined, commit: string][] = commits.map((commit) => [undefined, commit]);
  for (let at = 0; at + 9 < commits.length; at += 7)
    pairs.push([commits[at]!, commits[at + 9]!], [commits[at + 9]!, commits[at]!]);
  const seen = new Set<string>();
  for (const [named, commit] of pairs) {
    const parent = named ?? (await bench.try('work', 'rev-parse', '--verify', '-q', `${commit}^1`)).stdout.trim();
    const base = parent === '' ? await git('hash-object', '-t', 'tree', '/dev/null') : parent;
    const query = `sha=${commit}&git_apply_compatible=true&path=${named === undefined ? '' : `&base_ref=${named}`}`;
    const { status, json, text } = await service.call('GET', `/api/v1/repos/diff?${query}`);
    t.equal(status, 200, text.slice(0, 200));
    t.same(json.filtered_files, [], 'whoever names a path sees everything below it');
    const numstat = (await git('diff', '--numstat', '-z', '-M', '--diff-algorithm=myers', base, commit)).split('\0');
    const counts = new Map<string, string>();
    for (let at = 0; at + 1 < numstat.length; ) {
      const [added, removed, path] = numstat[at]!.split('\t') as [string, string, string];
      counts.set(path === '' ? numstat[at + 2]! : numstat[at]!.split('\t').slice(2).join('\t'), `${added} ${removed}`);
      at += path === '' ? 3 : 1;
    }
    const files: { path: string; state: string; raw: string; additions: number; deletions: number }[] = json.files;
    t.same(
      files.map((file) => `${file.path} ${file.additions} ${file.deletions}`).sort(),
      [...counts].map(([path, count]) => `${path} ${count.replaceAll('-', '0')}`).sort(),
      `${base}..${commit}`,
    );
    for (const file of files) seen.add(file.state[0]!);
    const index = join(bench.path, `index-${createHash('sha1').update(query).digest('hex')}`);
    const withIndex = (args: string[], input = '') =>
      bench.run('work', 'env', [`GIT_INDEX_FILE=${index}`, 'git', ...args], Buffer.from(input));
    await withIndex(['read-tree', base]);
    const patch = files.map((file) => file.raw).join('');
    if (patch !== '') {
      const applied = await withIndex(['apply', '--cached', '--binary', '--whitespace=nowarn'], patch);
      t.equal(applied.status, 0, applied.stderr);
    }
    t.equal(
      (await withIndex(['write-tree'])).stdout.trim(),
      await git('rev-parse', `${commit}^{tree}`),
      'the tree comes out',
    );
  }
  t.same([...seen].sort(), ['A', 'D', 'M', 'R', 'T'], 'every kind of change was there');
});
