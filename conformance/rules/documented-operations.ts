import { ORG_READER } from '../api/requests.js';
import type { ApiResponse } from '../check/api-response.js';
import { expectProblem } from '../check/expect.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { sampleContent, sampleFile, skipTooLarge } from '../fixtures/content.js';
import { groupRepository, reserveName, sampleRepository } from '../fixtures/repositories.js';
import { operationOf, routeOf } from './companion/call-operation.js';
import type { Operation } from './companion/operation.js';
import { type Family, TestRepository } from './companion/test-repository.js';
import { type RuleRow, rulesBy } from './rule.js';

export const SCOPES = ['git:read', 'git:write', 'repo:write', 'org:read'] as const;
export type Scope = (typeof SCOPES)[number];

/** Formats a scope for use in a rule id: `git:read` becomes `git-read`. */
export function slug(scope: Scope): string {
  return scope.replace(':', '-');
}

/** Endpoint to which a token can be sent. Its request is valid except possibly for the token. */
export interface TokenPlace {
  /** Name of the endpoint, used in rule ids. */
  readonly name: string;
  readonly route: string;
  /** Scope that a token needs for the endpoint. */
  readonly scope: Scope;
  readonly writes: boolean;
  /**
   * Permitted responses to a token without the required scope. The first one is what the specification supports best.
   */
  readonly lacksScope: readonly string[];
  /** Returns the name of the repository that the request concerns. */
  readonly repo: (t: RuleContext) => Promise<string>;
  readonly send: (t: RuleContext, repo: string, options: RequestOptions) => Promise<ApiResponse>;
  /**
   * True if the specification does not document the parameters of the request. Only 401 and 403 then count as failures.
   */
  readonly isLoose?: boolean;
  readonly isGit: boolean;
  /** True if the URL path contains the repository name, false if only the token does. */
  readonly namesRepository: boolean;
  /** Error statuses whose response may have an unusual error code, or none. */
  readonly withoutCode: readonly number[];
}

interface Documented extends Partial<TokenPlace> {
  /** Name of the operation in the table of all operations (`OPERATIONS`). */
  readonly row: string;
  /**
   * Family of routes through which the operation is called: `preferred` (`/api/repos`) or `v1` (`/api/v1`). Default:
   * `v1`.
   */
  readonly family?: Family;
  /**
   * Returns a repository with the content that the request needs. Default: the sample repository, for requests that
   * need no specific content.
   */
  readonly fixture?: (t: RuleContext) => Promise<Fixture>;
  /** Builds the request. Default: the operation's request in the table of all operations. */
  readonly request?: Operation['request'];
}

type Fixture = ConstructorParameters<typeof TestRepository>[1];

const ofSample = async (t: RuleContext) => (await sampleRepository(t)).name;
const ofContent = async (t: RuleContext) => (await sampleContent(t)).name;
const ofGroup = async (t: RuleContext) => (await groupRepository(t)).name;

/**
 * Returns method and path of an operation in the spelling of the specification, such as `GET
 * /api/v1/repos/{repo_name}`.
 */
export function requestLine({ method, routes }: Operation, family: Family): string {
  return `${method} ${routes[family]?.replace('{n}', '{repo_name}')}`;
}

function documented(name: string, { row, family = 'v1', ...more }: Documented): TokenPlace {
  const operation = operationOf(row);
  const scope = operation.scopes[0] as Scope;
  const writes = scope.endsWith(':write');
  const { fixture, request = operation.request, ...rest } = more;
  const route = requestLine(operation, family);
  return {
    name,
    route,
    scope,
    writes,
    lacksScope: ['403 insufficient_scope'],
    isGit: false,
    namesRepository: route.includes('{repo_name}'),
    withoutCode: [],
    repo: writes ? ofGroup : ofContent,
    send: async (t, repo, options) => {
      const { repo: _, ...asked } = await request(
        new TestRepository(t, (await fixture?.(t)) ?? { name: repo }),
        family,
      );
      const path = routeOf(operation, family, repo) ?? '';
      const as = scope === 'org:read' ? ORG_READER : { repo, scopes: [scope] };
      return t.request(operation.method, path, { as, ...asked, ...options });
    },
    ...rest,
  };
}

const DISPUTED = ['403 insufficient_scope', '401'] as const;

const FILE_METADATA = documented('filemeta', {
  row: 'file metadata',
  lacksScope: ['403'],
  withoutCode: [401, 403, 404],
});

export const DOCUMENTED_OPERATIONS: readonly TokenPlace[] = [
  documented('grep', { row: 'grep' }),
  {
    ...FILE_METADATA,
    send: async (t, repo, options) => skipTooLarge(t, repo, await FILE_METADATA.send(t, repo, options)),
  },
  documented('commit', { row: 'get commit', lacksScope: DISPUTED, fixture: sampleContent }),
  documented('archive', { row: 'archive' }),
  documented('file', { row: 'read file', lacksScope: DISPUTED, fixture: sampleFile }),
  documented('repo', { row: 'get repository', repo: ofSample }),
  documented('branches', { row: 'list branches', family: 'preferred', repo: ofSample, isLoose: true }),
  documented('commits', { row: 'list commits', isLoose: true }),
  documented('diff', { row: 'commit diff', fixture: sampleContent, isLoose: true }),
  documented('restore', { row: 'restore-commit', fixture: groupRepository, withoutCode: [404] }),
  documented('reset', { row: 'reset-commits', family: 'preferred', fixture: groupRepository, withoutCode: [404] }),
  documented('pack', { row: 'commit-pack', lacksScope: DISPUTED }),
  documented('notes', { row: 'add note', lacksScope: DISPUTED, fixture: groupRepository }),
  documented('create-repo', {
    row: 'create repository',
    family: 'preferred',
    repo: reserveName,
    request: () => ({}),
  }),
  documented('list-repos', { row: 'list repositories', family: 'preferred', repo: ofSample }),
  documented('meta', { row: 'organization metadata', family: 'preferred', repo: ofSample }),
];

export const DOCUMENTED_ROUTES: ReadonlySet<string> = new Set(DOCUMENTED_OPERATIONS.map(({ route }) => route));

/**
 * Calls an operation on the sample repository while the emulator injects the given fault. Use it only in rules of reach
 * `emulator`.
 */
export async function withFault(t: RuleContext, name: string, fault: string): Promise<ApiResponse> {
  return documentedOperation(name).send(t, await ofSample(t), { fault });
}

/** Returns a check that calls an operation on the sample repository while the emulator injects the given fault. */
export const faulted = (name: string, fault: string) => (t: RuleContext) => withFault(t, name, fault);

/**
 * Defines one rule for each error code of an operation. The emulator is forced to respond with the code, and `check`
 * verifies the response.
 */
export function forcedFailures(
  name: string,
  rows: readonly (readonly [id: string, says: string, status: number, code: string])[],
  check: (response: ApiResponse, status: number, code: string) => void = expectProblem,
): RuleRow[] {
  const responses = async (t: RuleContext, status: number, code: string) =>
    check(await withFault(t, name, code), status, code);
  return rulesBy(responses, rows, { reach: 'emulator' });
}

export function documentedOperation(name: string): TokenPlace {
  const operation = DOCUMENTED_OPERATIONS.find((one) => one.name === name);
  if (operation === undefined) throw new Error(`no operation is called ${name}`);
  return operation;
}
