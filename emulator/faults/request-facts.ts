import type { ProblemCode } from '../http/problem.js';
import type { Action, GitHead } from './fault.js';
import type { FileContent } from './file-contents.js';
import type { FaultedOperation } from './operation-shape.js';

/**
 * Facts about a request that the conditions of faults check, such as its user. Some are undefined until the service has
 * read or verified that part of the request.
 */
export interface RequestFacts {
  readonly id: string;
  readonly operation: FaultedOperation;
  readonly organizationName: string;
  readonly repositoryName: string | undefined;
  /**
   * Verified token of the request; undefined until its signature is verified. `payload` contains all claims of the
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
  /**
   * JSON values in the body of the request: the value of a JSON body, or one value per line of an NDJSON body. Empty
   * until the body is read.
   */
  readonly bodyValues: readonly unknown[];
  readonly gitHead: GitHead | undefined;
  readonly scenario: string | undefined;
  /** Identifies the TCP connection on which the request arrived. Faults can count requests per connection. */
  readonly connection: string;
  header(name: string): string | undefined;
  /**
   * Returns the error code with which the service would refuse the request if its repository were in a certain state.
   * `code` reports this state, such as `sync_in_progress`. Returns undefined if the state permits the request.
   */
  stateRefusal(code: ProblemCode): ProblemCode | undefined;
}

/**
 * Facts about a request that are known at one stage. `git` comes from the body of the request; it is undefined until
 * the body is read.
 */
export interface StageFacts {
  readonly request: RequestFacts;
  readonly git: GitFacts | undefined;
}

/**
 * Action that the caller must carry out, because a fault fires for the request. The fault's counter already includes
 * the request.
 */
export interface ChosenAction {
  /** Id of the fault to which the action belongs. */
  readonly id: string;
  readonly action: Action;
}

/** Facts about Git data that come from the body of a request. Undefined members are not known yet. */
export interface GitFacts {
  /** Command of protocol version 2. */
  readonly command?: 'ls-refs' | 'fetch' | 'object-info' | undefined;
  /** Full names of the refs that the client requests, pushes or changes. */
  readonly refs?: readonly string[] | undefined;
  /** Paths that the new commits of the request change, and the messages of these commits. */
  readonly paths?: readonly string[] | undefined;
  readonly messages?: readonly string[] | undefined;
  /** Contents of the files that the new commits add or change. Empty unless `needsContents` is true. */
  readonly contents?: readonly FileContent[] | undefined;
}
