import { maxStreamedBytes } from '../config/limits.js';
import { readContents } from '../faults/file-contents.js';
import { tooLarge } from '../http/body.js';
import { jsonSteps } from '../http/json-reader.js';
import { readLines } from '../http/ndjson.js';
import { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import { applyFaults } from './fault-actions.js';
import { readJson } from './handle.js';
import type { RequestContext } from './request-context.js';

/**
 * Step: if a fault (simulated failure) has a condition on the body, reads the body and tells the faults which refs,
 * paths, commit messages and file contents it names. If the body cannot be read, such a fault does not apply, and a
 * later step refuses the request.
 */
export function readBodyForFaults(context: RequestContext): void | Promise<void> {
  const { faults, operation } = context;
  if (!faults.isArmed || !faults.needsBody) return;
  return readValues(context)
    .catch(() => {})
    .then(() => learn(context, operation.names ?? {}));
}

async function readValues(context: RequestContext): Promise<unknown> {
  switch (context.operation.reads) {
    case 'json':
      context.pendingBody ??= readJson(context);
      return context.pendingBody;
    case 'stream':
      context.pendingStream = holdStream(context);
      await context.pendingStream;
      return readValuesOf(context);
    default:
      return undefined;
  }
}

/**
 * Reads a streamed body and holds it in memory, so that the handler can read it again. If reading fails, the handler
 * gets the same error after the bytes that have arrived.
 */
async function holdStream(context: RequestContext): Promise<void> {
  await applyFaults(context, 'body');
  const pieces: Buffer[] = [];
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const piece of context.readBody(maxStreamedBytes(context.world.limits))) pieces.push(piece);
  } catch (error) {
    failure = { error };
  }
  context.heldBody = async function* (maxBytes) {
    let length = 0;
    for (const piece of pieces) {
      length += piece.length;
      if (length > maxBytes) throw tooLarge(maxBytes);
      yield piece;
    }
    if (failure) throw failure.error;
  };
}

/** Parses the lines of an NDJSON body. Sets no values if a line is invalid. */
async function readValuesOf(context: RequestContext): Promise<void> {
  const { limits, engine } = context.world;
  const meter = new Meter({ schedule: engine.schedule });
  const values: unknown[] = [];
  const lines = readLines(context.readBody(Number.POSITIVE_INFINITY), (line) =>
    line === 0 ? limits.maxMetadataBytes : limits.maxLineBytes,
  );
  for await (const line of lines) values.push(await runYielding(jsonSteps(line, 'A line'), meter));
  context.bodyValues = values;
}

async function learn(
  { faults, bodyValues: values, params, world }: RequestContext,
  { refs, paths, messages, contents }: NonNullable<RequestContext['operation']['names']>,
): Promise<void> {
  const request = { values, params };
  const meter = new Meter({ schedule: world.engine.schedule });
  faults.learn({
    refs: textsIn(refs?.(request)),
    paths: textsIn(paths && (await runYielding(paths(request), meter))),
    messages: textsIn(messages?.(request)).map((message) => message.replace(/\n+$/, '')),
    contents: faults.needsContents && contents ? await runYielding(readContents(contents(request)), meter) : [],
  });
}

function textsIn(values: readonly unknown[] = []): string[] {
  return values.filter((value) => typeof value === 'string');
}
