import { type ByteString, bytesOf, NO_BYTES, sliceBytes, textOf } from '../git/object/bytes.js';
import { ZERO_OID } from '../git/object/object.js';
import {
  describeConflict,
  isDeletion,
  type RefChange,
  type RefConflict,
  type RefIssue,
} from '../git/refs/ref-change.js';
import { refNameIssue } from '../git/refs/ref-name.js';
import { isHidden, type RepositoryView, visibleHead } from './view.js';

/** Maximum length of a ref name in bytes. Git stores a ref as a file, and file systems do not allow longer paths. */
const MAX_REF_BYTES = 4096;

/**
 * Refusal of a ref update. `reason` is for the report; `message` is an additional line that Git shows on the user's
 * terminal.
 */
export interface Refusal {
  readonly reason: string;
  readonly message?: string;
}

/**
 * Checks that `git receive-pack` makes before the ref transaction, in Git's order and with Git's texts. Each returns a
 * refusal of the ref update, or undefined if it finds nothing wrong.
 */
const RULES: readonly ((view: RepositoryView, command: RefChange) => Refusal | undefined)[] = [
  (view, command) => {
    if (!isHidden(view, command.name)) return undefined;
    return { reason: `deny ${isDeletion(command) ? 'deleting' : 'updating'} a hidden ref` };
  },
  (_, command) => {
    if (isPushable(command)) return undefined;
    return {
      reason: 'funny refname',
      message: `error: refusing to update funny ref '${textOf(command.name)}' remotely`,
    };
  },
  (view, command) => {
    // Allows the deletion in a ref namespace, as Git does, even if HEAD names this branch.
    if (!isDeletion(command) || command.old === ZERO_OID || view.prefix !== '') return undefined;
    if (visibleHead(view.repository.refs, NO_BYTES)?.symref !== command.name) return undefined;
    return {
      reason: 'deletion of the current branch prohibited',
      message: `error: refusing to delete the current branch: ${textOf(command.name)}`,
    };
  },
];

/** Returns the refusal of a ref update; undefined if the update is allowed. */
export function refusalOf(view: RepositoryView, command: RefChange): Refusal | undefined {
  for (const rule of RULES) {
    const refusal = rule(view, command);
    if (refusal) return refusal;
  }
  return undefined;
}

/**
 * Returns true if a push may change a ref of this name. The name must be `refs/` and at least two more components. To
 * delete a ref, one more component is enough.
 */
function isPushable(command: RefChange): boolean {
  const { name } = command;
  if (!name.startsWith('refs/') || name.length > MAX_REF_BYTES) return false;
  return refNameIssue(sliceBytes(name, 'refs/'.length), { oneLevel: isDeletion(command) }) === undefined;
}

/** Reasons for which the transaction refuses a ref update, with the texts of Git's `ref_transaction_error_msg`. */
const REASONS: Readonly<Record<RefIssue, string>> = {
  stale: 'incorrect old value provided',
  blocked: 'refname conflict',
  together: 'refname conflict',
  repeated: 'reference already exists',
  'no-commit': 'invalid new value provided',
};

/**
 * Returns the refusal of a ref update that conflicts with the current refs. It shows names as the client wrote them,
 * like Git.
 */
export function describeRefusal(conflict: RefConflict, { prefix }: Pick<RepositoryView, 'prefix'>): Refusal {
  const { issue, change, current, other } = conflict;
  const missing = issue === 'stale' && current === undefined;
  const taken = issue === 'stale' && change.old === ZERO_OID;
  const shown = {
    ...conflict,
    change: { ...change, name: sliceBytes(change.name, prefix.length) },
    other: other && sliceBytes(other, prefix.length),
  };
  return {
    reason: missing ? 'reference does not exist' : taken ? 'reference already exists' : REASONS[issue],
    message: `error: ${describeConflict(shown)}`,
  };
}

/**
 * Returns the reason as one line of at most 1,000 characters, so that it fits into one packet together with a ref name.
 */
export function oneLine(reason: string): ByteString {
  return bytesOf(reason.replaceAll(/[\r\n]+/g, ' ').slice(0, 1000));
}
