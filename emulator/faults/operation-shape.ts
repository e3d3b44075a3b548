/** Effect of a request on the data of the service. */
export type Effect = 'read' | 'write' | 'delete';

/** Effect of a request, and the scopes that it requires. For some operations, they depend on the query or body. */
export interface FaultedPurpose {
  readonly effect: Effect;
  /** Scopes that the token of the request must have, all of them. */
  readonly scopes: readonly string[];
}

/**
 * Part of an operation's row in the table of operations (API endpoints and Git services) that the code for faults uses.
 */
export interface FaultedOperation extends FaultedPurpose {
  readonly id: string;
  readonly group: string;
  readonly reads?: 'nothing' | 'json' | 'stream';
  readonly subject: string;
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** True if the routes with GET also accept HEAD; default true. */
  readonly head?: boolean;
  readonly purposeOf?: (query: URLSearchParams, body: unknown) => FaultedPurpose;
  /** Error codes that this operation can return, without those that every operation can return. */
  readonly errors?: readonly string[];
}
