import { Latches } from '../faults/latches.js';
import { Outbound } from '../http/outbound.js';
import { problem } from '../http/problem.js';
import { Syncs } from '../upstream/syncs.js';
import { syncEvent, type WebhookEvent } from '../webhooks/events.js';
import { Outbox } from '../webhooks/outbox.js';
import type { WorldConfig } from './config.js';
import type { Engine } from './engine.js';
import type { WorldState } from './state.js';

/**
 * Background work for one state: webhook deliveries, syncs, and requests held by faults. It ends when another state
 * replaces this one.
 */
export class Background {
  /** Sends events to webhooks. */
  readonly outbox: Outbox;
  /** Sync runs with upstreams. */
  readonly syncs: Syncs;
  /** Latches that hold requests stopped by faults. */
  readonly latches = new Latches();
  /** Restricts the addresses of webhooks. */
  readonly webhookOutbound: Outbound;
  readonly upstreamOutbound: Outbound;
  private readonly waits = new AbortController();
  private isClosed = false;

  constructor(
    { allowWebhook, allowUpstream, upstreamHost, webhookPrefix, limits, fsck }: WorldConfig,
    { log }: Engine,
    private readonly state: WorldState,
  ) {
    const { clock, ids, deliveries } = state;
    this.webhookOutbound = new Outbound(allowWebhook);
    this.upstreamOutbound = new Outbound(allowUpstream);
    this.outbox = new Outbox({
      clock,
      ids,
      log,
      deliveries,
      outbound: this.webhookOutbound,
      headerPrefix: webhookPrefix,
    });
    this.syncs = new Syncs({
      clock,
      log,
      outbound: this.upstreamOutbound,
      origins: upstreamHost,
      timeout: limits.idleTimeout,
      fsck,
      failureOf: (organization) => {
        const failure = state.organizations.get(organization)?.upstreamFailure;
        if (failure) state.organizations.countRefusal(organization, 'upstreamFailure');
        return failure;
      },
      maxPackBytes: limits.maxPushBytes,
      report: (report) => this.announce(syncEvent(report)),
    });
  }

  /** Queues an event for the webhooks of its organization. */
  announce(event: WebhookEvent): void {
    this.outbox.post(event, this.state.webhooks.of(event.organization));
  }

  /** True if the state is still the current one of its world. */
  get isCurrent(): boolean {
    return !this.isClosed;
  }

  /** Throws `service_unavailable` if another state has replaced this one. */
  requireCurrent(): void {
    if (this.isClosed) throw worldReplaced();
  }

  /** Aborted when stalled responses have to end. */
  get stalls(): AbortSignal {
    return this.waits.signal;
  }

  /** Releases held requests and stalled responses. Later ones are not held. */
  endWaits(): void {
    this.latches.close();
    this.waits.abort();
  }

  /** Ends all background work. Sends no events. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.endWaits();
    this.state.journal.close();
    this.outbox.close();
    await this.syncs.close();
    await Promise.all([this.webhookOutbound.close(), this.upstreamOutbound.close()]);
  }
}

/** Problem for a write whose state was replaced in the meantime. */
export function worldReplaced() {
  return problem('service_unavailable', 'The state of the emulator was put back while the request was under way.', {
    headers: { 'retry-after': '1' },
  });
}
