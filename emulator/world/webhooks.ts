import type { Webhook } from '../webhooks/events.js';
import type { StatePart } from './state-part.js';

/** The registrations of all organizations, by id, in order of registration. */
export class Webhooks implements StatePart<ReadonlyMap<string, Webhook>> {
  private byId: ReadonlyMap<string, Webhook> = new Map();

  get size(): number {
    return this.byId.size;
  }

  /** Registrations of an organization, oldest first. */
  of(organization: string): Webhook[] {
    return [...this.byId.values()].filter((webhook) => webhook.organization === organization);
  }

  add(webhook: Webhook): void {
    this.byId = new Map(this.byId).set(webhook.id, webhook);
  }

  remove(id: string): void {
    const byId = new Map(this.byId);
    byId.delete(id);
    this.byId = byId;
  }

  snapshot(): ReadonlyMap<string, Webhook> {
    return this.byId;
  }

  restore(byId: ReadonlyMap<string, Webhook>): void {
    this.byId = byId;
  }
}
