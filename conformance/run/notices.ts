import { createHash } from 'node:crypto';
import { type Exchange, headerOf, mediaTypeOf } from '../http/exchange.js';

/** From so many answers on it means something that they are alike, and so large a share of them has to be. */
const FEWEST = 8;
const SHARE = 0.9;

interface Kind {
  readonly sample: Exchange;
  count: number;
}

/** Notices that a target gives the same answer to everything: that is no API, whatever else it is. */
export class Likeness {
  #answers = 0;
  readonly #kinds = new Map<string, Kind>();

  see(exchange: Exchange): void {
    if (exchange.injected) return;
    this.#answers += 1;
    const body = createHash('sha1').update(exchange.body.subarray(0, 4096)).digest('base64');
    const key = [exchange.status, mediaTypeOf(exchange), exchange.status < 400 ? body : ''].join(' ');
    const kind = this.#kinds.get(key);
    if (kind === undefined) this.#kinds.set(key, { sample: exchange, count: 1 });
    else kind.count += 1;
  }

  notices(): string[] {
    if (this.#answers < FEWEST) return [];
    const kind = [...this.#kinds.values()].find(({ count }) => count >= SHARE * this.#answers);
    return kind === undefined ? [] : [`${kind.count} of ${this.#answers} answers are alike: ${describe(kind.sample)}`];
  }
}

function describe(exchange: Exchange): string {
  const { status } = exchange;
  const type = mediaTypeOf(exchange);
  const location = headerOf(exchange, 'location')?.replace(/[?#].*/s, '');
  const question = 'is this the address of the API?';
  if (status > 299 && status < 400) return `${status}, a redirect to ${location ?? 'nowhere'}; ${question}`;
  if (type === 'text/html') return `${status}, a page for people (text/html); ${question}`;
  return `${status} ${type || 'without a type'}, ${exchange.body.length} bytes`;
}
