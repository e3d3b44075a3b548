import {
  archive,
  fileMetadata,
  getCommit,
  getFile,
  getRepo,
  grep,
  listCommits,
  reader,
  repositoryPath,
  reset,
  restore,
  restoreMetadata,
  tipOf,
  writer,
} from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectAbsent, expectCode, expectRefused, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import { swapCase } from '../../check/other-names.js';
import type { RuleContext } from '../../check/rule-context.js';
import {
  groupRepository,
  type SeededRepository,
  sampleRepository,
  siblingRepository,
} from '../../fixtures/repositories.js';
import { advertise, pushRefs, requestRefs } from '../../git/refs.js';
import { gitPath } from '../../http/git-remote.js';
import { FLUSH, writePkt } from '../../http/pkt-line.js';
import { callOperation } from '../companion/call-operation.js';
import type { OperationRequest } from '../companion/operation.js';
import { FAMILIES, TestRepository } from '../companion/test-repository.js';
import type { TokenPlace } from '../documented-operations.js';
import { defineRules, on } from '../rule.js';
import { expectGitRefused, forEachPlace, showsNothing } from '../token-places.js';

const GIT_REFUSALS = ['404', '403', '401'];
const MARKER = 'bytes of the sibling';

const namesRepository = ({ namesRepository }: TokenPlace): boolean => namesRepository;

/**
 * Spellings of the `repo` claim that are similar to a repository name but differ from it. A server must not accept them
 * for that repository. The keys are clauses of the rule `auth.repo-claim.exact`.
 */
function otherSpellings(name: string): Readonly<Record<string, readonly string[]>> {
  const at = name.lastIndexOf('/') + 1;
  const [owner, last] = [name.slice(0, at), name.slice(at)];
  return {
    letters: [...new Set([swapCase(name), name.toUpperCase()])],
    suffix: [`${name}.git`],
    part: [name.slice(0, -1), `${name}x`],
    owner: [`elsewhere/${last}`, ...(owner === '' ? [] : [last, owner.slice(0, -1)])],
    pattern: ['*', `${owner}*`, '.*'],
    blanks: [` ${name}`, `${name} `, `${name}/`, `/${name}`],
    encoded: [encodeURIComponent(name)],
  };
}

/** Clauses whose spellings may be malformed. A server may refuse these before it compares the claim with the path. */
const MAYBE_MALFORMED = ['pattern', 'blanks', 'encoded'];

/** Read requests below `/api/v1` whose response shows which repository was read. */
const ALIASES: Readonly<Record<string, (t: RuleContext, repo: string) => Promise<ApiResponse>>> = {
  repo: getRepo,
  commit: (t, repo) => getCommit(t, repo, t.defaultBranch),
  commits: listCommits,
  file: (t, repo) => getFile(t, repo, { path: 'README.md' }),
  metadata: fileMetadata,
  grep: (t, repo) => grep(t, repo, { query: { pattern: 'Sibling|Sample' } }),
};

/**
 * Returns true if a response contains one of the texts in `marks`. JSON is parsed and written again, because servers
 * may escape slashes.
 */
function shows({ json, text }: ApiResponse, ...marks: readonly string[]): boolean {
  const body = json === undefined ? text : JSON.stringify(json);
  return marks.some((mark) => body.includes(mark));
}

/**
 * Read requests that take a commit SHA. Each has the statuses that are permitted if the repository lacks the commit.
 */
const BY_SHA: Readonly<
  Record<string, readonly [send: (t: RuleContext, repo: string, sha: string) => Promise<ApiResponse>, ...number[]]>
> = {
  commit: [getCommit, 404],
  file: [(t, repo, ref) => getFile(t, repo, { path: 'README.md', ref }), 404],
  metadata: [(t, repo, ref) => fileMetadata(t, repo, { ref }), 404],
  grep: [(t, repo, ref) => grep(t, repo, { ref, query: { pattern: 'bytes' } }), 404],
  archive: [(t, repo, ref) => archive(t, repo, { ref }), 404, 400],
};

