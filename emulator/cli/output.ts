import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Maximum size of the output that waits for a slow reader. While it is exceeded, log lines are dropped, so that the log
 * cannot fill the memory.
 */
const MAX_KEPT = 1024 * 1024;

/** Writer for standard output or error. After the first error (closed pipe, full disk) it writes nothing more. */
export class Output {
  readonly #stream: typeof process.stdout | typeof process.stderr;
  #error: NodeJS.ErrnoException | undefined;
  #left: Promise<void> = Promise.resolve();

  constructor(stream: typeof process.stdout | typeof process.stderr) {
    this.#stream = stream;
    stream.on('error', (error) => this.#keep(error));
  }

  /** Writes a text. Nothing is dropped, even if the reader is slow. */
  write(text: string): void {
    if (this.#error) return;
    if (this.#stream instanceof Socket) {
      this.#left = new Promise((resolve) => this.#stream.write(text, (error) => resolve(this.#keep(error))));
    } else this.#writeFile(Buffer.from(text));
  }

  /** Writes a log line, or drops it if more than `MAX_KEPT` of the output waits for the reader. */
  writeLine(text: string): void {
    if (this.#stream.writableLength < MAX_KEPT) this.write(text);
  }

  /** Resolves when everything was written; to the system error if it could not be written. */
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
