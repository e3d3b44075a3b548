import { chunk, commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import { AUTHOR, getFile } from '../../api/requests.js';
import { expectSame, expectStatus } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository } from '../../fixtures/repositories.js';
import { defineWritingRules, on, rulesBy } from '../rule.js';
import { refusesPacks } from './metadata.js';

/** Maximum decoded size of one chunk of file content in a commit-pack request, in bytes. */
const MOST = 4 * 1024 * 1024;

function metadataFor(t: RuleContext, ...paths: string[]): object {
  const files = paths.map((path) => ({ path, content_id: path }));
  return { metadata: { target_branch: t.defaultBranch, commit_message: 'Send chunks', author: AUTHOR, files } };
}

/**
 * Returns pseudorandom bytes that are not valid text. No two chunks of them are equal, because the sequence repeats
 * only after 2^32 bytes: high byte of a linear congruential generator (Numerical Recipes, section 7.1).
 */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let index = 0, state = 1; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

async function read(t: RuleContext, repo: string, path: string): Promise<Buffer> {
  const response = expectStatus(await getFile(t, repo, { path }), 200);
  return response.body;
}

/** Returns the lines of a valid commit-pack body with one file: the metadata and one chunk. */
const oneFile = (t: RuleContext) => packLines(t, { 'x.txt': 'x' });

const SPOILT_CHUNKS = [
  { content_id: 'c0', data: '***', eof: true },
  { data: 'eA==', eof: true },
  { content_id: 'c0', eof: true },
];

export const packChunks = defineWritingRules('5. Commit pack', 'pack-chunks', [
  ...rulesBy(refusesPacks, [
    [
      'pack.chunk.base64.invalid',
      'Data that is not valid base64, and a chunk without content_id or data, are 400.',
      (t) => SPOILT_CHUNKS.map((blob_chunk) => [oneFile(t)[0], { blob_chunk }]),
    ],
    [
      'pack.chunk.unknown-content_id',
      'A chunk whose content_id belongs to no file is 400.',
      (t) => [[...oneFile(t), chunk('stranger', 'x')]],
    ],
    ['pack.chunk.missing', 'An upsert without a chunk is 400.', (t) => [[oneFile(t)[0]]]],
    [
      'pack.chunk.no-eof',
      'A file whose last chunk does not have eof true is 400.',
      (t) => [[metadataFor(t, 'x.txt'), chunk('x.txt', 'x', false)]],
    ],
  ]),
  {
    id: 'pack.chunk.multi',
    says: 'The chunks of one file are joined in the order in which they arrive.',
    check: on(groupRepository, async (t, { name }) => {
      const bytes = noise(9 * 1024 * 1024);
      const parts = [0, 1, 2].map((index) => bytes.subarray(index * 3 * 1024 * 1024, (index + 1) * 3 * 1024 * 1024));
      const chunks = parts.map((part, index) => chunk('large.bin', part, index === 2));
      expectStatus(await sendPack(t, name, [metadataFor(t, 'large.bin'), ...chunks]), 201);
      expectSame((await read(t, name, 'large.bin')).equals(bytes), true, 'the bytes must be those that were sent');
      const woven = [chunk('a', '1', false), chunk('b', '1', false), chunk('a', '2'), chunk('b', '2')];
      t.observe('interleaved', await sendPack(t, name, [metadataFor(t, 'a', 'b'), ...woven]));
      const late = [chunk('late', '1'), chunk('late', '2')];
      t.observe('after eof', await sendPack(t, name, [metadataFor(t, 'late'), ...late]));
    }),
  },
  {
    id: 'pack.chunk.max-4mib.ok',
    says: 'A chunk of exactly 4 MiB is accepted.',
    check: on(groupRepository, async (t, { name }) => {
      await commitFiles(t, name, { 'full.bin': noise(MOST) });
      expectSame((await read(t, name, 'full.bin')).length, MOST, 'every sent byte must be stored');
    }),
  },
  {
    id: 'pack.chunk.max-4mib.over',
    says: 'A chunk of 4 MiB and one byte is refused.',
    check: on(groupRepository, async (t, { name }) => {
      const response = await sendPack(t, name, packLines(t, { 'over.bin': noise(MOST + 1) }));
      t.tolerate('A21', 'chunk above 4 MiB', response, ['400', '413']);
      expectStatus(await getFile(t, name, { path: 'over.bin' }), 404);
    }),
  },
  {
    id: 'pack.chunk.empty-file',
    says: 'An empty file is sent as one chunk with empty data and eof true.',
    check: on(groupRepository, async (t, { name }) => {
      await commitFiles(t, name, { 'empty.txt': '' });
      expectSame((await read(t, name, 'empty.txt')).length, 0, 'the file must be empty');
    }),
  },
]);
