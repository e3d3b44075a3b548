import { archive, reader } from '../../api/requests.js';
import { expectMatch, expectOneOf, expectOther, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import { namesLike } from '../../check/other-names.js';
import { sampleContent } from '../../fixtures/content.js';
import { headlessRepository } from '../../fixtures/headless.js';
import { EXECUTABLE, historyRepository } from '../../fixtures/history.js';
import { ON_OTHER_DEFAULT, OTHER_DEFAULT_FILE, otherDefaultRepository } from '../../fixtures/other-default.js';
import {
  BIG_PATH,
  HEX_BRANCH,
  HEX_FILE,
  patternRepository,
  SLASH_BRANCH,
  SLASH_FILE,
} from '../../fixtures/patterns.js';
import { otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { forcedFailures } from '../documented-operations.js';
import { defineRules, leftOpen, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';
import { files, knownPaths, onMain, packs, paths, textOf } from './packed-files.js';
import { readEntries, readPaths, readTar } from './tar.js';

export const archiveRules = defineRules('6. Archive', 'archive', [
  {
    id: 'archive.route',
    says: 'POST /api/v1/repos/archive answers 200 with a tar.gz of the files, with their content and executable bits.',
    clauses: {
      'line-endings': 'Line endings and byte order marks are kept.',
      large: 'A file of more than 1 MiB is complete.',
      empty: 'Empty files are included.',
    },
    check: on(historyRepository, async (t, history) => {
      const response = expectStatus(await archive(t, history.name), 200);
      const files = readPaths(response, await knownPaths(t));
      expectSame(files.map(({ name }) => name).sort(), await onMain(t), 'the archive must contain every file');
      for (const { name, bytes, mode } of files) {
        expectTrue(history.files[name]?.equals(bytes) === true, `${name} must have the expected bytes`);
        expectSame((mode & 0o100) !== 0, name === EXECUTABLE, `${name} must have the expected executable bit`);
      }
      const patterns = await patternRepository(t);
      const packed = readPaths(await archive(t, patterns.name), Object.keys(patterns.files));
      for (const [path, bytes] of Object.entries(patterns.files)) {
        const file = packed.find(({ name }) => name === path);
        expectTrue(file?.bytes.equals(bytes) === true, `${path} must have the expected bytes`, file?.bytes.length);
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
    clauses: { 'other-name': 'The default branch is that of the repository record, whatever its name is.' },
    check: async (t) => {
      expectSame(await paths(t), await onMain(t), 'the archive must contain the files of the default branch');
      const name = await otherDefaultRepository(t);
      if (name === undefined) return;
      const packed = readPaths(expectStatus(await archive(t, name), 200), [OTHER_DEFAULT_FILE]);
      const text = textOf(packed, OTHER_DEFAULT_FILE);
      expectSame(text, ON_OTHER_DEFAULT, 'the archive must contain the file of the default branch');
    },
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
    clauses: {
      branch: 'ref can be a branch.',
      slash: 'The name of the branch may contain a slash.',
      hexadecimal: 'The name of the branch may look like an abbreviated SHA.',
      tag: 'ref can be a lightweight tag.',
      'annotated-tag': 'ref can be an annotated tag.',
      sha: 'ref can be the SHA of a commit that is not the tip of a branch.',
    },
    check: on(historyRepository, async (t, { name, first }) => {
      const ofBranch = await files(t, { ref: 'feature' });
      expectSame(textOf(ofBranch, 'feature.txt'), 'feature\n', 'the archive must contain the files of the branch');
      expectMatch(textOf(ofBranch, 'src/app.js'), /hello world\n/, 'no file may have the content of another branch');
      for (const ref of ['v1', first.sha]) {
        const packed = await files(t, { ref });
        expectMatch(
          textOf(packed, 'README.md'),
          /first edition/,
          `the archive of ${ref} must be that of the first commit`,
        );
        expectSame(packed.map((file) => file.name).sort(), await onMain(t), `the archive of ${ref} must be complete`);
      }
      const second = await files(t, { ref: 'v2' });
      expectMatch(textOf(second, 'README.md'), /second edition/, 'the archive of v2 must be that of the second commit');
      expectMatch(textOf(second, 'src/app.js'), /hello world\n/, 'the archive of v2 must be that of the second commit');
      const patterns = await patternRepository(t);
      for (const [ref, path] of [
        [SLASH_BRANCH, SLASH_FILE],
        [HEX_BRANCH, HEX_FILE],
      ] as const) {
        const response = expectStatus(await archive(t, patterns.name, { ref }), 200);
        const packed = readPaths(response, [...Object.keys(patterns.files), path]).map((file) => file.name);
        expectTrue(packed.includes(path), `the archive of the branch ${ref} must contain ${path}`, packed);
      }
      // Only record symbolic links and submodules: the specification does not say how they are archived.
      const special = readEntries(expectStatus(await archive(t, name, { ref: 'special' }), 200));
      for (const path of ['link', 'vendor']) {
        const entry = special.find((one) => one.name.replace(/\/$/, '').endsWith(path));
        t.observe(path, entry?.type ?? 'not archived');
      }
    }),
  },
  {
    id: 'archive.include_globs',
    says: 'include_globs keeps only files that match.',
    clauses: {
      second: 'Files that match only the second of two globs are included.',
      root: 'A glob that begins with **/ also matches files in the root folder.',
      'one-folder': 'A glob with the name of a folder selects no files of other folders.',
    },
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
      await packs(t, { include_globs: ['**/*.js'] }, (path) => path.endsWith('.js'));
      await packs(t, { include_globs: ['lib/**', 'b.ts'] }, (path) => /^lib\/|^b\.ts$/.test(path));
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
    clauses: {
      second: 'Files that match only the second of two globs are left out.',
      'from-included': 'A file that matches a glob of exclude_globs is left out if a wider glob includes it.',
    },
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
      const wider = { include_globs: ['**/*.js', '**/*.md'], exclude_globs: ['lib/**', '**/h.ts.md'] };
      await packs(t, wider, (path) => ['a.js', 'doc/g.md', 'library/f.js'].includes(path));
      t.observe('narrow glob included', await paths(t, { include_globs: ['src/app.js'], exclude_globs: ['src/**'] }));
    },
  },
  {
    id: 'archive.max_blob_size',
    says: 'Files of more than max_blob_size bytes are left out.',
    clauses: {
      'with-globs': 'With globs, a file must match them and be small enough.',
      zero: 'A max_blob_size of 0, if accepted, leaves only empty files.',
      large: 'A max_blob_size of 4 GiB leaves out no smaller file.',
    },
    check: on(historyRepository, async (t, { name, files }) => {
      const small = Object.entries(files).filter(([, bytes]) => bytes.length <= 10);
      const expected = small.map(([path]) => path).sort();
      expectSame(
        await paths(t, { max_blob_size: 10 }),
        expected,
        'the archive must contain only files of at most ten bytes',
      );
      const size = { max_blob_size: 1000 };
      await packs(t, { ...size, include_globs: ['*.bin', 'lib/**'] }, (path) => path.startsWith('lib/'));
      await packs(t, { ...size, exclude_globs: ['lib/**'] }, (path) => path !== BIG_PATH && !path.startsWith('lib/'));
      const most = { max_blob_size: 2 ** 32, include_globs: ['ten.txt'] };
      expectSame(await paths(t, most), ['ten.txt'], 'a file smaller than 4 GiB must be included');
      const none = await archive(t, name, { max_blob_size: 0 });
      // The specification does not say which sizes are invalid, so 0 may be refused.
      expectOneOf(none.status, [200, 400], 'the status must be 200 or 400');
      if (none.status !== 200) return;
      const empty = readPaths(none, await knownPaths(t)).map((file) => file.name);
      expectSame(empty, ['empty.txt'], 'the archive must contain only the empty file');
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
    says: 'A max_blob_size that is negative or not a number is refused with 400.',
    clauses: {
      text: 'A text is refused.',
      digits: 'A text with only digits is refused.',
      boolean: 'A boolean is refused.',
      negative: 'A negative number is refused.',
    },
    check: on(sampleContent, async (t, { name }) => {
      for (const max_blob_size of [0, 1.5]) t.observe(String(max_blob_size), await archive(t, name, { max_blob_size }));
      for (const max_blob_size of [-1, 'x', '10', true]) expectStatus(await archive(t, name, { max_blob_size }), 400);
    }),
  },
  {
    id: 'archive.prefix',
    says: 'archive.prefix precedes every path, separated by a slash.',
    clauses: {
      globs: 'Globs match the paths without the prefix.',
      dots: 'Dots inside the names of a prefix are allowed.',
      long: 'A prefix of 120 characters precedes every path in full.',
    },
    check: on(onMain, async (t, expected) => {
      for (const prefix of ['p/', 'p'])
        expectSame(await paths(t, { archive: { prefix } }, 'p/'), expected, `prefix ${prefix}`);
      const archive = { prefix: 'lib-1.0..rc/.x' };
      const globs = {
        include_globs: ['lib/**', '*.bin', 'lib-1.0*/**/*.ts'],
        exclude_globs: ['lib/deep/**', 'lib-1.0*/**/*.md'],
      };
      const long = 'long-name-'.repeat(12);
      expectSame(await paths(t, { archive: { prefix: long } }, `${long}/`), expected, `prefix ${long}`);
      const isExpected = (path: string) => ['lib/c.js', 'lib/e.md', BIG_PATH].includes(path);
      await packs(t, { archive, ...globs }, isExpected, `${archive.prefix}/`);
    }),
  },
  {
    id: 'archive.prefix.dotdot',
    says: 'A prefix that is absolute, or that has a backslash, . or .. in it, is refused with 400.',
    clauses: {
      absolute: 'A prefix that begins with a slash is refused with 400.',
      backslash: 'A prefix with a backslash is refused with 400.',
      dot: 'A prefix with the segment . is refused with 400, wherever the segment is.',
      'dot-dot': 'A prefix with the segment .. is refused with 400, wherever the segment is.',
      type: 'A prefix that is not a string is refused with 400.',
    },
    check: on(sampleContent, async (t, { name }) => {
      for (const prefix of ['/p', 'a\\b', './p', 'a/./b', 'a/.', 'a/../b', '../a', 'a/..', '..', 5]) {
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
    clauses: { revision: 'Archives of two commits have different file names.' },
    check: on(sampleContent, async (t, { name }) => {
      const header = (await archive(t, name)).header('content-disposition');
      const attachment = /^attachment\s*;.*\bfilename="?[^"/\\]+-[^"/\\]+\.tar\.gz/i;
      expectMatch(header, attachment, 'Content-Disposition must be an attachment with a plain file name');
      const last = name.slice(name.lastIndexOf('/') + 1);
      // A server may leave out characters that some systems forbid in file names. The file name is therefore checked
      // only for a repository name without such characters.
      if (/^[\w.-]+$/.test(last))
        expectTrue(header.includes(last), 'the file name must contain the name of the repository', header);
      if (t.target.write) {
        const { name: history } = await historyRepository(t);
        const [first, second] = [await archive(t, history, { ref: 'v1' }), await archive(t, history, { ref: 'v2' })];
        const fileName = first.header('content-disposition');
        expectOther(second.header('content-disposition'), fileName, 'the file name must depend on the revision');
      }
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
    says: 'A body that is not valid JSON is refused with 400.',
    clauses: {
      truncated: 'A body that ends too early is refused.',
      trailing: 'A body with more text after the JSON value is refused.',
    },
    check: on(sampleContent, async (t, { name }) => {
      for (const body of ['{', '{} x']) expectStatus(await archive(t, name, undefined, { body }), 400);
    }),
  },
  {
    id: 'archive.err.ref',
    says: 'A ref that does not exist is refused.',
    clauses: { similar: 'The name of a branch in other letters, shortened or extended is another name.' },
    check: on(sampleContent, async (t, { name }) => {
      const missing = ['404 ref_not_found', '404 not_found', '404 branch_not_found'];
      for (const ref of [t.uniqueName(), ...namesLike(t.defaultBranch)]) {
        const response = await archive(t, name, { ref });
        t.tolerate('A11', 'missing ref, archive', response, [...missing, '400 bad_request']);
      }
    }),
  },
  ...tokenRules('archive', {
    noHeader: 'archive.err.401',
    invalid: 'archive.err.401.invalid-jwt',
    scope: 'archive.err.403',
    missingRepo: 'archive.err.404.repo',
  }),
  ...forcedFailures('archive', [
    ['archive.err.500', 'A request whose archive cannot be generated is answered with 500.', 500, 'internal_error'],
    ['archive.err.502', 'A request is answered with 502 if storage cannot be reached.', 502, 'bad_gateway'],
    ['archive.err.503', 'A request is answered with 503 if no storage can be selected.', 503, 'service_unavailable'],
  ]),
]);
