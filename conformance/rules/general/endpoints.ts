import { packLines, sendPack } from '../../api/commit-pack.js';
import { archive, fileMetadata, getCommit, getFile, getRepo, grep, reader, writeNote } from '../../api/requests.js';
import { expectMatch } from '../../check/expect.js';
import { sampleContent, sampleFile } from '../../fixtures/content.js';
import { emptyRepository, groupRepository, sampleRepository } from '../../fixtures/repositories.js';
import { parseJson } from '../../target/json.js';
import { callOperation, operationOf } from '../companion/call-operation.js';
import { RENAMED_FIELDS, staleHeadRequests, WORDINGS, wordedRequest } from '../companion/field-names.js';
import { FAMILIES, TestRepository } from '../companion/test-repository.js';
import { defineRules, leftOpen, on } from '../rule.js';

export const endpoints = defineRules('Endpoints', 'endpoints', [
  {
    id: 'general.content-type.other',
    says: 'The specification does not say how a request with an undocumented Content-Type is answered.',
    level: 'UNSPECIFIED',
    writes: true,
    check: on(groupRepository, async (t, { name, tip }) => {
      const contentType = 'text/plain';
      t.observe('grep', await grep(t, name, { query: { pattern: 'e' } }, { contentType }));
      t.observe('archive', await archive(t, name, {}, { contentType }));
      t.observe('notes', await writeNote(t, name, { sha: tip, action: 'append', note: 'n' }, { contentType }));
      t.observe('commit-pack', await sendPack(t, name, packLines(t, { 'type.txt': 'x' }), { contentType }));
    }),
  },
  {
    id: 'general.unknown-members',
    says: 'The specification does not say how undocumented members and query parameters of a request are treated.',
    level: 'UNSPECIFIED',
    writes: true,
    check: on(groupRepository, async (t, { name, tip }) => {
      const odd = { conformance_unknown: true };
      t.observe('grep', await grep(t, name, { query: { pattern: 'e' }, ...odd }));
      t.observe('archive', await archive(t, name, odd));
      t.observe('notes', await writeNote(t, name, { sha: tip, action: 'append', note: 'n', ...odd }));
      t.observe('commit-pack', await sendPack(t, name, packLines(t, { 'odd.txt': 'x' }, odd)));
      const query = { sha: t.defaultBranch, conformance_unknown: '1' };
      t.observe('commit', await t.get('/api/v1/repos/commit', { as: reader(name), query }));
      t.observe('repo', await t.get('/api/v1/repo', { as: reader(name), query }));
    }),
  },
  leftOpen(
    'general.ref-forms',
    'The specification does not say whether operations other than reading a commit accept short SHAs, HEAD and full ref names as ref.',
    groupRepository,
    async (t, { name, tip }) => {
      for (const ref of [tip.slice(0, 10), 'HEAD', `refs/heads/${t.defaultBranch}`]) {
        const responses = [
          await grep(t, name, { query: { pattern: 'e' }, ref }),
          await fileMetadata(t, name, { ref }),
          await archive(t, name, { ref }),
          await getFile(t, name, { path: 'README.md', ref }),
        ];
        const outcomes = responses.map((response) => response.outcome);
        t.observe(ref === 'HEAD' || ref.startsWith('refs') ? ref : 'short SHA', outcomes);
      }
    },
  ),
  leftOpen(
    'general.ref-empty',
    'The specification does not say what an empty ref means, except for archives.',
    sampleFile,
    async (t, { name, path }) => {
      t.observe('file', await getFile(t, name, { path, ref: '' }));
      t.observe('file metadata', await fileMetadata(t, name, { ref: '' }));
      t.observe('grep', await grep(t, name, { query: { pattern: 'e' }, ref: '' }));
    },
  ),
  leftOpen(
    'general.empty-repo',
    'The specification does not say how reads of a repository without commits are answered.',
    emptyRepository,
    async (t, { name }) => {
      t.observe('grep', await grep(t, name, { query: { pattern: 'e' } }));
      t.observe('archive', await archive(t, name));
      t.observe('commit', await getCommit(t, name, 'HEAD'));
      t.observe('file', await getFile(t, name, { path: 'README.md' }));
    },
  ),
]);

export const resources = defineRules('Resources', 'resources', [
  leftOpen(
    'problem.unshown-records',
    'The specification does not show the members of branch, tag, diff, credential, upstream, hosting and deployment records.',
    sampleContent,
    async (t, { name, branch }) => {
      for (const [what, query] of Object.entries({ branches: {}, tags: {}, diff: { sha: branch } })) {
        const response = await t.get(`/api/v1/repos/${what}`, { as: reader(name), query });
        t.observe(what, response.status === 200 ? Object.keys(response.record()) : response.outcome);
      }
    },
  ),
  leftOpen(
    'general.extra-members',
    'The specification neither promises nor forbids members beyond the documented ones.',
    sampleContent,
    async (t, { name, branch }) => {
      const known = ['repo_id', 'url', 'default_branch', 'created_at', 'base_repo'];
      const repo = await getRepo(t, name);
      t.observe('repository', membersBeside(known, repo.record()));
      const commit = await getCommit(t, name, branch);
      t.observe('commit', membersBeside(COMMIT_MEMBERS, commit.record('commit')));
    },
  ),
]);

