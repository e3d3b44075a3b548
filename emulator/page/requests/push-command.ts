import { type CurlCommand, type CurlOptions, hasToken, tokenLine } from './curl-command.js';
import type { Entry } from './entry.js';
import { quoteBytes, quoteWord } from './shell.js';

/** Returns true for the request that sends the pack of a push: curl cannot repeat it, as the journal does not keep packs. */
export function isPush({ operation }: Entry): boolean {
  return operation === 'gitReceivePack';
}

/** Line that pushes the same commits to the same refs. */
export function pushCommand(entry: Entry, { origin, scopes, token }: CurlOptions): CurlCommand {
  const { updates = [], counts } = entry.git ?? {};
  const { protocol, host } = new URL(origin);
  const user = hasToken(entry) ? 't:$TOKEN@' : '';
  const remote = `${protocol}//${user}${host}${quoteBytes(entry.path.replace(/\/git-receive-pack$/, ''))}`;
  const specs = updates.map(({ ref, new: id }) => quoteWord(`${/^0+$/.test(id) ? '' : id}:${ref}`));
  const left = (counts?.updates ?? 0) - updates.length;
  return {
    text: `${tokenLine(entry, scopes, token)}${[`git push ${remote}`, ...(specs.length > 0 ? specs : ['HEAD'])].join(' \\\n  ')}`,
    notes: [
      specs.length > 0
        ? 'Run it in the clone that pushed. Git sends nothing where the refs are up to date.'
        : 'The emulator did not read which refs were pushed: run it in the clone that pushed, on its branch.',
      ...(left > 0 ? [`The push had ${left} more refs, which the journal does not keep.`] : []),
    ],
  };
}
