export type Effect = 'read' | 'write' | 'delete';

/** Effect and scopes of a request. */
export interface FaultedPurpose {
  readonly effect: Effect;
  /** Scopes that the token needs together. */
  readonly scopes: readonly string[];
}

/** What faults need to know of an operation. */
export interface FaultedOperation extends FaultedPurpose {
  readonly id: string;
  readonly group: string;
  readonly reads?: 'nothing' | 'json' | 'stream';
  readonly subject: string;
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** True if HEAD answers like GET; default true. */
  readonly head?: boolean;
  readonly purposeOf?: (query: URLSearchParams, body: unknown) => FaultedPurpose;
  /** Codes that it can answer with, beside those that every operation can. */
  readonly errors?: readonly string[];
}
