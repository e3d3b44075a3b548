import type { OperationId } from '../../config/operation-ids.js';
import { oidOf, packOf, pushBody, pushRaw, reportOf } from '../git/raw-push.js';
import { commitObjects, ZERO } from '../journal/recorded-clients.js';
import { packBody, type Service, type ServiceResponse } from '../service.js';

/**
 * Outcome of a call that writes a ref. `old` and `new` are the ref's values before and after the call, according to the
 * response.
 */
export interface Result {
  readonly isDone: boolean;
  readonly old?: string | undefined;
  readonly new?: string | undefined;
}

/**
 * State before a round of simultaneous writes. It has the name and value of the ref, and the commits on which new
 * commits are based.
 */
export interface Situation {
  readonly service: Service;
  readonly name: string;
  readonly tip: string;
  readonly root: string;
  /** Text that is unique to this call, so that each call creates different objects. */
  readonly nonce: string;
}

/**
 * One way to change a ref, such as an API operation or a push. It also predicts whether the change succeeds for a given
 * value of the ref (`state`).
 */
export interface Writer {
  /** API operation that the writer calls. Undefined if it pushes with Git. */
  readonly operation: OperationId | undefined;
  call(situation: Situation): Promise<Result>;
  /**
   * Returns true if the call must succeed. The ref then gets the value `leaves`, or the new value in the response if
   * `leaves` is undefined.
   */
  allows(state: string, situation: Situation): boolean;
  readonly leaves?: (situation: Situation) => string;
}

const AUTHOR = { name: 'A', email: 'a@x' };
const exists = (state: string) => state !== ZERO;
const isFree = (state: string) => state === ZERO;
const isTip = (state: string, { tip }: Situation) => state === tip;
const atRoot = ({ root }: Situation) => root;
const nowhere = () => ZERO;

/**
 * Waits for a response. `isDone` is true for a 2xx status, and false for a 4xx status (refused). Throws for a 5xx
 * status.
 */
async function isDone(sent: Promise<ServiceResponse>): Promise<ServiceResponse & { isDone: boolean }> {
  const response = await sent;
  if (response.status >= 500) throw new Error(`${response.status}: ${response.text}`);
  return { ...response, isDone: response.status < 300 };
}

async function push({ service, nonce }: Situation, ref: string, old: string, isDeletion: boolean): Promise<Result> {
  const objects = commitObjects(nonce, old);
  const next = isDeletion ? ZERO : oidOf(objects[0]);
  const response = await pushRaw(service, 'team/app', pushBody([{ ref, old, new: next }], packOf(objects)));
  if (response.status >= 500) throw new Error(`${response.status}: ${response.text}`);
  return { isDone: reportOf(response).includes(`ok ${ref}`), old, new: next };
}

async function write(situation: Situation, path: string, body: string): Promise<Result> {
  const { isDone: done, json } = await isDone(situation.service.call('POST', `/api/v1/repos/${path}`, { body }));
  return { isDone: done, ...(done && { old: json.result.old_sha, new: json.result.new_sha }) };
}

