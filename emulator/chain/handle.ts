import type { Call } from '../call.js';
import type { Exchange } from '../exchange.js';
import { checkShape, parseJson, readBody, readChunks, refuseContentEncoding } from '../http/body.js';
import { problem } from '../http/problem.js';
import { parseQuery } from '../http/request-target.js';

/** Step: query and body, checked against the operation's schemas. */
export async function readInput(exchange: Exchange): Promise<void> {
  const { operation, request, world } = exchange;
  const { limits } = world;
  const values = parseQuery(exchange.target.query, operation.repeated ?? []);
  const query = operation.query ? checkShape(operation.query, values, 'The query') : {};
  let body: unknown;
  if (operation.reads === 'json') {
    refuseContentEncoding(request);
    checkContentType(exchange, 'application/json');
    const raw = await readBody(request, { maxBytes: limits.maxJsonBytes, idleTimeout: limits.idleTimeout });
    body = checkShape(operation.body!, raw.length === 0 ? undefined : parseJson(raw, 'The body'), 'A JSON body');
  }
  exchange.call = createCall(exchange, query, body);
}

/** Other types than the documented one are read as long as they parse, unless the variant says otherwise. */
function checkContentType(exchange: Exchange, documented: string): void {
  if (exchange.world.variants.contentType !== 'strict') return;
  const type = exchange.request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== undefined && type !== documented) {
    throw problem('unsupported_media_type', `The body has to be ${documented}.`);
  }
}

function createCall(exchange: Exchange, query: unknown, body: unknown): Call {
  const { request, world } = exchange;
  return {
    world,
    organization: exchange.organization,
    get repository() {
      if (!exchange.repository) throw new Error(`${exchange.operation.id} is not about one repository`);
      return exchange.repository;
    },
    claims: exchange.claims,
    method: request.method!,
    params: exchange.params,
    query,
    body,
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    stream: (maxBytes) => readChunks(request, { maxBytes, idleTimeout: world.limits.idleTimeout }),
    signal: exchange.signal,
    gitUrl: exchange.origin,
  };
}

/** Step: the handler; its value is the reply. */
export async function callHandler(exchange: Exchange): Promise<void> {
  exchange.reply = await exchange.operation.handle(exchange.call);
}
