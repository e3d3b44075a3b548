import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Standard output or standard error of the process. Records the first write error, for example of a closed pipe or a
 * full disk, and writes nothing after it.
 */
export class Output {
  readonly #stream: typeof process.stdout | typeof process.stderr;
  #error: NodeJS.ErrnoException | undefined;
  #left: Promise<void> = Promise.resolve();

  constructor(stream: typeof process.stdout | typeof process.stderr) {
    this.#stream = stream;
    stream.on('error', (error) => this.#keep(error));
  }

  /** Writes the whole text, however slowly it is read. */
  write(text: string): void {
    if (this.#error) return;
    if (this.#stream instanceof Socket) {
      this.#left = new Promise((resolve) => this.#stream.write(text, (error) => resolve(this.#keep(error))));
    } else this.#writeFile(Buffer.from(text));
  }

  /** Resolves after the last write to the system error of the first failed write, undefined if all writes succeeded. */
  async flushed(): Promise<NodeJS.ErrnoException | undefined> {
    await this.#left;
    return this.#error;
  }

  #keep(error: Error | null | undefined): void {
    this.#error ??= error ?? undefined;
  }

  /**
   * Writes with `writeSync`, because Node's stream for files reports success when a write was cut short, for example on
   * a full disk.
   */
  #writeFile(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#stream.fd, bytes, at);
    } catch (error) {
      this.#keep(error as Error);
    }
  }
}
