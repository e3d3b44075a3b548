import { createHmac } from 'node:crypto';
import type { Outbound } from '../http/outbound.js';
import type { EventName, Webhook } from './events.js';

/** One try at a delivery. Either an answer came, or something went wrong before one. */
export interface Attempt {
  /** Milliseconds on the world's clock. */
  readonly at: number;
  readonly status?: number;
  readonly error?: string;
}

/** `pending`: more attempts follow. `failed`: the last one is over. `canceled`: the webhook is gone. */
export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'canceled';

/** One event on its way to one webhook. */
export interface Delivery {
  readonly id: string;
  readonly webhook: Webhook;
  readonly event: EventName;
  /** The body, byte for byte the same at every attempt. */
  readonly body: Buffer;
  readonly state: DeliveryState;
  readonly attempts: readonly Attempt[];
  /** When the next attempt is due, milliseconds on the world's clock. */
  readonly nextAttemptAt: number | undefined;
}

/** Milliseconds of real time that a receiver gets to answer. */
const TIMEOUT = 10_000;
/** Bytes of an answer read so that its connection can be used again. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface DeliveryRoute {
  readonly outbound: Outbound;
  /** What the names of the headers start with, such as `X-Acme`. */
  readonly headerPrefix: string;
  readonly signal: AbortSignal;
}

/** Sends `delivery` once, at time `at`. What goes wrong is part of the attempt. */
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
    await response.body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
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
 * The value of the signature header:
 *
 *     t=<unix seconds>,sha256=<hex>
 *
 * The digest is HMAC-SHA256 of `<t>.<body>` with the secret's UTF-8 bytes as key.
 */
export function signatureOf(secret: string, seconds: number, body: Uint8Array): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  return `t=${seconds},sha256=${digest}`;
}

/** Deliveries kept, pending ones included; beyond it the oldest that ended goes. */
export const MAX_DELIVERIES = 10_000;

export interface DeliveriesSnapshot {
  readonly byId: ReadonlyMap<string, Delivery>;
  readonly ended: ReadonlySet<string>;
}

/** What is on its way to webhooks, and what became of what was. */
export class Deliveries {
  private byId = new Map<string, Delivery>();
  /** Ids of what needs no more attempts, in the order in which it ended. */
  private ended = new Set<string>();
  /** Another one after every change. */
  private changed: object = {};

  get revision(): object {
    return this.changed;
  }

  get(id: string): Delivery | undefined {
    return this.byId.get(id);
  }

  /** Every delivery that is remembered, oldest first. */
  all(): IterableIterator<Delivery> {
    return this.byId.values();
  }

  put(delivery: Delivery): void {
    this.byId.set(delivery.id, delivery);
    this.changed = {};
  }

  /** Notes that a delivery needs no more attempts. */
  end(id: string, state: Exclude<DeliveryState, 'pending'>): void {
    this.byId.set(id, { ...this.byId.get(id)!, state, nextAttemptAt: undefined });
    this.ended.add(id);
    this.changed = {};
  }

  /** Lets the oldest that ended go where there is no room for one more; false where all of them are pending. */
  makeRoom(): boolean {
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
