import type { FileBytes } from './file-contents.js';

/** Effect of a request on the service's data. */
export type Effect = 'read' | 'write' | 'delete';

/** Effect of a request, and the scopes that it requires. For some operations, both depend on the query or the body. */
export interface FaultedPurpose {
  readonly effect: Effect;
  /** Scopes that the token of the request needs; all of them are required. */
  readonly scopes: readonly string[];
}

/** Request of the API, after its body was read. `values` are the JSON values of the body, one per line of NDJSON. */
export interface ReadRequest {
  readonly values: readonly unknown[];
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Functions that find Git data in a request of the API, so that conditions of faults can compare them. Absent functions
 * mean that such a request does not contain the data. Values that are not strings are ignored.
 */
export interface NamedGitData {
  /** Full names of the refs that the request changes. */
  readonly refs?: (request: ReadRequest) => readonly unknown[];
  /** Paths that the request changes. The generator yields its work units between steps. */
  readonly paths?: (request: ReadRequest) => Generator<number, readonly unknown[], void>;
  readonly messages?: (request: ReadRequest) => readonly unknown[];
  /** Yields the contents of the files that the request adds or changes, and work units between steps. */
  readonly contents?: (request: ReadRequest) => Iterable<FileBytes | number>;
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
  readonly names?: NamedGitData;
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** True if routes with GET also accept HEAD. Default: true. */
  readonly head?: boolean;
  readonly purposeOf?: (query: URLSearchParams, body: unknown) => FaultedPurpose;
  /** Error codes that this operation can return, in addition to those of every operation. */
  readonly errors?: readonly string[];
}
