import type { Deflate, Inflate } from 'node:zlib';

/**
 * Part of the internal interface of Node's zlib streams that this project uses. It is not a public API, so each class
 * that uses it is tested before its first use.
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
 * Returns the internal handle of a zlib stream, and the array that the handle updates in each write. Element 0 of the
 * array is the number of output bytes left, element 1 the number of input bytes left.
 */
export function handleOf(stream: Deflate | Inflate): { readonly handle: ZlibHandle; readonly left: Uint32Array } {
  const inner = stream as unknown as { _handle: ZlibHandle; _writeState: Uint32Array };
  return { handle: inner._handle, left: inner._writeState };
}
