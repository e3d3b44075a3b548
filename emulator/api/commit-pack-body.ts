import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { ByteString } from '../git/bytes.js';
import { MODE_GITLINK } from '../git/tree.js';
import { decodeBase64 } from '../http/base64.js';
import { checkShape, parseJson } from '../http/body.js';
import { readLines } from '../http/ndjson.js';
import { type Problem, problem } from '../http/problem.js';
import type { Limits } from '../limits.js';
import { person, readFilePath, sha } from './fields.js';

/** Specification, Limits: decoded bytes of one chunk. */
const MOST_CHUNK_BYTES = 4 * 1024 * 1024;

const MODES = { '100644': 0o100644, '100755': 0o100755, '120000': 0o120000, '160000': 0o160000 } as const;

const fileOperation = z.object({
  path: z.string(),
  operation: z.enum(['upsert', 'delete']).default('upsert'),
  content_id: z.string().min(1, 'is empty').optional(),
  mode: z.enum(Object.keys(MODES) as [keyof typeof MODES, ...(keyof typeof MODES)[]]).optional(),
});

/** The members every streamed write's metadata has, in the old and the new vocabulary. */
export const writeMetadata = z.object({
  target_branch: z.string(),
  commit_message: z.string(),
  author: person,
  committer: person.optional(),
  expected_head_sha: sha.optional(),
  expected_target_sha: sha.optional(),
  base_branch: z.string().optional(),
  ephemeral: z.boolean().optional(),
  target_is_ephemeral: z.boolean().optional(),
  ephemeral_base: z.boolean().optional(),
  base_is_ephemeral: z.boolean().optional(),
});
export type WriteMetadata = z.infer<typeof writeMetadata>;

const packMetadata = writeMetadata.extend({ files: z.array(fileOperation) });

const chunkLine = z.strictObject({
  blob_chunk: z.strictObject({ content_id: z.string(), data: z.string(), eof: z.boolean() }),
});

/** One file operation with the content that belongs to it. */
export interface FileEdit {
  readonly path: ByteString;
  /** Undefined keeps the mode of a file that exists and is 100644 for a new one. */
  readonly mode?: number;
  /** Undefined deletes. */
  readonly content?: Buffer;
}

export interface CommitPackBody {
  readonly metadata: z.infer<typeof packMetadata>;
  readonly edits: readonly FileEdit[];
}

export interface StreamLimits extends Limits {
  /** How a chunk above 4 MiB is worded: the specification lists both. */
  readonly oversizedChunk: '400' | '413';
  /** Whether the operation of a deletion has to name content that it does not have. */
  readonly deleteContentId: 'required' | 'optional';
}

/**
 * Reads the body of commit-pack (specification, 5. Create a commit from streamed content): one line with
 * `metadata`, then lines with one `blob_chunk` each. Nothing is written before the whole body has arrived
 * and been found complete. Throws `bad_request` that names the line.
 */
export async function readCommitPack(chunks: AsyncIterable<Buffer>, limits: StreamLimits): Promise<CommitPackBody> {
  const lines = readLines(chunks, (line) => (line === 0 ? limits.maxMetadataBytes : limits.maxLineBytes));
  try {
    const first = await lines.next();
    if (first.done) throw problem('bad_request', 'The body is empty; its first line has to hold metadata.');
    const metadata = readMetadataLine(packMetadata, first.value);
    if (metadata.files.length > limits.maxFiles) {
      throw problem('bad_request', `A commit takes at most ${limits.maxFiles} file operations.`);
    }
    requireContentIds(metadata.files, limits);
    const contents = new Contents(metadata.files, limits);
    let line = 1;
    for await (const raw of lines) {
      line += 1;
      contents.add(checkShape(chunkLine, parseJson(raw, `Line ${line}`), `Line ${line}`).blob_chunk, line);
      // A full chunk takes tens of milliseconds to parse and decode; other requests get their turn between two.
      if (raw.length > 64 * 1024) await setImmediate();
    }
    return { metadata, edits: contents.edits() };
  } finally {
    // Lets go of the request's stream also when the first line is the last that was looked at.
    await lines.return(undefined);
  }
}

