/** Bounds of one Git request. Bytes are counted after decompression. */
export interface WireLimits {
  /** A whole `git-upload-pack` request: a million haves fit. */
  readonly fetchBytes: number;
  /** Lines (packets) of any request, before the pack. */
  readonly lines: number;
  /** Ref updates of one push. */
  readonly refUpdates: number;
  readonly pushOptions: number;
  /** The pack of one push. */
  readonly pushBytes: number;
  /** Packs that are being kept while they are sent, of all repositories together. */
  readonly packCacheBytes: number;
}

export const DEFAULT_WIRE_LIMITS: WireLimits = {
  fetchBytes: 64 * 1024 * 1024,
  lines: 1_000_000,
  refUpdates: 50_000,
  pushOptions: 1_000,
  pushBytes: 1024 * 1024 * 1024,
  packCacheBytes: 64 * 1024 * 1024,
};
