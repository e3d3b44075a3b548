import http from 'node:http';

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
  /** Whether the answer is wanted, or only its length. */
  readonly keepsBody?: boolean;
}

/** A client with one connection that stays open. Bodies are read to their end, and thrown away unless wanted. */
export class HttpClient {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  constructor(readonly origin: string) {}

  async request(path: string, { method, headers = {}, body, keepsBody = false }: AnswerOptions = {}): Promise<Answer> {
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
      request.once('error', reject);
      for (const piece of pieces) request.write(piece);
      request.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
