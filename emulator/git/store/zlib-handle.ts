import type * as zlib from 'node:zlib';

/**
 * The inner face of a zlib stream of Node, as far as it is used here. Many short streams through one handle cost a
 * tenth of as many streams of Node. It is not public: who uses it tries it out first, and has another way.
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

export interface Inner {
  readonly handle: ZlibHandle;
  /** After a write: bytes of output left, bytes of input left. */
  readonly left: Uint32Array;
}

export function innerOf(stream: zlib.Inflate | zlib.Deflate): Inner {
  const { _handle, _writeState } = stream as unknown as { _handle: ZlibHandle; _writeState: Uint32Array };
  return { handle: _handle, left: _writeState };
}
