import { checkShape } from '../http/body.js';
import type { CurrentWorld } from '../world/current-world.js';
import { type QuotaChanges, type QuotaView, quotaChanges, readQuota, showQuota } from './quota-changes.js';

export type { QuotaChanges, QuotaView } from './quota-changes.js';

/**
 * How many requests can be made: token buckets on the clock. A request that finds too few tokens is answered 429
 * `rate_limited`, with `RateLimit` and `Retry-After`, and takes none. Without quotas, which is how an emulator starts,
 * nothing is throttled.
 */
export interface EmulatorQuotas {
  /** The quotas by name. */
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

export function quotasOf(current: CurrentWorld): EmulatorQuotas {
  return {
    read: () => Object.fromEntries(current.world.state.quotas.list().map((quota) => [quota.name, showQuota(quota)])),
    change(given) {
      const changes = Object.entries(checkShape(quotaChanges, given, 'The quotas'));
      const quotas = changes.map(([name, quota]) => [name, quota ? readQuota(name, quota) : undefined] as const);
      current.world.state.quotas.change(new Map(quotas));
    },
  };
}
