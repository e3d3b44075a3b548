import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import type { TokenRecipe } from '../auth/tokens.js';
import { defined } from '../target/json.js';
import { type Exchange, FAULT_FIRED } from './exchange.js';
import type { Limiter } from './limiter.js';
import { type LossKind, lossOf, NoResponse, RunEnded } from './no-response.js';
import { proxied, proxyOf } from './proxy.js';
import { Stopwatch } from './stopwatch.js';
import { secondsToWait, Throttling } from './throttling.js';

/** Request in the form in which the client sends it. `rule` is the id of the rule that sends it. */
export interface WireRequest {
  readonly rule: string;
  readonly method: string;
  readonly origin: string;
  /** Request target: path and query, sent without normalization or encoding. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly recipe?: TokenRecipe;
  readonly token?: string;
  readonly git?: boolean;
  /** True to send the body in chunks (`Transfer-Encoding: chunked`), without `Content-Length`. Default: false. */
  readonly chunked?: boolean;
  /**
   * True if the rule expects the status 429 (throttling). The client then returns this response instead of waiting and
   * retrying.
   */
  readonly wantsThrottling?: boolean;
}

/** Creates the record of a request and its response. Rules check the record, and reports show it as evidence. */
export function exchangeOf(
  { rule, method, origin, path, headers: requestHeaders, body: requestBody, recipe, token, git = false }: WireRequest,
  status: number,
  headers: Exchange['headers'],
  body: Buffer,
): Exchange {
  const injected = headers[FAULT_FIRED] !== undefined;
  const sent = { rule, method, origin, path, requestHeaders, ...defined({ requestBody, recipe, token }) };
  return { ...sent, status, headers, body, milliseconds: 0, injected, git };
}

export interface ClientOptions {
  readonly limiter: Limiter;
  /** Maximum wait in milliseconds for the response header, and between two parts of the body. */
  readonly timeout: number;
  readonly connections: number;
  readonly onExchange: (exchange: Exchange) => void;
  /** Called before each request, including retries. `rule` is the id of the rule that sends the request. */
  readonly onRequest?: (rule: string) => void;
  /** Called when the target throttles a request (status 429), which pauses the run. */
  readonly onPause?: () => void;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
  /**
   * Called when the run cannot continue, because the target is unreachable or throttles for too long. The client throws
   * `RunEnded` in any case.
   */
  readonly onEnd?: (ended: RunEnded) => void;
  /**
   * Address to which the client connects after a failed request, to find out whether the run can continue. Default:
   * origin of the failed request.
   */
  readonly baseUrl?: string;
  readonly now?: () => number;
}

/** Maximum size of a response body in bytes. */
const MAX_BODY_BYTES = 512 * 1024 * 1024;
/** Number of consecutive timeouts after which the target counts as unreachable. The run then ends. */
const MAX_LATE = 16;
/**
 * Number of consecutive requests whose connection was closed before a response. After these, the client checks whether
 * the target still responds to any request. A container's proxy closes connections in this way when the server behind
 * it is gone.
 */
const MAX_DROPPED = 16;
/**
 * Limits for the check that a target still accepts connections:
 * - `LOOKS`: number of connection attempts.
 * - `BETWEEN_LOOKS`: milliseconds after an attempt, multiplied by its number.
 * - `LOOK_TIMEOUT`: timeout of one attempt in milliseconds.
 */
const LOOKS = 3;
const BETWEEN_LOOKS = 200;
const LOOK_TIMEOUT = 5000;
/**
 * Milliseconds for which an idle connection is kept open. Servers and proxies close idle connections later, so the
 * client does not send a request on a closed connection.
 */
const KEEP_ALIVE = 1000;

/**
 * HTTP/1.1 client, built on undici's dispatcher. It does not follow redirects, decode bodies or normalize request
 * targets, because rules check exactly what was sent and received.
 */
export class Client {
  readonly throttling: Throttling;
  readonly #pools = new Map<string, Dispatcher>();
  #late = 0;
  #dropped = 0;
  #look: Promise<boolean> | undefined;

