import t from 'tap';
import { packLines } from '../api/commit-pack.js';
import { createRepo, repositoryPath, repoWriter } from '../api/requests.js';
import { AssertionFailure } from '../check/outcomes.js';
import type { RequestOptions } from '../check/rule-context.js';
import { pushRefs } from '../git/refs.js';
import { run } from '../index.js';
import { routeOf } from '../rules/companion/call-operation.js';
import { OPERATIONS } from '../rules/companion/operations.js';
import { FAMILIES, TestRepository } from '../rules/companion/test-repository.js';
import { type ProxiedRequest, type Rewrite, startProxy } from './mutants/proxy.js';
import { changesResponsesTo, mendsTokens, type SentToken } from './mutants/tokens.js';
import { contextsOf } from './new-context.js';
import { startNamespace } from './shared-emulator.js';

const target = await startNamespace(t);

let requests = 0;
const contextOf = contextsOf(t, {
  onExchange: () => {
    requests += 1;
  },
  sleep: () => Promise.resolve(),
});
const newContext = (companion = true) => contextOf({ ...target, companion });

/** Injected fault of the emulator: the service performs the request, but responds with 403 as if it had refused. */
const DONE = { fault: 'forbidden@after' } as const;

/**
 * Names of operations whose effect no later request can show. For example, the API never returns a password, and a pull
 * that fails at once changes nothing.
 */
const UNSEEN = ['create Git credential', 'update Git credential', 'delete Git credential', 'pull upstream'];
const READS = ['grep', 'archive'];

const written = OPERATIONS.filter(({ name, method }) => !['GET', 'HEAD'].includes(method) && !READS.includes(name));

for (const operation of written.filter(({ name }) => !UNSEEN.includes(name))) {
  for (const family of FAMILIES) {
    if (operation.routes[family] === undefined) continue;
    t.test(`${operation.name} that is refused but executed is detected, on its ${family} route`, async (t) => {
      const context = newContext();
      const repository = await TestRepository.create(context);
      const request = await operation.request(repository, family);
      // Set a new branch as the default, because the request in the table would change nothing.
      const isUpdate = operation.name === 'update repository';
      const json = isUpdate ? { default_branch: await repository.createBranch() } : request.json;
      const { repo = repository.name, params, ...options } = { ...request, json };
      const path = routeOf(operation, family, repo, params) ?? '';
      const as = { repo, scopes: operation.scopes };
      const wrong = context.request(operation.method, path, { ...options, as, ...DONE });
      await t.rejects(wrong, AssertionFailure);
    });
    t.test(`${operation.name} that is refused and not executed passes, on its ${family} route`, async (t) => {
      const context = newContext();
      const repository = await TestRepository.create(context);
      const { repo = repository.name, params, ...options } = await operation.request(repository, family);
      const path = routeOf(operation, family, repo, params) ?? '';
      const as = { repo, scopes: operation.scopes };
      const refused = await context.request(operation.method, path, { ...options, as, fault: 'forbidden' });
      t.equal(refused.status, 403);
    });
  }
}

t.test('every kind of write that the specification shows', async (t) => {
  const as = (repo: string) => ({ repo, scopes: ['git:write'] });
  const kinds: Record<string, (repository: TestRepository) => Promise<[string, RequestOptions]>> = {
    'ephemeral commit': async ({ name, t }) => {
      const metadata = { target_branch: 'aside', base_branch: 'main', ephemeral: true };
      return ['/api/v1/repos/commit-pack', { as: as(name), lines: packLines(t, { 'e.txt': 'e' }, metadata) }];
    },
    'second note': async (repository) => {
      const sha = await repository.createCommit('noted');
      return ['/api/v1/repos/notes', { as: as(repository.name), json: { sha, action: 'append', note: 'more' } }];
    },
  };
  for (const [kind, make] of Object.entries(kinds)) {
    for (const companion of [true, false]) {
      const context = newContext(companion);
      const [path, options] = await make(await TestRepository.create(context));
      await t.rejects(context.post(path, { ...options, ...DONE }), AssertionFailure, kind);
    }
  }
});

