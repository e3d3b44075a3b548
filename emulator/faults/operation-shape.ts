/** Effect of a request on the service's data. */
export type Effect = 'read' | 'write' | 'delete';

/** Effect of a request, and the scopes that it requires. For some operations, both depend on the query or the body. */
export interface FaultedPurpose {
  readonly effect: Effect;
  /** Scopes that the token of the request needs; all of them are required. */
  readonly scopes: readonly string[];
}

/**
 * Operation (API endpoint or Git service) as the code for faults sees it. It has only the properties that this code
 * needs.
 */
export interface FaultedOperation extends FaultedPurpose {
  readonly id: string;
  readonly group: string;
  readonly reads?: 'nothing' | 'json' | 'stream';
  readonly subject: string;
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** True if routes with GET also accept HEAD. Default: true. */
  readonly head?: boolean;
  readonly purposeOf?: (query: URLSearchParams, body: unknown) => FaultedPurpose;
  /** Error codes that this operation can return, in addition to those of every operation. */
  readonly errors?: readonly string[];
}
