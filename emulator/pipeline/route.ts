import { methodNotAllowed, Problem } from '../http/problem.js';
import { decodeOnce } from '../http/request-target.js';
import { type Match, MethodNotAllowed, Router } from '../http/router.js';
import type { Operation } from '../operation/operation.js';
import type { RequestContext, Step } from './request-context.js';

/** What the routes of Git remotes start with. The name may hold slashes, literal or encoded, so it is no segment. */
const REMOTE = '/{repo_name}.git';

/** Step: the operation. A wrong method is answered in the dialect of the path's operation. */
export function matchRoute(operations: readonly Operation[]): Step {
  const api = new Router(operations.filter(({ group }) => group !== 'Git'));
  const git = new Router(
    operations.filter(({ group }) => group === 'Git'),
    ({ path }) => path.slice(REMOTE.length),
  );
  return (context) => {
    const { path } = context.target;
    // Both name no route but the server itself, which has nothing of its own to do.
    if (path === '*' || context.request.method === 'CONNECT')
      throw methodNotAllowed(context.request.method!, api.allow);
    const end = path.lastIndexOf('.git/');
    if (end > 1 && matchGit(context, git, path.slice(1, end), path.slice(end + '.git'.length))) return;
    context.params = match(context, api, path).params;
  };
}

/** `/{repo_name}.git/info/refs` and the like. False when remotes have no such path: it may be one of the API. */
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

/** Finds the operation of `path`. One that has other methods only is noted before it refuses. */
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
