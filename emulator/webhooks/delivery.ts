import { createHmac } from 'node:crypto';
import type { Outbound } from '../http/outbound.js';
import type { EventName, Webhook } from './events.js';

/**
 * Result of one attempt to send an event to a webhook (URL that a client has registered). `status` is the HTTP status
 * if a response arrived; otherwise `error` is the reason.
 */
export interface Attempt {
  /** Time of the attempt, in milliseconds on the emulator's clock. */
  readonly at: number;
  readonly status?: number;
  readonly error?: string;
}

/**
 * State of a delivery (event that is sent to a webhook). `pending`: more attempts follow. `delivered`: an attempt
 * succeeded. `failed`: the last attempt failed. `canceled`: the webhook was removed.
 */
export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'canceled';

/** Delivery of one event to one webhook (URL that a client has registered). */
export interface Delivery {
  readonly id: string;
  readonly webhook: Webhook;
  readonly event: EventName;
  /** Id of the repository in which the event happened; undefined in a state that an earlier version saved. */
  readonly repositoryId?: string | undefined;
  /** Id of the delivery whose event this delivery sends again; undefined if it is the first delivery of the event. */
  readonly resendOf?: string | undefined;
  /** Body of the request to the webhook (JSON), identical in every attempt. */
  readonly body: Buffer;
  readonly state: DeliveryState;
  readonly attempts: readonly Attempt[];
  /** Time of the next attempt, in milliseconds on the emulator's clock; undefined if no attempt follows. */
  readonly nextAttemptAt: number | undefined;
}

/** Maximum time to wait for the response of a webhook, in milliseconds of real time. */
const TIMEOUT = 10_000;
/**
 * Maximum number of bytes that are read of the body of a webhook's response. The body is read only so that the
 * connection can be reused.
 */
const MAX_RESPONSE_BYTES = 64 * 1024;

export interface DeliveryRoute {
  readonly outbound: Outbound;
  /** Prefix of the names of the request headers, such as `X-Acme` for `X-Acme-Event`. */
  readonly headerPrefix: string;
  readonly signal: AbortSignal;
}

/**
 * Sends an event to a webhook once. `at` is the time of the attempt, in milliseconds on the emulator's clock. The
 * promise never rejects; the returned attempt contains the error, if any.
 */
export async function attempt({ webhook, event, body }: Delivery, at: number, route: DeliveryRoute): Promise<Attempt> {
  const { headerPrefix, outbound, signal } = route;
  try {
    const response = await outbound.request(new URL(webhook.url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `${headerPrefix.replace(/^X-/i, '')}-Webhook/1.0`,
        [`${headerPrefix}-Event`]: event,
        [`${headerPrefix}-Signature`]: signatureOf(webhook.secret, Math.floor(at / 1000), body),
      },
      body,
      signal,
      timeout: TIMEOUT,
    });
    await response.body.dump({ limit: MAX_RESPONSE_BYTES, signal }).catch(() => undefined);
    return { at, status: response.status };
  } catch (error) {
    return { at, error: describe(error) };
  }
}

export function isAccepted({ status }: Attempt): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

function describe(error: unknown): string {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: string };
  return typeof code === 'string' ? code : (message ?? String(error));
}

/**
 * Returns the value of the signature header, with which the receiver of a webhook verifies the sender:
 *
 * t=<unix seconds>,sha256=<hex>
 *
 * The digest is HMAC-SHA256 of `<t>.<body>`. The key is the webhook's secret in UTF-8.
 */
export function signatureOf(secret: string, seconds: number, body: Uint8Array): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  return `t=${seconds},sha256=${digest}`;
}

/**
 * Maximum number of stored deliveries, including pending ones. When it is reached, the oldest delivery that has ended
 * is removed.
 */
export const MAX_DELIVERIES = 10_000;

export interface DeliveriesSnapshot {
  readonly byId: ReadonlyMap<string, Delivery>;
  readonly ended: ReadonlySet<string>;
}

/** Store of the deliveries of events to webhooks: all pending ones, and recent ones that have ended. */
export class Deliveries {
  private byId = new Map<string, Delivery>();
  /** Ids of the deliveries that are not pending, in the order in which they ended. */
  private ended = new Set<string>();
  /** Identity token that is replaced at every change. Readers detect changes by comparing references. */
  private changed: object = {};

  get revision(): object {
    return this.changed;
  }

  get(id: string): Delivery | undefined {
    return this.byId.get(id);
  }

  /** Returns all stored deliveries, pending and ended, oldest first. */
  all(): IterableIterator<Delivery> {
    return this.byId.values();
  }

  put(delivery: Delivery): void {
    this.byId.set(delivery.id, delivery);
    this.changed = {};
  }

  /** Sets the final state of a delivery. */
  end(id: string, state: Exclude<DeliveryState, 'pending'>): void {
    this.byId.set(id, { ...this.byId.get(id)!, state, nextAttemptAt: undefined });
    this.ended.add(id);
    this.changed = {};
  }

  /**
   * Removes the oldest delivery that has ended if the maximum number is reached. Returns false if all stored deliveries
   * are pending, so that there is no space for another one.
   */
  evictOldest(): boolean {
    if (this.byId.size < MAX_DELIVERIES) return true;
    const [oldest] = this.ended;
    if (oldest === undefined) return false;
    this.ended.delete(oldest);
    return this.byId.delete(oldest);
  }

  snapshot(): DeliveriesSnapshot {
    return { byId: new Map(this.byId), ended: new Set(this.ended) };
  }

  restore({ byId, ended }: DeliveriesSnapshot): void {
    this.byId = new Map(byId);
    this.ended = new Set(ended);
    this.changed = {};
  }
}
