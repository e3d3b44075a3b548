import type { Agent, Dispatcher } from 'undici';
import { isLoopback } from '../config/loopback.js';

export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
  /**
   * Maximum time to wait for the response header, and then for each piece of the body, in milliseconds of real time.
   */
  readonly timeout: number;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * Body of the response. The caller must read it to its end or destroy it, because an unread body blocks its
   * connection.
   */
  readonly body: Dispatcher.ResponseData['body'];
}

/**
 * HTTP client for all requests that leave the process. It sends requests only to loopback addresses and to the allowed
 * hosts, and does not follow redirects. Clients choose some of the URLs, so they could otherwise use the emulator as a
 * proxy into the local network.
 */
export class Outbound {
  #agent: Promise<Agent> | undefined;

  constructor(private readonly allowedHosts: readonly string[] = []) {}

  mayReach(url: URL): boolean {
    const { hostname } = url;
    return isLoopback(hostname) || this.allowedHosts.some((host) => host.toLowerCase() === hostname);
  }

  /** Sends one request. Rejects if the host is not allowed, or if the response does not arrive in time. */
  async request(url: URL, { timeout, ...request }: OutboundRequest): Promise<OutboundResponse> {
    if (!this.mayReach(url)) throw new Error(`requests to the host ${url.hostname} are not allowed`);
    this.#agent ??= import('undici').then(({ Agent }) => new Agent({ keepAliveTimeout: 1_000 }));
    const dispatcher = await this.#agent;
    const { statusCode, headers, body } = await dispatcher.request({
      ...request,
      origin: url.origin,
      path: url.pathname + url.search,
      headersTimeout: timeout,
      bodyTimeout: timeout,
    });
    // Destroying an unread body emits an 'error' event. Without a listener, Node would throw the error.
    body.on('error', () => undefined);
    return { status: statusCode, headers, body };
  }

  /** Aborts all outgoing requests in progress, and closes their connections. */
  async close(): Promise<void> {
    await (await this.#agent)?.destroy();
  }
}
