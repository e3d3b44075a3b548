import { z } from 'zod';
import { maxStreamedBytes } from '../config/limits.js';
import { base64Steps } from '../http/base64.js';
import { checkItems, checkShape } from '../http/body.js';
import { jsonSteps } from '../http/json-reader.js';
import { readLines } from '../http/ndjson.js';
import { problem } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import type { HandlerContext } from '../operation/operation.js';
import { type BranchWrite, branchRef } from '../repositories/branch-write.js';
import { runYielding, type Steps } from '../schedule/steps.js';
import { person, readBranch, readIdentity, readMessage, sha } from './fields.js';
import { requireCommitAllowed } from './policy.js';

/** Maximum size of one chunk of a streamed write after base64 decoding, in bytes (specification, Limits). */
const MAX_CHUNK_BYTES = 4 * 1024 * 1024;

/** Schema of the metadata that all streamed writes share. For some members, both an old and a new name are accepted. */
export const writeMetadata = lazy(() =>
  z.object({
    target_branch: z.string(),
    commit_message: z.string(),
    author: person(),
    committer: person().optional(),
    expected_head_sha: sha().optional(),
    expected_target_sha: sha().optional(),
    base_branch: z.string().optional(),
    ephemeral: z.boolean().optional(),
    target_is_ephemeral: z.boolean().optional(),
    ephemeral_base: z.boolean().optional(),
    base_is_ephemeral: z.boolean().optional(),
  }),
);
export type WriteMetadata = z.infer<ReturnType<typeof writeMetadata>>;

/** Receives the chunks of a streamed write, each as soon as its line has arrived. */
export interface ChunkSink<Chunk> {
  /** Receives one chunk. `line` is its line number in the body, for error messages. */
  add(chunk: Chunk, line: number): void | Promise<void>;
}

/**
 * Reads the body of a streamed write, a request that creates a commit from lines of JSON. The first line contains
 * `metadata`; each further line is one chunk. `open` receives the metadata and returns the receiver of the chunks.
 * Resolves when the whole body has arrived. Throws `bad_request` with the number of the invalid line.
 */
export async function readStreamedWrite<Metadata, Chunk, Sink extends ChunkSink<Chunk>>(
  ctx: Pick<HandlerContext, 'world' | 'stream' | 'meter'>,
  schemas: { readonly metadata: MetadataSchema<Metadata>; readonly chunk: z.ZodType<Chunk> },
  open: (metadata: Metadata) => Sink | Promise<Sink>,
): Promise<{ metadata: Metadata; sink: Sink }> {
  const { meter } = ctx;
  const { limits } = ctx.world;
  const stream = ctx.stream(maxStreamedBytes(limits));
  const lines = readLines(stream, (line) => (line === 0 ? limits.maxMetadataBytes : limits.maxLineBytes));
  try {
    const first = await lines.next();
    if (first.done)
      throw problem('bad_request', 'The body is empty, but its first line must be an object with the member metadata.');
    const json = await runYielding(jsonSteps(first.value, 'Line 1'), meter);
    const head = checkShape(z.strictObject({ metadata: z.unknown() }), json, 'Line 1');
    const metadata = await runYielding(checkMetadata(schemas.metadata, head.metadata), meter);
    const sink = await open(metadata);
    let line = 1;
    for await (const raw of lines) {
      line += 1;
      const chunk = await runYielding(jsonSteps(raw, `Line ${line}`), meter);
      await sink.add(checkShape(schemas.chunk, chunk, `Line ${line}`), line);
      if (meter.shouldYield) await meter.yieldToEventLoop();
    }
    return { metadata, sink };
  } finally {
    // Closes the line reader to release the request's stream, because reading may have ended early, for example at an
    // invalid line.
    await lines.return(undefined);
  }
}

/**
 * Schema of the metadata of a streamed write. `whole` is the schema of all metadata. If the member `list` may be long,
 * `item` is the schema of each of its items.
 */
export type MetadataSchema<Metadata> =
  | { readonly whole: z.ZodType<Metadata> }
  | { readonly whole: z.ZodType<Metadata>; readonly list: string; readonly item: z.ZodType };

/**
 * Validates metadata with its schema. A long list is validated item by item, so that the work can yield. The list is
 * the last member, so errors are reported in the usual order.
 */
function* checkMetadata<Metadata>(schema: MetadataSchema<Metadata>, value: unknown): Steps<Metadata> {
  const { whole } = schema;
  if (!('list' in schema)) return checkShape(whole, value, 'metadata');
  const items = (value as Record<string, unknown> | undefined | null)?.[schema.list];
  if (!Array.isArray(items)) return checkShape(whole, value, 'metadata');
  const checked = checkShape(whole, { ...(value as object), [schema.list]: [] }, 'metadata');
  return { ...checked, [schema.list]: yield* checkItems(schema.item, items, schema.list) };
}

/**
 * Decodes the base64 text `data` of one chunk, which may have at most 4 MiB. The setting `oversizedChunk` selects the
 * error for larger chunks.
 */
export async function decodeChunk(
  data: string,
  line: number,
  { world, meter }: Pick<HandlerContext, 'world' | 'meter'>,
): Promise<Buffer> {
  const decoded = await runYielding(base64Steps(data, `Line ${line}: data`), meter);
  if (decoded.length <= MAX_CHUNK_BYTES) return decoded;
  const code = world.variants.oversizedChunk === '413' ? 'payload_too_large' : 'bad_request';
  throw problem(
    code,
    `Line ${line}: the chunk has more than 4 MiB (${MAX_CHUNK_BYTES} bytes) after decoding. Split it into several chunks.`,
  );
}

/**
 * Returns the branch, base, author and message of a streamed write. New names of metadata members take precedence over
 * old names. Throws if a value is invalid or the token forbids the write.
 */
export function readBranchWrite(ctx: HandlerContext, metadata: WriteMetadata): BranchWrite {
  const now = ctx.world.state.clock.now();
  const branch = readBranch(metadata.target_branch, 'metadata.target_branch');
  const ephemeral = metadata.target_is_ephemeral ?? metadata.ephemeral ?? false;
  const author = readIdentity(metadata.author, 'metadata.author', now);
  requireCommitAllowed(ctx, branchRef(branch, ephemeral));
  return {
    branch,
    ephemeral,
    base:
      metadata.base_branch === undefined
        ? undefined
        : {
            branch: readBranch(metadata.base_branch, 'metadata.base_branch'),
            ephemeral: metadata.base_is_ephemeral ?? metadata.ephemeral_base ?? false,
          },
    expected: metadata.expected_target_sha ?? metadata.expected_head_sha,
    author,
    committer: metadata.committer ? readIdentity(metadata.committer, 'metadata.committer', now) : author,
    message: readMessage(metadata.commit_message, 'metadata.commit_message'),
  };
}
