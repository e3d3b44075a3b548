import type { Agent, Dispatcher } from 'undici';
import { isLoopback } from '../config/loopback.js';

export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
  /**
   * Maximum time in milliseconds of real time to wait for the header of the response, and then for each further piece
   * of its body.
   */
  readonly timeout: number;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * Body of the response. The caller must read it to its end or destroy it, because it blocks its connection otherwise.
   */
  readonly body: Dispatcher.ResponseData['body'];
}

/**
 * HTTP client for all requests that leave the process. It sends requests only to loopback addresses and to the allowed
 * hosts. Otherwise, clients could use the emulator as a proxy for the local network, because they choose some of the
 * URLs. It does not follow redirects.
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
    // Destroying an unread body emits an 'error' event, which Node would throw if the event had no listener.
    body.on('error', () => undefined);
    return { status: statusCode, headers, body };
  }

  /** Aborts the outgoing requests that are in progress, and closes their connections. */
  async close(): Promise<void> {
    await (await this.#agent)?.destroy();
  }
}
