import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/** Characters kept for a reader that does not read; what comes after is dropped, so that a log cannot fill the memory. */
const MOST_KEPT = 1024 * 1024;

/** A standard stream whose reader may be gone, or whose disk may be full. After its first error nothing is written. */
export class Output {
  readonly #stream: typeof process.stdout | typeof process.stderr;
  #error: NodeJS.ErrnoException | undefined;
  #left: Promise<void> = Promise.resolve();

  constructor(stream: typeof process.stdout | typeof process.stderr) {
    this.#stream = stream;
    stream.on('error', (error) => this.#keep(error));
  }

  /** Writes all of it, however slowly it is read. */
  write(text: string): void {
    if (this.#error) return;
    if (this.#stream instanceof Socket) {
      this.#left = new Promise((resolve) => this.#stream.write(text, (error) => resolve(this.#keep(error))));
    } else this.#writeFile(Buffer.from(text));
  }

  /** Writes what may be lost: a line of the log. */
  writeLine(text: string): void {
    if (this.#stream.writableLength < MOST_KEPT) this.write(text);
  }

  /** Resolves once everything has left; to the system's error where it could not. */
  async flushed(): Promise<NodeJS.ErrnoException | undefined> {
    await this.#left;
    return this.#error;
  }

  #keep(error: Error | null | undefined): void {
    this.#error ??= error ?? undefined;
  }

  /** Node's own stream for files takes a write that was cut short, as on a disk that is full, for a whole one. */
  #writeFile(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#stream.fd, bytes, at);
    } catch (error) {
      this.#keep(error as Error);
    }
  }
}
