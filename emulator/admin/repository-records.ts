import { z } from 'zod';
import { resolveRef } from '../api/resolve.js';
import { type ByteString, bytesIn, bytesOf, isUtf8, textOf } from '../git/object/bytes.js';
import { type Commit, readCommit } from '../git/object/commit.js';
import { formatDate, type Identity } from '../git/object/identity.js';
import { isCommit, type ObjectReader, type Oid, parseOid } from '../git/object/object.js';
import { findCommit, parseTag } from '../git/object/tag.js';
import { MODE_GITLINK, MODE_TREE } from '../git/object/tree.js';
import type { ObjectStore } from '../git/odb/object-store.js';
import type { Refs } from '../git/refs/refs.js';
import { type Problem, problem } from '../http/problem.js';
import type { Repository } from '../repositories/repository.js';
import type { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import { type AdminContext, organizationName, requireFound } from './route.js';

/** Records about repository content that several admin routes return. Each record has one schema and one function. */

/** Maximum size of a blob in bytes, and of a message in characters, in a response. Longer content is truncated. */
const MAX_BYTES = 1024 * 1024;
/**
 * Maximum length of a commit subject in a list, in characters. The limit is low, because a list contains many subjects.
 */
const MAX_SUBJECT = 512;

export const exactBytes = z
  .string()
  .optional()
  .meta({ description: 'Exact bytes in base64url; absent if they are UTF-8.' });

type Named<Name extends string> = { readonly [Key in Name]: string } & { readonly [Key in `${Name}_bytes`]?: string };

/**
 * Returns a path or name as text in the member `name`. If the bytes are not UTF-8, the member `<name>_bytes` contains
 * the exact bytes.
 */
export function named<Name extends string>(name: Name, bytes: ByteString): Named<Name> {
  const exact = isUtf8(bytes) ? undefined : Buffer.from(bytes, 'latin1').toString('base64url');
  return { [name]: textOf(bytes), ...(exact !== undefined && { [`${name}_bytes`]: exact }) } as Named<Name>;
}

export function typeOfMode(mode: number): 'tree' | 'commit' | 'blob' {
  return mode === MODE_TREE ? 'tree' : mode === MODE_GITLINK ? 'commit' : 'blob';
}

export const shownContent = {
  size: z.int(),
  encoding: z.enum(['utf-8', 'base64']),
  content: z.string(),
  is_truncated: z.boolean(),
};

/**
 * Returns the content of a blob for a response, truncated to the first MiB. `number` is the object number (index into
 * the tables of the object store).
 */
export async function readContent(objects: ObjectStore, number: number, meter: Meter) {
  const body = await runYielding(objects.readSteps(number), meter);
  const shown = body.subarray(0, MAX_BYTES);
  const isTruncated = shown.length < body.length;
  // A truncated blob is returned in base64, because it may end inside a character.
  const text = isTruncated ? undefined : decodeText(shown);
  return {
    size: body.length,
    encoding: text === undefined ? ('base64' as const) : ('utf-8' as const),
    content: text ?? shown.toString('base64'),
    is_truncated: isTruncated,
  };
}

function decodeText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Returns the subject of a commit, as `git log --format=%s` prints it: the first paragraph of the message as one line.
 * It has at most `MAX_SUBJECT` characters.
 */
export function subjectOf(message: string): string {
  const start = /^(?:[^\S\n]*\n)*/.exec(message)![0].length;
  const head = message.slice(start, start + 4 * MAX_SUBJECT);
  const lines: string[] = [];
  for (const line of head.split('\n')) {
    const text = line.trimEnd();
    if (text === '') break;
    lines.push(text);
  }
  const subject = lines.join(' ');
  return subject.length > MAX_SUBJECT ? `${subject.slice(0, MAX_SUBJECT)}…` : subject;
}

export const commitLine = {
  subject: z.string().meta({ description: `First paragraph of the message, at most ${MAX_SUBJECT} characters.` }),
  author: z.string(),
  author_email: z.string(),
  authored_at: z.string().meta({ description: 'RFC 3339, in the time zone of the author.' }),
  committed_at: z.string(),
};

/** Returns the JSON members that describe a commit in a list. */
export function showCommitLine(objects: ObjectReader, oid: Oid) {
  const { author, committer, message } = readCommit(objects, oid);
  return {
    subject: subjectOf(message),
    author: author.name,
    author_email: author.email,
    authored_at: formatDate(author),
    committed_at: formatDate(committer),
  };
}

const identity = z.object({ name: z.string(), email: z.string(), date: z.string() });

function showIdentity({ name, email, ...at }: Identity): z.infer<typeof identity> {
  return { name, email, date: formatDate(at) };
}

export const commitDetails = {
  message: z.string(),
  is_message_truncated: z.boolean(),
  tree: z.string(),
  parents: z.array(z.string()),
  author: identity,
  committer: identity,
  encoding: z.string().optional(),
  signature: z.string().optional(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })).meta({
    description: 'Headers that have no member of their own.',
  }),
};

export function showCommitDetails({ message, tree, parents, author, committer, encoding, signature, extra }: Commit) {
  return {
    message: message.slice(0, MAX_BYTES),
    is_message_truncated: message.length > MAX_BYTES,
    tree,
    parents: [...parents],
    author: showIdentity(author),
    committer: showIdentity(committer),
    ...(encoding !== undefined && { encoding }),
    ...(signature !== undefined && { signature }),
    headers: (extra ?? []).map(([name, value]) => ({ name, value })),
  };
}

