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
 * Background work of a world (state of an emulated service): webhook deliveries, synchronization with upstreams, and
 * requests that a fault makes wait. It ends when the world is replaced, for example by the restore of a snapshot.
 */
export class Background {
  /** Queue that sends events to webhooks. */
  readonly outbox: Outbox;
  /** Running synchronizations of repositories with their upstreams. */
  readonly syncs: Syncs;
  /** Latches (named signals). A fault can make requests wait at a latch until a test releases it. */
  readonly latches = new Latches();
  /** HTTP client for webhooks. It sends requests only to loopback and to allowed hosts. */
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

  /** Queues an event for all webhooks of its organization. */
  announce(event: WebhookEvent): void {
    this.outbox.post(event, this.state.webhooks.of(event.organization));
  }

  /**
   * False once another world (state of an emulated service) has replaced this world, for example after the restore of a
   * snapshot.
   */
  get isCurrent(): boolean {
    return !this.isClosed;
  }

  /**
   * Throws `service_unavailable` if another world (state of an emulated service) has replaced this world. Call it
   * before a write, because the result of the write would be lost.
   */
  requireCurrent(): void {
    if (this.isClosed) throw worldReplaced();
  }

  /** Signal that ends responses which a fault (simulated failure) stalls. */
  get stalls(): AbortSignal {
    return this.waits.signal;
  }

  /**
   * Releases all requests and responses that faults (simulated failures) make wait. From then on, such faults have no
   * effect.
   */
  endWaits(): void {
    this.latches.close();
    this.waits.abort();
  }

  /** Ends all background work. Events that are still queued are not sent. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.endWaits();
    this.state.journal.close();
    this.outbox.close();
    await this.syncs.close();
    await Promise.all([this.webhookOutbound.close(), this.upstreamOutbound.close()]);
  }
}

/** Returns the error response for a write whose world was replaced while the request was in progress. */
export function worldReplaced() {
  return problem(
    'service_unavailable',
    'The state of the emulator was reset, restored or imported while the request was in progress. Retry the request.',
    {
      headers: { 'retry-after': '1' },
    },
  );
}
