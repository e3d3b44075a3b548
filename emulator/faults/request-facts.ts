import type { ProblemCode } from '../http/problem.js';
import type { Action } from './fault.js';
import type { FaultedOperation } from './operation-shape.js';

/** The verified token of a request. */
export interface TokenFacts {
  readonly sub: string;
  readonly kid: string | undefined;
  readonly alg: string;
  readonly scopes: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
}

/** What faults may ask of a request. Some of it is undefined until a step of its way has found it. */
export interface RequestFacts {
  readonly id: string;
  readonly operation: FaultedOperation;
  readonly organization: string;
  readonly repository: string | undefined;
  readonly token: TokenFacts | undefined;
  readonly method: string;
  readonly query: URLSearchParams;
  /** The JSON body, once it has been read. */
  readonly body: unknown;
  readonly git:
    | {
        readonly service: 'upload-pack' | 'receive-pack';
        readonly phase: 'advertise' | 'rpc';
        readonly protocol: 0 | 1 | 2;
      }
    | undefined;
  readonly scenario: string | undefined;
  /** Names the connection that the request came on. */
  readonly connection: string;
  header(name: string): string | undefined;
  /** Whether the state of `code` stands in the way of the request; for other codes true. */
  isInTheWay(code: ProblemCode): boolean;
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
