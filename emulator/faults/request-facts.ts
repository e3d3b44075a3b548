import type { ProblemCode } from '../http/problem.js';
import type { Action, GitHead } from './fault.js';
import type { FaultedOperation } from './operation-shape.js';

/**
 * Facts about a request that conditions of faults compare. Some are undefined until a step of the pipeline sets them.
 */
export interface RequestFacts {
  readonly id: string;
  readonly operation: FaultedOperation;
  readonly organizationName: string;
  readonly repositoryName: string | undefined;
  /** Verified token; `payload` contains all its claims. */
  readonly verified:
    | {
        readonly claims: { readonly sub: string; readonly scopes: readonly string[] };
        readonly kid: string | undefined;
        readonly key: { readonly algorithm: string };
        readonly payload: Readonly<Record<string, unknown>>;
      }
    | undefined;
  readonly method: string;
  readonly target: { readonly query: string };
  /** JSON body; undefined until it is read. */
  readonly json: unknown;
  readonly gitHead: GitHead | undefined;
  readonly scenario: string | undefined;
  /** Name of the connection. */
  readonly connection: string;
  header(name: string): string | undefined;
  /**
   * Returns the error code with which a request would be refused if its repository were in the state that reports
   * `code`; undefined if that state permits it.
   */
  stateRefusal(code: ProblemCode): ProblemCode | undefined;
}

/** Facts about a request that are known at a stage, including those from the body of a Git request. */
export interface StageFacts {
  readonly request: RequestFacts;
  readonly git: GitFacts | undefined;
}

/** Action of a fault that fires for a request. The counter of the fault already includes the request. */
export interface ChosenAction {
  /** Id of the fault. */
  readonly id: string;
  readonly action: Action;
}

/** Facts from the body of a Git request. */
export interface GitFacts {
  readonly command?: 'ls-refs' | 'fetch' | 'object-info' | undefined;
  /** Full ref names, as the client sends them. */
  readonly refs?: readonly string[] | undefined;
}
