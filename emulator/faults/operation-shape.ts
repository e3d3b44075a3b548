export type Effect = 'read' | 'write' | 'delete';

/** Effect and scopes of a request. */
export interface FaultedPurpose {
  readonly effect: Effect;
  /** Required scopes. The token needs all of them. */
  readonly scopes: readonly string[];
}

/** Part of an operation's row that the code for faults uses. */
export interface FaultedOperation extends FaultedPurpose {
  readonly id: string;
  readonly group: string;
  readonly reads?: 'nothing' | 'json' | 'stream';
  readonly subject: string;
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** True if HEAD is answered like GET; default true. */
  readonly head?: boolean;
  readonly purposeOf?: (query: URLSearchParams, body: unknown) => FaultedPurpose;
  /** Error codes of the operation, without those that every operation can return. */
  readonly errors?: readonly string[];
}