/** Requests by operation name. The specification names these operations but does not show their requests. */
const NAMED_BY_SHA: Readonly<Record<string, (sha: string) => OperationRequest>> = {
  'get commit': (sha) => ({ query: { sha } }),
  'commit diff': (sha) => ({ query: { sha } }),
  'list files': (ref) => ({ query: { ref } }),
  'file metadata': (ref) => ({ query: { ref } }),
  'read file': (ref) => ({ query: { ref, path: 'README.md' } }),
  blame: (ref) => ({ query: { ref, path: 'README.md' } }),
  grep: (ref) => ({ json: { ref, query: { pattern: 'bytes' } } }),
  archive: (ref) => ({ json: { ref } }),
};

/** Fetches one commit with version 0 of the Git protocol (gitprotocol-http), which every Git server supports. */
function fetchCommit(t: RuleContext, repo: string, sha: string): Promise<ApiResponse> {
  const body = Buffer.concat([writePkt(`want ${sha}\n`), FLUSH, writePkt('done\n')]);
  return requestRefs(t, repo, reader(repo), { body, headers: { 'git-protocol': 'version=0' } });
}

const hasPack = ({ body }: ApiResponse): boolean => body.includes('PACK');

/**
 * Expects that Git does not disclose the sibling repository's commit. A fetch with a token for the sample repository
 * must not send the commit, and a push must not store a ref that points to it.
 */
async function expectNoForeignGit(t: RuleContext, sibling: SeededRepository): Promise<void> {
  const { name: sample } = await sampleRepository(t);
  if (!hasPack(await fetchCommit(t, sibling.name, sibling.tip))) t.observe('fetch with protocol version 0', 'no pack');
  const fetched = await fetchCommit(t, sample, sibling.tip);
  expectTrue(!hasPack(fetched), 'a fetch must not send a commit of another repository', fetched.outcome);
  const { name: own } = await groupRepository(t);
  const branch = t.uniqueRef('foreign');
  const pushed = await pushRefs(t, own, { [`refs/heads/${branch}`]: sibling.tip }, writer(own));
  expectTrue(
    pushed.status !== 200 || !pushed.text.includes(`ok refs/heads/${branch}`),
    'a push of a ref to a commit of another repository must be refused',
    pushed.text.slice(0, 200),
  );
  expectAbsent(await tipOf(t, own, branch), 'the repository must not get a branch at the commit of another');
}

