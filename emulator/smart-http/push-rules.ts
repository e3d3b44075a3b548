import { NO_BYTES, sliceBytes, textOf } from '../git/object/bytes.js';
import { ZERO_OID } from '../git/object/object.js';
import {
  describeConflict,
  isDeletion,
  type RefChange,
  type RefConflict,
  type RefFault,
} from '../git/refs/ref-change.js';
import { refNameFault } from '../git/refs/ref-name.js';
import { isHidden, type RepositoryView, visibleHead } from './view.js';

/** No file system that Git knows has room for a longer name. */
const MOST_REF_BYTES = 4096;

/** Why a command is refused: the reason for the report, and a line for the user's terminal. */
export interface Refusal {
  readonly reason: string;
  readonly message?: string;
}

/** What `git receive-pack` refuses before it comes to the ref transaction, in its order and its words. */
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
    // A namespace shows the default branch's name as HEAD, but its branch of that name is one like any other.
    if (!isDeletion(command) || command.old === ZERO_OID || view.prefix !== '') return undefined;
    if (visibleHead(view.repository.refs, NO_BYTES)?.symref !== command.name) return undefined;
    return {
      reason: 'deletion of the current branch prohibited',
      message: `error: refusing to delete the current branch: ${textOf(command.name)}`,
    };
  },
];

/** Why the command may not be carried out; undefined when nothing speaks against it. */
export function refusalOf(view: RepositoryView, command: RefChange): Refusal | undefined {
  for (const rule of RULES) {
    const refusal = rule(view, command);
    if (refusal) return refusal;
  }
  return undefined;
}

/** Pushes reach only refs with two components below `refs/`; one is enough for what is to be removed. */
function isPushable(command: RefChange): boolean {
  const { name } = command;
  if (!name.startsWith('refs/') || name.length > MOST_REF_BYTES) return false;
  return refNameFault(sliceBytes(name, 'refs/'.length), { oneLevel: isDeletion(command) }) === undefined;
}

/** Reasons for what a ref transaction refuses, as Git's `ref_transaction_error_msg` has them. */
const REASONS: Readonly<Record<RefFault, string>> = {
  stale: 'incorrect old value provided',
  blocked: 'refname conflict',
  together: 'refname conflict',
  repeated: 'reference already exists',
  'no-commit': 'invalid new value provided',
};

/** How a change that cannot be made is worded. Names are shown as the client writes them, as Git does. */
export function describeRefusal(conflict: RefConflict, { prefix }: Pick<RepositoryView, 'prefix'>): Refusal {
  const { fault, change, current, other } = conflict;
  const missing = fault === 'stale' && current === undefined;
  const taken = fault === 'stale' && change.old === ZERO_OID;
  const shown = {
    ...conflict,
    change: { ...change, name: sliceBytes(change.name, prefix.length) },
    other: other && sliceBytes(other, prefix.length),
  };
  return {
    reason: missing ? 'reference does not exist' : taken ? 'reference already exists' : REASONS[fault],
    message: `error: ${describeConflict(shown)}`,
  };
}