function membersBeside(known: readonly string[], record: object): string[] {
  return Object.keys(record).filter((member) => !known.includes(member));
}

const COMMIT_MEMBERS = ['sha', 'message', 'author_name', 'author_email', 'committer_name', 'committer_email', 'date'];

export const versioning = defineRules('Versioning', 'versioning', [
  leftOpen('version.api', 'The specification does not say where the API version 1.0.0 can be read.', async (t) => {
    const response = await getRepo(t, (await sampleRepository(t)).name);
    const headers = Object.keys(response.exchange.headers).filter((name) => name.includes('version'));
    t.observe('headers', headers);
  }),
  {
    id: 'version.wire-names',
    says: 'Members of requests and responses are named as documented, in snake_case.',
    watch: (exchange) => camelCaseMember(exchange.git || exchange.status > 299 ? undefined : jsonText(exchange.body)),
    check: on(sampleContent, async (t, { name, branch }) => {
      const response = await getRepo(t, name);
      for (const member of ['repo_id', 'url', 'default_branch', 'created_at']) response.string(member);
      const commit = await getCommit(t, name, branch);
      for (const member of COMMIT_MEMBERS)
        expectMatch(commit.find('commit', member), /^/, `the response must have commit.${member}`);
    }),
  },
  {
    id: 'version.other-names',
    says: 'The specification does not say whether requests may use the member names of newer clients.',
    level: 'UNSPECIFIED',
    writes: true,
    check: async (t) => {
      const { companion } = t.target;
      for (const family of companion ? FAMILIES : (['v1'] as const)) {
        const repository = await TestRepository.create(t);
        for (const wording of RENAMED_FIELDS.filter(({ isDocumented }) => companion || isDocumented === true)) {
          const operation = operationOf(wording.operation);
          const label = `${operation.method} ${operation.routes[family]}`;
          const outcomes = [];
          for (const words of WORDINGS) {
            const request = await wordedRequest(wording, words, repository);
            const response = await callOperation(repository, operation, family, request);
            outcomes.push(response.outcome);
            if (!companion) continue;
            if (!operation.ok.includes(response.status)) t.warn(`${label} in ${words} words is ${response.outcome}`);
            for (const [first, second] of wording.aliases ?? []) {
              const values = [first, second].map((path) => response.find(...path.split('.')));
              if (values[0] === undefined || values[0] !== values[1]) t.warn(`${label}: ${first} is not ${second}`);
            }
          }
          t.observe(label, outcomes);
        }
        for (const stale of await staleHeadRequests(repository)) {
          const response = await callOperation(repository, operationOf('commit-pack'), family, stale.request);
          t.observe(`${family}, stale ${stale.name}`, response);
          if (companion && response.status < 400) t.warn(`a stale ${stale.name} is ${response.outcome}`);
        }
      }
    },
  },
  {
    id: 'version.json-success-type',
    says: 'The specification does not state the media type of JSON responses; application/json is expected.',
    level: 'UNSPECIFIED',
    watch: (exchange) => {
      if (exchange.git || exchange.status > 299 || !/^\s*[{[]/.test(exchange.body.toString('latin1', 0, 20)))
        return undefined;
      if (!exchange.path.startsWith('/api/') || exchange.path.includes('/file?')) return undefined;
      const type = String(exchange.headers['content-type'] ?? '');
      return /^application\/json\b/i.test(type) || `a JSON response has ${type || 'no media type'}`;
    },
  },
]);

function jsonText(body: Buffer): unknown {
  return body[0] !== 0x7b || body.length > 100_000 ? undefined : parseJson(body.toString('utf8'));
}

/**
 * camelCase names that a response must not contain. The specification documents these members in snake_case; client
 * libraries use camelCase for their own objects.
 */
const CAMEL =
  /^(repoId|defaultBranch|createdAt|baseRepo|authorName|authorEmail|committerName|committerEmail|commitSha|treeSha|targetBranch|packBytes|blobCount|oldSha|newSha|targetRef|baseCommit|newRefSha|lastCommitSha|nextCursor|hasMore|lineNumber)$/;

function camelCaseMember(value: unknown): string | true | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const waiting: unknown[] = [value];
  for (const one of waiting) {
    if (typeof one !== 'object' || one === null) continue;
    for (const [name, member] of Object.entries(one)) {
      if (CAMEL.test(name)) return `a member is called ${name}`;
      if (waiting.length < 2000) waiting.push(member);
    }
  }
  return true;
}
