import t, { type Test } from 'tap';
import { GeneratedHistory } from '../../git/test/generated-history.js';
import { ScratchGit, Workbench } from '../../git/test/workbench.js';
import { startAdmin } from './admin-service.js';

/** Starts an emulator with a repository `r`. It has all refs of the repository `git`. */
async function served(t: Test, git: ScratchGit) {
  const service = await startAdmin(t, { fsck: 'off' });
  const bench = await Workbench.create();
  t.teardown(() => bench[Symbol.asyncDispose]());
  await service.call('POST', '/api/repos', { repo: 'r' });
  await bench.git('.', '-C', git.path, 'push', '-q', await service.remote('r'), 'refs/*:refs/*');
  return (query: Readonly<Record<string, string>>) =>
    service.admin('GET', `/repositories/r/compare?${new URLSearchParams(query)}`);
}

const DIFF = ['diff', '-M', '--full-index', '--no-color'];

t.test('a comparison equals git merge-base, git rev-list and git diff', async (t) => {
  using generated = new GeneratedHistory({ seed: 41, commits: 120, skew: 40 });
  const { git } = generated;
  const compare = await served(t, git);
  let related = 0;
  for (let round = 0; round < 15; round++) {
    const [base, head] = [generated.pick(), generated.pick()];
    const [mergeBase = null] = git.try(['merge-base', '--all', base, head]).stdout.toString().trim().split('\n');
    const merge_base = mergeBase === '' ? null : mergeBase;
    const [behind, ahead] = git
      .run(['rev-list', '--left-right', '--count', `${base}...${head}`])
      .split('\t')
      .map(Number);
    for (const direct of ['false', 'true']) {
      const { status, json } = await compare({ base, head, direct });
      t.equal(status, 200);
      t.match(json, { base, head, merge_base, ahead, behind }, `${base} ${head}`);
      t.same(
        json.commits.map(({ oid }: { oid: string }) => oid),
        generated.lines('rev-list', '--max-count=100', `${base}..${head}`),
      );
      const first = direct === 'true' ? base : merge_base;
      if (first === null) {
        t.equal(json.diff, null, 'without a merge base');
        continue;
      }
      related++;
      t.match(json.diff, { oid: head, base: first, is_truncated: false });
      const patches = json.diff.files.map(({ patch }: { patch: string }) => patch).join('');
      t.equal(patches, git.try([...DIFF, first, head]).stdout.toString(), `${first} ${head}`);
    }
  }
  t.ok(related > 15);
});

t.test('refs, the default branch, one file and at most 100 commits', async (t) => {
  using git = new ScratchGit();
  const commit = (content: string, ...parents: string[]) => {
    const blob = git.run(['hash-object', '-w', '--stdin'], content);
    const tree = git.run(['mktree'], `100644 blob ${blob}\ta.txt\n100644 blob ${blob}\tb.txt\n`);
    return git.run(['commit-tree', tree, '-m', `change ${content}`, ...parents.flatMap((one) => ['-p', one])]);
  };
  const root = commit('root\n');
  git.run(['update-ref', 'refs/heads/main', root]);
  git.run(['update-ref', 'refs/heads/orphan', commit('other\n')]);
  let tip = root;
  for (let n = 0; n < 101; n++) tip = commit(`${n}\n`, tip);
  git.run(['update-ref', 'refs/heads/topic', tip]);
  git.run(['tag', '-a', '-m', 'tagged', 'v1', tip]);
  const compare = await served(t, git);

  const { json } = await compare({ head: 'refs/heads/topic' });
  t.match(json, { base: root, head: tip, merge_base: root, ahead: 101, behind: 0 }, 'with the default branch');
  t.equal(json.commits.length, 100);
  t.match(json.commits[0], { oid: tip, subject: 'change 100', author: String });
  t.match((await compare({ base: 'v1', head: root.slice(0, 10) })).json, {
    ahead: 0,
    behind: 101,
    diff: { files: [] },
  });
  t.match((await compare({ base: 'v1', head: root, direct: 'true' })).json, { diff: { stats: { files: 2 } } });
  t.match((await compare({ base: 'topic', head: 'v1' })).json, { ahead: 0, behind: 0, commits: [], merge_base: tip });
  t.match((await compare({ head: 'topic', path: 'b.txt' })).json.diff.files, [{ path: 'b.txt', state: 'M' }]);
  t.match((await compare({ head: 'orphan' })).json, { merge_base: null, ahead: 1, behind: 1, diff: null });
  t.match((await compare({ head: 'orphan', direct: 'true' })).json.diff, { base: root, stats: { files: 2 } });

  for (const [query, status, code, detail] of [
    [{ base: 'none', head: 'topic' }, 404, 'ref_not_found', /named none/],
    [{ base: 'main', head: 'f'.repeat(40) }, 404, 'ref_not_found', /f{40}/],
    [{ head: 'a..b' }, 400, 'bad_request', /a\.\.b/],
    [{ head: 'topic', direct: 'yes' }, 400, 'bad_request', /direct: must be true or false/],
    [{ head: 'topic', path_bytes: '*' }, 400, 'bad_request', /^path_bytes must be/],
  ] as const)
    t.match(await compare(query), { status, json: { code, detail } }, JSON.stringify(query));
});
