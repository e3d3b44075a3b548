import { type Mutant, proxied } from '../mutant.js';
import { ARCHIVE, CREATE, GREP, NOTES, PACK, RESTORE } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesRequest, isAt } from '../rewrites.js';

type Members = Record<string, unknown>;

/** Makes the server accept wrong metadata: `change` corrects it in requests to `place` before the server reads it. */
function reads(place: string, change: (metadata: Members) => void): Rewrite {
  return changesRequest<{ metadata?: unknown } | null>(place, (line) => {
    const metadata = line?.metadata;
    if (typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)) change(metadata as Members);
  });
}

/** Makes the server ignore a metadata member of the wrong type, instead of refusing it. */
function drops(place: string, name: string, type: string): Rewrite {
  return reads(place, (metadata) => {
    if (name in metadata && typeof metadata[name] !== type) delete metadata[name];
  });
}

/**
 * Makes the server accept a name or email that is not a string. The proxy converts the value to text before the server
 * reads it.
 */
function makesText(place: string, person: string, name: string): Rewrite {
  return reads(place, (metadata) => {
    const one = metadata[person];
    if (typeof one === 'object' && one !== null && name in one) Reflect.set(one, name, String(Reflect.get(one, name)));
  });
}

/**
 * Makes the server accept a wrong author. The proxy replaces the author with a valid one before the server reads the
 * request.
 */
function assumesAuthor(place: string, isMeant: (author: unknown) => boolean): Rewrite {
  return reads(place, (metadata) => {
    if (isMeant(metadata.author)) metadata.author = { name: 'Nobody', email: 'nobody@example.com' };
  });
}

/** Changes the first file operation of commit-pack requests before the server reads them. */
function readsFiles(change: (file: Members) => void): Rewrite {
  return reads(PACK, ({ files }) => {
    const first: unknown = Array.isArray(files) ? files[0] : undefined;
    if (typeof first === 'object' && first !== null) change(first as Members);
  });
}

/**
 * Replaces the body of requests to `place` before the server reads it. `change` returns the new body, or undefined to
 * keep the old one.
 */
function replaces(place: string, change: (body: string) => string | undefined): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request)) return;
      const body = change(request.body.toString());
      if (body === undefined) return;
      request.body = Buffer.from(body);
      request.headers['content-type'] ??= 'application/json';
    },
  };
}

const SEARCH = '{"query":{"pattern":"e"}}';
const isNull = (value: unknown) => value === null;

/** Defines a mutant (wrong server) that accepts one kind of invalid request body. */
const lenient = (rule: string, name: string, does: string, proxy: Rewrite): Mutant => proxied(name, rule, does, proxy);

