import { methodNotAllowed, Problem } from '../http/problem.js';
import { decodeOnce } from '../http/request-target.js';
import { type Match, MethodNotAllowed, Router } from '../http/router.js';
import type { Operation } from '../operation/operation.js';
import type { RequestContext, Step } from './request-context.js';

/**
 * Path prefix of Git remotes. It is split off before routing, because a repository name may contain slashes, literal or
 * encoded, and is thus not one path segment.
 */
const REMOTE = '/{repo_name}.git';

/**
 * Returns the step that finds the operation by the method and path of the request. If only the method is wrong, the
 * request is refused in the error format of an operation with this path.
 */
export function matchRoute(operations: readonly Operation[]): Step {
  const api = new Router(operations.filter(({ group }) => group !== 'Git'));
  const git = new Router(
    operations.filter(({ group }) => group === 'Git'),
    ({ path }) => path.slice(REMOTE.length),
  );
  return (context) => {
    const { path } = context.target;
    // The target `*` and the method CONNECT address the server itself, for which there is no operation.
    if (path === '*' || context.request.method === 'CONNECT')
      throw methodNotAllowed(context.request.method!, api.allow);
    const end = path.lastIndexOf('.git/');
    if (end > 1 && matchGit(context, git, path.slice(1, end), path.slice(end + '.git'.length))) return;
    context.params = match(context, api, path).params;
  };
}

/**
 * Matches `/{repo_name}.git/info/refs` and the other routes of Git remotes. Returns false if none matches, because the
 * path may still be a route of the API.
 */
function matchGit(context: RequestContext, router: Router<Operation>, rawName: string, path: string): boolean {
  const found = tryMatch(context, router, path);
  if (!found) return false;
  const name = decodeOnce(rawName, 'The path');
  const suffix = /\+(ephemeral|import)$/.exec(name);
  context.params = {
    ...found.params,
    repo_name: suffix ? name.slice(0, suffix.index) : name,
    namespace: suffix?.[1] ?? '',
  };
  return true;
}

function tryMatch(context: RequestContext, router: Router<Operation>, path: string): Match<Operation> | undefined {
  try {
    return match(context, router, path);
  } catch (error) {
    if (error instanceof Problem && error.code === 'route_not_found') return undefined;
    throw error;
  }
}

/**
 * Finds the operation for `path` and stores it in `context`. If only the method does not match, stores an operation
 * with this path before throwing, because it determines the format of the error response.
 */
function match(context: RequestContext, router: Router<Operation>, path: string): Match<Operation> {
  const { method } = context.request;
  try {
    const found = router.match(method!, path);
    context.operation = found.operation;
    return found;
  } catch (error) {
    if (!(error instanceof MethodNotAllowed)) throw error;
    context.operation = error.operation as Operation;
    const { headFileMetadata } = context.world.variants;
    if (method === 'HEAD' && context.operation.id === 'fileMetadata' && headFileMetadata === '200')
      return router.match('GET', path);
    throw methodNotAllowed(method!, error.allow);
  }
}
