import { textOf } from '../git/bytes.js';
import { ZERO_OID } from '../git/object.js';
import { refNameFault } from '../git/ref-name.js';
import type { RefOutcome } from '../git/repository.js';
import type { Quarantine } from '../git/store/object-store.js';
import type { Command } from './push-request.js';
import { isCommit } from './reachability.js';
import { isHidden, type RepositoryView, visibleHead } from './view.js';

/** No file system that Git knows has room for a longer name. */
const MOST_REF_BYTES = 4096;

/** Why a command is refused: the reason for the report, and a line for the user's terminal. */
export interface Refusal {
  readonly reason: string;
  readonly message?: string;
}

interface Case {
  readonly view: RepositoryView;
  readonly command: Command;
  readonly quarantine: Quarantine;
}

/** What `git receive-pack` refuses whatever the policy, in its order and its words. */
const RULES: readonly ((subject: Case) => Refusal | undefined)[] = [
  ({ view, command }) => {
    if (!isHidden(view, command.name)) return undefined;
    return { reason: `deny ${isDeletion(command) ? 'deleting' : 'updating'} a hidden ref` };
  },
  ({ command }) => {
    if (isPushable(command)) return undefined;
    return {
      reason: 'funny refname',
      message: `error: refusing to update funny ref '${textOf(command.name)}' remotely`,
    };
  },
  ({ view, command }) => {
    // A namespace shows the default branch's name as HEAD, but its branch of that name is one like any other.
    if (!isDeletion(command) || command.old === ZERO_OID || view.prefix !== '') return undefined;
    if (visibleHead(view.repository.refs, '')?.symref !== command.name) return undefined;
    return {
      reason: 'deletion of the current branch prohibited',
      message: `error: refusing to delete the current branch: ${textOf(command.name)}`,
    };
  },
  ({ command, quarantine }) => {
    const isBranch = command.name.startsWith('refs/heads/');
    if (isDeletion(command) || !isBranch || isCommit(quarantine, command.new)) return undefined;
    const name = textOf(command.name);
    return {
      reason: 'invalid new value provided',
      message: `error: cannot update ref '${name}': trying to write non-commit object ${command.new} to branch '${name}'`,
    };
  },
];

/** Why the command may not be carried out; undefined when nothing speaks against it. */
export function refusalOf(subject: Case): Refusal | undefined {
  for (const rule of RULES) {
    const refusal = rule(subject);
    if (refusal) return refusal;
  }
  return undefined;
}

export function isDeletion(command: Command): boolean {
  return command.new === ZERO_OID;
}

/** Pushes reach only refs with two components below `refs/`; one is enough for what is to be removed. */
function isPushable(command: Command): boolean {
  const { name } = command;
  if (!name.startsWith('refs/') || name.length > MOST_REF_BYTES) return false;
  return refNameFault(name.slice('refs/'.length), { oneLevel: isDeletion(command) }) === undefined;
}

/** How a compare-and-swap that failed is worded, as by Git's ref transactions. */
export function describeOutcome(
  outcome: Exclude<RefOutcome, 'ok'>,
  command: Command,
  current: string | undefined,
): Refusal {
  const name = textOf(command.name);
  switch (outcome) {
    case 'aborted':
      return { reason: 'atomic push failure' };
    case 'blocked':
      return { reason: 'refname conflict', message: `error: cannot lock ref '${name}': another ref is in its way` };
    case 'stale':
      if (current === undefined) {
        return {
          reason: 'reference does not exist',
          message: `error: cannot lock ref '${name}': unable to resolve reference '${name}'`,
        };
      }
      if (command.old === ZERO_OID) {
        return {
          reason: 'reference already exists',
          message: `error: cannot lock ref '${name}': reference already exists`,
        };
      }
      return {
        reason: 'incorrect old value provided',
        message: `error: cannot lock ref '${name}': is at ${current} but expected ${command.old}`,
      };
  }
}
