import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Standard output or standard error of the process. Keeps the first write error, for example a closed pipe or a full
 * disk, and writes nothing after it.
 */
export class Output {
  readonly #stream: typeof process.stdout | typeof process.stderr;
  #error: NodeJS.ErrnoException | undefined;
  #left: Promise<void> = Promise.resolve();

  constructor(stream: typeof process.stdout | typeof process.stderr) {
    this.#stream = stream;
    stream.on('error', (error) => this.#keep(error));
  }

  /** Writes the whole text, even to a slow reader. */
  write(text: string): void {
    if (this.#error) return;
    if (this.#stream instanceof Socket) {
      this.#left = new Promise((resolve) => this.#stream.write(text, (error) => resolve(this.#keep(error))));
    } else this.#writeFile(Buffer.from(text));
  }

  /** Resolves when all writes have ended. The value is the error of the first failed write; undefined if none. */
  async flushed(): Promise<NodeJS.ErrnoException | undefined> {
    await this.#left;
    return this.#error;
  }

  #keep(error: Error | null | undefined): void {
    this.#error ??= error ?? undefined;
  }

  /**
   * Writes to a file with `writeSync`. Node's file stream reports success even if only a part was written, for example
   * because the disk is full.
   */
  #writeFile(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#stream.fd, bytes, at);
    } catch (error) {
      this.#keep(error as Error);
    }
  }
}
