import { fileMetadata } from '../../api/requests.js';
import type { Answer } from '../../check/answer.js';
import { expectOneOf, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent, skipTooLarge } from '../../fixtures/content.js';
import { ephemeralRepository } from '../../fixtures/ephemeral.js';
import { headlessRepository } from '../../fixtures/headless.js';
import { historyRepository } from '../../fixtures/history.js';
import { largeRepository, TWO_LINE_FILES } from '../../fixtures/large.js';
import { emptyRepository, otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { defineRules, leftOpen, on } from '../rule.js';

async function listSample(t: RuleContext): Promise<Answer> {
  const { name } = await sampleContent(t);
  return expectStatus(skipTooLarge(t, name, await fileMetadata(t, name)), 200);
}

/** The paths of a whole tree. */
async function paths(t: RuleContext, repo: string, query: Record<string, string> = {}): Promise<unknown[]> {
  const files = expectStatus(await fileMetadata(t, repo, query), 200).records('files');
  return files.map(({ path }) => path).sort();
}

export const fileMetadataRequests = defineRules('3. File metadata', 'file-metadata-requests', [
  {
    id: 'filemeta.route',
    says: 'GET /api/v1/repos/files/metadata lists the files of a tree.',
    check: async (t) => {
      const answer = await listSample(t);
      answer.array('files');
      answer.record('commits');
      answer.string('ref');
    },
  },
  {
    id: 'filemeta.repo-from-claim',
    says: 'The repository listed is the one the token names.',
    check: async (t) => {
      const [a, b] = [await sampleRepository(t), await otherRepository(t)];
      expectSame(await paths(t, a.name), ['README.md', 'sample.txt', 'shared.txt'], 'files of the sample');
      expectSame(await paths(t, b.name), ['README.md', 'other.txt', 'shared.txt'], 'files of the other');
    },
  },
  {
    id: 'filemeta.ref.default-branch',
    says: 'Without ref the default branch is listed.',
    check: on(historyRepository, async (t, history) =>
      expectSame(await paths(t, history.name), Object.keys(history.files).sort(), 'the files of main'),
    ),
  },
  {
    id: 'filemeta.ref.fallback-head',
    says: 'A repository without a default branch is listed at HEAD.',
    reach: 'emulator',
    writes: true,
    check: async (t) => {
      const name = await headlessRepository(t, ['main', 'trunk']);
      expectSame(await paths(t, name), ['trunk.txt'], 'the files at HEAD');
    },
  },
  {
    id: 'filemeta.ref.fallback-main',
    says: 'A repository without default branch and HEAD is listed at main.',
    reach: 'emulator',
    writes: true,
    check: async (t) => {
      const name = await headlessRepository(t, ['main']);
      expectSame(await paths(t, name), ['main.txt'], 'the files of main');
    },
  },
  {
    id: 'filemeta.ref.branch',
    says: 'ref may be a branch.',
    check: on(historyRepository, async (t, history) => {
      const expected = [...Object.keys(history.files), 'feature.txt'].sort();
      expectSame(await paths(t, history.name, { ref: 'feature' }), expected, 'the files of the branch');
    }),
  },
  {
    id: 'filemeta.ref.sha',
    says: 'ref may be a commit.',
    check: on(historyRepository, async (t, { name, first }) => {
      const files = expectStatus(await fileMetadata(t, name, { ref: first.sha }), 200).records('files');
      const readme = files.find(({ path }) => path === 'README.md');
      expectSame(readme?.last_commit_sha, first.sha, 'the tree of the commit');
    }),
  },
  leftOpen('filemeta.ref.tag', 'Whether ref may be a tag is left open.', historyRepository, async (t, { name }) => {
    const answer = await fileMetadata(t, name, { ref: 'v1' });
    t.observe('tag', answer);
    t.tolerate('A15', 'tag, file metadata', answer, ['200', '404']);
  }),
  {
    id: 'filemeta.ephemeral.true',
    says: 'A branch that is only ephemeral is found with ephemeral=true and not without.',
    check: on(ephemeralRepository, async (t, { name }) => {
      const listed = await paths(t, name, { ref: 'only', ephemeral: 'true' });
      expectSame(listed, ['inherited.txt', 'only.txt'], 'it is listed');
      expectStatus(await fileMetadata(t, name, { ref: 'only' }), 404);
    }),
  },
  {
    id: 'filemeta.ephemeral.shadow',
    says: 'Of two branches with one name, ephemeral selects which; false is the same as nothing.',
    check: on(ephemeralRepository, async (t, { name }) => {
      const size = async (query: Record<string, string>) => {
        const answer = await fileMetadata(t, name, { ref: 'both', ...query });
        return answer.records('files').find(({ path }) => path === 'both.txt')?.size;
      };
      expectSame(await size({ ephemeral: 'true' }), 16, 'the ephemeral one');
      expectSame([await size({}), await size({ ephemeral: 'false' })], [13, 13], 'the ordinary one');
    }),
  },
  {
    id: 'filemeta.ephemeral.not-filter',
    says: 'ephemeral=true lists the files a branch inherited as well.',
    check: on(ephemeralRepository, async (t, { name }) => {
      const listed = await paths(t, name, { ref: 'only', ephemeral: 'true' });
      expectTrue(listed.includes('inherited.txt'), 'inherited files are there');
    }),
  },
  {
    id: 'filemeta.ephemeral.invalid',
    says: 'ephemeral takes true and false and nothing else.',
    check: on(sampleContent, async (t, { name }) => {
      for (const ephemeral of ['TRUE', '1', '']) {
        t.observe(ephemeral || 'empty', await fileMetadata(t, name, { ephemeral }));
      }
      expectStatus(await fileMetadata(t, name, { ephemeral: 'maybe' }), 400);
    }),
  },
  {
    id: 'filemeta.ephemeral.unresolvable',
    says: 'ephemeral=true with a branch that is not ephemeral is 400.',
    check: on(ephemeralRepository, async (t, { name }) => {
      const answer = await fileMetadata(t, name, { ref: 'normal', ephemeral: 'true' });
      t.tolerate('A12', 'not ephemeral, file metadata', answer, ['400', '404']);
    }),
  },
  leftOpen(
    'filemeta.ephemeral.sha',
    'What ephemeral=true does to a SHA is left open.',
    ephemeralRepository,
    async (t, { name, main }) => t.observe('sha', await fileMetadata(t, name, { ref: main, ephemeral: 'true' })),
  ),
  leftOpen(
    'filemeta.ephemeral.no-ref',
    'What ephemeral=true does without ref is left open.',
    ephemeralRepository,
    async (t, { name }) => t.observe('no ref', await fileMetadata(t, name, { ephemeral: 'true' })),
  ),
  {
    id: 'filemeta.resp.files',
    says: 'The whole tree comes in one answer, however large.',
    check: on(largeRepository, async (t, { name, paths: known }) => {
      expectSame((await paths(t, name)).length, TWO_LINE_FILES + 1, 'every file is there');
      expectSame(await paths(t, name), known, 'and it is these');
    }),
  },
  {
    id: 'filemeta.resp.ref',
    says: 'ref names what was resolved, whatever was passed: also for nothing and for HEAD.',
    check: on(historyRepository, async (t, { name, third, feature }) => {
      const plain = (await fileMetadata(t, name)).string('ref');
      const main = ['main', 'refs/heads/main', 'SHA'];
      t.tolerateValue('A37', 'ref, default branch', plain === third.sha ? 'SHA' : plain, main);
      const branch = (await fileMetadata(t, name, { ref: 'feature' })).string('ref');
      const names = ['feature', 'refs/heads/feature', 'SHA'];
      t.tolerateValue('A37', 'ref, branch', branch === feature.sha ? 'SHA' : branch, names);
      // Whether HEAD is taken at all is not stated; that it resolves to something with another name is.
      const head = await fileMetadata(t, name, { ref: 'HEAD' });
      if (head.status === 200) expectOneOf(head.find('ref'), ['main', 'refs/heads/main', third.sha], 'ref for HEAD');
    }),
  },
  {
    id: 'filemeta.unpaginated.fields',
    says: 'The answer has none of cursor, next_cursor, limit and has_more.',
    check: async (t) => {
      const answer = await listSample(t);
      const ofPage = Object.keys(answer.record()).filter((name) => /^(next_)?cursor$|^limit$|^has_more$/.test(name));
      expectSame(ofPage, [], 'no member of a page');
    },
  },
  {
    id: 'filemeta.unpaginated.limit',
    says: 'A limit does not shorten the list.',
    level: 'SHOULD',
    check: on(historyRepository, async (t, history) => {
      const answer = await fileMetadata(t, history.name, { limit: '1' });
      if (answer.find('has_more') !== undefined) t.observe('has_more', answer.find('has_more'));
      expectSame(answer.array('files').length, Object.keys(history.files).length, 'every file is there');
    }),
  },
  leftOpen('filemeta.empty-repo', 'What a repository without commits answers is left open.', async (t) =>
    t.observe('empty', await fileMetadata(t, (await emptyRepository(t)).name)),
  ),
]);
