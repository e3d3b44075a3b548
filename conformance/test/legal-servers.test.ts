import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { callAdmin } from '../http/admin.js';
import { run } from '../index.js';
import type { Target } from '../target/target.js';
import { expectRight } from './legal/expect-right.js';
import { HIDES_NOTES, TRUNK_IS_DEFAULT, UNTYPICAL_ARCHIVE } from './legal/rewrites.js';
import { type Files, seed } from './legal/seed.js';
import { startProxy } from './mutants/proxy.js';
import { sample } from './sample.js';
import { startNamespace } from './shared-emulator.js';

const emulator = await startNamespace(t);

/**
 * Returns a copy of an emulator's target that looks like a production service. The copy has no admin API and none of
 * the routes that are missing from the specification.
 */
function deployment({ adminUrl: _, ...target }: Target): Target {
  return { ...target, companion: false };
}

const TREE: Files = { 'src/deep/tool.bin': Buffer.from([0, 1, 2]), 'notes/later.txt': 'later\n' };

/**
 * Repositories that the suite did not create, such as an empty one. If a repository lacks the content that a rule
 * needs, the rule must be skipped and give this as the reason.
 */
const REPOSITORIES: readonly {
  readonly name: string;
  readonly is: string;
  readonly branch: string;
  readonly commits: readonly Files[];
  /** Ids of rules that must pass. `skipped` has the ids of rules that must be skipped. */
  readonly checked: readonly string[];
  readonly skipped: readonly string[];
}[] = [
  {
    name: 'team/Thing',
    is: 'with another default branch and no README.md',
    branch: 'trunk',
    commits: [TREE, { 'notes/later.txt': 'even later\n' }],
    checked: ['commit.get.route', 'file.route', 'filemeta.route', 'state.active', 'limit.page.next_cursor'],
    skipped: [],
  },
  {
    name: 'UPPER',
    is: 'with a name in capitals and one commit',
    branch: 'release/1.x',
    commits: [{ 'a b/é.txt': 'é\n' }],
    checked: ['commit.get.route', 'file.route', 'auth.repo-claim.path-case', 'limit.page.next_cursor'],
    skipped: [],
  },
  {
    name: 'binary',
    is: 'with nothing but an empty file',
    branch: 'main',
    commits: [{ empty: '' }],
    checked: ['file.route', 'grep.route'],
    skipped: [],
  },
  {
    name: 'unborn',
    is: 'without commits',
    branch: 'main',
    commits: [],
    checked: ['repo.get.route', 'git.challenge.401'],
    skipped: ['commit.get.route', 'file.route', 'grep.err.400.regex', 'scope.matrix.archive.git-read'],
  },
];

for (const { name, is, branch, commits, checked, skipped } of REPOSITORIES) {
  t.test(`a repository ${is} is read; rules that need other content are skipped`, async (t) => {
    await seed(emulator, name, branch, ...commits);
    const target = { ...emulator, write: false, repo: name };
    // Run with admin access for only one repository. Such a run repeats the reads under conditions such as faults,
    // which takes longer and does not depend on the repository.
    for (const one of name === 'team/Thing' ? [deployment(target), target] : [deployment(target)]) {
      const report = await run(one);
      expectRight(t, report, `${name}, ${one.adminUrl === undefined ? 'deployed' : 'on an emulator'}`);
      const verdicts = new Map(report.rules.map(({ id, verdict }) => [id, verdict]));
      for (const id of checked) t.equal(verdicts.get(id), 'pass', id);
      for (const id of skipped) t.equal(verdicts.get(id), 'skip', id);
    }
  });
}

t.test('an organization with one repository has lists as well', async (t) => {
  const single = await startNamespace(t);
  await seed(single, 'only', 'main', TREE);
  const deployed = deployment({ ...single, write: false, repo: 'only' });
  const one = await run(deployed);
  expectRight(t, one, 'one repository, one commit');
  const reasons = one.rules.filter(({ id }) => /^limit\.(list\.param|page\.next_cursor)$/.test(id));
  t.same(
    reasons.map(({ verdict, reason }) => `${verdict}: ${reason}`),
    Array(2).fill('skip: needs two commits on the default branch, or two repositories'),
  );
  expectRight(t, await run({ ...deployed, repo: undefined as never }), 'no repository named');
});

