import { CapturedBody } from './captured-body.js';
import { type EntryOptions, type JournalEntry, writeEntry } from './entry.js';
import type { Outcome, RequestRecord } from './record.js';
import { type KeptHead, keepHead, NO_HEAD, redactBody, SECRET_RESPONSES } from './redaction.js';
import { RetryIndex } from './retry-index.js';
import { SentTokens } from './sent-token.js';

/**
 * Number of requests per block of the journal. A full block never changes, so snapshots can share it with the journal.
 */
const BLOCK = 16;

/**
 * Saved state of the journal. Its blocks are shared with the journal; `first` and `last` delimit the records that
 * belong to the snapshot.
 */
export interface JournalSnapshot {
  readonly blocks: readonly (readonly RequestRecord[])[];
  /** Sequence numbers of the first and last record. */
  readonly first: number;
  readonly last: number;
  readonly ended: number;
  readonly dropped: number;
  readonly weight: number;
}

export interface JournalOptions {
  /** Maximum number of stored requests. */
  readonly entries: number;
  /** Maximum total size of the stored requests, in bytes. Counts headers, bodies, and a fixed amount per request. */
  readonly bytes: number;
  /** HMAC key for the digests of tokens and bodies. */
  readonly key: Buffer;
}

/** Function that is called for each request when its response has ended. */
export type JournalListener = (record: RequestRecord) => void;

/**
 * Record of the most recent requests, in the order in which their responses were decided. Their number and total size
 * are limited.
 */
export class Journal {
  readonly tokens: SentTokens;
  private blocks: RequestRecord[][] = [];
  private first = 1;
  private last = 0;
  /** Number of requests whose responses have ended. */
  private endedCount = 0;
  private droppedCount = 0;
  private weight = 0;
  /**
   * Index of failed requests, used to find `retryOf` (the earlier request that a request repeats). Undefined until the
   * first caller needs `retryOf`.
   */
  private retryIndex: RetryIndex | undefined = undefined;
  private lastHead: KeptHead = NO_HEAD;
  private shared: string[] = new Array(RECENT_TEXTS).fill('');
  private listeners = new Set<JournalListener>();
  private closeListeners = new Set<() => void>();

  constructor(private readonly options: JournalOptions) {
    this.tokens = new SentTokens(options.key);
  }

  /** Number of requests that are currently stored. */
  get size(): number {
    return this.last - this.first + 1;
  }

  /** Number of requests that were discarded because of the limits in `JournalOptions`. */
  get dropped(): number {
    return this.droppedCount;
  }

  /** Number of responses that have ended. Equals `RequestRecord.ended` of the response that ended last. */
  get ended(): number {
    return this.endedCount;
  }

  /**
   * Returns an equal string that was passed recently, otherwise `text`. Clients often repeat requests, so equal texts
   * are stored only once.
   */
  share(text: string): string {
    const slot = (text.length + 7 * text.charCodeAt(text.length >> 1)) % RECENT_TEXTS;
    if (this.shared[slot] === text) return this.shared[slot];
    this.shared[slot] = text;
    return text;
  }

  /**
   * Returns a request header for storage, without secrets. If it equals the previous request's header, both share one
   * object.
   */
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

  /** Records how the response ended. Only the first call per record has an effect. */
  end(record: RequestRecord, outcome: Outcome): void {
    if (record.ended > 0) return;
    const { body } = record;
    if (body) redactBody(body, record.operation, 'request', this.options.key);
    record.response = this.storedResponse(record);
    record.outcome = outcome;
    this.endedCount += 1;
    record.ended = this.endedCount;
    const { response } = record;
    const bodies = (body?.weight ?? 0) + (typeof response === 'string' ? response.length : (response?.weight ?? 0));
    record.weight += bodies;
    if (record.sequence >= this.first) {
      if (this.retryIndex) record.retryOf = this.retryIndex.next(record)?.id;
      this.weight += bodies;
      if (this.weight > this.options.bytes) this.dropOldest();
    }
    if (this.listeners.size > 0) for (const listener of this.listeners) listener(record);
  }

  /** Returns the journal entry of the request with this id; undefined if it is not stored. */
  entry(id: string): JournalEntry | undefined {
    for (const record of this.newestFirst()) if (record.id === id) return this.write(record);
    return undefined;
  }

  /** Converts a record (the stored form of a request) to an entry (the form that users see). */
  write(record: RequestRecord, options?: EntryOptions): JournalEntry {
    this.retryIndex ??= this.trace();
    return writeEntry(record, record.ended > 0 ? record.retryOf : this.retryIndex.find(record)?.id, options);
  }

