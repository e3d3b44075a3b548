import type { Exchange, Step } from '../exchange.js';
import { methodNotAllowed } from '../http/problem.js';
import { decodeOnce } from '../http/request-target.js';
import { MethodNotAllowed, Router } from '../http/router.js';
import type { Operation } from '../operation.js';

const GIT_PATH = /^\/(.+)\.git\/(info\/refs|git-upload-pack|git-receive-pack)$/;
const GIT_METHODS = { 'info/refs': 'GET', 'git-upload-pack': 'POST', 'git-receive-pack': 'POST' } as const;

/** Step: the operation. A wrong method is answered in the dialect of the path's operation. */
export function matchRoute(operations: readonly Operation[]): Step {
  const router = new Router(operations.filter(({ group }) => group !== 'Git'));
  const git = new Map(
    operations.filter(({ group }) => group === 'Git').map((operation) => [serviceOf(operation), operation]),
  );
  return (exchange) => {
    const { target, request } = exchange;
    // Both name no route but the server itself, which has nothing of its own to do.
    if (target.path === '*' || request.method === 'CONNECT') throw methodNotAllowed(request.method!, router.allow);
    const match = GIT_PATH.exec(target.path);
    if (match) {
      matchGit(exchange, match[1]!, match[2] as keyof typeof GIT_METHODS, git);
      return;
    }
    try {
      const found = router.match(request.method!, target.path);
      exchange.operation = found.operation;
      exchange.route = found.route;
      exchange.params = found.params;
    } catch (error) {
      if (!(error instanceof MethodNotAllowed)) throw error;
      exchange.operation = error.operation as Operation;
      throw methodNotAllowed(request.method!, error.allow);
    }
  };
}

/** `/{repo_name}.git/info/refs` and the like: the name may hold slashes, literal or encoded. */
function matchGit(
  exchange: Exchange,
  rawName: string,
  service: keyof typeof GIT_METHODS,
  operations: ReadonlyMap<string, Operation>,
): void {
  exchange.operation = operations.get(service)!;
  if (exchange.request.method !== GIT_METHODS[service]) {
    throw methodNotAllowed(exchange.request.method!, GIT_METHODS[service]);
  }
  const name = decodeOnce(rawName, 'The path');
  const suffix = /\+(ephemeral|import)$/.exec(name);
  exchange.route = `/{repo_name}.git/${service}`;
  exchange.params = {
    repo_name: suffix ? name.slice(0, suffix.index) : name,
    namespace: suffix?.[1] ?? '',
  };
}

function serviceOf(operation: Operation): string {
  return operation.routes[0]!.path.replace('/{repo_name}.git/', '');
}
