import type { Deflate, Inflate } from 'node:zlib';

/**
 * Internal interface of a zlib stream of Node, as far as it is used here. It is not public, so every user tests it
 * first.
 */
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

/**
 * Returns the handle of a stream, and the array that it updates after each write: bytes of output left, bytes of input
 * left.
 */
export function handleOf(stream: Deflate | Inflate): { readonly handle: ZlibHandle; readonly left: Uint32Array } {
  const inner = stream as unknown as { _handle: ZlibHandle; _writeState: Uint32Array };
  return { handle: inner._handle, left: inner._writeState };
}
