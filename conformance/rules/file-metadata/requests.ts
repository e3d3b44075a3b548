import { asMain, defaultBranchNames, fileMetadata } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectOneOf, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent, skipTooLarge } from '../../fixtures/content.js';
import { ephemeralRepository } from '../../fixtures/ephemeral.js';
import { headlessRepository } from '../../fixtures/headless.js';
import { historyRepository } from '../../fixtures/history.js';
import { largeRepository, TWO_LINE_FILES } from '../../fixtures/large.js';
import { ON_OTHER_DEFAULT, otherDefaultRepository } from '../../fixtures/other-default.js';
import { HEX_BRANCH, HEX_FILE, patternRepository, SLASH_BRANCH, SLASH_FILE } from '../../fixtures/patterns.js';
import { emptyRepository, otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { defineRules, leftOpen, on } from '../rule.js';

async function listSample(t: RuleContext): Promise<ApiResponse> {
  const { name } = await sampleContent(t);
  return expectStatus(skipTooLarge(t, name, await fileMetadata(t, name)), 200);
}

/** Returns the sorted paths of all files that a file metadata request lists. */
async function paths(t: RuleContext, repo: string, query: Record<string, string> = {}): Promise<unknown[]> {
  const files = expectStatus(await fileMetadata(t, repo, query), 200).records('files');
  return files.map(({ path }) => path).sort();
}

export const fileMetadataRequests = defineRules('3. File metadata', 'file-metadata-requests', [
  {
    id: 'filemeta.route',
    says: 'GET /api/v1/repos/files/metadata lists the files of a tree with their metadata.',
    check: async (t) => {
      const response = await listSample(t);
      response.array('files');
      response.record('commits');
      response.string('ref');
    },
  },
  {
    id: 'filemeta.repo-from-claim',
    says: 'The listed repository is the one in the repo claim of the token.',
    clauses: { query: 'The name of another repository in the query has no effect.' },
    check: async (t) => {
      const [a, b] = [await sampleRepository(t), await otherRepository(t)];
      expectSame(
        await paths(t, a.name),
        ['README.md', 'sample.txt', 'shared.txt'],
        'the list must contain the files of the first repository',
      );
      expectSame(
        await paths(t, b.name),
        ['README.md', 'other.txt', 'shared.txt'],
        'the list must contain the files of the second repository',
      );
      expectSame(
        await paths(t, a.name, { repo: b.name, repo_name: b.name }),
        await paths(t, a.name),
        'the query must not select another repository',
      );
    },
  },
  {
    id: 'filemeta.ref.default-branch',
    says: 'A request without ref lists the default branch.',
    clauses: {
      branch: 'The files are those of the default branch.',
      whole: 'The list contains every file of the tree, also those whose names begin with a dot.',
      'other-name': 'The default branch is that of the repository record, whatever its name is.',
    },
    check: on(historyRepository, async (t, history) => {
      expectSame(
        await paths(t, history.name),
        Object.keys(history.files).sort(),
        'the list must contain the files of the default branch',
      );
      const name = await otherDefaultRepository(t);
      if (name === undefined) return;
      const [file] = expectStatus(await fileMetadata(t, name), 200).records('files');
      expectSame(file?.size, ON_OTHER_DEFAULT.length, 'size must be that of the file on the default branch');
    }),
  },
  {
    id: 'filemeta.ref.fallback-head',
    says: 'A request without ref lists HEAD if the repository has no default branch.',
    reach: 'emulator',
    writes: true,
    check: async (t) => {
      const name = await headlessRepository(t, ['main', 'trunk']);
      expectSame(await paths(t, name), ['trunk.txt'], 'the list must contain the files of HEAD');
    },
  },
  {
    id: 'filemeta.ref.fallback-main',
    says: 'A request without ref lists main if the repository has neither a default branch nor HEAD.',
    reach: 'emulator',
    writes: true,
    check: async (t) => {
      const name = await headlessRepository(t, ['main']);
      expectSame(await paths(t, name), ['main.txt'], 'the list must contain the files of main');
    },
  },
  {
    id: 'filemeta.ref.branch',
    says: 'ref can be a branch.',
    clauses: {
      slash: 'The name of the branch may contain a slash.',
      hexadecimal: 'The name of the branch may look like an abbreviated SHA.',
    },
    check: on(historyRepository, async (t, history) => {
      const { name } = await patternRepository(t);
      for (const [ref, path] of [
        [SLASH_BRANCH, SLASH_FILE],
        [HEX_BRANCH, HEX_FILE],
      ] as const) {
        const onBranch = await paths(t, name, { ref });
        expectTrue(onBranch.includes(path), `the list of the branch ${ref} must contain ${path}`, onBranch);
      }
      const expected = [...Object.keys(history.files), 'feature.txt'].sort();
      expectSame(
        await paths(t, history.name, { ref: 'feature' }),
        expected,
        'the list must contain the files of the branch',
      );
    }),
  },
  {
    id: 'filemeta.ref.sha',
    says: 'ref can be a commit SHA.',
    check: on(historyRepository, async (t, { name, first }) => {
      const files = expectStatus(await fileMetadata(t, name, { ref: first.sha }), 200).records('files');
      const readme = files.find(({ path }) => path === 'README.md');
      expectSame(readme?.last_commit_sha, first.sha, 'last_commit_sha must be the requested commit');
    }),
  },
  leftOpen(
    'filemeta.ref.tag',
    'The specification does not say whether ref can be a tag.',
    historyRepository,
    async (t, { name }) => {
      const response = await fileMetadata(t, name, { ref: 'v1' });
      t.observe('tag', response);
      t.tolerate('A15', 'tag, file metadata', response, ['200', '404']);
    },
  ),
  {
    id: 'filemeta.ephemeral.true',
    says: 'A branch that exists only as an ephemeral branch is found with ephemeral=true and not without it.',
    check: on(ephemeralRepository, async (t, { name }) => {
      const listed = await paths(t, name, { ref: 'only', ephemeral: 'true' });
      expectSame(listed, ['inherited.txt', 'only.txt'], 'the list must contain the files of the ephemeral branch');
      expectStatus(await fileMetadata(t, name, { ref: 'only' }), 404);
    }),
  },
  {
    id: 'filemeta.ephemeral.shadow',
    says: 'If an ordinary and an ephemeral branch have the same name, ephemeral=true selects the ephemeral one; false is the default.',
    check: on(ephemeralRepository, async (t, { name }) => {
      const size = async (query: Record<string, string>) => {
        const response = await fileMetadata(t, name, { ref: 'both', ...query });
        return response.records('files').find(({ path }) => path === 'both.txt')?.size;
      };
      expectSame(
        await size({ ephemeral: 'true' }),
        16,
        'with ephemeral=true, the size must be that on the ephemeral branch',
      );
      expectSame(
        [await size({}), await size({ ephemeral: 'false' })],
        [13, 13],
        'without ephemeral=true, the size must be that on the ordinary branch',
      );
    }),
  },
  {
    id: 'filemeta.ephemeral.not-filter',
    says: 'ephemeral=true also lists the files that the branch inherited from its base.',
    check: on(ephemeralRepository, async (t, { name }) => {
      const listed = await paths(t, name, { ref: 'only', ephemeral: 'true' });
      expectTrue(listed.includes('inherited.txt'), 'inherited files must be listed');
    }),
  },
  {
    id: 'filemeta.ephemeral.invalid',
    says: 'Values of ephemeral other than true and false are refused with 400.',
    check: on(ephemeralRepository, async (t, { name }) => {
      // The branch exists in both ref namespaces (normal and ephemeral). A refusal can therefore have no other reason
      // than the invalid value of `ephemeral`.
      const ask = (ephemeral: string) => fileMetadata(t, name, { ref: 'both', ephemeral });
      t.observe('empty', await ask(''));
      for (const ephemeral of ['maybe', 'TRUE', '1', 'False', '0']) expectStatus(await ask(ephemeral), 400);
    }),
  },
  {
    id: 'filemeta.ephemeral.unresolvable',
    says: 'ephemeral=true with a branch that is not an ephemeral branch is refused with 400.',
    check: on(ephemeralRepository, async (t, { name }) => {
      const response = await fileMetadata(t, name, { ref: 'normal', ephemeral: 'true' });
      t.tolerate('A12', 'not ephemeral, file metadata', response, ['400', '404']);
    }),
  },
  leftOpen(
    'filemeta.ephemeral.sha',
    'The specification does not say what ephemeral=true does if ref is a SHA.',
    ephemeralRepository,
    async (t, { name, main }) => t.observe('sha', await fileMetadata(t, name, { ref: main, ephemeral: 'true' })),
  ),
  leftOpen(
    'filemeta.ephemeral.no-ref',
    'The specification does not say what ephemeral=true does without ref.',
    ephemeralRepository,
    async (t, { name }) => t.observe('no ref', await fileMetadata(t, name, { ephemeral: 'true' })),
  ),
  {
    id: 'filemeta.resp.files',
    says: 'files has the whole tree in one response, however large the tree is.',
    check: on(largeRepository, async (t, { name, paths: known }) => {
      expectSame((await paths(t, name)).length, TWO_LINE_FILES + 1, 'every file must be listed');
      expectSame(await paths(t, name), known, 'the listed files must be those of the tree');
    }),
  },
  {
    id: 'filemeta.resp.ref',
    says: 'ref is the ref that was resolved, also if the request had no ref or HEAD.',
    clauses: { sha: 'If ref of the request is a SHA, ref of the response is the same SHA.' },
    check: on(historyRepository, async (t, { name, second, third, feature }) => {
      const plain = (await fileMetadata(t, name)).string('ref');
      const main = ['main', 'refs/heads/main', 'SHA'];
      t.tolerateValue('A37', 'ref, default branch', plain === third.sha ? 'SHA' : asMain(t, plain), main);
      const branch = (await fileMetadata(t, name, { ref: 'feature' })).string('ref');
      const names = ['feature', 'refs/heads/feature', 'SHA'];
      t.tolerateValue('A37', 'ref, branch', branch === feature.sha ? 'SHA' : branch, names);
      const older = expectStatus(await fileMetadata(t, name, { ref: second.sha }), 200).string('ref');
      expectSame(older, second.sha, 'ref for a SHA must be the SHA');
      // A refusal is tolerated, because the specification does not say whether `HEAD` is a valid ref. If it is
      // accepted, the response must name the ref that `HEAD` resolves to.
      const head = await fileMetadata(t, name, { ref: 'HEAD' });
      if (head.status === 200) expectOneOf(head.find('ref'), [...defaultBranchNames(t), third.sha], 'ref for HEAD');
    }),
  },
  {
    id: 'filemeta.unpaginated.fields',
    says: 'The response has none of the members cursor, next_cursor, limit and has_more.',
    check: async (t) => {
      const response = await listSample(t);
      const ofPage = Object.keys(response.record()).filter((name) => /^(next_)?cursor$|^limit$|^has_more$/.test(name));
      expectSame(ofPage, [], 'the response must have no members of a page');
    },
  },
  {
    id: 'filemeta.unpaginated.limit',
    says: 'A limit parameter does not shorten the list.',
    level: 'SHOULD',
    clauses: { cursor: 'A cursor parameter does not shorten the list either.' },
    check: on(historyRepository, async (t, history) => {
      for (const query of [{ limit: '1' }, { cursor: 'eyJwYWdlIjoyfQ' }]) {
        const response = expectStatus(await fileMetadata(t, history.name, query), 200);
        if (response.find('has_more') !== undefined) t.observe('has_more', response.find('has_more'));
        expectSame(response.array('files').length, Object.keys(history.files).length, 'every file must be listed');
      }
    }),
  },
  leftOpen(
    'filemeta.empty-repo',
    'The specification does not say how a repository without commits is listed.',
    async (t) => t.observe('empty', await fileMetadata(t, (await emptyRepository(t)).name)),
  ),
]);
