import { commitFiles } from '../../api/commit-pack.js';
import { createRepo, getFile, getRepo, listBranches, reader } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectOneOf, expectSame, expectStatus } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { createNamedRepository, sampleRepository } from '../../fixtures/repositories.js';
import { advertise } from '../../git/refs.js';
import { isRecord } from '../../http/exchange.js';
import { gitPath } from '../../http/git-remote.js';
import { defineRules, leftOpen, on } from '../rule.js';

/**
 * Returns the sorted item names of a list response. Other members are ignored, because two routes with the same list
 * may differ in members and order.
 */
function namesIn(response: ApiResponse): string[] {
  const lists = Object.values(response.record()).filter((value): value is unknown[] => Array.isArray(value));
  return lists
    .flat()
    .flatMap((item) => (isRecord(item) && typeof item.name === 'string' ? [item.name] : []))
    .sort();
}

/** Creates a repository whose name has several slashes, and expects every kind of address to reach it. */
async function readsNestedName(t: RuleContext): Promise<void> {
  const name = `${t.uniqueName()}/deeply/nested`;
  await t.run.onRepository(name);
  const made = await createRepo(t, name);
  if (made.status > 299) return t.observe('name with several slashes', made.outcome);
  await commitFiles(t, name, { 'nested.txt': 'nested\n' });
  expectSame(expectStatus(await getRepo(t, name), 200).string('url'), name, 'url must be the whole name');
  expectStatus(await listBranches(t, name), 200);
  expectSame(expectStatus(await getFile(t, name, { path: 'nested.txt' }), 200).text, 'nested\n', 'the file');
  expectStatus(await advertise(t, gitPath(name), reader(name)), 200);
}

export const paths = defineRules('What the service does', 'paths', [
  {
    id: 'general.path.slash-as-2f',
    says: 'A slash in a repository name is sent as %2F or %2f.',
    clauses: { several: 'A name may have several slashes, in paths, tokens and Git remotes.' },
    writes: 'where-allowed',
    check: on(sampleRepository, async (t, { name }) => {
      if (t.target.write) await readsNestedName(t);
      if (!name.includes('/')) throw new Skip('needs a repository with a slash in its name');
      for (const slash of ['%2F', '%2f']) {
        const response = await t.get(`/api/repos/${name.replaceAll('/', slash)}/branches`, { as: { repo: name } });
        // Accept 400 too, because the request may lack parameters that the specification does not document. Any other
        // status would mean that the slash ended the path segment.
        expectOneOf(response.status, [200, 400], `${slash} must stand for a slash that does not end the segment`);
      }
    }),
  },
  {
    id: 'general.path.safe-chars-as-is',
    says: 'Letters, digits, -, _, . and ~ need no percent-encoding; encoding one of them addresses the same repository.',
    clauses: { extension: 'A name that ends with a dot and letters, such as my.app, is read as a whole.' },
    writes: true,
    check: async (t) => {
      const name = `${t.uniqueName().replaceAll('/', '-')}-Az09_~x.app`;
      await createNamedRepository(t, name);
      await commitFiles(t, name, { 'safe.txt': 'safe\n' });
      const list = (form: string) => t.get(`/api/repos/${form}/branches`, { as: { repo: name } });
      const plain = await list(name);
      const encoded = await list(name.replace('x', '%78').replace('A', '%41'));
      expectStatus(plain, 200);
      expectSame(encoded.status, plain.status, 'both forms of the path must get the same status');
      const branches = [plain, encoded].map((response) => namesIn(response));
      expectSame(branches[1], branches[0], 'both forms of the path must list the same branches');
      if (t.target.companion) expectStatus(await t.get(`/api/repos/${name}`, { as: { repo: name } }), 200);
    },
  },
  leftOpen(
    'general.path.malformed-percent',
    'The specification does not describe malformed percent sequences, +, empty segments or trailing slashes in a path; none of them may cause a server error.',
    sampleRepository,
    async (t, { name }) => {
      for (const path of [
        '/api/repos/team%2/branches',
        '/api/repos/%zz/branches',
        '/api/repos/%ff/branches',
        '/api/repos/a+b/branches',
        '/api/repos//branches',
        '/api/repos/',
        '/api/repos/%2E%2E/branches',
      ]) {
        const response = await t.get(path, { as: { repo: name, scopes: ['git:read'] } });
        t.observe(path, response);
        if (response.status >= 500) t.warn(`${path} returned ${response.status}`);
      }
    },
  ),
  {
    id: 'general.name.charset',
    says: 'The specification does not say which characters a repository name may have, or how long it may be.',
    level: 'UNSPECIFIED',
    writes: true,
    check: async (t) => {
      const prefix = t.uniqueName();
      for (const tail of ['-ünï', '- space', `-${'x'.repeat(256)}`, '/.hidden', '/a//b', '/..', '-percent%41']) {
        const name = prefix + tail;
        await t.run.onRepository(name);
        const made = await createRepo(t, name);
        const read = made.status < 300 ? await listBranches(t, name) : undefined;
        t.observe(tail.slice(0, 20), read === undefined ? made.outcome : `${made.outcome}, then ${read.outcome}`);
      }
    },
  },
]);
