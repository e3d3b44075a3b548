import { COMMIT_PACK, commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import {
  AUTHOR,
  COMMITTER,
  fileMetadata,
  getCommit,
  getFile,
  grep,
  listCommits,
  mustTipOf,
  reader,
  tipOf,
  writer,
} from '../../api/requests.js';
import { expectAbsent, expectRefused, expectSame, expectStatus } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { createNamedRepository, groupRepository, newRepository } from '../../fixtures/repositories.js';
import { clone, commitLocally, createGit, mustPush } from '../../git/git-client.js';
import { listRefs, pushRefs } from '../../git/refs.js';
import { expectKept, expectPerson, MESSAGE_CLAUSES, MESSAGES } from '../kept-text.js';
import { defineWritingRules, leftOpen, on, rulesBy } from '../rule.js';

/**
 * Sends each commit-pack body that `bodiesOf` returns. Expects status 400 each time, and that the tip of the default
 * branch does not change.
 */
export async function refusesPacks(
  t: RuleContext,
  bodiesOf: (t: RuleContext) => readonly (readonly unknown[])[],
): Promise<void> {
  const { name } = await groupRepository(t);
  const tip = await mustTipOf(t, name);
  for (const lines of bodiesOf(t)) expectStatus(await sendPack(t, name, lines), 400);
  expectSame(await mustTipOf(t, name), tip, 'the branch tip must not change');
}

/**
 * Builds a commit-pack body with invalid metadata. `change` overrides members; the value undefined removes a member.
 */
function spoilt(t: RuleContext, change: object): unknown[] {
  const [first, ...rest] = packLines(t, { 'spoilt.txt': 'x' }, change);
  return [JSON.parse(JSON.stringify(first)), ...rest];
}

async function committed(t: RuleContext, metadata: object) {
  const { name } = await groupRepository(t);
  const { sha } = await commitFiles(t, name, { 'meta.txt': t.uniqueName() }, metadata);
  return getCommit(t, name, sha);
}

/** Returns the metadata of commits to a new branch and to a new ephemeral branch. */
function newBranches(t: RuleContext): object[] {
  const onNew = () => ({ target_branch: t.uniqueRef('branch'), base_branch: t.defaultBranch });
  return [onNew(), { ...onNew(), ephemeral: true }];
}

/** First lines that are valid JSON without metadata. */
const NO_METADATA = ['null', '[]', '{"metadata":null}', '{"metadata":[]}'];
const SPOILT_TYPES = [
  { target_branch: 5 },
  { author: 'x' },
  { files: {} },
  { commit_message: 5 },
  { committer: 'x' },
  { files: ['spoilt.txt', { path: 'spoilt.txt', content_id: 'c0' }] },
  { files: [{ path: 5, content_id: 'c0' }] },
  { author: { ...AUTHOR, name: 5 } },
  { commit_message: null },
  { target_branch: null },
  { expected_head_sha: 5 },
  { base_branch: 5 },
  { ephemeral: 'true' },
  { ephemeral_base: 'true' },
  { author: { ...AUTHOR, email: 5 } },
  { committer: { ...COMMITTER, name: 5 } },
  { files: null },
  { files: [{ path: 'spoilt.txt', content_id: 'c0', operation: 5 }] },
  { files: [{ path: 'spoilt.txt', content_id: 'c0', mode: 100644 }] },
];
const SPOILT_AUTHORS = [{ author: { email: AUTHOR.email } }, { author: { name: AUTHOR.name } }];

export const packMetadata = defineWritingRules('5. Commit pack', 'pack-metadata', [
  {
    id: 'pack.route',
    says: 'POST /api/v1/repos/commit-pack takes NDJSON and answers 201 with commit and result.',
    clauses: {
      'on-top': 'A commit on a branch that exists is answered with 201.',
      'new-branch': 'A commit that creates a branch is answered with 201.',
      ephemeral: 'A commit on an ephemeral branch is answered with 201.',
      deletion: 'A commit that only deletes a file is answered with 201.',
      'first-commit': 'The first commit of a repository is answered with 201.',
    },
    check: on(groupRepository, async (t, { name }) => {
      const target_branch = t.uniqueRef('route');
      const empty = t.uniqueName();
      await createNamedRepository(t, empty);
      const written = [
        await commitFiles(t, name, { 'route.txt': 'x' }),
        await commitFiles(t, name, { 'route.txt': null }),
        await commitFiles(t, name, { 'route.txt': 'x' }, { target_branch, base_branch: t.defaultBranch }),
        await commitFiles(t, name, { 'e.txt': 'x' }, { target_branch, base_branch: t.defaultBranch, ephemeral: true }),
        await commitFiles(t, empty, { 'first.txt': 'x' }),
      ];
      for (const { response } of written) {
        expectStatus(response, 201);
        response.record('commit');
        response.record('result');
      }
    }),
  },
  {
    id: 'pack.repo-from-claim',
    says: 'The branch that moves is in the repository in the repo claim of the token.',
    check: on(newRepository, async (t, bystander) => {
      const { name } = await groupRepository(t);
      const { sha } = await commitFiles(t, name, { 'claim.txt': t.uniqueName() });
      expectSame(await mustTipOf(t, name), sha, 'the branch of the named repository must change');
      expectSame(await mustTipOf(t, bystander.name), bystander.tip, 'the tip of the other repository must not change');
    }),
  },
  ...rulesBy(refusesPacks, [
    [
      'pack.metadata.first',
      'A stream whose first line is a chunk is refused with 400.',
      (t) => [packLines(t, { 'spoilt.txt': 'x' }).reverse()],
    ],
  ]),
  ...rulesBy(
    refusesPacks,
    [
      [
        'pack.body.empty',
        'An empty stream, a stream without metadata and a line that is not valid JSON are refused with 400.',
        (t) => {
          const [metadata, data] = packLines(t, { 'spoilt.txt': 'x' });
          return [[], ['{}'], [metadata, '{', data], ...NO_METADATA.map((line) => [line, data])];
        },
      ],
    ],
    {
      clauses: {
        empty: 'An empty stream is refused.',
        'invalid-line': 'A line that is not valid JSON is refused.',
        'not-an-object': 'A first line or metadata that is null or a list is refused.',
      },
    },
  ),
  {
    id: 'pack.line.kinds',
    says: 'Only chunks may follow the metadata line.',
    level: 'SHOULD',
    check: async (t) => {
      const [metadata, data] = packLines(t, { 'kinds.txt': 'x' });
      await refusesPacks(t, () => [
        [metadata, metadata, data],
        [metadata, { other: {} }, data],
      ]);
    },
  },
  leftOpen(
    'pack.line.framing',
    'The specification does not describe blank lines, CRLF line ends or a missing final newline.',
    groupRepository,
    async (t, { name }) => {
      const forms = { 'blank line': '\n\n', CRLF: '\r\n', 'no last newline': '\n' };
      for (const [form, separator] of Object.entries(forms)) {
        const lines = packLines(t, { 'framing.txt': t.uniqueName() }).map((line) => JSON.stringify(line));
        const body = lines.join(separator) + (form === 'no last newline' ? '' : separator);
        const response = await t.post(COMMIT_PACK, { as: writer(name), body, contentType: 'application/x-ndjson' });
        t.observe(form, response);
      }
    },
  ),
  ...rulesBy(
    refusesPacks,
    [
      [
        'pack.fields.invalid',
        'A field of metadata whose value has the wrong type is refused with 400.',
        (t) => SPOILT_TYPES.map((change) => spoilt(t, change)),
      ],
    ],
    {
      clauses: {
        'target-branch': 'A target_branch that is not a string is refused.',
        'commit-message': 'A commit_message that is not a string is refused.',
        committer: 'A committer that is not an object is refused.',
        files: 'A list of files in which an item is not an object is refused.',
        path: 'A path that is not a string is refused.',
        name: 'A name of the author that is not a string is refused.',
        null: 'A required field that is null is refused.',
        'expected-head': 'An expected_head_sha that is not a string is refused.',
        'base-branch': 'A base_branch that is not a string is refused.',
        ephemeral: 'An ephemeral that is not a boolean is refused.',
        'ephemeral-base': 'An ephemeral_base that is not a boolean is refused.',
        email: 'An email of the author that is not a string is refused.',
        'committer-name': 'A name of the committer that is not a string is refused.',
        'files-null': 'A list of files that is null is refused.',
        operation: 'An operation that is not a string is refused.',
        mode: 'A mode that is not a string is refused.',
      },
    },
  ),
  {
    id: 'pack.target_branch.required',
    says: 'A request without target_branch is refused with 400.',
    check: async (t) => {
      await refusesPacks(t, () => [spoilt(t, { target_branch: undefined })]);
      const { name } = await groupRepository(t);
      const full = `refs/heads/${t.defaultBranch}`;
      const lines = packLines(t, { 'full.txt': 'x' }, { target_branch: full });
      t.observe('full ref name', await sendPack(t, name, lines));
      expectAbsent(await tipOf(t, name, `refs/heads/${full}`), `refs/heads/${full} must not be created`);
    },
  },
  {
    id: 'pack.target_branch.must-exist',
    says: 'A target_branch that does not exist is refused if no base_branch is given; no branch is created.',
    clauses: {
      ephemeral: 'An ordinary branch does not count as an ephemeral branch with its name.',
      ordinary: 'An ephemeral branch does not count as an ordinary branch with its name.',
      tag: 'A tag does not count as a branch with its name.',
      sha: 'The SHA of a commit does not count as a branch.',
    },
    check: on(groupRepository, async (t, { name }) => {
      const send = (target_branch: string, more: object = {}) =>
        sendPack(t, name, packLines(t, { 'nope.txt': 'x' }, { target_branch, ...more }));
      const response = await send('nope');
      expectRefused(response);
      t.tolerate('A19', 'missing target branch', response, ['404', '400', '409']);
      expectAbsent(await tipOf(t, name, 'nope'), 'the branch must not be created');
      // A server may refuse some of these names for another reason, with another status.
      const refuses = async (branch: string, more: object = {}) =>
        expectStatus(await send(branch, more), 400, 404, 409);
      const apart = t.uniqueRef('apart');
      const onEphemeral = { target_branch: apart, base_branch: t.defaultBranch, ephemeral: true };
      const { sha } = await commitFiles(t, name, { 'apart.txt': 'x' }, onEphemeral);
      await refuses(apart);
      expectAbsent(await tipOf(t, name, apart), 'the ordinary branch must not be created');
      const tag = t.uniqueRef('tag');
      await pushRefs(t, name, { [`refs/tags/${tag}`]: sha }, writer(name));
      for (const other of [tag, sha]) await refuses(other);
      const refs = [...(await listRefs(t, name, reader(name))).keys()];
      const made = refs.filter((ref) => [`refs/heads/${tag}`, `refs/heads/${sha}`].includes(ref));
      expectSame(made, [], 'no branch with the name of a tag or with a SHA as its name may be created');
      await refuses(t.defaultBranch, { ephemeral: true });
      const query = { ref: t.defaultBranch, ephemeral: 'true' };
      expectStatus(await fileMetadata(t, name, query), 400, 404);
    }),
  },
  ...rulesBy(refusesPacks, [
    [
      'pack.commit_message.required',
      'A request without commit_message is refused with 400.',
      (t) => [spoilt(t, { commit_message: undefined })],
    ],
  ]),
  {
    id: 'pack.commit_message.recorded',
    says: 'commit_message becomes the message of the commit.',
    clauses: MESSAGE_CLAUSES,
    check: async (t) => {
      for (const message of MESSAGES) {
        const response = await committed(t, { commit_message: message });
        expectKept(response.string('commit', 'message'), message, 'message must be the sent message');
      }
    },
  },
  ...rulesBy(refusesPacks, [
    [
      'pack.author.required',
      'A request without author is refused with 400.',
      (t) => [spoilt(t, { author: undefined })],
    ],
  ]),
  ...rulesBy(
    refusesPacks,
    [
      [
        'pack.author.name.required',
        'An author without a name or without an email is refused with 400.',
        (t) => SPOILT_AUTHORS.map((change) => spoilt(t, change)),
      ],
    ],
    { clauses: { name: 'An author without a name is refused.', email: 'An author without an email is refused.' } },
  ),
  {
    id: 'pack.author.recorded',
    says: 'author becomes the author of the commit.',
    clauses: {
      'new-branch': 'This is also true if the commit creates a branch.',
      ephemeral: 'This is also true on an ephemeral branch.',
    },
    check: async (t) => {
      const author = { name: "Äda O'Neil & Ünique", email: 'U.Nique+git@Example.com' };
      for (const branch of [{}, ...newBranches(t)]) {
        expectPerson(await committed(t, { author, ...branch }), 'author', author);
      }
    },
  },
  {
    id: 'pack.committer.recorded',
    says: 'committer becomes the committer of the commit.',
    clauses: {
      'author-stays': 'The author of the commit is still that of the request.',
      'new-branch': 'This is also true if the commit creates a branch.',
      ephemeral: 'This is also true on an ephemeral branch.',
    },
    check: async (t) => {
      for (const branch of [{}, ...newBranches(t)]) {
        const commit = await committed(t, { committer: COMMITTER, ...branch });
        expectPerson(commit, 'committer', COMMITTER);
        expectPerson(commit, 'author', AUTHOR);
      }
      t.observe('committer without one', (await committed(t, {})).string('commit', 'committer_name'));
    },
  },
  {
    id: 'pack.files.required',
    says: 'A request without files is refused with 400.',
    check: async (t) => {
      const lines = spoilt(t, { files: undefined });
      await refusesPacks(t, () => [lines, lines.slice(0, 1)]);
      const { name } = await groupRepository(t);
      t.observe('no operations', await sendPack(t, name, packLines(t, {})));
      await commitFiles(t, name, { 'same.txt': 'same' });
      t.observe('identical bytes', await sendPack(t, name, packLines(t, { 'same.txt': 'same' })));
    },
  },
  {
    id: 'pack.visible.git',
    says: 'The new commit is visible to Git and to the API.',
    clauses: {
      file: 'The files of the new commit can be read.',
      list: 'The new commit is the first in the list of commits.',
      search: 'A search finds the files of the new commit.',
    },
    check: on(groupRepository, async (t, { name }) => {
      for (const round of ['first', 'second']) {
        const text = `${round} ${t.uniqueName()}\n`;
        const { sha } = await commitFiles(t, name, { 'seen.txt': text });
        expectSame((await getFile(t, name, { path: 'seen.txt' })).text, text, 'the file must have the new bytes');
        const [newest] = Object.values((await listCommits(t, name)).record()).filter(Array.isArray);
        expectSame(newest?.[0]?.sha, sha, 'the first commit of the list must be the new one');
        await t.eventually(async () => {
          const found = await grep(t, name, { query: { pattern: text.trim() } });
          return found.find('repo', 'commit') === sha && found.find('matches', 0, 'path') === 'seen.txt';
        }, 'a search must find the new file');
        const git = await createGit(t);
        await t.eventually(async () => (await git.fetch(name)) === sha, 'Git must fetch the new commit');
        const read = await git.readFile(sha, 'seen.txt');
        expectSame(read.toString(), text, 'the commit must contain the new bytes');
      }
    }),
  },
  {
    id: 'pack.parent',
    says: 'The parent of the new commit is the previous tip of the branch.',
    clauses: { 'after-push': 'A commit that was pushed with Git is the previous tip as well.' },
    check: on(groupRepository, async (t, { name }) => {
      const { sha, before } = await commitFiles(t, name, { 'parent.txt': t.uniqueName() });
      const { git } = await clone(t, name);
      expectSame(await git.parents(sha), [before], 'the only parent must be the old tip');
      const pushed = await commitLocally(git, { parent: [sha], branch: t.defaultBranch, text: t.uniqueName() });
      await mustPush(git, name, [t.defaultBranch], 'a commit');
      const next = await commitFiles(t, name, { 'parent.txt': t.uniqueName() });
      expectSame(next.before, pushed, 'old_sha must be the pushed commit');
      await git.fetch(name);
      expectSame(await git.parents(next.sha), [pushed], 'the only parent must be the pushed commit');
    }),
  },
  {
    id: 'pack.untouched-files',
    says: 'Files that the request does not list stay as they were.',
    clauses: {
      modes: 'An executable file stays executable.',
      links: 'A symbolic link stays a symbolic link.',
      submodules: 'A submodule stays a submodule.',
    },
    check: async (t) => {
      const { name, tip: seed } = await newRepository(t);
      const git = await createGit(t);
      const files = { 'a/keep.txt': 'keep', 'run.sh': 'x', link: 'a/keep.txt', vendor: seed, 'change.txt': '1' };
      const modes = { 'run.sh': '100755', link: '120000', vendor: '160000' };
      await git.fetch(name);
      const tree = await git.writeTree(files, modes);
      const { author, committer } = await git.commit(seed);
      const tip = await git.writeCommit({ tree, message: 'Push\n', parent: [seed], author, committer });
      await git.branch(t.defaultBranch, tip);
      await mustPush(git, name, [t.defaultBranch], 'files with special modes');
      const { sha } = await commitFiles(t, name, { 'change.txt': '2' });
      await git.fetch(name);
      const [before, after] = [await git.listTree(tip), await git.listTree(sha)];
      for (const path of Object.keys(files)) {
        if (path !== 'change.txt') expectSame(after[path], before[path], `${path} must not change`);
      }
      expectSame(Object.keys(after).sort(), Object.keys(before).sort(), 'no file may be added or removed');
    },
  },
]);
