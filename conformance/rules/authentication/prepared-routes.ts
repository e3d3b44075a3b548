import { commitFiles } from '../../api/commit-pack.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectSame } from '../../check/expect.js';
import { AssertionFailure, Skip } from '../../check/outcomes.js';
import { lastingDifferences, lookAt, type Part, type View } from '../../check/repository-view.js';
import type { RequestOptions, RuleContext } from '../../check/rule-context.js';
import { README } from '../../fixtures/content.js';
import { createNamedRepository } from '../../fixtures/repositories.js';
import { shared } from '../../fixtures/shared.js';
import { routeOf } from '../companion/call-operation.js';
import type { Operation, OperationRequest } from '../companion/operation.js';
import { OPERATIONS } from '../companion/operations.js';
import { FAMILIES, type Family, TestRepository } from '../companion/test-repository.js';
import { requestLine } from '../documented-operations.js';

/** Request to one route of an operation. It succeeds with a valid token. */
export interface PreparedRoute {
  readonly operation: Operation;
  readonly family: Family;
  /** Method and path of the route, with `{repo_name}` for the repository name. */
  readonly line: string;
  /** Name of the repository that the request concerns, and that its token must name. */
  readonly repo: string;
  readonly params: OperationRequest['params'];
  /** Query, headers and body of the request. */
  readonly options: RequestOptions;
}

/** Repository and the parts of it that no refused request may change. */
interface Watched {
  readonly repo: string;
  readonly parts: readonly Part[];
}

/** Fixture of `preparedRoutes`: the requests, and what the repositories contained before the requests are sent. */
interface Prepared {
  readonly routes: readonly PreparedRoute[];
  /** Routes that cannot be tried on the target, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>;
  readonly before: readonly (readonly [watched: Watched, view: View])[];
}

/**
 * Repository for requests that are all refused. Creates what the requests need, such as a tag, only once, because no
 * request changes it. Branches are the exception: there are two, because a merge needs two.
 */
class PreparedRepository extends TestRepository {
  readonly #made = new Map<string, Promise<unknown>>();
  readonly #maker: TestRepository;
  #branches = 0;

  constructor(maker: TestRepository) {
    super(maker.t, maker);
    this.#maker = maker;
  }

  /** Refs of the branches and tags that were created. */
  async refs(): Promise<readonly string[]> {
    const refs: string[] = [];
    for (const [what, made] of this.#made) {
      const prefix = what.startsWith('branch') ? 'refs/heads/' : what === 'tag' ? 'refs/tags/' : undefined;
      const name = prefix && (await made.catch(() => undefined));
      if (name !== undefined) refs.push(`${prefix}${name}`);
    }
    return refs;
  }

  override createBranch(): Promise<string> {
    this.#branches += 1;
    return this.#once(`branch ${this.#branches % 2}`, () => this.#maker.createBranch());
  }

  override createTag(): Promise<string> {
    return this.#once('tag', () => this.#maker.createTag());
  }

  override createCommit(note?: string): Promise<string> {
    return this.#once(`commit ${note}`, () => this.#maker.createCommit(note));
  }

  override createGitCredential(): Promise<{ repo: string; id: string }> {
    return this.#once('credential', () => this.#maker.createGitCredential());
  }

  override createRepository(): Promise<string> {
    return this.#once('repository', () => this.#maker.createRepository());
  }

  override createWithUpstream(): Promise<string> {
    return this.#once('upstream', () => this.#maker.createWithUpstream());
  }

  override ensureHosting(): Promise<void> {
    return this.#once('hosting', () => this.#maker.ensureHosting());
  }

  override createDeployment(): Promise<string> {
    return this.#once('deployment', () => this.#maker.createDeployment());
  }

