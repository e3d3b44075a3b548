import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Maximum size in bytes of the output that waits for a slow reader. Beyond it, log lines are dropped, so that the log
 * cannot fill the memory.
 */
const MAX_KEPT = 1024 * 1024;

/**
 * Writer for standard output or standard error. After the first error, such as a closed pipe or a full disk, it writes
 * nothing more.
 */
export class Output {
  readonly #stream: typeof process.stdout | typeof process.stderr;
  #error: NodeJS.ErrnoException | undefined;
  #left: Promise<void> = Promise.resolve();

  constructor(stream: typeof process.stdout | typeof process.stderr) {
    this.#stream = stream;
    stream.on('error', (error) => this.#keep(error));
  }

  /** Writes a text. Never drops it, even if the reader is slow. */
  write(text: string): void {
    if (this.#error) return;
    if (this.#stream instanceof Socket) {
      this.#left = new Promise((resolve) => this.#stream.write(text, (error) => resolve(this.#keep(error))));
    } else this.#writeFile(Buffer.from(text));
  }

  /** Writes a log line. Drops it if output of at least `MAX_KEPT` bytes is waiting for the reader. */
  writeLine(text: string): void {
    if (this.#stream.writableLength < MAX_KEPT) this.write(text);
  }

  /**
   * Resolves when everything was written. The result is the system error if something could not be written; otherwise
   * undefined.
   */
  async flushed(): Promise<NodeJS.ErrnoException | undefined> {
    await this.#left;
    return this.#error;
  }

  #keep(error: Error | null | undefined): void {
    this.#error ??= error ?? undefined;
  }

  /**
   * Writes with `writeSync`. Node's stream for files reports success even if a write was cut short, for example by a
   * full disk.
   */
  #writeFile(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#stream.fd, bytes, at);
    } catch (error) {
      this.#keep(error as Error);
    }
  }
}
