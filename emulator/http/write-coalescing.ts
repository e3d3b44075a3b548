import type { ServerResponse } from 'node:http';

/**
 * Ends responses together, after all requests that have already arrived have been handled. A write that wakes a
 * sleeping client costs more than producing most responses, and of several writes in a row only the first one has to
 * wake it. Measured with 32 connections: 1.5 times as many responses in the same time.
 */
export class WriteCoalescing {
  #pending: [response: ServerResponse, body: Uint8Array | string | undefined, onEnd: (() => void) | undefined][] = [];

  /**
   * Ends a response whose header is written, together with other responses and before any request that arrives later is
   * handled. `onEnd` is called just before.
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
