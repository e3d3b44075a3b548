import { useState } from 'preact/hooks';
import { quoteWord, remoteOf, SCOPES } from '../api/shell.js';
import { mintToken } from '../api/tokens.js';
import { ActionButton } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { Choice, type Option } from '../components/fields.js';

/** The remotes of a repository: the second shows the namespace of ephemeral refs, by the third a history is imported. */
const REMOTES: readonly Option[] = [['', 'plain'], '+ephemeral', '+import'];

/** The line that clones a repository, with a token of its own after a click. */
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
          {token === undefined ? 'Mint a token' : 'Mint another token'}
        </ActionButton>
      </div>
    </div>
  );
}
