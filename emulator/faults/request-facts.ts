import type { ProblemCode } from '../http/problem.js';
import type { Action, GitHead } from './fault.js';
import type { FaultedOperation } from './operation-shape.js';

/**
 * Facts about a request that conditions of faults compare, such as its user. Some are undefined until a step of the
 * request's processing sets them.
 */
export interface RequestFacts {
  readonly id: string;
  readonly operation: FaultedOperation;
  readonly organizationName: string;
  readonly repositoryName: string | undefined;
  /**
   * Token of the request after its signature was verified; undefined before. `payload` contains all claims of the
   * token.
   */
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
  /** Parsed JSON body of the request; undefined until the body is read. */
  readonly json: unknown;
  readonly gitHead: GitHead | undefined;
  readonly scenario: string | undefined;
  /** Name of the TCP connection on which the request arrived. Faults can count requests by connection. */
  readonly connection: string;
  header(name: string): string | undefined;
  /**
   * Returns the error code with which the service would refuse the request if its repository were in the state that
   * reports `code`, such as `sync_in_progress`. Returns undefined if that state permits the request.
   */
  stateRefusal(code: ProblemCode): ProblemCode | undefined;
}

/**
 * Facts about a request that are known when it reaches a stage. `git` contains those from the body of a Git request,
 * and is undefined until the body is read.
 */
export interface StageFacts {
  readonly request: RequestFacts;
  readonly git: GitFacts | undefined;
}

/**
 * Action of a fault that fires for a request, for the caller to carry out. The counter of the fault already includes
 * the request.
 */
export interface ChosenAction {
  /** Id of the fault to which the action belongs. */
  readonly id: string;
  readonly action: Action;
}

/** Facts from the body of a Git request: the command of protocol version 2, and the refs. */
export interface GitFacts {
  readonly command?: 'ls-refs' | 'fetch' | 'object-info' | undefined;
  /** Full names of the refs that the client requests or pushes, as the client sends them. */
  readonly refs?: readonly string[] | undefined;
}
