import { useState } from 'preact/hooks';
import { mintToken } from '../api/client.js';
import { quoteWord, remoteOf, SCOPES } from '../api/shell.js';
import { ActionButton } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { Choice, type Option } from '../components/fields.js';

/**
 * Suffixes of a repository's name in the URL of a Git remote. `+ephemeral` selects the repository's ephemeral branches,
 * which are in a separate ref namespace. `+import` accepts an import (`git push --mirror`).
 */
const REMOTES: readonly Option[] = [
  ['', 'default'],
  ['+ephemeral', '+ephemeral (ephemeral branches)'],
  ['+import', '+import (push of all refs)'],
];

/**
 * Shell command for cloning a repository, which the user can copy. A button creates a token and inserts it into the
 * command.
 */
export function CloneLine({ name }: { readonly name: string }) {
  const [token, setToken] = useState<string>();
  const [suffix, setSuffix] = useState('');
  const mint = async () => setToken(await mintToken({ repo: name, scopes: SCOPES }));
  const remote = remoteOf(name, token, suffix);
  const folder = suffix === '' ? '' : ` ${quoteWord(name.split('/').at(-1)!)}`;
  return (
    <div class="clone-line">
      <Copy text={suffix === '+import' ? `git push --mirror ${remote}` : `git clone ${remote}${folder}`} />
      <div class="toolbar">
        <Choice label="Remote" fieldClass="inline" value={suffix} options={REMOTES} onChange={setSuffix} />
        <ActionButton class="small" act={mint}>
          {token === undefined ? 'Insert a new token' : 'Insert another token'}
        </ActionButton>
      </div>
    </div>
  );
}
