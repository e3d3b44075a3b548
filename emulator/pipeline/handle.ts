import { accepts } from '../http/accept.js';
import { checkShape, readAll, refuseContentEncoding, shapeSteps } from '../http/body.js';
import { jsonSteps, MAX_VALUES } from '../http/json-reader.js';
import { problem } from '../http/problem.js';
import type { Reply } from '../http/reply.js';
import { parseQuery } from '../http/request-target.js';
import { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import { worldReplaced } from '../world/background.js';
import { lowerLimit } from './adversary.js';
import { applyFaults, gitFaultsOf } from './fault-actions.js';
import { isLost, type RequestContext } from './request-context.js';

const JSON_TYPE = 'application/json';

/**
 * Step: determines the purpose of the request, which is its effect and the scopes it needs, from the query or body. If
 * the body cannot be read, the operation's own purpose is used, and the later step `input` refuses the request.
 */
export function readPurpose(context: RequestContext): void | Promise<void> {
  const { operation, target } = context;
  context.purpose = operation;
  const { purposeOf, reads } = operation;
  if (!purposeOf) return;
  const decide = (body?: unknown): void => {
    context.purpose = purposeOf(new URLSearchParams(target.query), body);
  };
  if (reads !== 'json') return decide();
  context.pendingBody = readJson(context);
  return context.pendingBody.then(decide, () => {});
}

/**
 * Step: validates query and body against the schemas of the operation. Returns a promise only if it reads a JSON body,
 * or if a fault (simulated failure) delays it.
 */
export function readInput(context: RequestContext): void | Promise<void> {
  const { operation, target } = context;
  const asked = parseQuery(target.query, operation.repeated ?? []);
  const values = context.adversary === undefined ? asked : lowerLimit(context, asked);
  const query = operation.query ? checkShape(operation.query, values, 'The query') : {};
  const proceed = (body: unknown): void => {
    context.query = query;
    context.body = body;
    context.gitFaults = gitFaultsOf(context);
  };
  if (operation.json) checkAccept(context, operation.json.mediaType);
  if (operation.reads === 'json') return (context.pendingBody ?? readJson(context)).then(proceed);
  // Git clients may compress their requests, so only other requests are refused for their encoding. The Git operations
  // themselves limit the size of the decompressed body.
  if (operation.reads === 'stream' && operation.group !== 'Git') {
    refuseContentEncoding(context.request);
    checkContentType(context, 'application/x-ndjson');
  }
  const pending = operation.reads === 'stream' ? startStream(context) : undefined;
  if (pending) return pending.then(proceed);
  proceed(undefined);
}

/** Applies the faults (simulated failures) of the stage `body`. Waits if the body is already being read for faults. */
function startStream(context: RequestContext): void | Promise<void> {
  return context.pendingStream ?? applyFaults(context, 'body');
}

/** Reads and validates the JSON body of the request. Applies the faults (simulated failures) of the stage `body`. */
export async function readJson(context: RequestContext): Promise<unknown> {
  const { operation, request, world } = context;
  await applyFaults(context, 'body');
  refuseContentEncoding(request);
  const { json, body } = operation;
  if (json) requireContentType(context, [json.mediaType, JSON_TYPE]);
  else checkContentType(context, JSON_TYPE);
  const raw = await readAll(context.readBody(world.limits.maxJsonBytes));
  if (raw.length === 0) return checkShape(body!, undefined, 'A JSON body', json?.invalid);
  // The meter counts CPU work and yields to other requests. It gets no abort signal, because adding listeners for a
  // disconnect costs more than reading most bodies.
  const meter = new Meter({ schedule: world.engine.schedule });
  const value = await runYielding(jsonSteps(raw, 'The body', { maxValues: MAX_VALUES }), meter);
  context.bodyValues = [value];
  return runYielding(shapeSteps(body!, value, 'A JSON body', json?.invalid), meter);
}

function checkAccept({ request }: RequestContext, mediaType: string): void {
  if (accepts(request.headers.accept, mediaType)) return;
  throw problem('not_acceptable', `The Accept header must allow ${mediaType}.`);
}

function requireContentType(context: RequestContext, read: readonly string[]): void {
  if (read.includes(contentTypeOf(context) ?? '')) return;
  throw problem('unsupported_media_type', `The body must be ${read[0]}.`);
}

/**
 * Requires the documented content type if the variant `contentType` (configurable behaviour) is `strict`. Otherwise,
 * any content type is accepted if the body can be parsed.
 */
function checkContentType(context: RequestContext, documented: string): void {
  if (context.world.variants.contentType !== 'strict') return;
  const type = contentTypeOf(context);
  if (type !== undefined && type !== documented) {
    throw problem('unsupported_media_type', `The body must be ${documented}.`);
  }
}

function contentTypeOf({ request }: RequestContext): string | undefined {
  return request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
}

/** Step: calls the handler of the operation, which returns the reply. */
export function callHandler(context: RequestContext): void | Promise<void> {
  const accept = (reply: Reply): void | Promise<void> => {
    if (isLost(context)) throw worldReplaced();
    context.reply = reply;
    // Faults at the stage `after` discard the result of a successful request, so they do not apply to a refused
    // request.
    if (context.faults.isArmed && reply.status < 400 && !reply.isRefusal) return applyFaults(context, 'after');
  };
  const reply = context.operation.handle(context);
  if (context.operation.effect === 'read') return reply instanceof Promise ? reply.then(accept) : accept(reply);
  const { resources } = context.world.engine;
  const acceptWrite = (written: Reply): void | Promise<void> => {
    const pending = resources.beforeAcknowledgement();
    return pending ? pending.then(() => accept(written)) : accept(written);
  };
  return reply instanceof Promise ? reply.then(acceptWrite) : acceptWrite(reply);
}
