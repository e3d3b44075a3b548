import { BufferCache } from './buffer-cache.js';

const MIB = 1024 * 1024;

/** What stores keep at hand to be fast. Several stores can share it, so that many of them cost no more than one. */
export class StoreCaches {
  readonly bodies: BufferCache<number>;
  readonly streams: BufferCache<string>;

  /** Bytes of inflated objects, and of zlib streams that were made for packs. */
  constructor(bodyBytes: number = 32 * MIB, streamBytes: number = 16 * MIB) {
    this.bodies = new BufferCache(bodyBytes);
    this.streams = new BufferCache(streamBytes);
  }
}