t.test('a repository that a refusal names in its path or body, and not in its token', async (t) => {
  const context = newContext();
  const repository = await TestRepository.create(context);
  const { name } = repository;
  const other = context.uniqueName();
  const json = { default_branch: await repository.createBranch() };
  const path = context.request('PATCH', repositoryPath(name), { as: repoWriter(name), json, ...DONE });
  await t.rejects(path, AssertionFailure);
  const body = createRepo(context, other, { json: { repo_name: other }, ...DONE });
  await t.rejects(body, AssertionFailure);
});

t.test('a push of which Git says that it was refused', async (t) => {
  const context = newContext();
  const { name, tip } = await TestRepository.create(context);
  const recipe = { repo: name, scopes: ['git:write'] };
  const pushed = await pushRefs(context, name, { 'refs/heads/a': tip, 'refs/heads/b': tip }, recipe);
  t.match(pushed.text, /unpack ok/);
  await t.rejects(pushRefs(context, name, { 'refs/heads/c': tip }, recipe, DONE), AssertionFailure);
  const some = pushRefs(context, name, { 'refs/heads/d': tip, 'refs/heads/a': tip }, recipe);
  t.match((await some).text, /ok refs\/heads\/d.*ng refs\/heads\/a/s, 'what it took may change');
});

t.test('concurrent writes are not mistaken for side effects of each other', async (t) => {
  const context = newContext();
  const { name, tip } = await TestRepository.create(context);
  const as = { repo: name, scopes: ['git:write'] };
  const expecting = (file: string) =>
    context.post('/api/v1/repos/commit-pack', {
      as,
      lines: packLines(context, { [file]: 'x' }, { expected_head_sha: tip }),
    });
  const responses = await Promise.all([expecting('a'), expecting('b'), expecting('c')]);
  t.same(responses.map(({ status }) => status).sort(), [201, 409, 409]);
});

t.test('a series of refused writes costs one view each, and writes that must succeed cost none', async (t) => {
  const context = newContext();
  const { name } = await TestRepository.create(context);
  const refuse = () =>
    context.post('/api/v1/repos/commit-pack', { as: { repo: name, scopes: ['git:read'] }, lines: [] });
  requests = 0;
  for (let index = 0; index < 5; index++) await refuse();
  t.equal(requests, 11, 'a look before the first and after each');
  await context.post('/api/v1/repos/commit-pack', {
    as: { repo: name, scopes: ['git:write'] },
    lines: packLines(context, { 'x.txt': 'x' }),
    mustSucceed: true,
  });
  t.equal(requests, 12);
});

/** Patterns for the request lines of writing operations. The key is the route's name in failure messages. */
const WRITING: Readonly<Record<string, RegExp>> = {
  'POST /api/v1/repos/restore-commit': /^POST .*\/restore-commit$/,
  'POST /api/repos/{repo_name}/reset-commits': /^POST .*\/reset-commits$/,
  'POST /api/v1/repos/commit-pack': /^POST .*\/commit-pack$/,
  'POST /api/v1/repos/notes': /^POST .*\/notes$/,
  'POST /api/repos': /^POST \/api\/repos$/,
  'POST /{repo_name}.git/git-receive-pack': /^POST .*\/git-receive-pack$/,
};

for (const [route, place] of Object.entries(WRITING)) {
  t.test(`a service that executes the request of an expired token at ${route}, and then refuses it`, async (t) => {
    const isExpired = ({ claims }: SentToken) => Number(claims.exp) * 1000 < Date.now();
    const late: ProxiedRequest[] = [];
    const mend = mendsTokens(place, (token, request) => {
      if (!isExpired(token)) return undefined;
      late.push(request);
      return { ...token.claims, exp: Number(token.claims.exp) + 86_400 };
    });
    const refuse = changesResponsesTo(
      (request) => late.includes(request),
      (response) => {
        response.status = 403;
        response.headers['content-type'] = 'application/problem+json';
        response.body = Buffer.from('{"status":403,"code":"forbidden","detail":"expired","error":"expired"}');
      },
    );
    const rewrite = {
      request: (request: ProxiedRequest) => {
        mend.request(request);
        refuse.request?.(request);
      },
      response: refuse.response,
    };
    await using proxy = await startProxy(target, rewrite as Rewrite);
    const { rules } = await run(proxy.target, { only: 'claim.exp.expired' });
    const [result] = rules;
    t.equal(result?.verdict, 'fail');
    t.match(result?.reason, /was refused with 403, so \S+ must not change/);
    t.ok(result?.reason?.startsWith(`${route}: `), result?.reason ?? 'no reason');
  });
}
