import { type Mutant, proxied } from '../mutant.js';
import { NOTES, PACK, RESTORE } from '../places.js';
import { changesAnswerTo } from '../rewrites.js';

interface Written {
  commit: Record<string, unknown>;
  result: Record<string, unknown>;
  [member: string]: unknown;
}

const isEphemeral = (body: string) => body.includes('"ephemeral":true');
const isNewBranch = (body: string) => body.includes('"base_branch"') && !isEphemeral(body);
const isDeletion = (body: string) => body.includes('"operation":"delete"');
const isOtherBranch = (body: string) => !body.includes('"target_branch":"main"');
const hasAuthor = (body: string) => body.includes('"author"');
const hasExpectation = (body: string) => body.includes('"expected_ref_sha"');

/**
 * Defines a mutant (wrong server) that accepts one kind of write correctly, but reports a wrong member in the response.
 */
function wrong(
  rule: string,
  place: string,
  [name, isMeant, does]: readonly [name: string, isMeant: (body: string) => boolean, does: string],
  change: (written: Written) => void,
): Mutant {
  return proxied(name, rule, does, changesAnswerTo<Written>(place, isMeant, change, [200, 201]));
}

export const rows: readonly Mutant[] = [
  wrong(
    'write.every#commit',
    PACK,
    [
      'write-shortens-the-commit-of-an-ephemeral-branch',
      isEphemeral,
      'shortens the SHA of a commit on an ephemeral branch',
    ],
    ({ commit, result }) => {
      commit.commit_sha = String(commit.commit_sha).slice(0, 12);
      result.new_sha = commit.commit_sha;
    },
  ),
  wrong(
    'write.every#tree',
    PACK,
    ['write-leaves-the-tree-of-a-new-branch-out', isNewBranch, 'leaves tree_sha out if a commit creates a branch'],
    ({ commit }) => {
      delete commit.tree_sha;
    },
  ),
  wrong(
    'write.every#target-branch',
    PACK,
    [
      'write-shows-the-ephemeral-namespace-in-target-branch',
      isEphemeral,
      'shows the ephemeral namespace in target_branch',
    ],
    ({ commit }) => {
      commit.target_branch = `ephemeral/${commit.target_branch}`;
    },
  ),
  wrong(
    'write.every#pack-bytes',
    PACK,
    ['write-has-no-pack-of-a-deletion', isDeletion, 'has null as pack_bytes if a request only deletes'],
    ({ commit }) => {
      commit.pack_bytes = null;
    },
  ),
  wrong(
    'write.every#blob-count',
    PACK,
    ['write-counts-no-blobs-of-a-new-branch', isNewBranch, 'leaves blob_count out if a commit creates a branch'],
    ({ commit }) => {
      delete commit.blob_count;
    },
  ),
  wrong(
    'write.every#branch',
    PACK,
    ['write-shows-the-ephemeral-namespace-in-branch', isEphemeral, 'shows the ephemeral namespace in result.branch'],
    ({ result }) => {
      result.branch = `ephemeral/${result.branch}`;
    },
  ),
  wrong(
    'write.every#new-sha',
    PACK,
    [
      'write-shows-the-tree-as-the-new-tip-of-an-ephemeral-branch',
      isEphemeral,
      'shows the tree as the new tip of an ephemeral branch',
    ],
    ({ commit, result }) => {
      result.new_sha = commit.tree_sha;
    },
  ),
  wrong(
    'write.every#success',
    PACK,
    ['write-does-not-say-whether-a-deletion-succeeded', isDeletion, 'leaves success out if a request only deletes'],
    ({ result }) => {
      delete result.success;
    },
  ),
  wrong(
    'write.every#status',
    PACK,
    [
      'write-calls-an-ephemeral-write-ephemeral',
      isEphemeral,
      'has the status ephemeral for a commit on an ephemeral branch',
    ],
    ({ result }) => {
      result.status = 'ephemeral';
    },
  ),
  wrong(
    'write.every#message',
    RESTORE,
    ['write-praises-the-restore-of-another-branch', isOtherBranch, 'has a message after the restore of another branch'],
    ({ result }) => {
      result.message = 'Restored.';
    },
  ),
  wrong(
    'write.every#restored-branch',
    RESTORE,
    ['write-calls-every-restored-branch-main', isOtherBranch, 'shows main as target_branch of every restore'],
    ({ commit }) => {
      commit.target_branch = 'main';
    },
  ),
  wrong(
    'note.every#sha',
    NOTES,
    [
      'note-shortens-the-commit-of-an-author',
      hasAuthor,
      'shortens the SHA of the commit if the request names an author',
    ],
    (written) => {
      written.sha = String(written.sha).slice(0, 12);
    },
  ),
  wrong(
    'note.every#target-ref',
    NOTES,
    ['note-has-no-ref-of-an-author', hasAuthor, 'leaves target_ref out if the request names an author'],
    (written) => {
      delete written.target_ref;
    },
  ),
  wrong(
    'note.every#base-commit',
    NOTES,
    ['note-shortens-an-expected-base', hasExpectation, 'shortens base_commit if the request has expected_ref_sha'],
    (written) => {
      written.base_commit = String(written.base_commit).slice(0, 12);
    },
  ),
  wrong(
    'note.every#new-ref-sha',
    NOTES,
    [
      'note-repeats-an-expected-base',
      hasExpectation,
      'repeats base_commit as new_ref_sha if the request has expected_ref_sha',
    ],
    (written) => {
      written.new_ref_sha = written.base_commit;
    },
  ),
  wrong(
    'note.every#success',
    NOTES,
    [
      'note-does-not-say-whether-an-expectation-was-met',
      hasExpectation,
      'leaves success out if the request has expected_ref_sha',
    ],
    ({ result }) => {
      delete result.success;
    },
  ),
  wrong(
    'note.every#status',
    NOTES,
    ['note-calls-the-note-of-an-author-authored', hasAuthor, 'has the status authored if the request names an author'],
    ({ result }) => {
      result.status = 'authored';
    },
  ),
  wrong(
    'note.every#message',
    NOTES,
    ['note-has-null-as-the-message-of-an-author', hasAuthor, 'has null as message if the request names an author'],
    ({ result }) => {
      result.message = null;
    },
  ),
];