  /** Yields the entries of the records that `select` accepts, oldest first. */
  *entries(
    select: (record: RequestRecord) => boolean = () => true,
    options?: EntryOptions,
  ): IterableIterator<JournalEntry> {
    for (const record of this.records()) if (select(record)) yield this.write(record, options);
  }

  /** Yields the records with a sequence number greater than `after`, oldest first. */
  *records(after = 0): IterableIterator<RequestRecord> {
    // Reads the end only once, so that requests added during the iteration are left out.
    const { last } = this;
    const first = Math.max(this.first, after + 1);
    const blocks = this.blocks.slice(Math.max(0, this.blockOf(first)));
    for (const block of blocks) {
      for (const record of block) if (record.sequence >= first && record.sequence <= last) yield record;
    }
  }

  /** Yields the records with a sequence number less than `before`, newest first. */
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

  /**
   * Returns the index of the block with this sequence number. Works by division, because all blocks except the last are
   * full.
   */
  private blockOf(sequence: number): number {
    const [oldest] = this.blocks[0] ?? [];
    return oldest ? Math.floor((sequence - oldest.sequence) / BLOCK) : 0;
  }

  /**
   * Sets `retryOf` of each record whose response has ended. Returns the index of failed requests, to which `end` will
   * add later records.
   */
  private trace(): RetryIndex {
    const retryIndex = new RetryIndex();
    for (const record of this.records()) if (record.ended > 0) record.retryOf = retryIndex.next(record)?.id;
    return retryIndex;
  }

  /** Removes all requests. The sequence numbers of later requests continue. */
  clear(): void {
    this.blocks = [];
    this.first = this.last + 1;
    this.weight = 0;
    this.droppedCount = 0;
    this.retryIndex = undefined;
  }

  /**
   * Calls `listener` for each request whose response ends, and `closed` when no more requests will follow. Returns a
   * function that removes both.
   */
  listen(listener: JournalListener, closed: () => void): () => void {
    this.listeners.add(listener);
    this.closeListeners.add(closed);
    return () => {
      this.listeners.delete(listener);
      this.closeListeners.delete(closed);
    };
  }

  /** Tells the listeners that no more requests will follow, because another journal takes the place of this one. */
  close(): void {
    for (const closed of [...this.closeListeners]) closed();
    this.listeners.clear();
    this.closeListeners.clear();
  }

  snapshot(): JournalSnapshot {
    const { blocks, first, last, endedCount: ended, droppedCount: dropped, weight } = this;
    return { blocks: [...blocks], first, last, ended, dropped, weight };
  }

  restore({ blocks, first, last, ended, dropped, weight }: JournalSnapshot): void {
    this.blocks = [...(blocks as RequestRecord[][])];
    // Copies the last block, because the original journal may still append to it.
    const open = this.blocks.at(-1);
    if (open) this.blocks[this.blocks.length - 1] = open.filter((_, index) => open[0]!.sequence + index <= last);
    [this.first, this.last, this.endedCount, this.droppedCount, this.weight] = [first, last, ended, dropped, weight];
    this.retryIndex = undefined;
  }

  private dropOldest(): void {
    const { entries, bytes } = this.options;
    while (this.size > 0 && (this.size > entries || this.weight > bytes)) {
      const block = this.blocks[0]!;
      const oldest = block[this.first - block[0]!.sequence]!;
      this.retryIndex?.forget(oldest);
      this.weight -= oldest.weight;
      this.first += 1;
      this.droppedCount += 1;
      if (this.first > block.at(-1)!.sequence && block.length === BLOCK) this.blocks.shift();
    }
  }

  private storedResponse({ response, operation, status }: RequestRecord): RequestRecord['response'] {
    if (response === undefined) return undefined;
    if (typeof response === 'string') {
      // Errors are not shared, because they must always be redacted: an error may repeat parts of the request, which
      // can contain secrets.
      if (status < 400 && response.length <= MAX_SHARED_TEXT && !SECRET_RESPONSES.has(operation))
        return this.share(response);
      const captured = new CapturedBody();
      captured.add(response);
      response = captured;
    }
    redactBody(response, operation, 'response', this.options.key);
    return response;
  }
}

/**
 * Maximum length, in characters, of a response text that is stored as one shared string. Only the beginning of a longer
 * text is copied.
 */
const MAX_SHARED_TEXT = 8 * 1024;

/** Number of slots of the hash table for recent texts. With this table, equal texts are stored only once. */
const RECENT_TEXTS = 64;
