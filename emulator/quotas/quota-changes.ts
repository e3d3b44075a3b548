import { z } from 'zod';
import { OPERATION_IDS } from '../config/operation-ids.js';
import { matchesGlob } from '../faults/glob.js';
import { checkShape } from '../http/body.js';
import { lazy } from '../memory/lazy.js';
import { PARTITIONS, type Partition, type Quota, type Quotas } from './quotas.js';

/**
 * Maximum number of tokens of a quota (token bucket). The level of a bucket is an integer in fractions of a token. The
 * maximum keeps this integer below 2^53, so that it is exact.
 */
const MAX_TOKENS = 1_000_000_000;
/** Maximum number of quotas in one change. It is limited, because each quota counts every request. */
const MAX_QUOTAS = 100;

/** Pattern for a refill rate (tokens per time), such as `10/s`, `600/m`, `1/10s` or `5/250ms`. */
const RATE = /^([1-9]\d{0,8})\/([1-9]\d{0,5})?(ms|s|m|h)$/;
const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const LONGEST = 86_400_000;

/** Schema of a quota that a client sets. It is created on first use, because most processes set no quota. @internal */
export const quotaSchema = lazy(() =>
  z.strictObject({
    by: z.array(z.enum(PARTITIONS)).max(PARTITIONS.length).default(['org']),
    capacity: z
      .int()
      .min(1)
      .max(MAX_TOKENS / 100),
    refill: z
      .string()
      .refine((text) => readRate(text) !== undefined, 'must be a rate such as 10/s (10 each second), 600/m or 1/10s'),
    cost: z
      .record(
        z.string().refine(isOperationPattern, 'must be the id of an operation, or a pattern with * that matches one'),
        z.int().min(0).max(MAX_TOKENS),
      )
      .default({ '*': 1 }),
    retryAfter: z
      .strictObject({
        add: z.int().min(0).max(1_000_000).default(0),
        format: z.enum(['seconds', 'http-date', 'omit']).default('seconds'),
      })
      .default({ add: 0, format: 'seconds' }),
  }),
);

/**
 * Pattern for a valid quota name. The name appears in the header `RateLimit` as a String of RFC 9651, which allows
 * printable ASCII. Quotes and backslashes are excluded.
 */
const QUOTA_NAME = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,100}$/;

/** Schema of a change of quotas, by name. A quota is replaced as a whole; null removes it. @internal */
export const quotaChangesSchema = lazy(() =>
  z
    .record(z.string().regex(QUOTA_NAME, 'must be printable ASCII without " and \\'), quotaSchema().nullable())
    .superRefine((quotas, context) => {
      for (const [name, row] of Object.entries(quotas)) {
        if (!row) continue;
        // A cost above the capacity is refused, because such a request could never pass.
        for (const [operation, tokens] of Object.entries(row.cost)) {
          if (tokens > row.capacity) {
            context.addIssue({
              code: 'custom',
              path: [name, 'cost', operation],
              message: 'must be at most the capacity of the quota',
            });
          }
        }
      }
    })
    .meta({ maxProperties: MAX_QUOTAS }),
);

/**
 * Quota as the admin API returns it, with all default values. A quota is a token bucket that limits the rate of
 * requests.
 */
export interface QuotaView {
  /**
   * Properties of a request, such as the repository. Each combination of their values has its own bucket. The default
   * is the organization.
   */
  readonly by: Partition[];
  readonly capacity: number;
  /** Refill rate of each bucket in tokens per time, such as `10/s`, `600/m` or `1/10s`. */
  readonly refill: string;
  /** Number of tokens that a request takes from its bucket. The key is the id of its operation, or a glob for ids. */
  readonly cost: Readonly<Record<string, number>>;
  /**
   * Header `Retry-After` of the response to a refused request. `add` is the number of seconds that are added to its
   * value. `format` is the format of the value.
   */
  readonly retryAfter: { readonly add: number; readonly format: 'seconds' | 'http-date' | 'omit' };
}

/** Quota as a client sets it. Absent members get their default values. */
export type QuotaChange = Pick<QuotaView, 'capacity' | 'refill'> & {
  readonly by?: readonly Partition[] | undefined;
  readonly cost?: Readonly<Record<string, number>> | undefined;
  readonly retryAfter?: Partial<QuotaView['retryAfter']> | undefined;
};

/** Quotas to set, by name. null removes the quota with this name. */
export type QuotaChanges = Readonly<Record<string, QuotaChange | null>>;

/**
 * Sets and removes quotas by name. Throws `bad_request` with the name of an invalid member; nothing changes then.
 * @internal
 */
export function changeQuotas({ state }: { readonly state: { readonly quotas: Quotas } }, given: QuotaChanges): void {
  const changes = Object.entries(checkShape(quotaChangesSchema(), given, 'The quotas'));
  state.quotas.change(new Map(changes.map(([name, quota]) => [name, quota ? readQuota(name, quota) : undefined])));
}

function readRate(text: string): { tokens: number; milliseconds: number } | undefined {
  const match = RATE.exec(text);
  if (!match) return undefined;
  const [, tokens, times = '1', unit] = match as unknown as [string, string, string | undefined, keyof typeof UNITS];
  const milliseconds = Number(times) * UNITS[unit];
  return milliseconds <= LONGEST ? { tokens: Number(tokens), milliseconds } : undefined;
}

function isOperationPattern(pattern: string): boolean {
  return OPERATION_IDS.some((id) => matchesGlob(pattern, id));
}

/**
 * Converts a validated quota to its internal form. Sorts the costs by precedence: exact operation ids first, then
 * longer globs before shorter ones.
 */
function readQuota(name: string, { by, capacity, refill, cost: costs, retryAfter }: QuotaView): Quota {
  const rank = (pattern: string): number => (pattern.includes('*') ? pattern.length : Number.POSITIVE_INFINITY);
  const ordered = Object.entries(costs).sort(([one], [other]) => (rank(other) > rank(one) ? 1 : -1));
  return { name, by, capacity, ...readRate(refill)!, cost: ordered, retryAfter };
}

/** @internal */
export function showQuota({ by, capacity, tokens, milliseconds, cost: costs, retryAfter }: Quota): QuotaView {
  return {
    by: [...by],
    capacity,
    refill: `${tokens}/${showTime(milliseconds)}`,
    cost: Object.fromEntries(costs),
    retryAfter: { ...retryAfter },
  };
}

function showTime(milliseconds: number): string {
  for (const unit of ['h', 'm', 's'] as const) {
    const count = milliseconds / UNITS[unit];
    if (Number.isInteger(count)) return count === 1 ? unit : `${count}${unit}`;
  }
  return `${milliseconds}ms`;
}
