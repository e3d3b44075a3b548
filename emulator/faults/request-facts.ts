import type { ProblemCode } from '../http/problem.js';
import type { Action, GitHead } from './fault.js';
import type { FaultedOperation } from './operation-shape.js';

/** What faults may ask of a request. Some of it is undefined until a step of its way has found it. */
export interface RequestFacts {
  readonly id: string;
  readonly operation: FaultedOperation;
  readonly organizationName: string;
  readonly repositoryName: string | undefined;
  /** The verified token; `payload` has all of its claims. */
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
  /** The JSON body, once it has been read. */
  readonly json: unknown;
  readonly gitHead: GitHead | undefined;
  readonly scenario: string | undefined;
  /** Names the connection that the request came on. */
  readonly connection: string;
  header(name: string): string | undefined;
  /** Returns the code with which the request is refused in the state of `code`; undefined if not refused. */
  stateRefusal(code: ProblemCode): ProblemCode | undefined;
}

/** The same, with what is known of a Git request at the stage. */
export interface StageFacts {
  readonly request: RequestFacts;
  readonly git: GitFacts | undefined;
}

/** An action that was chosen for a request. Its counter is taken. */
export interface ChosenAction {
  /** Of the fault. */
  readonly id: string;
  readonly action: Action;
}

/** Facts from the body of a Git request. */
export interface GitFacts {
  readonly command?: 'ls-refs' | 'fetch' | 'object-info' | undefined;
  /** Full names, as the client writes them. */
  readonly refs?: readonly string[] | undefined;
}
