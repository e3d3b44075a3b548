import type { OperationId } from '../config/operation-ids.js';
import type { Variants } from '../config/variants.js';
import { type Problem, type ProblemCode, problem } from '../http/problem.js';

/**
 * State of a repository (specification, States and transitions). `archived` means in cold storage. The next request is
 * refused and changes the state to `thawing`. Clients get the same responses in both states.
 */
export type RepositoryState = 'active' | 'deleted' | 'archived' | 'thawing' | 'syncing';

/** Effect of an operation on its repository. A repository state treats all operations with the same effect alike. */
export type Effect = 'read' | 'write' | 'delete';

/** Facts about an operation that decide if a repository state permits it. */
export interface Affecting {
  readonly id: OperationId;
  readonly effect: Effect;
}

/** Error code for operations with one effect in one repository state; undefined if they are permitted. */
type Cell = ProblemCode | undefined;

interface StateRow {
  readonly read: Cell;
  readonly write: Cell;
  readonly delete: Cell;
  /** Exceptions for single operations, by operation id. The specification has a separate table for each of them. */
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
 * Error codes of refusals, by repository state and effect of the operation. The exceptions come from the
 * specification's tables of file metadata and grep, which list status 503. All other operations use the codes of its
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
 * Error codes with which a deleted repository refuses all operations, by status. A variant (configurable behaviour)
 * selects the status.
 */
const DELETED: Readonly<Record<string, ProblemCode>> = { '404': 'repository_not_found', '409': 'repository_deleted' };

/**
 * Returns the error code with which a repository in `state` refuses `operation`; undefined if the operation is
 * permitted.
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
 * Repository states that a fault (simulated failure) can pretend for a single request. The key is the error code that
 * the state causes.
 */
export const STATES_BY_CODE: Readonly<Partial<Record<ProblemCode, RepositoryState>>> = {
  repository_thawing: 'thawing',
  sync_in_progress: 'syncing',
  repository_deleted: 'deleted',
};

/** Operation of the API. Not every operation concerns one repository. */
type Concerned = Pick<Affecting, 'effect'> & {
  readonly id: string;
  readonly subject: string;
  readonly errors?: readonly string[];
};

/**
 * Returns the error code with which `operation` would be refused in the repository state that causes `code`. Undefined
 * if that state permits the operation.
 */
export function refusalByCode(code: ProblemCode, operation: Concerned, variants: Variants): ProblemCode | undefined {
  // An operation whose `subject` is not `repository` looks up its repository itself. Its `errors` list the codes of the
  // states that it refuses.
  if (operation.subject !== 'repository') return operation.errors?.includes(code) ? code : undefined;
  const { id, effect } = operation;
  return refusalOf(STATES_BY_CODE[code]!, { id: id as OperationId, effect }, variants);
}

/**
 * Returns a function that checks if an error code's repository state refuses an operation. The registry of faults
 * (simulated failures) uses it to check that a fault can fire. `variants` returns the current variants (configurable
 * behaviours).
 */
export function refusedUnder(
  variants: () => Variants,
): (code: ProblemCode, operation: Omit<Concerned, 'effect'>, effect: Effect) => boolean {
  return (code, { id, subject, errors = [] }, effect) =>
    refusalByCode(code, { id, subject, errors, effect }, variants()) !== undefined;
}

/**
 * Returns the error response of a repository in `state` that refuses an operation with `code`. `retryAfter` is the
 * value of the `Retry-After` header, in seconds.
 */
export function stateProblem(state: RepositoryState, code: ProblemCode, retryAfter: number): Problem {
  if (code === 'repository_not_found') return repositoryNotFound();
  if (state === 'deleted')
    return problem(code, 'The repository was deleted. Create it again to use its name.', { isOfState: true });
  const headers = { 'retry-after': String(retryAfter) };
  return problem(code, STATES[state].detail, { isOfState: true, headers });
}

/**
 * Returns the error response for a repository that is missing, deleted, or not covered by the token. All three cases
 * look the same, so that clients cannot find out which names exist (rules `auth.repo-claim.*`).
 */
export function repositoryNotFound() {
  return problem('repository_not_found', 'The repository does not exist, or the token does not cover it.');
}