  constructor(readonly options: ClientOptions) {
    const { now = () => performance.now(), sleep, onEnd = () => undefined, onPause } = options;
    this.throttling = new Throttling(now, sleep, onEnd, onPause);
  }

  /**
   * Sends a request and retries it while the target throttles it (429). The rule's `stopwatch` does not count the wait
   * for permission to send.
   *
   * Throws `NoResponse` if no complete response arrives, `Throttled` if the target throttles for too long, and
   * `RunEnded` if the target is unreachable.
   */
  async send(request: WireRequest, stopwatch = new Stopwatch()): Promise<Exchange> {
    for (let waited = 0; ; ) {
      await stopwatch.wait(async () => {
        await this.throttling.pass();
        await this.options.limiter.take();
      });
      const exchange = await stopwatch.ask(() => this.#sendOnce(request));
      // Do not retry a 429 that an injected fault made, because the rule asked for this response.
      const wait = request.wantsThrottling || exchange.injected ? undefined : secondsToWait(exchange);
      if (wait === undefined) {
        if (exchange.status !== 429) this.throttling.clear();
        return exchange;
      }
      this.throttling.hold(wait, waited);
      waited += Math.max(wait, 0.1); // a minimum, so that a target that asks for no wait is not retried forever
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  /**
   * Sends a request once, without a retry for throttling. `stale`: number of idle connections that the server may
   * already have closed. The request may fail on each of them and is then sent again; only after that does it count as
   * unanswered.
   */
  async #sendOnce(request: WireRequest, stale = this.options.connections): Promise<Exchange> {
    this.options.onRequest?.(request.rule);
    const started = performance.now();
    const parts: Buffer[] = [];
    let head: Pick<Exchange, 'status' | 'headers'> | undefined;
    const exchange = (lost?: string): Exchange => ({
      ...exchangeOf(request, head?.status ?? 0, head?.headers ?? {}, Buffer.concat(parts)),
      milliseconds: performance.now() - started,
      ...defined({ lost }),
    });
    try {
      const response = await this.#pool(request.origin).request({
        origin: request.origin,
        method: request.method as 'GET',
        path: request.path,
        headers: request.headers,
        body: bodyOf(request),
        signal: this.options.signal,
      });
      head = { status: response.statusCode, headers: response.headers };
      let size = 0;
      for await (const part of response.body as AsyncIterable<Buffer>) {
        size += part.length;
        if (size > MAX_BODY_BYTES) throw Object.assign(new Error('endless'), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' });
        parts.push(part);
      }
    } catch (error) {
      const loss = this.options.signal.aborted ? undefined : lossOf(error, head !== undefined);
      if (loss === undefined) throw error;
      if (loss.kind === 'dropped' && stale > 0 && isSafe(request.method) && wasKept(error)) {
        return this.#sendOnce(request, stale - 1);
      }
      await this.#endIfGone(loss.kind, request.origin, loss.seen);
      throw new NoResponse(loss, exchange(loss.seen));
    }
    this.#late = 0;
    this.#dropped = 0;
    const answered = exchange();
    this.options.onExchange(answered);
    return answered;
  }

  /**
   * Checks after a failed request whether the target still accepts connections. If not, calls `onEnd` and throws
   * `RunEnded`.
   */
  async #endIfGone(kind: LossKind, origin: string, seen: string): Promise<void> {
    if (kind === 'late') this.#late += 1;
    if (kind === 'dropped') this.#dropped += 1;
    const place = this.options.baseUrl ?? origin;
    let reason: string | undefined;
    if (this.#late >= MAX_LATE) reason = `${place} stopped responding: ${this.#late} requests in a row timed out`;
    else if (!(await this.isThere(place))) reason = `${place} no longer accepts connections (${seen})`;
    else if (this.#dropped >= MAX_DROPPED && !(await this.#responds(place)))
      reason = `${place} stopped responding: it closes every connection`;
    if (reason === undefined) return;
    const ended = new RunEnded('target', reason);
    this.options.onEnd?.(ended);
    throw ended;
  }

  /** Returns true if the target accepts connections at this origin. Concurrent calls share one check. */
  async isThere(origin = this.options.baseUrl ?? ''): Promise<boolean> {
    this.#look ??= this.#lookFor(origin).finally(() => {
      this.#look = undefined;
    });
    return this.#look;
  }

