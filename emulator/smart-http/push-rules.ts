import { NO_BYTES, sliceBytes, textOf } from '../git/object/bytes.js';
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

/** Maximum length of a ref name in bytes. No file system that Git supports allows a longer path. */
const MAX_REF_BYTES = 4096;

/** Refusal of a command: the reason for the report, and an optional line for the user's terminal. */
export interface Refusal {
  readonly reason: string;
  readonly message?: string;
}

/** Checks that `git receive-pack` makes before the ref transaction, in its order and with its texts. */
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
    // A namespace uses the name of the default branch for HEAD, but may delete its branch of that name.
    if (!isDeletion(command) || command.old === ZERO_OID || view.prefix !== '') return undefined;
    if (visibleHead(view.repository.refs, NO_BYTES)?.symref !== command.name) return undefined;
    return {
      reason: 'deletion of the current branch prohibited',
      message: `error: refusing to delete the current branch: ${textOf(command.name)}`,
    };
  },
];

/** Returns the refusal of a command, or undefined if it is allowed. */
export function refusalOf(view: RepositoryView, command: RefChange): Refusal | undefined {
  for (const rule of RULES) {
    const refusal = rule(view, command);
    if (refusal) return refusal;
  }
  return undefined;
}

/**
 * Returns true if a push may change a ref of this name. The name needs two components after `refs/`, or only one for a
 * deletion.
 */
function isPushable(command: RefChange): boolean {
  const { name } = command;
  if (!name.startsWith('refs/') || name.length > MAX_REF_BYTES) return false;
  return refNameIssue(sliceBytes(name, 'refs/'.length), { oneLevel: isDeletion(command) }) === undefined;
}

/** Reasons for the refusals of a ref transaction, as in Git's `ref_transaction_error_msg`. */
const REASONS: Readonly<Record<RefIssue, string>> = {
  stale: 'incorrect old value provided',
  blocked: 'refname conflict',
  together: 'refname conflict',
  repeated: 'reference already exists',
  'no-commit': 'invalid new value provided',
};

/** Returns the texts for a conflict. Names are shown as the client wrote them, as in Git. */
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
