import type { CurrentWorld } from '../world/current-world.js';
import { changeQuotas, type QuotaChanges, type QuotaView, showQuota } from '../world/quota-changes.js';

export type { QuotaChanges, QuotaView } from '../world/quota-changes.js';

/**
 * How many requests can be made: token buckets on the clock. A request that finds too few tokens is answered 429
 * `rate_limited`, with `RateLimit` and `Retry-After`, and takes none. Without quotas, which is how an emulator starts,
 * nothing is throttled.
 */
export interface EmulatorQuotas {
  /**
   * The quotas by name.
   *
   * ```js
   * emulator.quotas.change({ all: { capacity: 5, refill: '1/s' } });
   * console.log(emulator.quotas.read().all); // with the defaults: by ['org'], cost { '*': 1 }
   * emulator.quotas.change({ all: null });
   * ```
   */
  read(): Readonly<Record<string, QuotaView>>;
  /**
   * Sets quotas by name, and removes those that are null; others stay. All of them or none: throws an `Error` that names
   * the member that cannot be.
   *
   * ```js
   * emulator.quotas.change({
   *   gateway: { by: ['org'], capacity: 20, refill: '10/s', cost: { commitPack: 5, '*': 1 } },
   * });
   * ```
   */
  change(changes: QuotaChanges): void;
}

/** @internal */
export function quotasOf(current: CurrentWorld): EmulatorQuotas {
  return {
    read: () => Object.fromEntries(current.world.state.quotas.list().map((quota) => [quota.name, showQuota(quota)])),
    change: (changes) => changeQuotas(current.world, changes),
  };
}
