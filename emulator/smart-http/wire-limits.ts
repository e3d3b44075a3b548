/** Limits for one Git request over HTTP. Sizes are in bytes after decompression. */
export interface WireLimits {
  /** Maximum size of a `git-upload-pack` request. Even a request with a million `have` lines is smaller. */
  readonly fetchBytes: number;
  /** Maximum number of packets (lines) in a request before the pack. */
  readonly lines: number;
  /** Maximum number of ref updates in one push. */
  readonly refUpdates: number;
  /** Maximum number of push options (`git push -o`) in one push. */
  readonly pushOptions: number;
  /** Maximum size of the pack in one push. */
  readonly pushBytes: number;
}

/** Limits without a command-line option. Only `pushBytes` has an option. */
export const FIXED_WIRE_LIMITS: Omit<WireLimits, 'pushBytes'> = {
  fetchBytes: 64 * 1024 * 1024,
  lines: 1_000_000,
  refUpdates: 50_000,
  pushOptions: 1_000,
};
