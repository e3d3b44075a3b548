import { chunk, commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import { AUTHOR, getFile } from '../../api/requests.js';
import { expectSame, expectStatus } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository } from '../../fixtures/repositories.js';
import { defineWritingRules, on, rulesBy } from '../rule.js';
import { refusesPacks } from './metadata.js';

/** Maximum decoded size in bytes of one file content chunk in a commit-pack request. */
const MOST = 4 * 1024 * 1024;

function metadataFor(t: RuleContext, ...paths: string[]): object {
  const files = paths.map((path) => ({ path, content_id: path }));
  return { metadata: { target_branch: t.defaultBranch, commit_message: 'Send chunks', author: AUTHOR, files } };
}

/**
 * Returns pseudorandom bytes that are not valid text. The sequence repeats only after 2^32 bytes, so no two chunks are
 * equal. Algorithm: high byte of a linear congruential generator (Numerical Recipes, section 7.1).
 */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let index = 0, state = 1; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/** Sends a commit-pack body and expects the status 201. */
async function accepts(t: RuleContext, repo: string, lines: readonly unknown[]): Promise<void> {
  expectStatus(await sendPack(t, repo, lines, { mustSucceed: true }), 201);
}

async function read(t: RuleContext, repo: string, path: string): Promise<Buffer> {
  const response = expectStatus(await getFile(t, repo, { path }), 200);
  return response.body;
}

/** Returns a valid commit-pack body with one file: the metadata line and one chunk. */
const oneFile = (t: RuleContext) => packLines(t, { 'x.txt': 'x' });

const SPOILT_CHUNKS = [
  { content_id: 'c0', data: '***', eof: true },
  { data: 'eA==', eof: true },
  { content_id: 'c0', eof: true },
];