export const otherRepositories = defineRules('Repository claim', 'other-repositories', [
  {
    id: 'auth.repo-claim.exact',
    says: 'The repo claim must equal the name of the repository exactly; a similar name, or a pattern, gives no access.',
    clauses: {
      letters: 'A claim that differs only in upper and lower case gives no access.',
      suffix: 'A claim with .git at its end gives no access.',
      part: 'A claim that is shorter or longer than the name gives no access.',
      owner: 'A claim with only the part before or after the slash, or with another owner, gives no access.',
      pattern: 'A claim with a star or a regular expression that matches the name gives no access.',
      blanks: 'A claim with a space or a slash before or after the name gives no access.',
      encoded: 'A claim with the URL-encoded name gives no access.',
      git: 'Git refuses tokens with these claims as well.',
      alias: 'The /api/v1 routes, which have no name in their path, find no repository for these claims.',
    },
    check: on(sampleRepository, async (t, { name }) => {
      for (const [clause, claims] of Object.entries(otherSpellings(name))) {
        for (const repo of claims.filter((claim) => claim !== name && claim !== '')) {
          const response = await t.get(`${repositoryPath(name)}/branches`, { as: reader(repo) });
          if (MAYBE_MALFORMED.includes(clause)) expectRefused(response);
          else expectCode(response, 404, 'repository_not_found');
          const found = await getRepo(t, repo);
          if (MAYBE_MALFORMED.includes(clause)) expectRefused(found);
          else expectStatus(found, 404);
          const listed = await advertise(t, gitPath(name), reader(repo));
          showsNothing(listed);
          expectRefused(listed);
        }
      }
    }),
  },
  {
    id: 'auth.repo-claim.same-owner',
    says: 'A token for one repository reaches no other repository whose name has the same first part.',
    clauses: {
      path: 'Routes with the name in their path are refused with 404.',
      'git-read': 'Git does not read the other repository.',
      'git-write': 'Git does not write to the other repository.',
      alias: 'Each /api/v1 route reads the repository of the token that it was sent, whichever it read before.',
    },
    writes: true,
    check: on(siblingRepository, async (t, sibling) => {
      await forEachPlace(t, namesRepository, async ({ place, ask }) => {
        const response = await ask({ repo: sibling.name });
        if (place.isGit) expectGitRefused(t, `same owner, ${place.name}`, response, GIT_REFUSALS);
        else expectCode(response, 404, 'repository_not_found');
      });
      const { name: sample, tip } = await sampleRepository(t);
      const marks = [
        [sample, tip ?? sample, 'sample.txt', '# Sample'],
        [sibling.name, sibling.tip, 'sibling.txt', '# Sibling'],
      ];
      for (const [name, send] of Object.entries(ALIASES)) {
        for (const [at, repo] of [sample, sibling.name].entries()) {
          const response = expectStatus(await send(t, repo), 200);
          const seen = marks.map((texts) => shows(response, ...texts));
          expectSame(seen, [at === 0, at === 1], `${name}: the response must be about the repository of the token`);
        }
      }
    }),
  },
  {
    id: 'auth.repo-claim.foreign-commit',
    says: 'A token reaches no commit of another repository, even if the request names the SHA of the commit.',
    clauses: {
      commit: 'Getting one commit is refused with 404.',
      file: 'Reading a file is refused with 404.',
      metadata: 'Reading file metadata is refused with 404.',
      grep: 'A search is refused with 404.',
      archive: 'An archive is refused with 404 or 400.',
      diff: 'A diff does not show the files of the commit.',
      restore: 'A restore to the commit is refused with 404 on both routes, and writes nothing.',
      'git-fetch': 'A fetch of the commit is refused.',
      'git-push': 'A push that creates a branch at the commit without sending it is refused.',
      named: 'Operations that the specification only names refuse the request.',
    },
    writes: true,
    check: on(siblingRepository, async (t, sibling) => {
      const { name: sample } = await sampleRepository(t);
      const { tip: sha } = sibling;
      for (const [send, ...statuses] of Object.values(BY_SHA)) {
        // Read the commit in its own repository first, because a server may cache it. It must not serve the cached commit
        // for the other repository.
        expectStatus(await send(t, sibling.name, sha), 200);
        expectStatus(await send(t, sample, sha), ...statuses);
      }
      const diff = await t.get('/api/v1/repos/diff', { as: reader(sample), query: { sha } });
      expectTrue(!diff.text.includes(MARKER), 'a diff must not show files of another repository', diff.outcome);
      const { name: own } = await groupRepository(t);
      for (const send of [restore, reset]) expectStatus(await send(t, own, restoreMetadata(t, sha)), 404);
      await expectNoForeignGit(t, sibling);
      if (t.target.companion) await expectNamedRefused(t, sample, sha);
    }),
  },
]);

/**
 * Expects a refusal of a commit SHA of another repository. Covers the operations that the specification names without
 * their requests.
 */
async function expectNamedRefused(t: RuleContext, repo: string, sha: string): Promise<void> {
  const repository = new TestRepository(t, { name: repo });
  for (const family of FAMILIES) {
    for (const [operation, request] of Object.entries(NAMED_BY_SHA)) {
      expectRefused(await callOperation(repository, operation, family, request(sha)));
    }
  }
}
