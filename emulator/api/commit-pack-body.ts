import { z } from 'zod';
import type { ByteString } from '../git/object/bytes.js';
import { isOid } from '../git/object/object.js';
import { MODE_GITLINK } from '../git/object/tree.js';
import type { Meter } from '../git/schedule/meter.js';
import { problem } from '../http/problem.js';
import type { HandlerContext } from '../operation/handler-context.js';
import { readFilePath } from './fields.js';
import { type ChunkSink, decodeChunk, readStreamedWrite, writeMetadata } from './streamed-write.js';

const MODES = { '100644': 0o100644, '100755': 0o100755, '120000': 0o120000, '160000': 0o160000 } as const;

const fileOperation = z.object({
  path: z.string(),
  operation: z.enum(['upsert', 'delete']).default('upsert'),
  content_id: z.string().min(1, 'is empty').optional(),
  mode: z.enum(Object.keys(MODES) as [keyof typeof MODES, ...(keyof typeof MODES)[]]).optional(),
});
type Operation = z.infer<typeof fileOperation>;

const packMetadata = writeMetadata.extend({ files: z.array(fileOperation) });

const blobChunk = z.strictObject({
  blob_chunk: z.strictObject({ content_id: z.string(), data: z.string(), eof: z.boolean() }),
});
type BlobChunk = z.infer<typeof blobChunk>;

/** One file operation with the content that belongs to it. */
export interface FileEdit {
  readonly path: ByteString;
  /** Undefined keeps the mode of a file that exists and is 100644 for a new one. */
  readonly mode?: number;
  /** The parts as they came. Undefined deletes. */
  readonly content?: readonly Buffer[];
}

export interface CommitPackBody {
  readonly metadata: z.infer<typeof packMetadata>;
  readonly edits: readonly FileEdit[];
}

/**
 * Reads the body of commit-pack (specification, 5. Create a commit from streamed content): metadata, then one
 * `blob_chunk` a line. Nothing is written before the whole body has arrived and been found complete. Throws
 * `bad_request` that names the line or the file.
 */
export async function readCommitPack(ctx: HandlerContext): Promise<CommitPackBody> {
  const metadataSchema = { whole: packMetadata, list: 'files', item: fileOperation };
  const schemas = { metadata: metadataSchema, chunk: blobChunk };
  const { metadata, sink } = await readStreamedWrite(ctx, schemas, ({ files }) => Contents.of(files, ctx));
  return { metadata, edits: await sink.edits(ctx.meter) };
}

interface Content {
  readonly parts: Buffer[];
  complete: boolean;
}

/** The chunks by `content_id`: a `Map`, because ids are the client's and `__proto__` is one like any other. */
class Contents implements ChunkSink<BlobChunk> {
  readonly #contents = new Map<string, Content>();
  readonly #deleted = new Set<string>();
  #bytes = 0;

  private constructor(
    private readonly operations: readonly Operation[],
    private readonly ctx: Pick<HandlerContext, 'world' | 'meter'>,
  ) {}

  static async of(operations: readonly Operation[], ctx: Pick<HandlerContext, 'world' | 'meter'>): Promise<Contents> {
    const contents = new Contents(operations, ctx);
    await contents.#expect();
    return contents;
  }

  /** Notes which contents have to come. */
  async #expect(): Promise<void> {
    const { operations } = this;
    const { meter, world } = this.ctx;
    const { limits, variants } = world.config;
    if (operations.length > limits.maxFiles) {
      throw problem('bad_request', `A commit takes at most ${limits.maxFiles} file operations.`);
    }
    for (const [index, { content_id: id, operation }] of operations.entries()) {
      const mayLack = operation === 'delete' && variants.deleteContentId === 'optional';
      if (id === undefined && !mayLack) throw problem('bad_request', `metadata.files.${index}.content_id is required.`);
      if (operation === 'upsert') this.#contents.set(id!, { parts: [], complete: false });
      else if (id !== undefined) this.#deleted.add(id);
      if (meter.isOver) await meter.pass();
    }
  }

  async add({ blob_chunk: { content_id: id, data, eof } }: BlobChunk, line: number): Promise<void> {
    const { maxCommitBytes } = this.ctx.world.config.limits;
    const content = this.#contents.get(id);
    if (!content) {
      // Some clients send an empty last chunk for a delete, which says nothing and is let pass.
      if (this.#deleted.has(id) && data === '' && eof) return;
      throw problem('bad_request', `Line ${line}: no upserted file has this content_id.`);
    }
    if (content.complete) throw problem('bad_request', `Line ${line}: a chunk after the last one of its content_id.`);
    const part = await decodeChunk(data, line, this.ctx);
    content.parts.push(part);
    content.complete = eof;
    this.#bytes += part.length;
    if (this.#bytes > maxCommitBytes) {
      throw problem('payload_too_large', `A commit takes at most ${maxCommitBytes} bytes of content.`);
    }
  }

  /** In the order of the operations. Throws `bad_request` that names the file. */
  async edits(meter: Meter): Promise<FileEdit[]> {
    const edits: FileEdit[] = [];
    for (const [index, operation] of this.operations.entries()) {
      edits.push(this.#edit(operation, `metadata.files.${index}`));
      if (meter.isOver) await meter.pass();
    }
    return edits;
  }

  #edit(operation: Operation, what: string): FileEdit {
    const mode = operation.mode === undefined ? undefined : MODES[operation.mode];
    const path = readFilePath(operation.path, `${what}.path`, mode);
    if (operation.operation === 'delete') return { path };
    const id = operation.content_id!;
    const { parts: content, complete } = this.#contents.get(id)!;
    if (!complete) throw problem('bad_request', `${what}: the content is missing its last chunk (eof true).`);
    if (mode === MODE_GITLINK && !isOid(textOfParts(content))) {
      throw problem(
        'bad_request',
        `${what}: the content of mode 160000 has to be a commit id of 40 hexadecimal digits.`,
      );
    }
    return mode === undefined ? { path, content } : { path, mode, content };
  }
}

/** A short content as text; of a longer one, no more than shows that it is no id. */
export function textOfParts(parts: readonly Buffer[]): string {
  let text = '';
  for (const part of parts) {
    text += part.toString('latin1', 0, 41);
    if (text.length > 40) break;
  }
  return text;
}
