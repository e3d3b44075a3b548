import { z } from 'zod';
import { applyPatch, type PatchedFile } from '../../git/apply/apply-patch.js';
import { PatchError } from '../../git/apply/patch-error.js';
import type { ByteString } from '../../git/object/bytes.js';
import { BLOB, isOid, type Oid, ZERO_OID } from '../../git/object/object.js';
import { MODE_GITLINK } from '../../git/object/tree.js';
import { applyEdits, EditConflict, type TreeEdit } from '../../git/object/tree-edit.js';
import { copySteps } from '../../git/odb/object-writer.js';
import type { Quarantine } from '../../git/odb/quarantine.js';
import { problem, translateError } from '../../http/problem.js';
import { json } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type HandlerContext, operationsOf, routesOfRepository } from '../../operation/operation.js';
import { commitOnto, failedResult, findWriteBase, transact } from '../../repositories/branch-write.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { readFilePath } from '../fields.js';
import { contentsOfFiles, contentsOfPatch, ofCommit, pathsOfFiles, pathsOfPatch } from '../named-git-data.js';
import { contentWriteResult, showContentWrite } from '../records.js';
import {
  type ChunkSink,
  decodeChunk,
  readBranchWrite,
  readStreamedWrite,
  type WriteMetadata,
  writeMetadata,
} from '../streamed-write.js';

const operation = operationsOf('Commits');

const MODES = { '100644': 0o100644, '100755': 0o100755, '120000': 0o120000, '160000': 0o160000 } as const;

const fileChange = lazy(() =>
  z.object({
    path: z.string(),
    operation: z.enum(['upsert', 'delete']).default('upsert'),
    content_id: z.string().min(1, 'is empty').optional(),
    mode: z.enum(Object.keys(MODES) as [keyof typeof MODES, ...(keyof typeof MODES)[]]).optional(),
  }),
);
type FileChange = z.infer<ReturnType<typeof fileChange>>;

const packMetadata = lazy(() => writeMetadata().extend({ files: z.array(fileChange()) }));

const blobChunk = lazy(() =>
  z.strictObject({
    blob_chunk: z.strictObject({ content_id: z.string(), data: z.string(), eof: z.boolean() }),
  }),
);
type BlobChunk = z.infer<ReturnType<typeof blobChunk>>;

/**
 * Change of one file: a deletion, a submodule commit, or new content. The content is stored in the pieces in which it
 * arrived.
 */
type FileEdit = TreeEdit | WrittenFile;

interface WrittenFile {
  readonly path: ByteString;
  /** File mode. If undefined, an existing file keeps its mode, and a new file gets 100644. */
  readonly mode: number | undefined;
  readonly content: readonly Buffer[];
}

export const commitPack = operation({
  summary: 'Create a commit from streamed content',
  routes: routesOfRepository('POST', 'commit-pack'),
  reads: 'stream',
  names: { ...ofCommit('metadata.'), paths: pathsOfFiles, contents: contentsOfFiles },
  replies: () => ({ 201: contentWriteResult() }),
  errors: ['branch_not_found', 'conflict', 'payload_too_large'],
  handle: async (ctx) => {
    const { repository, meter } = ctx;
    const { metadata, edits } = await readCommitPack(ctx);
    const write = readBranchWrite(ctx, metadata);
    const written = await transact(repository, async (transaction) => {
      // The client may have disconnected while the request waited for other writers.
      meter.check();
      const base = findWriteBase(repository, write);
      const tree = await editTree(transaction.objects, base.tree, edits, meter);
      return commitOnto(transaction, base, tree, write);
    });
    const blobs = edits.filter((edit) => 'content' in edit).length;
    return json(201, showContentWrite(ctx.world, metadata.target_branch, written, blobs));
  },
});

/**
 * Reads the body of commit-pack, the request that creates a commit from file contents. The body has metadata, then one
 * `blob_chunk` per line. Nothing is written until the whole body has arrived. Throws `bad_request` with the line or the
 * file.
 */
async function readCommitPack(ctx: HandlerContext) {
  const metadataSchema = { whole: packMetadata(), list: 'files', item: fileChange() };
  const schemas = { metadata: metadataSchema, chunk: blobChunk() };
  const { metadata, sink } = await readStreamedWrite(ctx, schemas, ({ files }) => Contents.of(files, ctx));
  return { metadata, edits: await sink.edits(ctx.meter) };
}

interface Content {
  readonly parts: Buffer[];
  complete: boolean;
}

/**
 * Collects the content chunks of each file by `content_id`. A `Map` is used, because clients choose the ids, and
 * `__proto__` is a possible id.
 */
class Contents implements ChunkSink<BlobChunk> {
  readonly #contents = new Map<string, Content>();
  readonly #deleted = new Set<string>();
  #bytes = 0;

