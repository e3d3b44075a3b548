import type { Terminal } from './terminal.js';

const MIB = 1024 * 1024;
/** Pause in milliseconds before the first update of the progress line and between updates. */
const PAUSE = 500;

/** Shows the progress, rate and remaining time of a long operation. Shows nothing if the output is not a terminal. */
export class Progress {
  bytes = 0;
  readonly #start: number;
  #shown: number;
  #isShown = false;

  constructor(
    private readonly terminal: Terminal,
    private readonly what: string,
    private readonly total?: number,
  ) {
    this.#start = terminal.now();
    this.#shown = this.#start;
  }

  add(bytes: number): void {
    this.bytes += bytes;
    const now = this.terminal.now();
    if (!this.terminal.isInteractive || now - this.#shown < PAUSE) return;
    this.#shown = now;
    this.#isShown = true;
    const rate = this.bytes / Math.max(1, now - this.#start);
    const left =
      this.total === undefined ? '' : `, ${Math.ceil(Math.max(0, this.total - this.bytes) / rate / 1000)} s left`;
    const done = `${(this.bytes / MIB).toFixed(1)} MiB`;
    this.terminal.warn(`\r\u001b[K${this.what} ${done}, ${((rate * 1000) / MIB).toFixed(1)} MiB/s${left}`);
  }

  async *watch<Piece extends Uint8Array>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
    for await (const piece of pieces) {
      this.add(piece.length);
      yield piece;
    }
  }

  end(): void {
    if (this.#isShown) this.terminal.warn('\r\u001b[K');
  }
}
