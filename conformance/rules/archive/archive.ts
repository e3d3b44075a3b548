import { archive, reader } from '../../api/requests.js';
import { expectMatch, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent } from '../../fixtures/content.js';
import { headlessRepository } from '../../fixtures/headless.js';
import { EXECUTABLE, historyRepository } from '../../fixtures/history.js';
import { otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { forcedFailures } from '../documented-operations.js';
import { defineRules, leftOpen, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';
import { readPaths, readTar, type TarFile } from './tar.js';

/**
 * Returns the paths of all files in the history repository (fixture with known commits) that an archive of any of its
 * refs can contain.
 */
async function knownPaths(t: RuleContext): Promise<string[]> {
  return [...Object.keys((await historyRepository(t)).files), 'feature.txt', 'link'];
}

/**
 * Requests an archive of the history repository (fixture with known commits). Returns its files with their paths in the
 * repository. `prefix` is the path prefix given in the request.
 */
async function files(t: RuleContext, body: object = {}, prefix = ''): Promise<TarFile[]> {
  const { name } = await historyRepository(t);
  const response = expectStatus(await archive(t, name, body), 200);
  return readPaths(response, await knownPaths(t), prefix);
}

/**
 * Requests an archive of the history repository (fixture with known commits). Returns the sorted paths of its files.
 */
async function paths(t: RuleContext, body: object = {}, prefix = ''): Promise<string[]> {
  return (await files(t, body, prefix)).map((file) => file.name).sort();
}

async function onMain(t: RuleContext): Promise<string[]> {
  return Object.keys((await historyRepository(t)).files).sort();
}

export const archiveRules = defineRules('6. Archive', 'archive', [
  {
    id: 'archive.route',
    says: 'POST /api/v1/repos/archive answers 200 with a tar.gz of the files, with their content and executable bits.',
    check: on(historyRepository, async (t, history) => {
      const response = expectStatus(await archive(t, history.name), 200);
      const files = readPaths(response, await knownPaths(t));
      expectSame(files.map(({ name }) => name).sort(), await onMain(t), 'the archive must contain every file');
      for (const { name, bytes, mode } of files) {
        expectTrue(history.files[name]?.equals(bytes) === true, `${name} must have the expected bytes`);
        expectSame((mode & 0o100) !== 0, name === EXECUTABLE, `${name} must have the expected executable bit`);
      }
    }),
  },
  {
    id: 'archive.repo-from-claim',
    says: 'The archive has the files of the repository in the repo claim of the token.',
    check: async (t) => {
      const owned = { 'sample.txt': await sampleRepository(t), 'other.txt': await otherRepository(t) };
      for (const [own, { name }] of Object.entries(owned)) {
        const expected = ['README.md', own, 'shared.txt'].sort();
        const packed = readPaths(await archive(t, name), expected).map((file) => file.name);
        expectSame(packed.sort(), expected, 'the archive must contain exactly the files of its repository');
      }
    },
  },
  leftOpen(
    'archive.body.absent',
    'The specification does not say how a request without a body is answered.',
    sampleContent,
    async (t, { name }) => t.observe('no body', await t.post('/api/v1/repos/archive', { as: reader(name) })),
  ),
  {
    id: 'archive.ref.default',
    says: 'A request without ref archives the default branch.',
    check: async (t) =>
      expectSame(await paths(t), await onMain(t), 'the archive must contain the files of the default branch'),
  },
  {
    id: 'archive.ref.empty',
    says: 'An empty ref means the same as no ref.',
    check: async (t) =>
      expectSame(
        await paths(t, { ref: '' }),
        await onMain(t),
        'the archive must contain the files of the default branch',
      ),
  },
  {
    id: 'archive.ref.head',
    says: 'A request without ref archives HEAD if the repository has no default branch.',
    reach: 'emulator',
    writes: true,
    check: async (t) => {
      const name = await headlessRepository(t, ['main', 'trunk']);
      const packed = readPaths(await archive(t, name), ['main.txt', 'trunk.txt']).map((file) => file.name);
      expectSame(packed, ['trunk.txt'], 'the archive must contain the files of HEAD');
    },
  },
  {
    id: 'archive.ref.branch',
    says: 'ref can be a branch, a tag or a commit SHA.',
    check: on(historyRepository, async (t, { first }) => {
      expectTrue(
        (await paths(t, { ref: 'feature' })).includes('feature.txt'),
        'the archive must contain the files of the branch',
      );
      for (const ref of ['v1', first.sha]) {
        const readme = (await files(t, { ref })).find((file) => file.name === 'README.md');
        expectMatch(
          readme?.bytes.toString(),
          /first edition/,
          `the archive of ${ref} must have the content of the first commit`,
        );
      }
    }),
  },
  {
    id: 'archive.include_globs',
    says: 'include_globs keeps only files that match.',
    check: async (t) => {
      expectSame(
        await paths(t, { include_globs: ['**/*.js'] }),
        ['src/app.js', 'src/lib/deep.js'],
        'the result must contain only JavaScript files',
      );
      t.observe('in both lists', await paths(t, { include_globs: ['**/*.js'], exclude_globs: ['**/*.js'] }));
      const both = [...(await paths(t, { include_globs: ['**/*.ts'] })), 'docs/guide.md'].sort();
      expectSame(
        await paths(t, { include_globs: ['**/*.ts', 'docs/*.md'] }),
        both,
        'the archive must contain the files that match one of two globs',
      );
    },
  },
  {
    id: 'archive.include_globs.none',
    says: 'If no file matches include_globs, the response is 200 with an empty archive.',
    check: async (t) => expectSame(await paths(t, { include_globs: ['*.none'] }), [], 'the archive must be empty'),
  },
  {
    id: 'archive.exclude_globs',
    says: 'exclude_globs leaves out files that match.',
    check: async (t) => {
      const expected = (await onMain(t)).filter((path) => !path.endsWith('.md'));
      expectSame(
        await paths(t, { exclude_globs: ['**/*.md'] }),
        expected,
        'the archive must contain no Markdown files',
      );
      expectSame(
        await paths(t, { exclude_globs: ['**/*.md', '**/*.js'] }),
        expected.filter((path) => !path.endsWith('.js')),
        'the archive must contain no files that match one of two globs',
      );
    },
  },
  {
    id: 'archive.max_blob_size',
    says: 'Files of more than max_blob_size bytes are left out.',
    check: on(historyRepository, async (t, { files }) => {
      const small = Object.entries(files).filter(([, bytes]) => bytes.length <= 10);
      const expected = small.map(([path]) => path).sort();
      expectSame(
        await paths(t, { max_blob_size: 10 }),
        expected,
        'the archive must contain only files of at most ten bytes',
      );
    }),
  },
  {
    id: 'archive.max_blob_size.equal',
    says: 'A file of exactly max_blob_size bytes is included.',
    check: async (t) => {
      const packed = await paths(t, { max_blob_size: 10 });
      const edges = packed.filter((path) => path === 'ten.txt' || path === 'eleven.txt');
      expectSame(edges, ['ten.txt'], 'files of ten bytes must be included, files of eleven bytes left out');
    },
  },
  {
    id: 'archive.max_blob_size.invalid',
    says: 'A max_blob_size that is negative or not a number is 400.',
    check: on(sampleContent, async (t, { name }) => {
      for (const max_blob_size of [0, 1.5]) t.observe(String(max_blob_size), await archive(t, name, { max_blob_size }));
      for (const max_blob_size of [-1, 'x']) expectStatus(await archive(t, name, { max_blob_size }), 400);
    }),
  },
  {
    id: 'archive.prefix',
    says: 'archive.prefix precedes every path, separated by a slash.',
    check: on(onMain, async (t, expected) => {
      for (const prefix of ['p/', 'p'])
        expectSame(await paths(t, { archive: { prefix } }, 'p/'), expected, `prefix ${prefix}`);
    }),
  },
  {
    id: 'archive.prefix.dotdot',
    says: 'A prefix that is absolute, or that has a backslash, . or .. in it, is 400.',
    check: on(sampleContent, async (t, { name }) => {
      for (const prefix of ['/p', 'a\\b', './p', 'a/../b', '..']) {
        expectStatus(await archive(t, name, { archive: { prefix } }), 400);
      }
      expectSame(
        await paths(t, { archive: { prefix: 'a/b' } }, 'a/b/'),
        await onMain(t),
        'the prefix a/b must be accepted',
      );
    }),
  },
  {
    id: 'archive.prefix.default',
    says: 'Without a prefix, the names in the archive are the paths of the files.',
    level: 'SHOULD',
    check: async (t) => {
      const packed = readTar(await archive(t, (await historyRepository(t)).name)).map((file) => file.name);
      expectSame(packed.sort(), await onMain(t), 'the archive must contain the paths of the default branch');
      t.observe('empty prefix', await archive(t, (await sampleContent(t)).name, { archive: { prefix: '' } }));
    },
  },
  {
    id: 'archive.header.content-type',
    says: 'The media type is application/gzip.',
    level: 'SHOULD',
    check: async (t) =>
      expectSame(
        (await archive(t, (await sampleContent(t)).name)).mediaType,
        'application/gzip',
        'unexpected media type',
      ),
  },
  {
    id: 'archive.header.disposition',
    says: 'Content-Disposition has a file name made of repository and revision, without a folder.',
    level: 'SHOULD',
    check: on(sampleContent, async (t, { name }) => {
      const header = (await archive(t, name)).header('content-disposition');
      const attachment = /^attachment\s*;.*\bfilename="?[^"/\\]+-[^"/\\]+\.tar\.gz/i;
      expectMatch(header, attachment, 'Content-Disposition must be an attachment with a plain file name');
      const last = name.slice(name.lastIndexOf('/') + 1);
      // A server may leave out characters that are not allowed in file names everywhere, so only a repository name
      // without such characters must be in the file name.
      if (/^[\w.-]+$/.test(last))
        expectTrue(header.includes(last), 'the file name must contain the name of the repository', header);
      t.observe('header', header.replace(t.run.prefix, '<run>').replace(/[0-9a-f]{7,40}/, '<sha>'));
    }),
  },
  {
    id: 'archive.header.cache-control',
    says: 'Cache-Control is no-store.',
    level: 'SHOULD',
    check: on(sampleContent, async (t, { name }) =>
      expectMatch((await archive(t, name)).header('cache-control'), /\bno-store\b/, 'no-store'),
    ),
  },
  {
    id: 'archive.err.400.json',
    says: 'A body that is not valid JSON is 400.',
    check: async (t) => expectStatus(await archive(t, (await sampleContent(t)).name, undefined, { body: '{' }), 400),
  },
  {
    id: 'archive.err.ref',
    says: 'A ref that does not exist is refused.',
    check: async (t) => {
      const response = await archive(t, (await sampleContent(t)).name, { ref: t.uniqueName() });
      const missing = ['404 ref_not_found', '404 not_found', '404 branch_not_found'];
      t.tolerate('A11', 'missing ref, archive', response, [...missing, '400 bad_request']);
    },
  },
  ...tokenRules('archive', {
    noHeader: 'archive.err.401',
    invalid: 'archive.err.401.invalid-jwt',
    scope: 'archive.err.403',
    missingRepo: 'archive.err.404.repo',
  }),
  ...forcedFailures('archive', [
    ['archive.err.500', 'A request whose archive cannot be generated is 500.', 500, 'internal_error'],
    ['archive.err.502', 'A request is 502 if storage cannot be reached.', 502, 'bad_gateway'],
    ['archive.err.503', 'A request is 503 if no storage can be selected.', 503, 'service_unavailable'],
  ]),
]);
