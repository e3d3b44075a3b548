export interface Answer {
  readonly status: number;
  /** Bytes of the body. */
  readonly length: number;
  /** The body, where it was asked for. */
  readonly body: Buffer;
}

type Place = 'status line' | 'header' | 'data' | 'chunk size' | 'trailer' | 'end';

const LF = 0x0a;

/**
 * Reads one answer off a connection (RFC 9112): a status line, headers, an empty line, and a body of the length they
 * say or in chunks. Informational answers before it are passed over.
 */
export class AnswerReader {
  /** Whether the server goes on with this connection. */
  staysOpen = true;
  #place: Place = 'status line';
  /** The line under way. */
  #line = '';
  #status = 0;
  #isChunked = false;
  /** Bytes to come of the body, or of its chunk. */
  #left = 0;
  #length = 0;
  readonly #kept: Buffer[] = [];

  constructor(private readonly keepsBody: boolean) {}

  /** Takes what has arrived; true once the answer is complete. The bytes may be overwritten afterwards. */
  take(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length && this.#place !== 'end'; ) {
      if (this.#place === 'data') {
        const end = Math.min(at + this.#left, bytes.length);
        this.#takeData(bytes.subarray(at, end));
        at = end;
      } else {
        const feed = bytes.indexOf(LF, at);
        this.#line += bytes.toString('latin1', at, feed < 0 ? bytes.length : feed + 1);
        if (feed < 0) break;
        at = feed + 1;
        const line = this.#line.trimEnd();
        this.#line = '';
        this.#takeLine(line);
      }
    }
    return this.#place === 'end';
  }

  answer(): Answer {
    return { status: this.#status, length: this.#length, body: Buffer.concat(this.#kept) };
  }

  #takeData(bytes: Buffer): void {
    this.#left -= bytes.length;
    this.#length += bytes.length;
    if (this.keepsBody) this.#kept.push(Buffer.from(bytes));
    if (this.#left === 0) this.#place = this.#isChunked ? 'chunk size' : 'end';
  }

  #takeLine(line: string): void {
    switch (this.#place) {
      case 'status line':
        this.#status = Number(line.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
        this.#place = 'header';
        return;
      case 'header':
        if (line === '') this.#endHead();
        else this.#takeHeader(line);
        return;
      case 'chunk size':
        // A chunk's bytes end with an empty line of their own.
        if (line === '') return;
        this.#left = Number.parseInt(line, 16);
        this.#place = this.#left === 0 ? 'trailer' : 'data';
        return;
      default:
        if (line === '') this.#place = 'end';
    }
  }

  #takeHeader(line: string): void {
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).trim();
    switch (line.slice(0, colon).toLowerCase()) {
      case 'content-length':
        this.#left = Number(value);
        return;
      case 'transfer-encoding':
        this.#isChunked = true;
        return;
      case 'connection':
        this.staysOpen = value !== 'close';
    }
  }

  #endHead(): void {
    if (this.#status < 200) this.#place = 'status line';
    else if (this.#isChunked) this.#place = 'chunk size';
    else this.#place = this.#left > 0 ? 'data' : 'end';
  }
}
