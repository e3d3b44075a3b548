import { getFile, getRepo, listRepos, reader } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectCode, expectOneOf, expectSame, expectStatus, expectSuccess, expectTrue } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import { README } from '../../fixtures/content.js';
import { listRefs } from '../../git/refs.js';
import { defineRules, type RuleRow } from '../rule.js';
import { callOperation } from './call-operation.js';
import type { OperationRequest } from './operation.js';
import { MERGER } from './operations.js';
import { FAMILIES, type Family, TestRepository } from './test-repository.js';

/** Calls an operation of a test repository and expects success. Skips the rule if the target lacks the route. */
type Ask = (name: string, request: OperationRequest) => Promise<ApiResponse>;

/**
 * Defines a rule about the effect of an operation. The specification only names the operation, so the rule uses the
 * routes of published clients. Each family of routes is checked on a new repository.
 */
function effect(
  id: string,
  says: string,
  clauses: RuleRow['clauses'],
  check: (repository: TestRepository, ask: Ask, family: Family) => Promise<void>,
): RuleRow {
  return {
    id: `other.effect.${id}`,
    says,
    ...(clauses && { clauses }),
    reach: 'needs-setup',
    writes: true,
    check: async (t) => {
      t.needsCompanion();
      for (const family of FAMILIES) {
        const repository = await TestRepository.create(t);
        const ask: Ask = async (name, request) => {
          const response = await callOperation(repository, name, family, request);
          if (response.code === 'route_not_found') throw new Skip(`the target has no route of ${name}`);
          return expectSuccess(response);
        };
        await check(repository, ask, family);
      }
    },
  };
}

/** Returns all refs of the repository as Git shows them. The result is a plain object, so that it can be compared. */
async function refsOf({ t, name }: TestRepository): Promise<Record<string, string>> {
  return Object.fromEntries([...(await listRefs(t, name, reader(name)))].sort());
}

/** Permitted responses to a request for a deleted repository (ambiguity A16). */
const GONE = ['404 repository_not_found', '409 repository_deleted'];

const head = (branch: string): string => `refs/heads/${branch}`;
const tag = (name: string): string => `refs/tags/${name}`;