  private constructor(
    private readonly changes: readonly FileChange[],
    private readonly ctx: Pick<HandlerContext, 'world' | 'meter'>,
  ) {}

  static async of(changes: readonly FileChange[], ctx: Pick<HandlerContext, 'world' | 'meter'>): Promise<Contents> {
    const contents = new Contents(changes, ctx);
    await contents.#expect();
    return contents;
  }

  /**
   * Records the `content_id` of each changed file, whose chunks must then arrive. Throws `bad_request` if a
   * `content_id` is missing.
   */
  async #expect(): Promise<void> {
    const { changes } = this;
    const { meter, world } = this.ctx;
    const { limits, variants } = world;
    if (changes.length > limits.maxFiles) {
      throw problem(
        'bad_request',
        `The commit has ${changes.length} file operations, but at most ${limits.maxFiles} are allowed (--max-files).`,
      );
    }
    for (const [index, { content_id: id, operation }] of changes.entries()) {
      const mayLack = operation === 'delete' && variants.deleteContentId === 'optional';
      if (id === undefined && !mayLack)
        throw problem(
          'bad_request',
          `metadata.files.${index}.content_id is required: it links the file to its chunks.`,
        );
      if (operation === 'upsert') this.#contents.set(id!, { parts: [], complete: false });
      else if (id !== undefined) this.#deleted.add(id);
      if (meter.shouldYield) await meter.yieldToEventLoop();
    }
  }

  async add({ blob_chunk: { content_id: id, data, eof } }: BlobChunk, line: number): Promise<void> {
    const { maxCommitBytes } = this.ctx.world.limits;
    const content = this.#contents.get(id);
    if (!content) {
      // An empty last chunk for a deleted file is ignored, because some clients send one.
      if (this.#deleted.has(id) && data === '' && eof) return;
      throw problem(
        'bad_request',
        `Line ${line}: content_id ${JSON.stringify(id.slice(0, 100))} is not that of a file with the operation upsert in metadata.files.`,
      );
    }
    if (content.complete)
      throw problem(
        'bad_request',
        `Line ${line}: an earlier chunk of content_id ${JSON.stringify(id.slice(0, 100))} had eof true, so no further chunk is allowed.`,
      );
    const part = await decodeChunk(data, line, this.ctx);
    content.parts.push(part);
    content.complete = eof;
    this.#bytes += part.length;
    if (this.#bytes > maxCommitBytes) {
      throw problem(
        'payload_too_large',
        `The contents of the commit are larger than ${maxCommitBytes} bytes in total (--max-commit-bytes).`,
      );
    }
  }

  /**
   * Returns the file changes with their contents, in the order of the metadata. Throws `bad_request` for a file whose
   * content is incomplete.
   */
  async edits(meter: Meter): Promise<FileEdit[]> {
    const edits: FileEdit[] = [];
    for (const [index, change] of this.changes.entries()) {
      edits.push(this.#edit(change, `metadata.files.${index}`));
      if (meter.shouldYield) await meter.yieldToEventLoop();
    }
    return edits;
  }

  #edit(change: FileChange, what: string): FileEdit {
    const mode = change.mode === undefined ? undefined : MODES[change.mode];
    const path = readFilePath(change.path, `${what}.path`, mode);
    if (change.operation === 'delete') return { path, delete: true };
    const id = change.content_id!;
    const { parts: content, complete } = this.#contents.get(id)!;
    if (!complete)
      throw problem(
        'bad_request',
        `${what}: the body ended before a chunk of content_id ${JSON.stringify(id.slice(0, 100))} with eof true.`,
      );
    if (mode !== MODE_GITLINK) return { path, mode, content };
    const oid = textOfParts(content);
    if (isOid(oid)) return { path, mode, oid };
    throw problem(
      'bad_request',
      `${what}: a submodule (mode 160000) must have a commit id of 40 hexadecimal digits as its content.`,
    );
  }
}

/**
 * Returns the first part of a file's content as text, to check if the content is an object id. Content of more than 40
 * characters gives a text of more than 40 characters.
 */
function textOfParts(parts: readonly Buffer[]): string {
  let text = '';
  for (const part of parts) {
    text += part.toString('latin1', 0, 41);
    if (text.length > 40) break;
  }
  return text;
}

/**
 * Applies file changes to the tree `base` and returns the id of the new tree. Throws `bad_request` if changes
 * contradict each other.
 */
