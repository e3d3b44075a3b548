import type { Delivery, DeliveryState } from './delivery.js';

/** Deliveries kept, pending ones included; beyond it the oldest that ended goes. */
export const MOST_DELIVERIES = 10_000;

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
    if (this.byId.size < MOST_DELIVERIES) return true;
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
