/** What a handler returns: a value that one adapter (`respond.ts`) writes to the socket. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON value, bytes, or a stream of bytes; absent for an empty body. */
  readonly json?: unknown;
  readonly bytes?: Uint8Array;
  readonly stream?: AsyncIterable<Uint8Array>;
}

export function json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): Reply {
  return headers ? { status, json: value, headers } : { status, json: value };
}

export function bytes(status: number, body: Uint8Array, headers?: Readonly<Record<string, string>>): Reply {
  return headers ? { status, bytes: body, headers } : { status, bytes: body };
}

export function stream(
  status: number,
  body: AsyncIterable<Uint8Array>,
  headers?: Readonly<Record<string, string>>,
): Reply {
  return headers ? { status, stream: body, headers } : { status, stream: body };
}

export function empty(status: number, headers?: Readonly<Record<string, string>>): Reply {
  return headers ? { status, headers } : { status };
}
