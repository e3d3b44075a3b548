import type { Outbound } from '../http/outbound.js';
import type { Ids } from '../ids/ids.js';
import type { Log } from '../log/log.js';
import type { Clock } from '../time/clock.js';
import { attempt, type Deliveries, type Delivery, isAccepted } from './delivery.js';
import type { Webhook, WebhookEvent } from './events.js';

/**
 * Pauses between the attempts of a delivery, in milliseconds on the emulator's clock. A failure after the last pause
 * ends the delivery.
 */
export const BACK_OFF: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];

export interface OutboxPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly deliveries: Deliveries;
  readonly outbound: Outbound;
  readonly headerPrefix: string;
}

/**
 * Ids of the deliveries to one webhook that were not attempted yet. Their first attempts run one after the other, so
 * that events arrive in order.
 */
interface DeliveryQueue {
  readonly ids: string[];
  isBusy: boolean;
}

/**
 * Sender of events to webhooks (registered URLs). `post` only queues events, so no request waits for a delivery. A
 * failed delivery is repeated after growing pauses, without delaying later deliveries.
 */
export class Outbox {
  readonly #deliveries: Deliveries;
  readonly #queues = new Map<string, DeliveryQueue>();
  readonly #retries = new Map<string, () => void>();
  readonly #closing = new AbortController();

  constructor(private readonly ports: OutboxPorts) {
    this.#deliveries = ports.deliveries;
  }

  /** Continues the pending deliveries after a snapshot of the emulator's state was restored. */
  resume(): void {
    for (const { id, webhook, state, attempts, nextAttemptAt } of this.#deliveries.all()) {
      if (state !== 'pending') continue;
      if (attempts.length === 0) this.#enqueue(webhook.id, id);
      else this.#retryAt(id, nextAttemptAt!);
    }
  }

  /** Queues an event for each webhook that has subscribed to it. */
  post(event: WebhookEvent, webhooks: Iterable<Webhook>): void {
    let body: Buffer | undefined;
    for (const webhook of webhooks) {
      if (!webhook.events.includes(event.name) || this.#closing.signal.aborted) continue;
      body ??= Buffer.from(JSON.stringify(event.payload));
      if (!this.#deliveries.evictOldest()) {
        this.ports.log.write({ event: 'webhook_lost', webhook: webhook.id, name: event.name });
        continue;
      }
      this.#add({ webhook, event: event.name, repositoryId: event.repositoryId, body });
    }
  }

  /**
   * Sends the event of an ended delivery again: adds a new delivery with the same body, and returns it. The ended
   * delivery keeps its state and its attempts, as with "Redeliver" of GitHub.
   */
  resend({ id, webhook, event, repositoryId, body }: Delivery): Delivery {
    // There is always space, because at least the ended delivery can be removed.
    this.#deliveries.evictOldest();
    return this.#add({ webhook, event, repositoryId, resendOf: id, body });
  }

  #add(sent: Pick<Delivery, 'webhook' | 'event' | 'repositoryId' | 'resendOf' | 'body'>): Delivery {
    const { ids, clock } = this.ports;
    const delivery: Delivery = {
      id: ids.prefixed('delivery', 'whd'),
      ...sent,
      state: 'pending',
      attempts: [],
      nextAttemptAt: clock.now(),
    };
    this.#deliveries.put(delivery);
    this.#enqueue(sent.webhook.id, delivery.id);
    return delivery;
  }

  #enqueue(webhookId: string, id: string): void {
    this.#queueOf(webhookId).ids.push(id);
    setImmediate(() => void this.#drain(webhookId));
  }

  /** Cancels the pending deliveries to a webhook that was removed. */
  cancel(webhookId: string): void {
    for (const { id, webhook, state } of this.#deliveries.all()) {
      if (webhook.id !== webhookId || state !== 'pending') continue;
      this.#retries.get(id)?.();
      this.#retries.delete(id);
      this.#deliveries.end(id, 'canceled');
    }
    this.#queues.delete(webhookId);
  }

  /** Stops all attempts. Pending deliveries stay pending, so that they can be continued after a restart. */
  close(): void {
    this.#closing.abort();
    for (const cancelTimer of this.#retries.values()) cancelTimer();
    this.#retries.clear();
  }

  async #drain(webhookId: string): Promise<void> {
    const queue = this.#queueOf(webhookId);
    if (queue.isBusy) return;
    queue.isBusy = true;
    for (let id = queue.ids.shift(); id !== undefined; id = queue.ids.shift()) await this.#try(id);
    queue.isBusy = false;
    if (this.#queues.get(webhookId) === queue) this.#queues.delete(webhookId);
  }

  async #try(id: string): Promise<void> {
    const { signal } = this.#closing;
    const delivery = this.#deliveries.get(id);
    if (delivery?.state !== 'pending' || signal.aborted) return;
    const { clock, outbound, headerPrefix, log } = this.ports;
    const result = await attempt(delivery, clock.now(), { outbound, headerPrefix, signal });
    // The result is ignored if the webhook was removed during the attempt, because the delivery was then replaced by a
    // canceled one. It is also ignored if the emulator is closing.
    if (this.#deliveries.get(id) !== delivery || signal.aborted) return;
    const attempts = [...delivery.attempts, result];
    log.write({
      event: 'webhook_attempt',
      delivery: id,
      webhook: delivery.webhook.id,
      attempt: attempts.length,
      ...result,
    });
    const pause = isAccepted(result) ? undefined : BACK_OFF[attempts.length - 1];
    const nextAttemptAt = pause === undefined ? undefined : clock.now() + pause;
    this.#deliveries.put({ ...delivery, attempts, nextAttemptAt });
    if (nextAttemptAt === undefined) this.#deliveries.end(id, isAccepted(result) ? 'delivered' : 'failed');
    else this.#retryAt(id, nextAttemptAt);
  }

  #retryAt(id: string, time: number): void {
    const cancelTimer = this.ports.clock.at(time, () => {
      this.#retries.delete(id);
      return this.#try(id);
    });
    this.#retries.set(id, cancelTimer);
  }

  #queueOf(webhookId: string): DeliveryQueue {
    let queue = this.#queues.get(webhookId);
    if (!queue) {
      queue = { ids: [], isBusy: false };
      this.#queues.set(webhookId, queue);
    }
    return queue;
  }
}
