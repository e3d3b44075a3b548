import type { Clock } from '../environment/clock.js';
import type { Ids } from '../environment/ids.js';
import type { Log } from '../environment/log.js';
import type { Outbound } from '../http/outbound.js';
import { attempt, type Delivery, isAccepted } from './delivery.js';
import type { WebhookEvent } from './events.js';
import type { Webhook } from './webhook.js';

/** Milliseconds, on the world's clock, from each failed attempt to the next; after the last the delivery has failed. */
export const BACK_OFF: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];

/** Deliveries kept, pending ones included; beyond it the oldest that ended goes, and without one a new event is lost. */
const MOST_DELIVERIES = 10_000;

export interface OutboxPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly outbound: Outbound;
  readonly headerPrefix: string;
}

/** The first attempts of one webhook, one after the other: what happened first arrives first. */
interface Lane {
  readonly queue: string[];
  isBusy: boolean;
}

/**
 * Events on their way out. Posting only notes them; sending happens later and holds up nobody. A delivery
 * that was not accepted is tried again with growing pauses, without holding back those behind it.
 */
export class Outbox {
  readonly #deliveries = new Map<string, Delivery>();
  /** Ids of what needs no more attempts, in the order in which it ended. */
  readonly #ended = new Set<string>();
  readonly #lanes = new Map<string, Lane>();
  readonly #retries = new Map<string, () => void>();
  readonly #closing = new AbortController();

  constructor(private readonly ports: OutboxPorts) {}

  /** Every delivery that is remembered, oldest first. */
  deliveries(): IterableIterator<Delivery> {
    return this.#deliveries.values();
  }

  /** Notes `event` for each of `webhooks` that asked for its kind. */
  post(event: WebhookEvent, webhooks: Iterable<Webhook>): void {
    let body: Buffer | undefined;
    for (const webhook of webhooks) {
      if (!webhook.events.includes(event.name) || this.#closing.signal.aborted) continue;
      body ??= Buffer.from(JSON.stringify(event.payload));
      if (!this.#makeRoom()) {
        this.ports.log.write({ event: 'webhook_lost', webhook: webhook.id, name: event.name });
        continue;
      }
      const id = this.ports.ids.prefixed('delivery', 'whd');
      const nextAttemptAt = this.ports.clock.now();
      this.#deliveries.set(id, {
        id,
        webhook,
        event: event.name,
        body,
        state: 'pending',
        attempts: [],
        nextAttemptAt,
      });
      this.#laneOf(webhook.id).queue.push(id);
      setImmediate(() => void this.#drain(webhook.id));
    }
  }

  /** Ends what is pending for a webhook that was removed. */
  cancel(webhookId: string): void {
    for (const { id, webhook, state } of this.#deliveries.values()) {
      if (webhook.id !== webhookId || state !== 'pending') continue;
      this.#retries.get(id)?.();
      this.#retries.delete(id);
      this.#end(id, 'canceled');
    }
    this.#lanes.delete(webhookId);
  }

  /** Stops sending. What is pending stays so. */
  close(): void {
    this.#closing.abort();
    for (const callOff of this.#retries.values()) callOff();
    this.#retries.clear();
  }

  async #drain(webhookId: string): Promise<void> {
    const lane = this.#laneOf(webhookId);
    if (lane.isBusy) return;
    lane.isBusy = true;
    for (let id = lane.queue.shift(); id !== undefined; id = lane.queue.shift()) await this.#try(id);
    lane.isBusy = false;
    if (this.#lanes.get(webhookId) === lane) this.#lanes.delete(webhookId);
  }

  async #try(id: string): Promise<void> {
    const { signal } = this.#closing;
    const delivery = this.#deliveries.get(id);
    if (delivery?.state !== 'pending' || signal.aborted) return;
    const { clock, outbound, headerPrefix, log } = this.ports;
    const made = await attempt(delivery, clock.now(), { outbound, headerPrefix, signal });
    // The webhook may have been removed meanwhile, or the process may be stopping.
    if (this.#deliveries.get(id) !== delivery || signal.aborted) return;
    const attempts = [...delivery.attempts, made];
    log.write({
      event: 'webhook_attempt',
      delivery: id,
      webhook: delivery.webhook.id,
      attempt: attempts.length,
      ...made,
    });
    const pause = isAccepted(made) ? undefined : BACK_OFF[attempts.length - 1];
    const nextAttemptAt = pause === undefined ? undefined : clock.now() + pause;
    this.#deliveries.set(id, { ...delivery, attempts, nextAttemptAt });
    if (nextAttemptAt === undefined) this.#end(id, isAccepted(made) ? 'delivered' : 'failed');
    else
      this.#retries.set(
        id,
        clock.at(nextAttemptAt, () => this.#retry(id)),
      );
  }

  #retry(id: string): void {
    this.#retries.delete(id);
    void this.#try(id);
  }

  #end(id: string, state: 'delivered' | 'failed' | 'canceled'): void {
    this.#deliveries.set(id, { ...this.#deliveries.get(id)!, state, nextAttemptAt: undefined });
    this.#ended.add(id);
  }

  #makeRoom(): boolean {
    if (this.#deliveries.size < MOST_DELIVERIES) return true;
    const [oldest] = this.#ended;
    if (oldest === undefined) return false;
    this.#ended.delete(oldest);
    return this.#deliveries.delete(oldest);
  }

  #laneOf(webhookId: string): Lane {
    let lane = this.#lanes.get(webhookId);
    if (!lane) {
      lane = { queue: [], isBusy: false };
      this.#lanes.set(webhookId, lane);
    }
    return lane;
  }
}
