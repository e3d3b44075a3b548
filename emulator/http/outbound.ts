import type { Agent, Dispatcher } from 'undici';
import { isLoopback } from '../config/loopback.js';

export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
  /** Milliseconds (real time) to wait for the head of the answer, and for each further piece of it. */
  readonly timeout: number;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Has to be read to its end or destroyed. */
  readonly body: Dispatcher.ResponseData['body'];
}

/**
 * The one way out of the process. Requests go to loopback, and to hosts that were allowed by name: an
 * address that a client made up must not turn the emulator into a proxy of the machine's network.
 * Redirects are not followed.
 */
export class Outbound {
  #agent: Promise<Agent> | undefined;

  constructor(private readonly allowedHosts: readonly string[] = []) {}

  mayReach(url: URL): boolean {
    const { hostname } = url;
    return isLoopback(hostname) || this.allowedHosts.some((host) => host.toLowerCase() === hostname);
  }

  /** Sends one request. Rejects when nothing answers in time. */
  async request(url: URL, { timeout, ...request }: OutboundRequest): Promise<OutboundResponse> {
    if (!this.mayReach(url)) throw new Error(`${url.hostname} is not an allowed host`);
    this.#agent ??= import('undici').then(({ Agent }) => new Agent({ keepAliveTimeout: 1_000 }));
    const dispatcher = await this.#agent;
    const { statusCode, headers, body } = await dispatcher.request({
      ...request,
      origin: url.origin,
      path: url.pathname + url.search,
      headersTimeout: timeout,
      bodyTimeout: timeout,
    });
    // Destroying a body that is not needed any more counts as an error, which a listener has to take.
    body.on('error', () => undefined);
    return { status: statusCode, headers, body };
  }

  /** Cuts what is still under way. */
  async close(): Promise<void> {
    await (await this.#agent)?.destroy();
  }
}
