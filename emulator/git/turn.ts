/** Thrown when work was not done at its deadline. What was done until then stays valid. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
  constructor() {
    super('the deadline passed before the work was done');
  }
}

export interface TurnOptions {
  /** Milliseconds on `now`'s clock; work still unfinished then ends with `DeadlineExceeded`. */
  readonly deadline?: number | undefined;
  /** A clock that never runs backwards, in milliseconds. */
  readonly now?: (() => number) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds of work between two looks at other requests. */
  readonly length?: number | undefined;
}

/**
 * Long work in turns: it asks `isOver` after each small unit and then awaits `pass`, so that no
 * request holds up another one by more than a turn and a unit.
 */
export class Turn {
  readonly #deadline: number;
  readonly #now: () => number;
  readonly #signal: AbortSignal | undefined;
  readonly #length: number;
  #end: number;

  constructor(options: TurnOptions = {}) {
    this.#deadline = options.deadline ?? Number.POSITIVE_INFINITY;
    this.#now = options.now ?? (() => performance.now());
    this.#signal = options.signal;
    this.#length = options.length ?? 8;
    this.#end = this.#now() + this.#length;
  }

  get isOver(): boolean {
    const now = this.#now();
    return now >= this.#end || now >= this.#deadline;
  }

  /** Lets everything else that is ready run. Throws `DeadlineExceeded`, or the reason of the signal. */
  async pass(): Promise<void> {
    this.check();
    await new Promise((resolve) => setImmediate(resolve));
    this.check();
    this.#end = this.#now() + this.#length;
  }

  check(): void {
    this.#signal?.throwIfAborted();
    if (this.#now() >= this.#deadline) throw new DeadlineExceeded();
  }
}