export const effects = defineRules('Other endpoints', 'other-effects', [
  effect(
    'branches',
    'Creating or deleting a branch changes only this branch.',
    {
      'create-at-base': 'A created branch points to the tip of its base branch.',
      'create-only': 'Creating a branch changes no other ref.',
      delete: 'A deleted branch no longer exists.',
      'delete-only': 'Deleting a branch changes no other ref.',
      read: 'Reading one branch returns the branch that the request names.',
      list: 'The list of branches has every branch with its tip.',
    },
    async (repository, ask) => {
      const { t, name } = repository;
      const base = await repository.createBranch();
      const before = await refsOf(repository);
      const tip = before[head(base)];
      const one = repository.unusedName('one');
      const longer = `${one}-longer`;
      for (const target_branch of [one, longer])
        await ask('create branch', { json: { target_branch, base_branch: base } });
      const created = { ...before, [head(one)]: tip, [head(longer)]: tip };
      expectSame(await refsOf(repository), created, 'exactly two branches must be created, at the tip of their base');
      for (const branch of [t.defaultBranch, longer]) {
        const { branch: record } = (await ask('get branch', { query: { name: branch } })).record();
        const { name: shown, head_sha } = Object(record);
        expectSame(
          [shown, head_sha],
          [branch, created[head(branch)]],
          'the branch that the request names must be read',
        );
      }
      const listed = (await ask('list branches', {})).records('branches');
      const heads = listed.map((branch) => [head(String(branch.name)), String(branch.head_sha)] as const);
      const expected = Object.entries(created).filter(([ref]) => ref.startsWith('refs/heads/'));
      expectSame(Object.fromEntries(heads.sort()), Object.fromEntries(expected), 'the list must have every branch');
      await ask('delete branch', { json: { name: one } });
      const left = await refsOf(repository);
      expectTrue(!(head(one) in left), 'a deleted branch must no longer exist', left[head(one)]);
      const { [head(one)]: _, ...others } = created;
      expectSame(left, others, 'the deletion of a branch must change no other ref');
      expectStatus(await t.get('/api/v1/repos/commit', { as: reader(name), query: { sha: one } }), 404);
      const again = await callOperation(repository, 'delete branch', 'v1', { json: { name: one } });
      expectOneOf(again.outcome, ['404 branch_not_found', '404 ref_not_found', '404 not_found'], 'no such branch');
    },
  ),
  effect(
    'tags',
    'Creating or deleting a tag changes only this tag.',
    {
      'create-at-target': 'A created tag points to the commit that the request names.',
      'create-only': 'Creating a tag changes no other ref.',
      delete: 'A deleted tag no longer exists.',
      'delete-only': 'Deleting a tag changes no other ref.',
      read: 'Reading one tag returns the tag that the request names.',
      list: 'The list of tags has every tag with its commit.',
    },
    async (repository, ask, family) => {
      const older = repository.tip;
      const newer = await repository.createCommit();
      const before = await refsOf(repository);
      const one = repository.unusedName('v');
      const longer = `${one}-longer`;
      const targets = { [one]: newer, [longer]: older };
      for (const [name, target] of Object.entries(targets)) await ask('create tag', { json: { name, target } });
      const created = { ...before, [tag(one)]: newer, [tag(longer)]: older };
      expectSame(await refsOf(repository), created, 'exactly two tags must be created, at their commits');
      for (const [name, target] of Object.entries(targets)) {
        const { tag: record } = (await ask('get tag', { query: { name } })).record();
        const { name: shown, sha } = Object(record);
        expectSame([shown, sha], [name, target], 'the tag that the request names must be read');
      }
      const listed = (await ask('list tags', {})).records('tags');
      expectSame(
        Object.fromEntries(listed.map(({ name, sha }) => [name, sha])),
        targets,
        'the list must have every tag',
      );
      await ask('delete tag', family === 'v1' ? { json: { name: one } } : { params: { tag: one } });
      const left = await refsOf(repository);
      expectTrue(!(tag(one) in left), 'a deleted tag must no longer exist', left[tag(one)]);
      const { [tag(one)]: _, ...others } = created;
      expectSame(left, others, 'the deletion of a tag must change no other ref');
    },
  ),
  effect(
    'update-repository',
    'Updating the default branch changes the record, and the branch of reads without a ref.',
    {
      record: 'The record has the new default branch.',
      reads: 'A read without a ref reads the new default branch.',
      only: 'Updating the default branch changes no ref.',
    },
    async (repository, ask) => {
      const { t, name } = repository;
      const branch = await repository.createBranch();
      const path = `${branch}.txt`;
      expectStatus(await getFile(t, name, { path }), 404);
      const { HEAD: _, ...before } = await refsOf(repository);
      await ask('update repository', { json: { default_branch: branch } });
      expectSame(
        (await getRepo(t, name)).find('default_branch'),
        branch,
        'the record must have the new default branch',
      );
      expectStatus(await getFile(t, name, { path }), 200);
      const { HEAD: __, ...after } = await refsOf(repository);
      expectSame(after, before, 'no ref but HEAD may change');
    },
  ),
  effect(
    'delete-repository',
    'Deleting a repository removes it, and nothing else.',
    {
      delete: 'A deleted repository is no longer served.',
      every: 'Every operation refuses a deleted repository.',
      only: 'Deleting a repository leaves other repositories in place, also one whose name begins with the same text.',
    },
    async (repository, ask) => {
      const { t, name } = repository;
      const { name: other } = await TestRepository.create(t);
      await ask('delete repository', {});
      expectOneOf((await getRepo(t, name)).outcome, GONE, 'a deleted repository must not be served');
      expectStatus(await getRepo(t, other), 200);
      expectStatus(await getFile(t, other, { path: README }), 200);
      const { repos } = (await listRepos(t, { limit: '100' })).record();
      const isListed = Array.isArray(repos) && repos.some((record) => Object(record).url === name);
      expectTrue(!isListed, 'a deleted repository must not be listed', name);
      const requests: Readonly<Record<string, OperationRequest>> = {
        'get commit': { query: { sha: t.defaultBranch } },
        'list commits': {},
        'list branches': {},
        'list tags': {},
        grep: { json: { query: { pattern: 'e' } } },
        archive: { json: {} },
      };
      for (const [operation, request] of Object.entries(requests)) {
        const response = await callOperation(repository, operation, 'v1', request);
        expectOneOf(response.outcome, GONE, `${operation} must refuse a deleted repository`);
      }
    },
  ),
  effect(
    'merge',
    'A merge moves the target branch to the merged commit, and no other ref.',
    {
      target: 'The target branch has the files of both branches.',
      only: 'A merge changes no other ref than the target branch.',
    },
    async (repository, ask) => {
      const { t, name } = repository;
      const [source_branch, target_branch] = [await repository.createBranch(), await repository.createBranch()];
      const before = await refsOf(repository);
      await ask('merge preview', { query: { source_branch, target_branch } });
      expectSame(await refsOf(repository), before, 'a merge preview must change no ref');
      const merged = await ask('merge', { json: { source_branch, target_branch, strategy: 'merge', ...MERGER } });
      const after = await refsOf(repository);
      expectSame(after, { ...before, [head(target_branch)]: merged.string('commit_sha') }, 'only the target may move');
      for (const branch of [source_branch, target_branch])
        expectStatus(await getFile(t, name, { path: `${branch}.txt`, ref: target_branch }), 200);
    },
  ),
  effect(
    'notes',
    'Reading and deleting a note concern the note of the commit that the request names.',
    {
      read: 'Reading a note returns the text of the note of the commit.',
      delete: 'A deleted note no longer exists.',
    },
    async (repository, ask, family) => {
      const [one, two] = [await repository.createCommit('first note'), await repository.createCommit('second note')];
      const read = async (sha: string) => (await ask('read note', { query: { sha } })).string('note').trimEnd();
      expectSame(
        [await read(one), await read(two)],
        ['first note', 'second note'],
        'each commit must have its own note',
      );
      await ask('delete note', { json: { sha: one } });
      expectStatus(await callOperation(repository, 'read note', family, { query: { sha: one } }), 404);
      expectSame(await read(two), 'second note', 'the note of another commit must not change');
    },
  ),
  effect(
    'credentials',
    'Deleting a Git credential removes the credential of this repository, and no other.',
    {
      delete: 'A deleted Git credential no longer exists.',
      'delete-only': 'Deleting a Git credential leaves those of other repositories in place.',
      'other-repository': 'A token for one repository cannot change a Git credential of another repository.',
    },
    async (repository, ask, family) => {
      const [one, two] = [await repository.createGitCredential(), await repository.createGitCredential()];
      const named = ({ repo, id }: typeof one, json = {}) =>
        family === 'v1' ? { repo, json: { id, ...json } } : { repo, params: { id }, json };
      const foreign = named({ repo: one.repo, id: two.id }, { password: 'q' });
      const refused = await callOperation(repository, 'update Git credential', family, foreign);
      expectCode(refused, 404, 'credential_not_found');
      await ask('delete Git credential', named(one));
      const update = await callOperation(repository, 'update Git credential', family, named(one, { password: 'q' }));
      expectCode(update, 404, 'credential_not_found');
      await ask('update Git credential', named(two, { password: 'q' }));
      await ask('create Git credential', { repo: one.repo, json: { username: 'u', password: 'p' } });
    },
  ),
]);
