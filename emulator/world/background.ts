import { Latches } from '../faults/latches.js';
import { Outbound } from '../http/outbound.js';
import { problem } from '../http/problem.js';
import { Syncs } from '../upstream/syncs.js';
import { syncEvent, type WebhookEvent } from '../webhooks/events.js';
import { Outbox } from '../webhooks/outbox.js';
import type { WorldConfig } from './config.js';
import type { Engine } from './engine.js';
import type { WorldState } from './state.js';

/** What goes on beside requests, on behalf of one state; it ends when another state takes that one's place. */
export class Background {
  /** Sends events to webhooks. */
  readonly outbox: Outbox;
  /** Runs that bring repositories up to date with their upstreams. */
  readonly syncs: Syncs;
  /** What holds requests that a fault has stopped. */
  readonly latches = new Latches();
  /** Where webhooks may be. */
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

  /** Notes an event for the webhooks of its organization. */
  announce(event: WebhookEvent): void {
    this.outbox.post(event, this.state.webhooks.of(event.organization));
  }

  /** Whether the state it works for is still the world's. */
  get isCurrent(): boolean {
    return !this.isClosed;
  }

  /** Throws `service_unavailable` once the state it works for is no longer the world's. */
  requireCurrent(): void {
    if (this.isClosed) throw worldReplaced();
  }

  /** Aborted when answers that stall have to end. */
  get stalls(): AbortSignal {
    return this.waits.signal;
  }

  /** Lets go of the requests that faults hold, and of the answers that stall; none is held any more. */
  endWaits(): void {
    this.latches.close();
    this.waits.abort();
  }

  /** Ends all of it. No event tells of that. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.endWaits();
    this.state.journal.close();
    this.outbox.close();
    await this.syncs.close();
    await Promise.all([this.webhookOutbound.close(), this.upstreamOutbound.close()]);
  }
}

/** The answer to a write whose state was replaced while it was under way. */
export function worldReplaced() {
  return problem('service_unavailable', 'The state of the emulator was put back while the request was under way.', {
    headers: { 'retry-after': '1' },
  });
}
