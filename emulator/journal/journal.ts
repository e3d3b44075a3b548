import { CapturedBody } from './captured-body.js';
import { type EntryOptions, type JournalEntry, writeEntry } from './entry.js';
import { Lineage } from './lineage.js';
import type { Outcome, RequestRecord } from './record.js';
import { type KeptHead, keepHead, NO_HEAD, redactBody, SECRET_ANSWERS } from './redaction.js';
import { SentTokens } from './sent-token.js';

/** Records in one block. Blocks are only ever added to, so that a snapshot shares them. */
const BLOCK = 16;

/** What a snapshot has of the journal: blocks it shares, and how far they are its own. */
export interface JournalMark {
  readonly blocks: readonly (readonly RequestRecord[])[];
  /** Numbers of the first and of the last record. */
  readonly first: number;
  readonly last: number;
  readonly ended: number;
  readonly dropped: number;
  readonly weight: number;
}

export interface JournalOptions {
  /** Requests it holds at most. */
  readonly entries: number;
  /** Bytes it holds at most: heads and bodies, and a share for each request. */
  readonly bytes: number;
  /** What digests are made with. */
  readonly key: Buffer;
}

/** Is told of each request whose answer has ended. */
export type JournalListener = (record: RequestRecord) => void;

/** The last requests, in the order in which their answers were decided; bounded in number and in bytes. */
export class Journal {
  readonly tokens: SentTokens;
  private blocks: RequestRecord[][] = [];
  private first = 1;
  private last = 0;
  /** Answers that have ended. */
  private endedCount = 0;
  private droppedCount = 0;
  private weight = 0;
  /** Index of the requests that failed; undefined until somebody asks which request one repeats. */
  private lineage: Lineage | undefined = undefined;
  private lastHead: KeptHead = NO_HEAD;
  private shared: string[] = new Array(SHARED).fill('');
  private listeners = new Set<JournalListener>();
  private closeListeners = new Set<() => void>();

  constructor(private readonly options: JournalOptions) {
    this.tokens = new SentTokens(options.key);
  }

  /** Records it holds. */
  get size(): number {
    return this.last - this.first + 1;
  }

  /** Requests that it let go of, because they were too many or too large. */
  get dropped(): number {
    return this.droppedCount;
  }

  /** Answers that have ended: the number of the last one. */
  get ended(): number {
    return this.endedCount;
  }

  /** The same text as one that came lately, if there is one: clients ask for the same again and again. */
  share(text: string): string {
    const place = (text.length + 7 * text.charCodeAt(text.length >> 1)) % SHARED;
    if (this.shared[place] === text) return this.shared[place];
    this.shared[place] = text;
    return text;
  }

  /** The head of a request, without its secrets. */
  keepHead(raw: readonly string[]): KeptHead {
    this.lastHead = keepHead(raw, this.lastHead);
    return this.lastHead;
  }

  add(record: RequestRecord): void {
    this.last += 1;
    record.sequence = this.last;
    let block = this.blocks.at(-1);
    if (!block || block.length === BLOCK) {
      block = [];
      this.blocks.push(block);
    }
    block.push(record);
    this.weight += record.weight;
    if (this.size > this.options.entries || this.weight > this.options.bytes) this.dropOldest();
  }

  /** Notes how the answer of a record ended; only the first time counts. */
  end(record: RequestRecord, outcome: Outcome): void {
    if (record.ended > 0) return;
    const { body } = record;
    if (body) redactBody(body, record.operation, 'request', this.options.key);
    record.answer = this.keepAnswer(record);
    record.outcome = outcome;
    this.endedCount += 1;
    record.ended = this.endedCount;
    const { answer: response } = record;
    const bodies = (body?.weight ?? 0) + (typeof response === 'string' ? response.length : (response?.weight ?? 0));
    record.weight += bodies;
    if (record.sequence >= this.first) {
      if (this.lineage) record.retryOf = this.lineage.next(record)?.id;
      this.weight += bodies;
      if (this.weight > this.options.bytes) this.dropOldest();
    }
    if (this.listeners.size > 0) for (const listener of this.listeners) listener(record);
  }

  /** The record with that id, written out. */
  entry(id: string): JournalEntry | undefined {
    for (const record of this.newestFirst()) if (record.id === id) return this.write(record);
    return undefined;
  }

  /** Writes out one record. */
  write(record: RequestRecord, options?: EntryOptions): JournalEntry {
    this.lineage ??= this.trace();
    return writeEntry(record, record.ended > 0 ? record.retryOf : this.lineage.find(record)?.id, options);
  }

