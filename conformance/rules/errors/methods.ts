import { repositoryPath } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectCode, expectMatch } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, sampleRepository } from '../../fixtures/repositories.js';
import { DOCUMENTED_OPERATIONS, type TokenPlace } from '../documented-operations.js';
import { defineRules, on } from '../rule.js';

/** Documented operations whose paths have no GET, neither in the specification nor in published clients. */
const ONLY_POST = ['grep', 'archive', 'pack', 'restore', 'reset'];

const ALL_SCOPES = ['git:read', 'git:write', 'repo:write', 'org:read'];

/** Returns the path of a documented operation, with the repository name filled in. */
function pathOf({ route }: TokenPlace, repo: string): string {
  const path = route.split(' ')[1] ?? '';
  return path.replace('/api/repos/{repo_name}', repositoryPath(repo));
}

/**
 * Sends a request with the given method to the path of an operation. The token has all scopes, so a wrong method is the
 * only defect.
 */
async function withMethod(t: RuleContext, place: TokenPlace, method: string): Promise<ApiResponse> {
  const { name: repo } = await groupRepository(t);
  return t.request(method, pathOf(place, repo), { as: { repo, scopes: ALL_SCOPES } });
}

/** A request with a method that its path does not support, and the response. */
interface WrongMethod {
  readonly place: TokenPlace;
  /** Method and path, such as `PUT /api/v1/repo`. */
  readonly label: string;
  readonly response: ApiResponse;
}

/** Sends PUT to the path of every documented operation. Also sends GET to the paths that support only POST. */
export async function tryWrongMethods(t: RuleContext): Promise<readonly WrongMethod[]> {
  const tried: WrongMethod[] = [];
  for (const place of DOCUMENTED_OPERATIONS) {
    for (const method of ONLY_POST.includes(place.name) ? ['PUT', 'GET'] : ['PUT'])
      tried.push({
        place,
        label: `${method} ${pathOf(place, '{repo_name}')}`,
        response: await withMethod(t, place, method),
      });
  }
  return tried;
}

export const methods = defineRules('Errors', 'methods', [
  {
    id: 'err.method.allow',
    says: 'A 405 response names the methods of the path in the header Allow (RFC 9110, section 15.5.6).',
    level: 'SHOULD',
    clauses: {
      present: 'The header Allow is present.',
      documented: 'Allow contains the documented method of the path.',
      refused: 'Allow does not contain the refused method.',
    },
    writes: true,
    check: async (t) => {
      for (const { place, label, response } of await tryWrongMethods(t)) {
        if (response.status !== 405) continue;
        const allow = response.header('allow') ?? '';
        const [refused = '', documented = ''] = [label.split(' ')[0], place.route.split(' ')[0]];
        expectMatch(allow, new RegExp(`(^|[ ,])${documented}($|[ ,])`), `Allow for ${label}`);
        expectMatch(allow, new RegExp(`^(?!.*\\b${refused}\\b)`), `Allow must not name ${refused}`);
      }
    },
  },
  {
    id: 'err.route.near',
    says: 'A path that resembles a documented one, but is not one, is refused with 404 route_not_found.',
    clauses: {
      below: 'A path below a documented path is refused.',
      version: 'A path of another version of the API is refused.',
      singular: 'A path with repo in place of repos is refused.',
    },
    check: on(sampleRepository, async (t, { name }) => {
      const as = { repo: name, scopes: ALL_SCOPES };
      // Leave out `/api/repos`. The segment after it is a repository name, so a refusal could be about the repository
      // instead of the route.
      const documented = new Set(DOCUMENTED_OPERATIONS.map((place) => pathOf(place, name)));
      documented.delete('/api/repos');
      const below = [...documented].map((path) => `${path}/no-such-part/no-such-route`);
      for (const path of [...below, '/api/v2/repo', '/api/v0/repos/commit', '/api/v1/repo/grep'])
        expectCode(await t.get(path, { as }), 404, 'route_not_found');
    }),
  },
]);