export const rows: readonly Mutant[] = [
  lenient(
    'restore.fields.invalid#expected-head',
    'restore-passes-over-a-number-as-expected-head',
    'passes over an expected_head_sha that is a number',
    drops(RESTORE, 'expected_head_sha', 'string'),
  ),
  lenient(
    'restore.fields.invalid#email',
    'restore-takes-a-number-for-an-email',
    'takes a number for the email of an author',
    makesText(RESTORE, 'author', 'email'),
  ),
  lenient(
    'restore.fields.invalid#committer-name',
    'restore-takes-a-number-for-a-committer',
    'takes a number for the name of a committer',
    makesText(RESTORE, 'committer', 'name'),
  ),
  lenient(
    'restore.fields.invalid#author-null',
    'restore-needs-no-author-if-it-is-null',
    'writes in its own name if author is null',
    assumesAuthor(RESTORE, isNull),
  ),
  lenient(
    'restore.fields.invalid#author-list',
    'restore-takes-a-list-for-an-author',
    'writes in its own name if author is a list',
    assumesAuthor(RESTORE, Array.isArray),
  ),
  lenient(
    'pack.fields.invalid#expected-head',
    'pack-passes-over-a-number-as-expected-head',
    'passes over an expected_head_sha that is a number',
    drops(PACK, 'expected_head_sha', 'string'),
  ),
  lenient(
    'pack.fields.invalid#base-branch',
    'pack-passes-over-a-number-as-base-branch',
    'passes over a base_branch that is a number',
    drops(PACK, 'base_branch', 'string'),
  ),
  lenient(
    'pack.fields.invalid#ephemeral',
    'pack-passes-over-text-as-ephemeral',
    'passes over an ephemeral that is a text',
    drops(PACK, 'ephemeral', 'boolean'),
  ),
  lenient(
    'pack.fields.invalid#ephemeral-base',
    'pack-passes-over-text-as-ephemeral-base',
    'passes over an ephemeral_base that is a text',
    drops(PACK, 'ephemeral_base', 'boolean'),
  ),
  lenient(
    'pack.fields.invalid#email',
    'pack-takes-a-number-for-an-email',
    'takes a number for the email of an author',
    makesText(PACK, 'author', 'email'),
  ),
  lenient(
    'pack.fields.invalid#committer-name',
    'pack-takes-a-number-for-a-committer',
    'takes a number for the name of a committer',
    makesText(PACK, 'committer', 'name'),
  ),
  lenient('pack.fields.invalid#files-null', 'pack-takes-null-for-no-files', 'commits nothing if files is null', {
    request: (request) => {
      if (isAt(PACK, request) && request.body.includes('"files":null'))
        request.body = Buffer.from(
          (request.body.toString().split('\n')[0] ?? '').replace('"files":null', '"files":[]'),
        );
    },
  }),
  lenient(
    'pack.fields.invalid#operation',
    'pack-takes-a-number-for-upsert',
    'adds the file if operation is a number',
    readsFiles((file) => {
      if (typeof file.operation === 'number') delete file.operation;
    }),
  ),
  lenient(
    'pack.fields.invalid#mode',
    'pack-takes-a-number-for-a-mode',
    'takes a number for a mode',
    readsFiles((file) => {
      if (typeof file.mode === 'number') file.mode = String(file.mode);
    }),
  ),
  lenient(
    'note.sha.required#null',
    'note-takes-main-for-null',
    'writes the note of the default branch if sha is null',
    changesRequest<Members>(NOTES, (body) => {
      if (body.sha === null) body.sha = 'main';
    }),
  ),
  lenient(
    'note.sha.required#empty',
    'note-writes-an-empty-body',
    'appends an empty note to the default branch if the body is empty',
    replaces(NOTES, (body) => (body === '' ? '{"sha":"main","action":"append","note":" "}' : undefined)),
  ),
  lenient(
    'note.sha.required#list',
    'note-writes-the-first-of-a-list',
    'writes the first note of a list',
    replaces(NOTES, (body) => (body.startsWith('[') ? body.slice(1, -1) : undefined)),
  ),
  lenient(
    'note.note.required#null',
    'note-writes-null',
    'writes null as text',
    changesRequest<Members>(NOTES, (body) => {
      if (body.note === null) body.note = 'null';
    }),
  ),
  lenient(
    'note.err.400.format#json',
    'note-completes-what-is-no-json',
    'appends an empty note to the default branch if the body is not JSON',
    replaces(NOTES, (body) => (body === '{' ? '{"sha":"main","action":"append","note":" "}' : undefined)),
  ),
  lenient(
    'note.err.400.format#sha',
    'note-takes-main-for-a-number',
    'writes the note of the default branch if sha is a number',
    changesRequest<Members>(NOTES, (body) => {
      if (typeof body.sha === 'number') body.sha = 'main';
    }),
  ),
  lenient(
    'note.err.400.format#note',
    'note-writes-a-number',
    'writes a number as text',
    changesRequest<Members>(NOTES, (body) => {
      if (typeof body.note === 'number') body.note = String(body.note);
    }),
  ),
  lenient(
    'note.err.400.format#author',
    'note-passes-over-an-author-that-is-text',
    'passes over an author that is a text',
    changesRequest<Members>(NOTES, (body) => {
      if (typeof body.author === 'string') delete body.author;
    }),
  ),
  lenient(
    'note.err.400.format#expected-ref',
    'note-passes-over-a-number-as-expected-ref',
    'passes over an expected_ref_sha that is a number',
    changesRequest<Members>(NOTES, (body) => {
      if (typeof body.expected_ref_sha === 'number') delete body.expected_ref_sha;
    }),
  ),
  lenient(
    'note.err.400.format#action',
    'note-takes-a-number-for-add',
    'adds the note if action is a number',
    changesRequest<Members>(NOTES, (body) => {
      if (typeof body.action === 'number') delete body.action;
    }),
  ),
  lenient(
    'grep.pattern.required#query',
    'grep-searches-e-without-a-query',
    'searches for a letter if the body has no query',
    changesRequest<Members>(GREP, (body) => {
      if (!Array.isArray(body) && !('query' in body)) body.query = { pattern: 'e' };
    }),
  ),
  lenient(
    'grep.pattern.required#empty',
    'grep-searches-e-without-a-body',
    'searches for a letter if the body is empty',
    replaces(GREP, (body) => (body === '' ? SEARCH : undefined)),
  ),
  lenient(
    'grep.pattern.required#list',
    'grep-searches-the-first-of-a-list',
    'takes the first query of a list',
    replaces(GREP, (body) => (body.startsWith('[') ? body.slice(1, -1) : undefined)),
  ),
  lenient(
    'grep.pattern.required#null',
    'grep-searches-null',
    'searches for null as text',
    replaces(GREP, (body) => (body.includes('"pattern":null') ? body.replace('null', '"null"') : undefined)),
  ),
  lenient(
    'grep.pattern.required#text',
    'grep-takes-text-for-a-query',
    'takes a text in place of the query for the pattern',
    replaces(GREP, (body) => (body === '{"query":"e"}' ? SEARCH : undefined)),
  ),
  lenient(
    'archive.max_blob_size.invalid#text',
    'archive-passes-over-text-as-size',
    'passes over a max_blob_size that is a text',
    replaces(ARCHIVE, (body) => (body.includes('"max_blob_size":"') ? '{}' : undefined)),
  ),
  lenient(
    'archive.max_blob_size.invalid#boolean',
    'archive-takes-true-for-one-byte',
    'takes true for one byte as max_blob_size',
    replaces(ARCHIVE, (body) => (body.includes('"max_blob_size":true') ? '{"max_blob_size":1}' : undefined)),
  ),
  lenient(
    'archive.max_blob_size.invalid#negative',
    'archive-takes-a-negative-size-for-no-limit',
    'takes a negative max_blob_size for no limit',
    replaces(ARCHIVE, (body) => (body.includes('"max_blob_size":-') ? '{}' : undefined)),
  ),
  lenient(
    'archive.prefix.dotdot#type',
    'archive-takes-a-number-for-a-prefix',
    'takes a number for a prefix',
    replaces(ARCHIVE, (body) => (body.includes('"prefix":5') ? body.replace('5', '"5"') : undefined)),
  ),
  lenient(
    'archive.err.400.json#truncated',
    'archive-completes-what-ends-too-early',
    'completes a body that ends too early',
    replaces(ARCHIVE, (body) => (body === '{' ? '{}' : undefined)),
  ),
  lenient(
    'archive.err.400.json#trailing',
    'archive-reads-only-the-first-value',
    'passes over text after the JSON value',
    replaces(ARCHIVE, (body) => (body.startsWith('{} ') ? '{}' : undefined)),
  ),
  lenient(
    'other.create.body.mismatch#type',
    'other-passes-over-a-number-as-repo-name',
    'passes over a repo_name that is a number',
    changesRequest<Members>(CREATE, (body) => {
      if (typeof body.repo_name === 'number') delete body.repo_name;
    }),
  ),
];
