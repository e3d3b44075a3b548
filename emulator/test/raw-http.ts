import { connect, type Socket } from 'node:net';
import type { Service } from './service.js';

/** HTTP response with its text exactly as the server sent it. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Received {
  /** Final responses in order of arrival. `continues` counts the interim responses `100 Continue`. */
  readonly responses: readonly RawResponse[];
  readonly continues: number;
  /**
   * State of the connection at the end. `closed` and `reset` are by the server. `open` means that `count` responses
   * arrived first.
   */
  readonly end: 'closed' | 'reset' | 'open';
}

/**
 * Writes bytes to a new connection, so that a test can send invalid HTTP. Reads until `count` responses have arrived or
 * the server closes the connection. Without `count`, reads until the server closes it.
 */
export function sendRaw(service: Service, bytes: string | Buffer, count = Number.POSITIVE_INFINITY): Promise<Received> {
  return converse(service, (socket) => socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes), {
    count,
  });
}

export interface Conversation {
  readonly count?: number;
  /** Called whenever more text arrives. `text` is everything received so far. */
  readonly onText?: (text: string, socket: Socket) => void;
}

export function converse(
  service: Service,
  begin: (socket: Socket) => void,
  { count = Number.POSITIVE_INFINITY, onText }: Conversation = {},
): Promise<Received> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let text = '';
    const finish = (end: Received['end']) => {
      socket.destroy();
      resolve({ ...parseResponses(text), end });
    };
    socket.on('data', (data) => {
      text += data.toString('latin1');
      onText?.(text, socket);
      if (parseResponses(text).responses.length >= count) finish('open');
    });
    socket.once('end', () => finish('closed'));
    socket.once('error', () => finish('reset'));
    begin(socket);
  });
}

/** Splits the text from a server into responses. `Content-Length` or the chunks determine where a body ends. */
function parseResponses(text: string): Pick<Received, 'responses' | 'continues'> {
  const responses: RawResponse[] = [];
  let continues = 0;
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\r\n\r\n', at);
    if (end < 0) break;
    const [line, ...fields] = text.slice(at, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line!)?.[1]);
    const headers = Object.fromEntries(
      fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.replace(/^[^:]*:\s*/, '')]),
    );
    at = end + 4;
    if (status === 100) {
      continues++;
      continue;
    }
    if (status === 102) continue;
    let body = '';
    if (headers['transfer-encoding'] === 'chunked') {
      const close = text.indexOf('0\r\n\r\n', at);
      if (close < 0) break;
      body = text.slice(at, close);
      at = close + 5;
    } else {
      const length = Number(headers['content-length'] ?? 0);
      // There is no body if the next response begins immediately. A response to HEAD has a Content-Length but no body.
      const isBodiless = text.startsWith('HTTP/1.1 ', at) || (at === text.length && length > 0);
      if (!isBodiless && text.length - at < length) break;
      body = isBodiless ? '' : text.slice(at, at + length);
      at += body.length;
    }
    responses.push({ status, headers, body });
  }
  return { responses, continues };
}