export const packChunks = defineWritingRules('5. Commit pack', 'pack-chunks', [
  ...rulesBy(
    refusesPacks,
    [
      [
        'pack.chunk.base64.invalid',
        'Data that is not valid base64, and a chunk without content_id or data, are refused with 400.',
        (t) => [
          ...[...SPOILT_CHUNKS, null].map((blob_chunk) => [oneFile(t)[0], { blob_chunk }]),
          [oneFile(t)[0], chunk('c0', 'x', false), { blob_chunk: SPOILT_CHUNKS[0] }],
          [oneFile(t)[0], { blob_chunk: { content_id: 'c0', data: 'eA==eA==', eof: true } }],
        ],
      ],
    ],
    {
      clauses: {
        data: 'A chunk without data is refused.',
        null: 'A chunk that is null is refused.',
        'later-chunk': 'Every chunk of a file is checked, not only the first.',
        'inner-padding': 'Data with padding before its end is refused (RFC 4648, section 4).',
      },
    },
  ),
  ...rulesBy(
    refusesPacks,
    [
      [
        'pack.chunk.base64.url-alphabet',
        'Data with the characters - and _ of the URL-safe alphabet is not base64 (RFC 4648, section 3.3), and is refused with 400.',
        (t) => [[oneFile(t)[0], { blob_chunk: { content_id: 'c0', data: '_-8_', eof: true } }]],
      ],
    ],
    { level: 'SHOULD' },
  ),
  ...rulesBy(refusesPacks, [
    [
      'pack.chunk.unknown-content_id',
      'A chunk whose content_id belongs to no file is refused with 400.',
      (t) => [[...oneFile(t), chunk('stranger', 'x')]],
    ],
  ]),
  ...rulesBy(
    refusesPacks,
    [
      [
        'pack.chunk.missing',
        'An upsert without a chunk is refused with 400.',
        (t) => [[oneFile(t)[0]], [metadataFor(t, 'x.txt', 'y.txt'), chunk('x.txt', 'x')]],
      ],
    ],
    {
      clauses: {
        'one-of-several': 'If one of several files has no chunk, the request is refused, and none of them is written.',
      },
    },
  ),
  ...rulesBy(
    refusesPacks,
    [
      [
        'pack.chunk.no-eof',
        'A file whose last chunk does not have eof true is refused with 400.',
        (t) => [
          [metadataFor(t, 'x.txt'), chunk('x.txt', 'x', false)],
          [metadataFor(t, 'x.txt'), { blob_chunk: { content_id: 'x.txt', data: 'eA==' } }],
          [metadataFor(t, 'x.txt'), { blob_chunk: { content_id: 'x.txt', data: 'eA==', eof: 'true' } }],
          [metadataFor(t, 'x.txt', 'y.txt'), chunk('x.txt', 'x', false), chunk('y.txt', 'y')],
          [metadataFor(t, 'x.txt'), chunk('x.txt', 'x'), chunk('x.txt', 'y', false)],
        ],
      ],
    ],
    {
      clauses: {
        false: 'A last chunk with eof false is refused.',
        absent: 'A last chunk without eof is refused.',
        text: 'A last chunk whose eof is the text "true" is refused.',
        'another-file': 'A chunk with eof true of another file does not end the file.',
        'after-eof': 'A chunk with eof false after a chunk with eof true is refused.',
      },
    },
  ),
  {
    id: 'pack.chunk.multi',
    says: 'The chunks of one file are joined in the order in which they arrive.',
    clauses: {
      padding: 'Each chunk is decoded by itself, so a chunk may end with base64 padding.',
      'empty-last': 'The last chunk may be empty.',
      'any-file-first': 'The chunks of the files may arrive in another order than the files are listed in.',
      interleaved: 'If chunks of two files may alternate, each is added to the file with its content_id.',
    },
    check: on(groupRepository, async (t, { name }) => {
      const bytes = noise(9 * 1024 * 1024);
      // The lengths of the first two parts are not multiples of 3, so their base64 text ends with padding.
      const parts = [0, MOST - 3, 2 * MOST - 5].map((from, index, all) => bytes.subarray(from, all[index + 1]));
      const chunks = [...parts.map((part) => chunk('large.bin', part, false)), chunk('large.bin', '')];
      await accepts(t, name, [metadataFor(t, 'small.bin', 'large.bin'), ...chunks, chunk('small.bin', 'small')]);
      expectSame((await read(t, name, 'large.bin')).equals(bytes), true, 'the bytes must be those that were sent');
      expectSame((await read(t, name, 'small.bin')).toString(), 'small', 'each file must have its own chunks');
      const woven = [chunk('a', 'a1', false), chunk('b', 'b1', false), chunk('a', 'a2'), chunk('b', 'b2')];
      const response = await sendPack(t, name, [metadataFor(t, 'a', 'b'), ...woven]);
      t.observe('interleaved', response);
      if (response.status === 201) {
        expectSame((await read(t, name, 'a')).toString(), 'a1a2', 'a must have the chunks of a');
        expectSame((await read(t, name, 'b')).toString(), 'b1b2', 'b must have the chunks of b');
      }
      const late = [chunk('late', '1'), chunk('late', '2')];
      t.observe('after eof', await sendPack(t, name, [metadataFor(t, 'late'), ...late]));
    }),
  },
  {
    id: 'pack.chunk.max-4mib.ok',
    says: 'A chunk of exactly 4 MiB is accepted.',
    check: on(groupRepository, async (t, { name }) => {
      const bytes = noise(MOST);
      await commitFiles(t, name, { 'full.bin': bytes });
      expectSame((await read(t, name, 'full.bin')).equals(bytes), true, 'every sent byte must be stored');
    }),
  },
  {
    id: 'pack.chunk.max-4mib.over',
    says: 'A chunk of 4 MiB and one byte is refused.',
    clauses: { 'later-chunk': 'The limit holds for every chunk of a file, not only for the first.' },
    check: on(groupRepository, async (t, { name }) => {
      const tooLong = chunk('over.bin', noise(MOST + 1));
      for (const chunks of [[tooLong], [chunk('over.bin', 'x', false), tooLong]]) {
        const response = await sendPack(t, name, [metadataFor(t, 'over.bin'), ...chunks]);
        t.tolerate('A21', 'chunk above 4 MiB', response, ['400', '413']);
      }
      expectStatus(await getFile(t, name, { path: 'over.bin' }), 404);
    }),
  },
  {
    id: 'pack.chunk.empty-file',
    says: 'An empty file is sent as one chunk with empty data and eof true.',
    clauses: { existing: 'A file with content becomes empty.' },
    check: on(groupRepository, async (t, { name }) => {
      await commitFiles(t, name, { 'emptied.txt': 'full' });
      await commitFiles(t, name, { 'empty.txt': '', 'emptied.txt': '' });
      for (const path of ['empty.txt', 'emptied.txt']) {
        expectSame((await read(t, name, path)).length, 0, `${path} must be empty`);
      }
    }),
  },
]);