function patchBody({ name, nonce }: Situation): string {
  const patch = `diff --git a/${nonce} b/${nonce}\nnew file mode 100644\n--- /dev/null\n+++ b/${nonce}\n@@ -0,0 +1 @@\n+x\n`;
  const lines = [
    { metadata: { target_branch: name, commit_message: nonce, author: AUTHOR } },
    { diff_chunk: { data: Buffer.from(patch).toString('base64'), eof: true } },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

async function createBranch({ service, name, root }: Situation, force: boolean): Promise<Result> {
  const json = { target_branch: name, base_ref: root, force };
  return isDone(service.call('POST', '/api/v1/repos/branches/create', { json })).then(({ isDone }) => ({ isDone }));
}

export const BRANCH_WRITERS: Readonly<Record<string, Writer>> = {
  push: {
    operation: undefined,
    call: (situation) => push(situation, `refs/heads/${situation.name}`, situation.tip, false),
    allows: isTip,
  },
  'push that deletes': {
    operation: undefined,
    call: (situation) => push(situation, `refs/heads/${situation.name}`, situation.tip, true),
    allows: isTip,
  },
  'commit-pack': {
    operation: 'commitPack',
    call: (situation) =>
      write(situation, 'commit-pack', packBody({ f: situation.nonce }, { target_branch: situation.name })),
    allows: exists,
  },
  'commit-pack on what was expected': {
    operation: 'commitPack',
    call: (situation) => {
      const metadata = { target_branch: situation.name, expected_head_sha: situation.tip };
      return write(situation, 'commit-pack', packBody({ f: situation.nonce }, metadata));
    },
    allows: (state, situation) => exists(state) && isTip(state, situation),
  },
  'diff-commit': {
    operation: 'diffCommit',
    call: (situation) => write(situation, 'diff-commit', patchBody(situation)),
    allows: exists,
  },
  restore: {
    operation: 'restoreCommit',
    call: (situation) => {
      const { name, nonce, root, tip } = situation;
      const target = { target_branch: name, target_commit_sha: root, expected_head_sha: tip };
      const metadata = { ...target, commit_message: nonce, author: AUTHOR };
      return write(situation, 'restore-commit', JSON.stringify({ metadata }));
    },
    // Expect a refusal if the ref is at `root`. The commit would then change nothing, and the API refuses such commits.
    allows: (state, situation) => exists(state) && isTip(state, situation) && state !== situation.root,
  },
  'create branch': {
    operation: 'createBranch',
    call: (situation) => createBranch(situation, false),
    allows: (state, { root }) => isFree(state) || state === root,
    leaves: atRoot,
  },
  'create branch by force': {
    operation: 'createBranch',
    call: (situation) => createBranch(situation, true),
    allows: () => true,
    leaves: atRoot,
  },
  'delete branch': {
    operation: 'deleteBranch',
    call: ({ service, name }) =>
      isDone(service.call('DELETE', '/api/v1/repos/branches', { json: { name } })).then(({ isDone }) => ({ isDone })),
    allows: exists,
    leaves: nowhere,
  },
  merge: {
    operation: 'merge',
    async call({ service, name, nonce }) {
      const json = {
        target_branch: name,
        source_ref: 'topic',
        strategy: 'merge',
        squash: true,
        commit_message: nonce,
        author: AUTHOR,
        allow_unrelated_histories: true,
      };
      const { isDone: done, json: response } = await isDone(service.call('POST', '/api/v1/repos/merge', { json }));
      return { isDone: done, ...(done && { old: response.target.old_sha, new: response.target.new_sha }) };
    },
    allows: exists,
  },
};

export const TAG_WRITERS: Readonly<Record<string, Writer>> = {
  'push of a tag': {
    operation: undefined,
    call: (situation) => push(situation, `refs/tags/${situation.name}`, situation.tip, false),
    allows: isTip,
  },
  'create tag': {
    operation: 'createTag',
    call: ({ service, name, root }) =>
      isDone(service.call('POST', '/api/v1/repos/tags', { json: { name, target: root } })).then(({ isDone }) => ({
        isDone,
      })),
    allows: isFree,
    leaves: atRoot,
  },
  'delete tag': {
    operation: 'deleteTag',
    call: ({ service, name }) =>
      isDone(service.call('DELETE', `/api/repos/team%2Fapp/tags/${name}`)).then(({ isDone }) => ({ isDone })),
    allows: exists,
    leaves: nowhere,
  },
  'delete tag by body': {
    operation: 'deleteTagByBody',
    call: ({ service, name }) =>
      isDone(service.call('DELETE', '/api/v1/repos/tags', { json: { name } })).then(({ isDone }) => ({ isDone })),
    allows: exists,
    leaves: nowhere,
  },
};

/**
 * Returns a writer's call that changes a note on the commit `root`. Each round has its own notes ref, which already has
 * a note on `root` if it exists.
 */
function note(action: string, more: (situation: Situation) => object = () => ({})) {
  return async (situation: Situation): Promise<Result> => {
    const { service, name, root, nonce } = situation;
    const json = { sha: root, notes_ref: name, action, note: nonce, ...more(situation) };
    const { isDone: done, json: response } = await isDone(service.call('POST', '/api/v1/repos/notes', { json }));
    return { isDone: done, ...(done && { old: response.base_commit, new: response.new_ref_sha }) };
  };
}

export const NOTES_WRITERS: Readonly<Record<string, Writer>> = {
  'push of notes': {
    operation: undefined,
    call: (situation) => push(situation, `refs/notes/${situation.name}`, situation.tip, true),
    allows: isTip,
  },
  'append to a note': { operation: 'writeNote', call: note('append'), allows: () => true },
  'append to what was expected': {
    operation: 'writeNote',
    call: note('append', ({ tip }) => ({ expected_ref_sha: tip })),
    allows: isTip,
  },
  'remove what was expected': {
    operation: 'deleteNote',
    async call({ service, name, root, tip }) {
      const json = { sha: root, notes_ref: name, expected_ref_sha: tip };
      const { isDone: done, json: response } = await isDone(service.call('DELETE', '/api/v1/repos/notes', { json }));
      return { isDone: done, ...(done && { old: response.base_commit, new: response.new_ref_sha }) };
    },
    allows: (state, situation) => exists(state) && isTip(state, situation),
  },
};