async function editTree(objects: Quarantine, base: Oid, edits: readonly FileEdit[], meter: Meter): Promise<Oid> {
  const treeEdits: TreeEdit[] = [];
  for (const edit of edits) {
    if (!('content' in edit)) treeEdits.push(edit);
    else {
      const oid = await runYielding(objects.writeSteps(BLOB, edit.content), meter);
      treeEdits.push({ path: edit.path, mode: edit.mode, oid });
    }
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  return translateError(
    EditConflict,
    () => runYielding(applyEdits(objects, base, treeEdits), meter),
    ({ message }) => problem('bad_request', `metadata.files: ${message}.`),
  );
}

const diffChunk = lazy(() => z.strictObject({ diff_chunk: z.strictObject({ data: z.string(), eof: z.boolean() }) }));
type DiffChunk = z.infer<ReturnType<typeof diffChunk>>;

export const diffCommit = operation({
  summary: 'Create a commit from a streamed patch',
  routes: routesOfRepository('POST', 'diff-commit'),
  reads: 'stream',
  names: { ...ofCommit('metadata.'), paths: pathsOfPatch, contents: contentsOfPatch },
  replies: () => ({ 201: contentWriteResult() }),
  errors: ['branch_not_found', 'conflict', 'payload_too_large', 'gateway_timeout'],
  work: { limit: 'workTimeout' },
  handle: async (ctx) => {
    const { metadata, patch } = await readDiffCommit(ctx);
    const { repository } = ctx;
    const write = readBranchWrite(ctx, metadata);
    return transact(repository, async (transaction) => {
      const base = findWriteBase(repository, write);
      const { tree, blobs } = await patchTree(ctx, transaction.objects, base.tree, patch);
      if (tree === base.tree) {
        const detail = 'The patch changes nothing, so no commit was created.';
        throw problem('conflict', detail, { result: failedResult(write.branch, base.parent ?? ZERO_OID, detail) });
      }
      const written = await commitOnto(transaction, base, tree, write);
      return json(201, showContentWrite(ctx.world, metadata.target_branch, written, blobs));
    });
  },
});

/**
 * Reads the body of diff-commit, the request that creates a commit from a patch. The body has metadata, then one
 * `diff_chunk` per line. The last chunk has `eof`.
 */
async function readDiffCommit(ctx: HandlerContext): Promise<{ metadata: WriteMetadata; patch: Buffer }> {
  const schemas = { metadata: { whole: writeMetadata() }, chunk: diffChunk() };
  const { metadata, sink } = await readStreamedWrite(ctx, schemas, () => new PatchParts(ctx));
  return { metadata, patch: await sink.whole() };
}

class PatchParts implements ChunkSink<DiffChunk> {
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  #complete = false;

  constructor(private readonly ctx: Pick<HandlerContext, 'world' | 'meter'>) {}

  async add({ diff_chunk: { data, eof } }: DiffChunk, line: number): Promise<void> {
    const { maxObjectBytes } = this.ctx.world.limits;
    if (this.#complete)
      throw problem(
        'bad_request',
        `Line ${line}: an earlier chunk of the patch had eof true, so no further chunk is allowed.`,
      );
    const part = await decodeChunk(data, line, this.ctx);
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes > maxObjectBytes)
      throw problem('payload_too_large', `The patch is larger than ${maxObjectBytes} bytes (--max-object-bytes).`);
    this.#complete = eof;
  }

  async whole(): Promise<Buffer> {
    if (!this.#complete) throw problem('bad_request', 'The body ended before a chunk of the patch with eof true.');
    if (this.#parts.length === 1) return this.#parts[0]!;
    const patch = Buffer.allocUnsafeSlow(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      await runYielding(copySteps(part, patch, at), this.ctx.meter);
      at += part.length;
    }
    return patch;
  }
}

/**
 * Applies a patch to the tree `base`. Returns the id of the new tree, and the number of files with new content. Throws
 * `bad_request` if the patch does not apply.
 */
async function patchTree(
  { meter }: Pick<HandlerContext, 'meter'>,
  objects: Quarantine,
  base: Oid,
  patch: Buffer,
): Promise<{ tree: Oid; blobs: number }> {
  const refused = ({ message }: Error) => problem('bad_request', `The patch does not apply: ${message}.`);
  const files = await translateError(PatchError, () => applyPatch(objects, base, patch, { meter }), refused);
  const edits: TreeEdit[] = [];
  for (const file of files) {
    edits.push(await editOf(objects, file, meter));
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  const tree = await translateError(EditConflict, () => runYielding(applyEdits(objects, base, edits), meter), refused);
  return { tree, blobs: files.filter((file) => !file.delete).length };
}

async function editOf(objects: Quarantine, file: PatchedFile, meter: Meter): Promise<TreeEdit> {
  if (file.delete) return { path: file.path, delete: true };
  const oid = 'oid' in file ? file.oid : await runYielding(objects.writeSteps(BLOB, [file.bytes]), meter);
  return { path: file.path, mode: file.mode, oid };
}