  /** Those that `select` takes, written out, oldest first. */
  *entries(
    select: (record: RequestRecord) => boolean = () => true,
    options?: EntryOptions,
  ): IterableIterator<JournalEntry> {
    for (const record of this.records()) if (select(record)) yield this.write(record, options);
  }

  /** Records behind the one with the number `after`, oldest first. */
  *records(after = 0): IterableIterator<RequestRecord> {
    // What is added meanwhile is not among them.
    const { last } = this;
    const first = Math.max(this.first, after + 1);
    const blocks = this.blocks.slice(Math.max(0, this.blockOf(first)));
    for (const block of blocks) {
      for (const record of block) if (record.sequence >= first && record.sequence <= last) yield record;
    }
  }

  /** Records before the one with the number `before`, newest first. */
  *newestFirst(before = this.last + 1): IterableIterator<RequestRecord> {
    for (let at = Math.min(this.blockOf(before - 1), this.blocks.length - 1); at >= 0; at--) {
      const block = this.blocks[at]!;
      for (let index = block.length - 1; index >= 0; index--) {
        const record = block[index]!;
        if (record.sequence < this.first) return;
        if (record.sequence < before) yield record;
      }
    }
  }

  /** Index of the block that has the record with that number. All blocks but the last are full. */
  private blockOf(sequence: number): number {
    const [oldest] = this.blocks[0] ?? [];
    return oldest ? Math.floor((sequence - oldest.sequence) / BLOCK) : 0;
  }

  /** Finds, for each record whose answer has ended, which request it repeats. `end` goes on with the index. */
  private trace(): Lineage {
    const lineage = new Lineage();
    for (const record of this.records()) if (record.ended > 0) record.retryOf = lineage.next(record)?.id;
    return lineage;
  }

  /** Lets go of all requests; their numbers go on. */
  clear(): void {
    this.blocks = [];
    this.first = this.last + 1;
    this.weight = 0;
    this.droppedCount = 0;
    this.lineage = undefined;
  }

  /** Tells `listener` of requests, until the function returned is called; `closed` when there will be no more. */
  listen(listener: JournalListener, closed: () => void): () => void {
    this.listeners.add(listener);
    this.closeListeners.add(closed);
    return () => {
      this.listeners.delete(listener);
      this.closeListeners.delete(closed);
    };
  }

  /** Tells those who listen that another journal takes its place. */
  close(): void {
    for (const closed of [...this.closeListeners]) closed();
    this.listeners.clear();
    this.closeListeners.clear();
  }

  snapshot(): JournalMark {
    const { blocks, first, last, endedCount: ended, droppedCount: dropped, weight } = this;
    return { blocks: [...blocks], first, last, ended, dropped, weight };
  }

  restore({ blocks, first, last, ended, dropped, weight }: JournalMark): void {
    this.blocks = [...(blocks as RequestRecord[][])];
    // The journal that the block is from goes on with it.
    const open = this.blocks.at(-1);
    if (open) this.blocks[this.blocks.length - 1] = open.filter((_, index) => open[0]!.sequence + index <= last);
    [this.first, this.last, this.endedCount, this.droppedCount, this.weight] = [first, last, ended, dropped, weight];
    this.lineage = undefined;
  }

  private dropOldest(): void {
    const { entries, bytes } = this.options;
    while (this.size > 0 && (this.size > entries || this.weight > bytes)) {
      const block = this.blocks[0]!;
      const oldest = block[this.first - block[0]!.sequence]!;
      this.lineage?.forget(oldest);
      this.weight -= oldest.weight;
      this.first += 1;
      this.droppedCount += 1;
      if (this.first > block.at(-1)!.sequence && block.length === BLOCK) this.blocks.shift();
    }
  }

  private keepAnswer({ answer: response, operation, status }: RequestRecord): RequestRecord['answer'] {
    if (response === undefined) return undefined;
    if (typeof response === 'string') {
      // An error may say what was asked for, secrets among it.
      if (status < 400 && response.length <= LONG_TEXT && !SECRET_ANSWERS.has(operation)) return this.share(response);
      const captured = new CapturedBody();
      captured.add(response);
      response = captured;
    }
    redactBody(response, operation, 'answer', this.options.key);
    return response;
  }
}

/** A text that is longer is copied, so that only its beginning is kept. */
const LONG_TEXT = 8 * 1024;

/** Texts that may come again. */
const SHARED = 64;
