import { getFile, reader } from '../../api/requests.js';
import { expectMatch, expectOther, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import { namesLike, swapCase } from '../../check/other-names.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent, sampleFile } from '../../fixtures/content.js';
import { BOTH_EPHEMERAL, BOTH_NORMAL, ephemeralRepository, ONLY_EPHEMERAL } from '../../fixtures/ephemeral.js';
import { historyRepository, ODD_PATH } from '../../fixtures/history.js';
import { ON_OTHER_DEFAULT, OTHER_DEFAULT_FILE, otherDefaultRepository } from '../../fixtures/other-default.js';
import {
  BIG_PATH,
  ENCODED_PATH,
  FORMATTED_FILES,
  HEX_BRANCH,
  HEX_FILE,
  PLAIN_PATH,
  patternRepository,
  SLASH_BRANCH,
  SLASH_FILE,
} from '../../fixtures/patterns.js';
import { otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { defineRules, leftOpen, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';

/**
 * Reads a file of the history repository (fixture with known commits) through the API. Returns its bytes. Expects
 * status 200.
 */
async function bytes(t: RuleContext, path: string, query: Record<string, string> = {}): Promise<Buffer> {
  const { name } = await historyRepository(t);
  const response = expectStatus(await getFile(t, name, { path, ...query }), 200);
  return response.body;
}

export const fileRead = defineRules('8. Read a file', 'read-file', [
  {
    id: 'file.route',
    says: 'GET /api/v1/repos/file answers 200 with the content of one file.',
    check: on(sampleFile, async (t, { name, path }) => expectStatus(await getFile(t, name, { path }), 200)),
  },
  {
    id: 'file.repo-from-claim',
    says: 'The file is read from the repository in the repo claim of the token.',
    clauses: { query: 'The name of another repository in the query has no effect.' },
    check: async (t) => {
      const [a, b] = [await sampleRepository(t), await otherRepository(t)];
      const texts = [];
      for (const { name } of [a, b]) texts.push((await getFile(t, name, { path: 'shared.txt' })).text);
      expectSame(
        texts,
        ['bytes of the sample\n', 'bytes of the other\n'],
        'each token must read the file of its own repository',
      );
      const { text } = await getFile(t, a.name, { path: 'shared.txt', repo: b.name, repo_name: b.name });
      expectSame(text, texts[0], 'the query must not select another repository');
    },
  },
  {
    id: 'file.bytes',
    says: 'The body is the file, byte for byte.',
    clauses: {
      'line-endings': 'Line endings and byte order marks are kept.',
      large: 'A file of more than 1 MiB is complete.',
      formats: 'Files in formats such as JSON and HTML are not rewritten.',
    },
    check: on(historyRepository, async (t, { files }) => {
      const patterns = await patternRepository(t);
      for (const path of ['crlf.txt', 'bom.txt', BIG_PATH, ...Object.keys(FORMATTED_FILES)]) {
        const { body } = expectStatus(await getFile(t, patterns.name, { path }), 200);
        expectTrue(patterns.files[path]?.equals(body) === true, `${path} must have the expected bytes`, body.length);
      }
      for (const path of ['binary.bin', 'empty.txt', 'README.md']) {
        expectTrue(files[path]?.equals(await bytes(t, path)) === true, `${path} must have the expected bytes`);
      }
    }),
  },
  {
    id: 'file.content-type',
    says: 'The response has a Content-Type that suits the file.',
    clauses: {
      empty: 'The response for an empty file has a Content-Type.',
      'no-extension': 'The response for a file whose name has no extension has a Content-Type.',
    },
    check: on(historyRepository, async (t, { name }) => {
      const patterns = await patternRepository(t);
      for (const [repo, path] of [
        [name, 'a/b.txt'],
        [name, 'empty.txt'],
        [patterns.name, PLAIN_PATH],
      ] as const) {
        const response = expectStatus(await getFile(t, repo, { path }), 200);
        expectMatch(
          response.header('content-type'),
          /^[\w.+-]+\/[\w.+-]+/,
          `Content-Type of ${path} must be a media type`,
        );
        expectOther(response.mediaType, 'application/problem+json', 'the response must not be an error');
        // An empty file may have the media type of another kind of file, for example application/x-empty.
        if (path === 'empty.txt') t.observe('empty file', response.mediaType);
        else if (!/^text\/|octet-stream/.test(response.mediaType)) t.warn(`a text file is ${response.mediaType}`);
      }
    }),
  },
  {
    id: 'file.path.required',
    says: 'A request without path is refused with 400.',
    check: on(sampleContent, async (t, { name }) => {
      t.observe('empty path', await getFile(t, name, { path: '' }));
      expectStatus(await t.get('/api/v1/repos/file', { as: reader(name) }), 400);
    }),
  },
  {
    id: 'file.path.invalid',
    says: 'A path that leads out of the repository is refused with 400.',
    clauses: { inside: 'A path that first goes into a folder and then out of the repository is refused with 400.' },
    check: on(sampleContent, async (t, { name }) => {
      for (const path of ['../x', 'a/../../x']) expectStatus(await getFile(t, name, { path }), 400);
    }),
  },
  {
    id: 'file.path.nested',
    says: 'Nested paths work with encoded and unencoded slashes, and with special characters.',
    clauses: { 'decoded-once': 'The path is decoded once, so that it can contain a percent sign.' },
    check: on(historyRepository, async (t, { name, files }) => {
      for (const query of ['path=a/b.txt', 'path=a%2Fb.txt']) {
        const response = await t.get(`/api/v1/repos/file?${query}`, { as: reader(name) });
        expectSame([response.status, response.text], [200, 'nested\n'], query);
      }
      expectTrue(
        files[ODD_PATH]?.equals(await bytes(t, ODD_PATH)) === true,
        'a path with a space and an accent must be readable',
      );
      const patterns = await patternRepository(t);
      const { text } = expectStatus(await getFile(t, patterns.name, { path: ENCODED_PATH }), 200);
      expectSame(text, patterns.files[ENCODED_PATH]?.toString(), `${ENCODED_PATH} must have the expected bytes`);
    }),
  },
  leftOpen(
    'file.path.directory',
    'The specification does not say how a path of a directory, or with a leading slash, is answered.',
    historyRepository,
    async (t, { name }) => {
      t.observe('directory', await getFile(t, name, { path: 'src' }));
      t.observe('leading slash', await getFile(t, name, { path: '/README.md' }));
    },
  ),
  {
    id: 'file.ref.default',
    says: 'A request without ref reads the default branch.',
    clauses: { 'other-name': 'The default branch is that of the repository record, whatever its name is.' },
    check: async (t) => {
      expectMatch(
        (await bytes(t, 'README.md')).toString(),
        /second edition/,
        'the bytes must be those on the default branch',
      );
      const name = await otherDefaultRepository(t);
      if (name === undefined) return;
      const { text } = expectStatus(await getFile(t, name, { path: OTHER_DEFAULT_FILE }), 200);
      expectSame(text, ON_OTHER_DEFAULT, 'the bytes must be those on the default branch');
    },
  },
  {
    id: 'file.ref.branch',
    says: 'ref can be a branch.',
    clauses: {
      slash: 'The name of the branch may contain a slash.',
      hexadecimal: 'The name of the branch may look like an abbreviated SHA.',
    },
    check: async (t) => {
      expectSame(
        (await bytes(t, 'feature.txt', { ref: 'feature' })).toString(),
        'feature\n',
        'the bytes must be those on the branch',
      );
      const { name } = await patternRepository(t);
      expectStatus(await getFile(t, name, { path: SLASH_FILE, ref: SLASH_BRANCH }), 200);
      expectStatus(await getFile(t, name, { path: HEX_FILE, ref: HEX_BRANCH }), 200);
    },
  },
  {
    id: 'file.ref.sha',
    says: 'ref can be a commit SHA.',
    check: on(historyRepository, async (t, { first }) =>
      expectMatch(
        (await bytes(t, 'README.md', { ref: first.sha })).toString(),
        /first edition/,
        'the bytes must be those of the first commit',
      ),
    ),
  },
  leftOpen('file.ref.tag', 'The specification does not say whether ref can be a tag.', async (t) => {
    const response = await getFile(t, (await historyRepository(t)).name, { path: 'README.md', ref: 'v1' });
    t.observe('tag', response);
    t.tolerate('A15', 'tag, file', response, ['200', '404']);
  }),
  {
    id: 'file.ephemeral.true',
    says: 'Ephemeral branches are read with ephemeral=true, and only then.',
    check: on(ephemeralRepository, async (t, { name }) => {
      const read = async (path: string, query: Record<string, string>) => {
        const response = await getFile(t, name, { path, ...query });
        return response.status === 200 ? response.text : response.status;
      };
      expectSame(
        await read('only.txt', { ref: 'only', ephemeral: 'true' }),
        ONLY_EPHEMERAL,
        'with ephemeral=true, the file of the ephemeral branch must be read',
      );
      expectSame(
        await read('only.txt', { ref: 'only' }),
        404,
        'without ephemeral=true, the ephemeral branch must not be found',
      );
      expectSame(
        await read('both.txt', { ref: 'both', ephemeral: 'true' }),
        BOTH_EPHEMERAL,
        'with ephemeral=true, the ephemeral branch must be read, not the ordinary branch of the same name',
      );
      expectSame(
        await read('both.txt', { ref: 'both' }),
        BOTH_NORMAL,
        'without ephemeral, the ordinary branch must be read, not the ephemeral branch of the same name',
      );
      const unset = await read('both.txt', { ref: 'both', ephemeral: 'false' });
      expectSame(unset, BOTH_NORMAL, 'ephemeral=false must have the same effect as no ephemeral');
    }),
  },
  {
    id: 'file.ephemeral.unresolvable',
    says: 'ephemeral=true with a branch that is not an ephemeral branch is answered like a ref that does not exist.',
    check: on(ephemeralRepository, async (t, { name }) => {
      const file = { path: 'inherited.txt', ref: 'normal' };
      t.observe('ephemeral=maybe', await getFile(t, name, { ...file, ephemeral: 'maybe' }));
      const response = await getFile(t, name, { ...file, ephemeral: 'true' });
      t.tolerate('A12', 'not ephemeral, file', response, ['404', '400']);
    }),
  },
  leftOpen(
    'file.conditional',
    'The specification does not describe HEAD requests, ranges and conditional requests.',
    historyRepository,
    async (t, { name }) => {
      const path = '/api/v1/repos/file?path=README.md';
      t.observe('HEAD', (await t.request('HEAD', path, { as: reader(name) })).status);
      const part = await t.request('HEAD', path, { as: reader(name), headers: { range: 'bytes=0-1' } });
      t.observe('HEAD with Range', part.status);
      for (const range of ['bytes=0-1', 'bytes=4096-']) {
        t.observe(range, await t.get(path, { as: reader(name), headers: { range } }));
      }
      const etag = (await t.get(path, { as: reader(name) })).header('etag');
      t.observe('ETag', etag === undefined ? 'none' : 'sent');
      if (etag === undefined) return;
      t.observe('If-None-Match', (await t.get(path, { as: reader(name), headers: { 'if-none-match': etag } })).status);
      // Only record this response. Other rules check the code and the media type of every error.
      t.observe('If-Match', await t.get(path, { as: reader(name), headers: { 'if-match': '"none"' } }));
    },
  ),
]);

export const fileErrors = defineRules('8. Read a file', 'read-file-errors', [
  {
    id: 'file.err.404.file',
    says: 'A file that does not exist is refused with 404.',
    clauses: { letters: 'A path in other letters (upper and lower case) is the path of another file.' },
    check: on(sampleFile, async (t, { name, path }) => {
      for (const missing of [t.uniqueName(), swapCase(path)]) {
        const response = await getFile(t, name, { path: missing });
        t.tolerate('A28', 'missing file', response, ['404 not_found', '404 ref_not_found']);
      }
    }),
  },
  {
    id: 'file.err.404.ref',
    says: 'A ref that does not exist is refused with 404.',
    clauses: { similar: 'The name of a branch in other letters, shortened or extended is another name.' },
    check: on(sampleFile, async (t, { name, path }) => {
      for (const ref of [t.uniqueName(), ...namesLike(t.defaultBranch)]) {
        const response = await getFile(t, name, { path, ref });
        t.tolerate('A28', 'missing ref, file', response, [
          '404 ref_not_found',
          '404 not_found',
          '404 branch_not_found',
        ]);
      }
    }),
  },
  ...tokenRules('file', {
    noHeader: 'file.err.401.no-header',
    invalid: 'file.err.401.invalid-jwt',
    scope: 'file.err.scope',
    missingRepo: 'file.err.404.repo',
  }),
]);
