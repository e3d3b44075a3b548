import type { Deflate, Inflate } from 'node:zlib';

/** The inner face of a zlib stream of Node, as far as it is used here. It is not public: who uses it tries it first. */
export interface ZlibHandle {
  onerror: (message: string, code: number) => void;
  reset(): void;
  writeSync(
    flush: number,
    input: Buffer,
    inputAt: number,
    inputLength: number,
    output: Buffer,
    outputAt: number,
    outputLength: number,
  ): void;
}

/** The handle of a stream, and what it tells after each write: bytes of output left, bytes of input left. */
export function handleOf(stream: Deflate | Inflate): { readonly handle: ZlibHandle; readonly left: Uint32Array } {
  const inner = stream as unknown as { _handle: ZlibHandle; _writeState: Uint32Array };
  return { handle: inner._handle, left: inner._writeState };
}
