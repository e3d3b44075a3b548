import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Answer {
  readonly status: number;
  /** Bytes of the body. */
  readonly length: number;
  /** The body, where it was asked for. */
  readonly body: Buffer;
}

export interface AnswerOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | readonly Buffer[];
  /** Milliseconds between the pieces of the body. */
  readonly pause?: number;
  /** The client goes away after so many pieces of the body; the answer then has the status 0. */
  readonly cutAfter?: number;
  /** Whether the answer is wanted, or only its length. */
  readonly keepsBody?: boolean;
}

/** A client with one connection that stays open. Bodies are read to their end, and thrown away unless wanted. */
export class HttpClient {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  constructor(readonly origin: string) {}

  async request(path: string, options: AnswerOptions = {}): Promise<Answer> {
    const { method, headers = {}, body, keepsBody = false } = options;
    const pieces = body === undefined ? [] : Array.isArray(body) ? (body as Buffer[]) : [body as Buffer];
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
    return new Promise((resolve, reject) => {
      const request = http.request(
        `${this.origin}${path}`,
        {
          agent: this.#agent,
          method: method ?? (body === undefined ? 'GET' : 'POST'),
          headers: body === undefined ? headers : { ...headers, 'content-length': size },
        },
        (response) => {
          const kept: Buffer[] = [];
          let length = 0;
          response.on('data', (piece: Buffer) => {
            length += piece.length;
            if (keepsBody) kept.push(piece);
          });
          response.once('error', reject);
          response.once('end', () => resolve({ status: response.statusCode!, length, body: Buffer.concat(kept) }));
        },
      );
      let isCut = false;
      request.once('error', (error) =>
        isCut ? resolve({ status: 0, length: 0, body: Buffer.alloc(0) }) : reject(error),
      );
      void send(request, pieces, options).then((cut) => {
        isCut = cut;
        if (cut) request.destroy(new Error('the client went away'));
      });
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Sends the body; whether it was broken off. */
async function send(
  request: http.ClientRequest,
  pieces: readonly Buffer[],
  { pause = 0, cutAfter = Number.POSITIVE_INFINITY }: AnswerOptions,
): Promise<boolean> {
  for (const [index, piece] of pieces.entries()) {
    if (index >= cutAfter) return true;
    if (index > 0 && pause > 0) await sleep(pause);
    request.write(piece);
  }
  request.end();
  return false;
}