/** The first line of a streamed write: an object whose one member is `metadata`. */
export function readMetadataLine<T extends z.ZodType>(schema: T, raw: Buffer): z.infer<T> {
  const line = checkShape(z.strictObject({ metadata: z.unknown() }), parseJson(raw, 'Line 1'), 'Line 1');
  return checkShape(schema, line.metadata, 'metadata') as z.infer<T>;
}

type Operation = z.infer<typeof fileOperation>;

function requireContentIds(operations: readonly Operation[], { deleteContentId }: StreamLimits): void {
  const mayLack = ({ operation }: Operation) => operation === 'delete' && deleteContentId === 'optional';
  const index = operations.findIndex((operation) => operation.content_id === undefined && !mayLack(operation));
  if (index >= 0) throw problem('bad_request', `metadata.files.${index}.content_id is required.`);
}

interface Content {
  readonly parts: Buffer[];
  complete: boolean;
}

/** The chunks by `content_id`: a `Map`, because ids are the client's and `__proto__` is one like any other. */
class Contents {
  readonly #contents = new Map<string, Content>();
  readonly #deleted = new Set<string>();
  #bytes = 0;

  constructor(
    private readonly operations: readonly Operation[],
    private readonly limits: StreamLimits,
  ) {
    for (const { content_id: id, operation } of operations) {
      if (operation === 'upsert') this.#contents.set(id!, { parts: [], complete: false });
      else if (id !== undefined) this.#deleted.add(id);
    }
  }

  add(chunk: { content_id: string; data: string; eof: boolean }, line: number): void {
    const { content_id: id, eof } = chunk;
    const content = this.#contents.get(id);
    if (!content) {
      // Some clients send an empty last chunk for a delete, which says nothing and is let pass.
      if (this.#deleted.has(id) && chunk.data === '' && eof) return;
      throw problem('bad_request', `Line ${line}: no upserted file has this content_id.`);
    }
    if (content.complete) throw problem('bad_request', `Line ${line}: a chunk after the last one of its content_id.`);
    content.parts.push(decodeChunk(chunk.data, line, this.limits));
    content.complete = eof;
    this.#bytes += content.parts.at(-1)!.length;
    if (this.#bytes > this.limits.maxCommitBytes) {
      throw problem('payload_too_large', `A commit takes at most ${this.limits.maxCommitBytes} bytes of content.`);
    }
  }

  edits(): FileEdit[] {
    const joined = new Map<string, Buffer>();
    return this.operations.map((operation, index) => {
      const what = `metadata.files.${index}`;
      const mode = operation.mode === undefined ? undefined : MODES[operation.mode];
      const path = readFilePath(operation.path, `${what}.path`, mode);
      if (operation.operation === 'delete') return { path };
      const id = operation.content_id!;
      const { parts, complete } = this.#contents.get(id)!;
      if (!complete) throw problem('bad_request', `${what}: the content is missing its last chunk (eof true).`);
      const content = joined.get(id) ?? (parts.length === 1 ? parts[0]! : Buffer.concat(parts));
      joined.set(id, content);
      if (mode === MODE_GITLINK && !/^[0-9a-f]{40}$/.test(content.toString('latin1'))) {
        throw problem(
          'bad_request',
          `${what}: the content of mode 160000 has to be a commit id of 40 hexadecimal digits.`,
        );
      }
      return mode === undefined ? { path, content } : { path, mode, content };
    });
  }
}

/** One chunk's bytes (`data`), at most 4 MiB decoded. */
export function decodeChunk(data: string, line: number, limits: StreamLimits): Buffer {
  const decoded = decodeBase64(data, `Line ${line}: data`);
  if (decoded.length > MOST_CHUNK_BYTES) throw oversized(line, limits);
  return decoded;
}

function oversized(line: number, { oversizedChunk }: StreamLimits): Problem {
  const code = oversizedChunk === '413' ? 'payload_too_large' : 'bad_request';
  return problem(code, `Line ${line}: a chunk decodes to more than 4 MiB (${MOST_CHUNK_BYTES} bytes).`);
}
