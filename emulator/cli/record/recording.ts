import { randomBytes } from 'node:crypto';
import { type JournalEntry, writeEntry } from '../../journal/entry.js';
import { type Observed, toHar } from '../../journal/export.js';
import { recordWith } from '../../journal/record.js';
import { keepHead, NO_HEAD, redactBody, redactQuery, redactText } from '../../journal/redaction.js';
import { HAR_LIMIT } from '../../scenarios/har-archive.js';
import { decodeBody } from './decoded-body.js';
import type { Exchange, RecordingOptions } from './exchange.js';
import { SeenSecrets } from './secrets.js';

/** Maximum size of the recorded exchanges in memory. Their JSON form then stays below the size that can be read back. */
const MAX_BYTES = HAR_LIMIT / 2;
/** Approximate size of the facts about one exchange, without headers and bodies, in bytes. */
const EXCHANGE_WEIGHT = 1_024;

/** Recorded exchanges between a client and a deployment, in the order in which they began. */
export class Recording {
  /** Number of exchanges that are missing because the recording was full. */
  dropped = 0;
  readonly #entries: { readonly entry: JournalEntry; readonly observed: Observed; readonly order: number }[] = [];
  readonly #secrets = new SeenSecrets();
  readonly #digestKey = randomBytes(32);
  #bytes = 0;

  constructor(readonly options: RecordingOptions) {}

  get size(): number {
    return this.#entries.length;
  }

  /** Adds an exchange that has ended. Removes its secrets first. */
  add(exchange: Exchange): void {
    const { request, response } = exchange;
    this.#secrets.noteHeaders(exchange.requestHeaders);
    this.#secrets.noteHeaders(exchange.responseHeaders);
    const operation = exchange.operation?.id;
    const content = decodeBody(response, exchange.responseHeaders, this.options.maxBody);
    for (const [body, side] of [
      [request, 'request'],
      [content, 'response'],
    ] as const) {
      const text = body.content().toString();
      if (text === '' || text.includes('\0')) continue;
      const clean = this.#secrets.takeFromBody(text, operation, side);
      if (clean !== text) body.replace(clean, '');
      // An error page of another program, such as a proxy, is not in the format of the operation.
      const isForeign = side === 'response' && !isJson(exchange.responseHeaders);
      redactBody(body, isForeign ? undefined : operation, side, this.#digestKey);
    }
    const head = keepHead(exchange.requestHeaders, NO_HEAD);
    const responseHead = keepHead(exchange.responseHeaders, NO_HEAD);
    this.#bytes += EXCHANGE_WEIGHT + head.weight + responseHead.weight + request.weight + content.weight;
    if (this.#bytes > MAX_BYTES) {
      this.dropped += 1;
      return;
    }
    const record = recordWith({
      id: String(exchange.order),
      time: exchange.began + exchange.duration,
      took: exchange.duration,
      micros: exchange.duration * 1_000,
      method: exchange.method,
      path: redactText(exchange.path),
      query: redactQuery(exchange.query),
      version: exchange.version,
      operation,
      status: exchange.status,
      origin: 'real',
      faults: [],
      why: [],
      git: exchange.git,
      head,
      body: request,
      responseHeaders: headersOf(responseHead.fields),
      response: content,
      outcome: exchange.outcome,
      ended: 1,
    });
    const entry = withoutUnkept(writeEntry(record, undefined), exchange);
    const { origin, wait, error, isUnreached } = exchange;
    const transferred = isUnreached ? 0 : response.bytes;
    const observed = { origin, wait, transferred, error: error && redactText(error), isUnreached };
    this.#entries.push({ entry, observed, order: exchange.order });
  }

  /** Yields the recording as a HAR file, in pieces. Secrets that any exchange contained are removed from all of it. */
  *toHar(): IterableIterator<string> {
    const sorted = this.#entries.sort((a, b) => a.order - b.order);
    const observed = new Map(sorted.map((each) => [each.entry, each.observed]));
    for (const piece of toHar(observed.keys(), this.dropped, observed)) yield this.#secrets.redact(piece);
  }
}

/** Removes bodies of which nothing was recorded. Otherwise, the HAR file would show an empty body. */
function withoutUnkept(entry: JournalEntry, { keepsRequest, keepsResponse }: Exchange): JournalEntry {
  const { body: requestBody, ...requestRest } = entry.request;
  const { body: answerBody, ...answerRest } = entry.answer;
  return {
    ...entry,
    request: { ...requestRest, ...(requestBody && keepsRequest && { body: requestBody }) },
    answer: { ...answerRest, ...(answerBody && keepsResponse && { body: answerBody }) },
  };
}

/** Returns true if the body with these header fields is JSON (RFC 9110, section 8.3). */
function isJson(raw: readonly string[]): boolean {
  return raw.some((value, at) => at % 2 === 1 && /^content-type$/i.test(raw[at - 1]!) && /[/+]json\b/i.test(value));
}

/** Converts header fields in the format of Node's `rawHeaders`. Repeated fields become a list. */
function headersOf(fields: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at]!;
    const before = headers[name];
    headers[name] = before === undefined ? fields[at + 1]! : [...[before].flat(), fields[at + 1]!];
  }
  return headers;
}
