import type { OperationId } from '../config/operation-ids.js';
import type { Variants } from '../config/variants.js';
import { type Problem, type ProblemCode, problem } from '../http/problem.js';

/**
 * State of a repository (specification, States and transitions). A repository in cold storage is `archived` until the
 * next request. This request is refused and makes the repository `thawing`. Responses are the same in both states.
 */
export type RepositoryState = 'active' | 'deleted' | 'archived' | 'thawing' | 'syncing';

/**
 * Effect of an operation on its repository. A repository state permits or refuses all operations with the same effect.
 */
export type Effect = 'read' | 'write' | 'delete';

/** Facts about an operation that decide if the state of its repository permits it. */
export interface Affecting {
  readonly id: OperationId;
  readonly effect: Effect;
}

/** Error code with which a repository state refuses the operations of one effect; undefined if it permits them. */
type Cell = ProblemCode | undefined;

interface StateRow {
  readonly read: Cell;
  readonly write: Cell;
  readonly delete: Cell;
  /** Error codes for single operations whose own table in the specification differs, by operation id. */
  readonly except: Readonly<Partial<Record<OperationId, Cell>>>;
  readonly detail: string;
}

const COLD: StateRow = {
  read: 'repository_thawing',
  write: 'repository_thawing',
  delete: 'repository_thawing',
  except: { fileMetadata: 'service_unavailable' },
  detail: 'The repository is being restored from cold storage. Retry after the delay in Retry-After.',
};

/**
 * Error codes of refusals, by the state of the repository and the effect of the operation. In the specification, the
 * tables of file metadata and grep list status 503 for these states. All other operations use the specific codes of the
 * Errors table.
 */
const STATES: Readonly<Record<Exclude<RepositoryState, 'deleted'>, StateRow>> = {
  active: { read: undefined, write: undefined, delete: undefined, except: {}, detail: '' },
  archived: COLD,
  thawing: COLD,
  syncing: {
    read: undefined,
    write: 'sync_in_progress',
    delete: 'sync_in_progress',
    except: { grep: 'service_unavailable', fileMetadata: 'service_unavailable' },
    detail: 'The repository is being synchronized with its upstream. Retry after the delay in Retry-After.',
  },
};

/**
 * Error codes with which a deleted repository refuses all operations, by the status that a variant (configurable
 * behaviour) selects.
 */
const DELETED: Readonly<Record<string, ProblemCode>> = { '404': 'repository_not_found', '409': 'repository_deleted' };

/**
 * Returns the error code with which the repository state `state` refuses `operation`; undefined if it permits the
 * operation.
 */
export function refusalOf(state: RepositoryState, operation: Affecting, variants: Variants): ProblemCode | undefined {
  if (state === 'deleted') {
    return DELETED[operation.effect === 'delete' ? variants.secondDelete : variants.deletedRepository];
  }
  const row = STATES[state];
  const cell = Object.hasOwn(row.except, operation.id) ? row.except[operation.id] : row[operation.effect];
  const [busy, status] =
    state === 'syncing'
      ? (['sync_in_progress', variants.syncing] as const)
      : (['repository_thawing', variants.thawing] as const);
  if (cell === undefined) return state === 'syncing' && variants.syncBlocks === 'all' ? busy : undefined;
  if (status === 'endpoint-table') return cell;
  return status === '503' ? 'service_unavailable' : busy;
}

/**
 * Repository states that a fault (simulated failure) can simulate for a single request, by the error code that they
 * cause.
 */
export const STATES_BY_CODE: Readonly<Partial<Record<ProblemCode, RepositoryState>>> = {
  repository_thawing: 'thawing',
  sync_in_progress: 'syncing',
  repository_deleted: 'deleted',
};

/** Operation that may or may not concern one repository. */
type Concerned = Pick<Affecting, 'effect'> & {
  readonly id: string;
  readonly subject: string;
  readonly errors?: readonly string[];
};

/**
 * Returns the error code with which `operation` would be refused if its repository were in the state that normally
 * causes `code`; undefined if this state permits the operation.
 */
export function refusalByCode(code: ProblemCode, operation: Concerned, variants: Variants): ProblemCode | undefined {
  // An operation whose subject is not the repository of the token finds its repository itself. Such an operation lists
  // in `errors` the codes of states that it refuses.
  if (operation.subject !== 'repository') return operation.errors?.includes(code) ? code : undefined;
  const { id, effect } = operation;
  return refusalOf(STATES_BY_CODE[code]!, { id: id as OperationId, effect }, variants);
}

/**
 * Returns a function that returns true if the state behind an error code refuses an operation. The registry of faults
 * (simulated failures) calls it to check that a fault can fire. `variants` returns the current variants.
 */
export function refusedUnder(
  variants: () => Variants,
): (code: ProblemCode, operation: Omit<Concerned, 'effect'>, effect: Effect) => boolean {
  return (code, { id, subject, errors = [] }, effect) =>
    refusalByCode(code, { id, subject, errors, effect }, variants()) !== undefined;
}

/**
 * Returns the error response for an operation that `state` refuses with `code`. `retryAfter` is the number of seconds
 * in the `Retry-After` header.
 */
export function stateProblem(state: RepositoryState, code: ProblemCode, retryAfter: number): Problem {
  if (code === 'repository_not_found') return repositoryNotFound();
  if (state === 'deleted')
    return problem(code, 'The repository was deleted. Create it again to use its name.', { isOfState: true });
  const headers = { 'retry-after': String(retryAfter) };
  return problem(code, STATES[state].detail, { isOfState: true, headers });
}

/**
 * Returns the error response for a repository that does not exist, is deleted, or is not covered by the token. The
 * response is the same in all three cases, so that clients cannot find out which names exist (rules
 * `auth.repo-claim.*`).
 */
export function repositoryNotFound() {
  return problem('repository_not_found', 'The repository does not exist, or the token does not cover it.');
}
