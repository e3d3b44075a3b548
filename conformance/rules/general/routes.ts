import {
  ANONYMOUS,
  getFile,
  getRepo,
  grep,
  repositoryPath,
  reset,
  restoreMetadata,
  writer,
} from '../../api/requests.js';
import { expectCode, expectOneOf, expectOther, expectSame, expectStatus } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import { sampleFile } from '../../fixtures/content.js';
import { groupRepository, otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { isLoopback } from '../../target/target.js';
import { DOCUMENTED_OPERATIONS, type TokenPlace } from '../documented-operations.js';
import { defineRules, leftOpen, on } from '../rule.js';
import { expectErrorOf, forEachPlace, ofReads } from '../token-places.js';

/** Documented operations for a rule that both forms of routes exist: `/api/v1` and `/api/repos`. */
const OF_BOTH_FORMS = ['list-repos', 'repo', 'commit', 'file', 'commits', 'filemeta'];

export const routes = defineRules('What the service does', 'routes', [
  {
    id: 'general.https',
    says: 'Outside the local machine, the API and Git are served over HTTPS only.',
    reach: 'needs-setup',
    check: async ({ target }) => {
      if (isLoopback(target.baseUrl)) throw new Skip('the target is on this machine');
      for (const url of [target.baseUrl, target.gitUrl])
        expectSame(new URL(url).protocol, 'https:', 'both URLs must use https');
    },
  },
  {
    id: 'general.base-url.org-subdomain',
    says: 'The second label of the API host name is the organization in the iss claim of its tokens.',
    reach: 'needs-setup',
    check: async ({ target }) => {
      if (isLoopback(target.baseUrl)) throw new Skip('the target is on this machine');
      expectSame(
        new URL(target.baseUrl).hostname.split('.')[1],
        target.org,
        'the second label of the host name must be the organization',
      );
    },
  },
  {
    id: 'general.bearer.required',
    says: 'Every documented read requires a bearer token.',
    check: on(sampleRepository, async (t, { name }) => {
      for (const place of DOCUMENTED_OPERATIONS.filter(ofReads)) {
        expectStatus(await place.send(t, name, ANONYMOUS), 401);
      }
    }),
  },
  {
    id: 'general.one-token-one-repo',
    says: 'At the same /api/v1 address, each token reaches only the repository in its repo claim.',
    clauses: { query: 'The name of another repository in the query has no effect.' },
    check: async (t) => {
      const [a, b] = [await sampleRepository(t), await otherRepository(t)];
      const [first, second] = [await getRepo(t, a.name), await getRepo(t, b.name)];
      expectSame(
        [first.string('url'), second.string('url')],
        [a.name, b.name],
        'each token must get its own repository',
      );
      expectOther(first.string('repo_id'), second.string('repo_id'), 'the two repositories must have different ids');
      const query = { repo: b.name, repo_name: b.name };
      expectSame((await getRepo(t, a.name, { query })).string('url'), a.name, 'the query must not select a repository');
    },
  },
  {
    id: 'general.route.api-prefix',
    says: 'The documented routes begin with /api/, and their older forms with /api/v1/.',
    check: on(sampleFile, async (t) => {
      const isTried = ({ name }: TokenPlace) => OF_BOTH_FORMS.includes(name);
      await forEachPlace(t, isTried, async ({ place, repo }) => void expectStatus(await place.send(t, repo, {}), 200));
    }),
  },
  leftOpen(
    'general.route.v1-deprecated',
    'The specification does not say how a response of an /api/v1 alias announces that the alias is deprecated.',
    sampleRepository,
    async (t, { name }) => {
      const responses = [await getRepo(t, name), await grep(t, name, { query: { pattern: 'e' } })];
      for (const header of ['deprecation', 'sunset', 'warning', 'link']) {
        const seen = responses.map((response) => response.header(header) ?? null);
        t.observe(header, seen);
      }
    },
  ),
  {
    id: 'general.route.equivalents',
    says: 'The specification does not say which operations have a second route below /api/repos/{repo_name}/.',
    level: 'UNSPECIFIED',
    writes: true,
    check: on(groupRepository, async (t, { name }) => {
      const base = repositoryPath(name);
      const gets = ['', '/files/metadata', '/commit?sha=HEAD', '/file?path=README.md', '/commits', '/diff?sha=HEAD'];
      const posts = ['/grep', '/archive', '/notes', '/commit-pack', '/restore-commit'];
      const as = { repo: name, scopes: ['git:read', 'git:write'] };
      const served: string[] = [];
      for (const path of gets)
        if ((await t.get(base + path, { as })).code !== 'route_not_found') served.push(`GET ${path}`);
      for (const path of posts) {
        if ((await t.post(base + path, { as, body: '{' })).code !== 'route_not_found') served.push(`POST ${path}`);
      }
      t.observe('served', served);
    }),
  },
  {
    id: 'general.path.name-in-path',
    says: 'A preferred route takes the repository name from one segment of its path.',
    writes: true,
    check: on(groupRepository, async (t, { name, tip }) => {
      const response = await reset(t, name, restoreMetadata(t, tip));
      expectOneOf(response.status, [201, 409, 412, 200], 'the restore must be executed or refused for its content');
      response.record('result');
    }),
  },
  {
    id: 'general.error-order',
    says: 'The specification does not say which error is reported for a request with two errors.',
    level: 'UNSPECIFIED',
    writes: true,
    check: on(groupRepository, async (t, { name }) => {
      const absent = t.uniqueName();
      const bad = { body: '{' };
      t.observe('scope and body', await grep(t, name, undefined, { as: writer(name), ...bad }));
      t.observe('repository and body', await grep(t, absent, undefined, bad));
      t.observe('repository and scope', await getRepo(t, absent, { as: writer(absent) }));
      t.observe('claim and scope', await getFile(t, name, { path: 'x' }, { as: { scopes: ['git:write'] } }));
      t.observe('route and credential', await t.get('/api/no-such-route'));
    }),
  },
  {
    id: 'general.path.raw-slash-other-route',
    says: 'An unencoded slash ends the segment, so it never addresses a repository with a slash in its name.',
    check: on(sampleRepository, async (t, { name }) => {
      const raw = name.includes('/') ? name : `${name}/x`;
      const response = expectStatus(await t.get(`/api/repos/${raw}/branches`, { as: { repo: raw } }), 404);
      if (response.code !== 'route_not_found') t.observe('code', response.code ?? null);
    }),
  },
  {
    id: 'general.path.decode-once',
    says: 'The name in a path is decoded once: a name that is encoded twice addresses a different repository.',
    clauses: { everywhere: 'This is true of each documented operation with the name in its path.' },
    writes: 'where-allowed',
    check: on(sampleRepository, async (t, { name }) => {
      const twice = encodeURIComponent(encodeURIComponent(name.includes('/') ? name : `${name}/x`));
      expectCode(await t.get(`/api/repos/${twice}/branches`, { as: { repo: name } }), 404, 'repository_not_found');
      const isTried = ({ namesRepository, isGit }: TokenPlace) => namesRepository && !isGit;
      await forEachPlace(t, isTried, async ({ place, repo }) => {
        const encoded = encodeURIComponent(repo.includes('/') ? repo : `${repo}/x`);
        const response = await place.send(t, encoded, { as: { repo, scopes: [place.scope] } });
        expectErrorOf(place, response, 404, 'repository_not_found');
      });
    }),
  },
]);