  #once<Made>(what: string, make: () => Promise<Made>): Promise<Made> {
    const made = (this.#made.get(what) as Promise<Made> | undefined) ?? make();
    this.#made.set(what, made);
    return made;
  }
}

const isReading = ({ scopes }: Operation): boolean => scopes.every((scope) => scope.endsWith(':read'));

/**
 * Returns requests to all routes of the operations that only read (`reads`), or of the others. The rules of a run share
 * them. A rule may send them only with tokens that the target must refuse.
 */
function preparedRoutes(t: RuleContext, reads: boolean): Promise<Prepared> {
  const kind = reads ? 'read' : 'write';
  return shared(t, `requests that ${kind}`, async (maker) => {
    const name = `${maker.run.prefix}/routes-that-${kind}`;
    await createNamedRepository(maker, name);
    const { sha: tip } = await commitFiles(maker, name, { [README]: '# Routes\n' }, { commit_message: 'Seed' });
    const repository = new PreparedRepository(new TestRepository(maker, { name, tip }));
    const routes: PreparedRoute[] = [];
    const leftOut: Record<string, string> = {};
    for (const operation of OPERATIONS.filter((one) => isReading(one) === reads)) {
      for (const family of FAMILIES.filter((one) => operation.routes[one] !== undefined)) {
        const line = requestLine(operation, family);
        try {
          const { repo = name, params, ...options } = await operation.request(repository, family);
          routes.push({ operation, family, line, repo, params, options });
        } catch (error) {
          if (!(error instanceof Skip || error instanceof AssertionFailure)) throw error;
          leftOut[line] = error instanceof Skip ? error.message : error.what;
        }
      }
    }
    // Reads change nothing, so nothing has to be compared after them.
    const watched = reads ? [] : watchedBy(name, routes);
    const before: [Watched, View][] = [];
    for (const one of watched) {
      const created = one.repo === name ? await repository.refs() : [];
      before.push([one, await lookWhenListed(maker, one, created)]);
    }
    return { routes, leftOut, before };
  });
}

function watchedBy(name: string, routes: readonly PreparedRoute[]): readonly Watched[] {
  const others = ['create repository', 'delete repository'];
  const named = routes.filter(({ operation }) => others.includes(operation.name)).map(({ repo }) => repo);
  return [
    { repo: name, parts: ['refs', 'record', 'notes'] },
    ...[...new Set(named)].map((repo): Watched => ({ repo, parts: ['record'] })),
  ];
}

function look(t: RuleContext, { repo, parts }: Watched): Promise<View> {
  const { client, target, signer } = t.run;
  const timed: typeof client.send = (request) => client.send(request, t.stopwatch);
  return lookAt({ client: { send: timed }, target, signer }, t.rule.id, repo, parts);
}

/** Reads a watched repository as soon as Git lists all of these refs, which the suite has created. */
function lookWhenListed(t: RuleContext, watched: Watched, created: readonly string[]): Promise<View> {
  return t.eventually(async () => {
    const view = await look(t, watched);
    const refs = view.get('refs');
    return (refs === undefined || created.every((ref) => refs.has(ref))) && view;
  }, 'Git must list every branch and tag that was created');
}

/** Expects a watched repository to be as it was in an earlier view. */
async function expectUnchanged(t: RuleContext, watched: Watched, before: View): Promise<void> {
  const changed = await lastingDifferences(before, () => look(t, watched));
  expectSame(changed, [], `the requests were refused, so ${watched.repo} must not change`);
}

/** Runs `send`, which sends requests that the target must refuse. Expects the refs of the repository not to change. */
export async function withUnchangedRefs(t: RuleContext, repo: string, send: () => Promise<void>): Promise<void> {
  const watched: Watched = { repo, parts: ['refs'] };
  const before = await lookWhenListed(t, watched, [`refs/heads/${t.defaultBranch}`]);
  await send();
  await expectUnchanged(t, watched, before);
}

/**
 * Sends the request of a route with other options, such as a bad token. `path`: name of the repository in the path of
 * the route. Sets `mustSucceed`, so the suite does not compare the repository before and after this request.
 * `forEachPreparedRoute` compares the repositories once, after all requests.
 */
export function sendTo(
  t: RuleContext,
  { operation, family, repo, params, options }: PreparedRoute,
  more: RequestOptions,
  path = repo,
): Promise<ApiResponse> {
  const route = routeOf(operation, family, path, params) ?? '';
  const headers = { ...options.headers, ...more.headers };
  return t.request(operation.method, route, { ...options, ...more, headers, mustSucceed: true });
}

/**
 * Calls `visit` for every route of the wanted operations, documented or known from published clients. The target must
 * refuse every request that `visit` sends. `visit` returns a description of the violation; undefined if absent.
 * Afterwards, expects the repositories to be unchanged. Does nothing if the suite may not write, or may not use
 * undocumented routes.
 */
export async function forEachPreparedRoute(
  t: RuleContext,
  wanted: (route: Pick<PreparedRoute, 'operation' | 'family' | 'line'>) => boolean,
  visit: (route: PreparedRoute) => Promise<string | undefined>,
): Promise<void> {
  if (!t.target.companion || !t.target.write) return;
  const complaints: string[] = [];
  for (const reads of [true, false]) {
    const isWanted = (operation: Operation) =>
      isReading(operation) === reads &&
      FAMILIES.some((family) => wanted({ operation, family, line: requestLine(operation, family) }));
    if (!OPERATIONS.some(isWanted)) continue;
    const prepared = await preparedRoutes(t, reads);
    for (const [line, reason] of Object.entries(prepared.leftOut)) t.observe(`left out: ${line}`, reason);
    for (const route of prepared.routes.filter(wanted)) {
      const complaint = await visit(route);
      if (complaint !== undefined) complaints.push(`${route.line}: ${complaint}`);
    }
    if (complaints.length > 0) break;
    for (const [watched, before] of prepared.before) await expectUnchanged(t, watched, before);
  }
  expectSame(complaints, [], 'every operation must refuse the request on every route');
}