export const tagDetails = {
  name: z.string(),
  object: z.string(),
  type: z.string().meta({ description: 'Type of the object according to the tag.' }),
  tagger: identity.nullable(),
  message: z.string().meta({ description: 'Message, including the signature at its end.' }),
  is_message_truncated: z.boolean(),
};

/**
 * Returns the JSON members that describe an annotated tag. `body` is the content of the tag object; only its first MiB
 * is parsed.
 */
export function showTagDetails(body: Buffer) {
  const { tagger, ...tag } = parseTag(body.subarray(0, MAX_BYTES));
  return { ...tag, tagger: tagger ? showIdentity(tagger) : null, is_message_truncated: body.length > MAX_BYTES };
}

/**
 * Returns, for each commit, the full names of the refs that point to it directly or through tags. Refs in all ref
 * namespaces (`refs/namespaces/`) are included.
 */
export async function refsOf(
  objects: ObjectReader,
  refs: Refs,
  commits: readonly Oid[],
  meter: Meter,
): Promise<ReadonlyMap<Oid, string[]>> {
  const found = new Map<Oid, string[]>(commits.map((oid) => [oid, []]));
  for (const [name, { oid }] of refs.entries()) {
    const commit = await runYielding(findCommit(objects, oid), meter);
    if (commit !== undefined) found.get(commit)?.push(textOf(name));
  }
  return found;
}

/** Functions that find the repository, commit, object or file named in the path or query of an admin request. */

export const inOrganization = { organization: organizationName() };

type InOrganization = { readonly organization?: string | undefined };

/**
 * Returns the repository named in the path of the request. A name can be reused after a deletion; the newest repository
 * is returned. Throws `not_found`.
 */
export function findRepository(ctx: AdminContext<InOrganization>): Repository {
  const { world, params, query, organization } = ctx;
  const found = world.state.repositories.find(query.organization ?? organization, params.name!);
  return requireFound(found, 'repository', params.name);
}

export const refQuery = {
  ref: z.string().optional().meta({
    description:
      'Branch, tag, revision, or full name of a ref in any ref namespace; default: the default branch, otherwise HEAD.',
  }),
};

/**
 * Returns the commit to which a revision such as `main~2` resolves. Throws `ref_not_found` if there is no such commit,
 * and `bad_request` if the text is not a valid revision.
 */
export async function resolveCommit(repository: Repository, ref: string | undefined, meter: Meter): Promise<Oid> {
  const { refs, objects } = repository.git;
  // The text is first tried as the full name of a ref. Git's rules for revisions do not find refs in ref namespaces,
  // but the admin routes show them.
  const named = ref === undefined ? undefined : refs.get(bytesOf(ref));
  const commit = named === undefined ? undefined : await runYielding(findCommit(objects, named), meter);
  return commit ?? (await resolveRef({ repository, meter, note: () => {} }, { ref })).commit;
}

/** Returns the error for a path that the tree of a commit does not contain. */
export function pathNotFound(path: ByteString, commit: Oid): Problem {
  return problem('not_found', `The path ${JSON.stringify(textOf(path))} does not exist in the commit ${commit}.`);
}

export function requireObject(objects: ObjectReader, text: string): Oid {
  if (!/^[0-9a-f]{40}$/.test(text))
    throw problem('bad_request', 'oid must be a full object id: 40 lower-case hexadecimal digits.');
  const oid = parseOid(text);
  if (objects.find(oid) < 0) throw problem('not_found', `The repository has no object ${oid}.`);
  return oid;
}

/**
 * Returns the commit id in `text`, which comes from the path of the request. Throws `bad_request` if `text` is not an
 * object id, and `not_found` if the repository has no such commit.
 */
export function requireCommit({ git }: Repository, text: string): Oid {
  const oid = requireObject(git.objects, text);
  if (!isCommit(git.objects, oid)) throw problem('not_found', `The object ${oid} is not a commit.`);
  return oid;
}

const BASE64URL = 'in base64url, without padding';

/**
 * Query parameters for the path of a file, as text or as bytes in base64url. Bytes are needed because a Git path need
 * not be valid text.
 */
export const pathQuery = {
  path: z.string().optional(),
  path_bytes: z
    .string()
    .optional()
    .meta({ description: `Bytes of the path ${BASE64URL}, in place of path. For paths that are not UTF-8.` }),
};

/**
 * Returns the path that a query contains as text or in base64url; undefined if absent. `name` is the name of the query
 * parameter, for error messages.
 */
export function readBytes(text: string | undefined, encoded: string | undefined, name: string): ByteString | undefined {
  if (encoded === undefined) return text === undefined ? undefined : bytesOf(text);
  if (text !== undefined) throw problem('bad_request', `Only one of ${name} and ${name}_bytes is allowed.`);
  const bytes = Buffer.from(encoded, 'base64url');
  if (bytes.toString('base64url') !== encoded)
    throw problem('bad_request', `${name}_bytes must be the bytes of a path ${BASE64URL}.`);
  return bytesIn(bytes);
}
