import { RecentValues } from '../recent-values.js';

/** Counted on top of each buffer: the map's entry and the Buffer object. */
const ENTRY_BYTES = 200;

/** Buffers by key, at most `capacity` bytes of them. */
export class BufferCache<Key> extends RecentValues<Key, Buffer> {
  #spaces = 0;

  constructor(capacity: number) {
    super(capacity, (buffer) => buffer.length + ENTRY_BYTES);
  }

  /**
   * A number that nobody else gets, to be part of keys. Who takes a new one has forgotten all its
   * buffers: nobody asks for them again, and so they go first.
   */
  newSpace(): number {
    return this.#spaces++;
  }
}
