import type { OperationId } from '../config/operation-ids.js';
import type { Variants } from '../config/variants.js';
import { type Problem, type ProblemCode, problem } from '../http/problem.js';

/** Specification, States and transitions; `archived` is what thaws: to clients the two look alike. */
export type RepositoryState = 'active' | 'deleted' | 'archived' | 'thawing' | 'syncing';

/** The kind of effect an operation has, by which a state allows or refuses it. */
export type Effect = 'read' | 'write' | 'delete';

/** What a state needs to know of an operation. */
export interface Affecting {
  readonly id: OperationId;
  readonly effect: Effect;
}

/** What a state refuses with, or undefined where it does not stand in the way. */
type Cell = ProblemCode | undefined;

interface StateRow {
  readonly read: Cell;
  readonly write: Cell;
  readonly delete: Cell;
  /** Operations whose own table says otherwise, by id. */
  readonly except: Readonly<Partial<Record<OperationId, Cell>>>;
  readonly detail: string;
}

const COLD: StateRow = {
  read: 'repository_thawing',
  write: 'repository_thawing',
  delete: 'repository_thawing',
  except: { fileMetadata: 'service_unavailable' },
  detail: 'The repository is being restored from cold storage; retry after the delay in Retry-After.',
};

/**
 * States by operations, the one table. File metadata and grep list 503 for these states in their own
 * tables; every other operation has the specific codes of the Errors table.
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
    detail: 'An upstream sync of the repository is in progress; retry shortly.',
  },
};

/** What is deleted refuses everything, with the status that the variants name. */
const DELETED: Readonly<Record<string, ProblemCode>> = { '404': 'repository_not_found', '409': 'repository_deleted' };

/** The code `state` refuses `operation` with, or undefined. */
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

/** States that a fault can apply to a request, by their codes. */
export const STATES_BY_CODE: Readonly<Partial<Record<ProblemCode, RepositoryState>>> = {
  repository_thawing: 'thawing',
  sync_in_progress: 'syncing',
  repository_deleted: 'deleted',
};

/** An operation that may be about one repository. */
type Concerned = Pick<Affecting, 'effect'> & {
  readonly id: string;
  readonly subject: string;
  readonly errors?: readonly string[];
};

/** Returns the code with which `operation` is refused in the state of `code`; undefined if not refused. */
export function refusalByCode(code: ProblemCode, operation: Concerned, variants: Variants): ProblemCode | undefined {
  // An operation that finds its repository itself lists the codes of states.
  if (operation.subject !== 'repository') return operation.errors?.includes(code) ? code : undefined;
  const { id, effect } = operation;
  return refusalOf(STATES_BY_CODE[code]!, { id: id as OperationId, effect }, variants);
}

/** Returns a function that tells faults whether a state refuses an operation under these variants. */
export function refusedUnder(
  variants: () => Variants,
): (code: ProblemCode, operation: Omit<Concerned, 'effect'>, effect: Effect) => boolean {
  return (code, { id, subject, errors = [] }, effect) =>
    refusalByCode(code, { id, subject, errors, effect }, variants()) !== undefined;
}

/** What `state` refuses with, worded. `retryAfter`: seconds a client should wait before it tries again. */
export function stateProblem(state: RepositoryState, code: ProblemCode, retryAfter: number): Problem {
  if (code === 'repository_not_found') return repositoryNotFound();
  if (state === 'deleted') return problem(code, 'The repository has been deleted.', { isOfState: true });
  const headers = { 'retry-after': String(retryAfter) };
  return problem(code, STATES[state].detail, { isOfState: true, headers });
}

/**
 * One answer, to the byte, for a repository that is missing, deleted, or named by another claim:
 * nothing tells whether a name exists (Authentication, Repository claim 3).
 */
export function repositoryNotFound() {
  return problem('repository_not_found', 'The repository does not exist, or the token does not cover it.');
}