  async #lookFor(origin: string): Promise<boolean> {
    for (let look = 1; ; look++) {
      // Behind a proxy, check only the connection to the proxy. Only an HTTP request could show whether the target
      // behind it is reachable.
      if (await takesConnections(new URL(proxyOf(origin) ?? origin))) return true;
      if (look === LOOKS || this.options.signal.aborted) return false;
      await this.options.sleep(BETWEEN_LOOKS * look).catch(() => undefined);
    }
  }

  /** Returns true if the target responds to a plain GET request. Tries several times. Rules do not see this request. */
  async #responds(origin: string): Promise<boolean> {
    this.#dropped = 0;
    for (let look = 1; look <= LOOKS; look++) {
      try {
        const { signal } = this.options;
        const { body } = await this.#pool(origin).request({ origin, method: 'GET', path: '/api/repos', signal });
        await body.dump();
        return true;
      } catch {
        if (this.options.signal.aborted) return true;
      }
      await this.options.sleep(BETWEEN_LOOKS * look).catch(() => undefined);
    }
    return false;
  }

  #pool(origin: string): Dispatcher {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      const settings = {
        connections: this.options.connections,
        headersTimeout: this.options.timeout,
        bodyTimeout: this.options.timeout,
        keepAliveTimeout: KEEP_ALIVE,
        keepAliveMaxTimeout: KEEP_ALIVE,
        maxHeaderSize: 64 * 1024,
      };
      const proxy = proxyOf(origin);
      const connect = countingConnector(Math.min(this.options.timeout, 10_000));
      pool = proxy === undefined ? new Pool(origin, { ...settings, connect }) : proxied(proxy, settings);
      this.#pools.set(origin, pool);
    }
    return pool;
  }
}

/**
 * Returns a request body in the form that undici expects: a buffer, which undici sends with `Content-Length`, or a
 * stream, which undici sends in chunks. A chunked body is divided into two chunks.
 */
function bodyOf({ body, chunked = false }: WireRequest): Buffer | Readable | null {
  if (body === undefined || !chunked) return body ?? null;
  const middle = Math.ceil(body.length / 2);
  return Readable.from([body.subarray(0, middle), body.subarray(middle)]);
}

/**
 * Returns a connector for undici. When a connection fails, it adds `bytesRead` to the error: the number of bytes that
 * the connection had received.
 */
function countingConnector(timeout: number): buildConnector.connector {
  const connectTo = buildConnector({ timeout });
  return (options, callback) =>
    connectTo(options, (...[error, socket]) => {
      if (error) {
        callback(error, null);
        return;
      }
      socket.on('error', (broken) => Object.assign(broken, { bytesRead: socket.bytesRead }));
      callback(null, socket);
    });
}

/**
 * Returns true if the failed connection had already delivered a response. A server may close an idle connection while
 * the client sends the next request on it. A safe request is therefore sent again on another connection (RFC 9112,
 * section 9.3.1).
 */
function wasKept(error: unknown): boolean {
  const { bytesRead, socket } = error as { bytesRead?: number; socket?: { bytesRead?: number } };
  return (bytesRead ?? socket?.bytesRead ?? 0) > 0;
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function takesConnections({ hostname, port, protocol }: URL): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const usual = protocol === 'https:' ? 443 : 80;
  return new Promise((resolve) => {
    const socket = connect({ host, port: port === '' ? usual : Number(port), timeout: LOOK_TIMEOUT });
    const settle = (response: boolean) => {
      socket.destroy();
      resolve(response);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}
