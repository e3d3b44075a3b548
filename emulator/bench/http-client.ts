import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, AnswerReader } from './answer-reader.js';

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

/** Bytes read from a connection at once. */
const READ_BYTES = 256 * 1024;
const CUT: Answer = { status: 0, length: 0, body: Buffer.alloc(0) };

/**
 * A client with one connection that stays open. Bodies are read to their end, and thrown away unless wanted.
 *
 * Without an HTTP library: what `node:http` takes to ask a question is more than a server takes to answer it, and
 * would be measured on both sides.
 */
export class HttpClient {
  readonly #host: string;
  readonly #arrived = Buffer.allocUnsafeSlow(READ_BYTES);
  #socket: Socket | undefined;
  /** The answer that is awaited. */
  #pending: { readonly reader: AnswerReader; end(error?: Error): void } | undefined;
  /** Requests follow each other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly origin: string) {
    this.#host = origin.replace('http://', '');
  }

  request(path: string, options: AnswerOptions = {}): Promise<Answer> {
    const turn = this.#last.then(() => this.#ask(path, options));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #ask(path: string, options: AnswerOptions): Promise<Answer> {
    const { headers = {}, body, keepsBody = false } = options;
    const pieces = body === undefined ? [] : Array.isArray(body) ? (body as Buffer[]) : [body as Buffer];
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
    let head = `${options.method ?? (body === undefined ? 'GET' : 'POST')} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n`;
    for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
    if (body !== undefined) head += `content-length: ${size}\r\n`;

    this.#socket ??= this.#connect();
    const socket = this.#socket;
    const reader = new AnswerReader(keepsBody);
    const arrival = new Promise<void>((resolve, reject) => {
      this.#pending = { reader, end: (error) => (error ? reject(error) : resolve()) };
    });
    let isSent = false;
    const cut = send(socket, head, pieces, options).then((isCut) => {
      isSent = !isCut;
      return isCut ? true : arrival.then(() => false);
    });
    try {
      if (await Promise.race([arrival.then(() => false), cut])) {
        this.close();
        return CUT;
      }
    } finally {
      this.#pending = undefined;
      // An answer that came before the whole question was sent leaves the connection in the middle of it.
      if (!isSent || !reader.staysOpen) this.close();
    }
    return reader.answer();
  }

  #connect(): Socket {
    const [host, port] = this.#host.split(':') as [string, string];
    const socket = connect({
      host,
      port: Number(port),
      noDelay: true,
      onread: {
        buffer: this.#arrived,
        callback: (length) => {
          if (this.#pending?.reader.take(this.#arrived.subarray(0, length))) this.#pending.end();
          return true;
        },
      },
    });
    const leave = (error: Error): void => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#pending?.end(error);
    };
    socket.on('error', leave);
    socket.on('end', () => leave(new Error(`${this.origin} closed the connection`)));
    socket.on('close', () => leave(new Error(`${this.origin} closed the connection`)));
    return socket;
  }
}

/** Sends a request; whether it was broken off. */
async function send(
  socket: Socket,
  head: string,
  pieces: readonly Buffer[],
  { pause = 0, cutAfter = Number.POSITIVE_INFINITY }: AnswerOptions,
): Promise<boolean> {
  socket.cork();
  socket.write(`${head}\r\n`, 'latin1');
  for (const [index, piece] of pieces.entries()) {
    if (index >= cutAfter) {
      socket.uncork();
      return true;
    }
    if (index > 0 && pause > 0) {
      socket.uncork();
      await sleep(pause);
      socket.cork();
    }
    socket.write(piece);
  }
  socket.uncork();
  return false;
}
