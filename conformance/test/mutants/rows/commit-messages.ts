import { type Mutant, proxied } from '../mutant.js';
import { PACK, RESTORE } from '../places.js';
import { changesRequest } from '../rewrites.js';

interface Body {
  metadata?: { commit_message?: unknown };
}

/**
 * Changes that a wrong server makes to commit messages when it stores them. The key is the clause that the change
 * breaks.
 */
const CHANGES: Readonly<Record<string, { name: string; does: string; change: (message: string) => string }>> = {
  body: {
    name: 'keeps-no-body',
    does: 'keeps the first line of a message',
    change: (message) => message.replace(/\n.*/s, ''),
  },
  'hash-lines': {
    name: 'drops-hash-lines',
    does: 'drops lines of a message that begin with #',
    change: (message) => message.replaceAll(/^#.*\n/gm, ''),
  },
  'long-lines': {
    name: 'wraps-messages',
    does: 'wraps the lines of a message',
    change: (message) => message.replaceAll(/(.{60,72}) /g, '$1\n'),
  },
  'blank-lines': {
    name: 'joins-blank-lines',
    does: 'makes one blank line of several in a message',
    change: (message) => message.replaceAll(/\n{3,}/g, '\n\n'),
  },
  markup: {
    name: 'escapes-messages',
    does: 'escapes messages for HTML',
    change: (message) => message.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  },
  blanks: {
    name: 'trims-messages',
    does: 'trims a message',
    change: (message) => message.trim(),
  },
};

/** Returns one wrong server for each change in `CHANGES`. It makes this change to the messages of one operation. */
function mutantsOf(prefix: string, rule: string, place: string): Mutant[] {
  return Object.entries(CHANGES).map(([clause, { name, does, change }]) =>
    proxied(
      `${prefix}-${name}`,
      `${rule}#${clause}`,
      does,
      changesRequest<Body>(place, ({ metadata }) => {
        const message = metadata?.commit_message;
        if (metadata !== undefined && typeof message === 'string') metadata.commit_message = change(message);
      }),
    ),
  );
}

export const rows: readonly Mutant[] = [
  ...mutantsOf('restore', 'restore.commit_message.used', RESTORE),
  ...mutantsOf('pack', 'pack.commit_message.recorded', PACK),
];
