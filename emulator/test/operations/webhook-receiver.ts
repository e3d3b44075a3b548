import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever members it expects
  readonly json: any;
}

/** HTTP server that records the emulator's webhook requests. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  /**
   * Returns the HTTP status to respond with. `before` is the number of requests received earlier. A test replaces this
   * function to let deliveries fail.
   */
  status: (before: number) => number = () => 200;
  readonly #server: Server;
  #waiting: (() => void)[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const body = Buffer.concat(pieces);
        response.writeHead(this.status(this.received.length)).end('noted');
        this.received.push({ headers: request.headers, body, json: JSON.parse(body.toString()) });
        for (const wake of this.#waiting.splice(0)) wake();
      });
    });
  }

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Waits until at least `count` requests have arrived. Resolves to all received requests. */
  async until(count: number): Promise<Received[]> {
    while (this.received.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.received;
  }

  events(): unknown[] {
    return this.received.map(({ headers }) => headers['x-pierre-event']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
