import type { Webhook } from '../webhooks/events.js';
import { ValuePart } from './state-part.js';

/** Webhooks of all organizations, by id, in order of registration. */
export class Webhooks extends ValuePart<ReadonlyMap<string, Webhook>> {
  get size(): number {
    return this.value.size;
  }

  /** Returns the webhooks of an organization in order of registration. */
  of(organization: string): Webhook[] {
    return [...this.value.values()].filter((webhook) => webhook.organization === organization);
  }

  has(id: string): boolean {
    return this.value.has(id);
  }

  add(webhook: Webhook): void {
    this.value = new Map(this.value).set(webhook.id, webhook);
  }

  remove(id: string): void {
    const byId = new Map(this.value);
    byId.delete(id);
    this.value = byId;
  }
}