t.test('file metadata may refuse a repository for its size', async (t) => {
  const strict = await startNamespace(t, { limits: { maxMetadataCommits: 1 } });
  await seed(strict, 'large', 'main', TREE, { 'next.txt': 'next\n' });
  const report = await run(deployment({ ...strict, write: false, repo: 'large' }));
  expectRight(t, report, 'a repository beyond the limit');
  const reasons = report.rules.filter(({ id }) => /^(filemeta\.route|scope\.matrix\.filemeta\.git-read)$/.test(id));
  t.same(
    reasons.map(({ verdict, reason }) => `${verdict}: ${reason}`),
    Array(2).fill('skip: file metadata of large is 429, because it has too many commits'),
  );
});

t.test('a restricted key may have any scopes', async (t) => {
  const lists = [['git:write'], ['org:read'], ['repo:write'], ['git:write', 'repo:write', 'org:read']];
  for (const allowedScopes of sample(t, lists, 1)) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const json = { public_key: publicKey.export({ type: 'spki', format: 'pem' }), allowed_scopes: allowedScopes };
    await callAdmin({ url: `${emulator.adminUrl}/keys`, method: 'POST', json });
    const restrictedKey = { file: 'restricted.pem', algorithm: 'ES256' as const, privateKey };
    for (const target of [
      { ...emulator, restrictedKey: { ...restrictedKey, allowedScopes } },
      deployment({ ...emulator, restrictedKey }),
    ]) {
      const report = await run(target, { only: 'restricted,key' });
      const title = `${allowedScopes}${target.adminUrl === undefined ? ', which nobody said' : ''}`;
      expectRight(t, report, title);
      // This run must not create repositories. Only by creating one can the suite find out whether a key may sign for
      // repo:write. It therefore skips the rule unless the target file states that scope.
      const expected = title === 'repo:write, which nobody said' ? 'skip' : 'pass';
      const late = report.rules.find(({ id }) => id === 'restricted.lifetime.3601');
      t.equal(late?.verdict, expected, `${title}: a token that lives too long is tried where a scope allows it`);
    }
  }
});

t.test('the default branch of new repositories may have another name than main', async (t) => {
  await using proxy = await startProxy(emulator, TRUNK_IS_DEFAULT);
  expectRight(t, await run(proxy.target), 'trunk is the default branch');
});

t.test('Git need not show notes', async (t) => {
  await using proxy = await startProxy(emulator, HIDES_NOTES);
  for (const target of [proxy.target, deployment(proxy.target)]) {
    const report = await run(target, { only: 'note' });
    const title = target.companion ? 'a route reads them' : 'nothing reads them';
    t.same(
      report.rules.filter(({ verdict }) => verdict === 'warn').map(({ id }) => id),
      ['note.git-visible'],
      title,
    );
    t.same([report.counts.fail, report.counts.error, report.exit_code], [0, 0, 0], title);
    const verdicts = new Map(report.rules.map(({ id, verdict }) => [id, verdict]));
    t.equal(verdicts.get('note.expected.mismatch'), 'pass', title);
    t.equal(verdicts.get('note.action.append.existing'), target.companion ? 'pass' : 'skip', title);
  }
});

t.test('an archive need not be typical', async (t) => {
  await using proxy = await startProxy(emulator, UNTYPICAL_ARCHIVE);
  const report = await run(proxy.target, { only: 'archive,scope.matrix.archive,state.active' });
  const warned = report.rules.filter(({ verdict }) => verdict === 'warn').map(({ id }) => id);
  t.same(warned, [
    'archive.prefix.default',
    'archive.header.content-type',
    'archive.header.disposition',
    'archive.header.cache-control',
  ]);
  t.same([report.counts.fail, report.counts.error, report.exit_code], [0, 0, 0]);
});
