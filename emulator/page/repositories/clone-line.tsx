import { useState } from 'preact/hooks';
import { post } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { Failure } from '../components/feedback.js';
import { useAction } from '../components/loaded.js';
import { quoteWord } from '../requests/shell.js';

/** The remotes of a repository: the second shows the namespace of ephemeral refs, by the third a history is imported. */
const REMOTES = ['', '+ephemeral', '+import'];

/** The line that clones a repository, with a token of its own after a click. */
export function CloneLine({ name }: { readonly name: string }) {
  const [token, setToken] = useState<string>();
  const [suffix, setSuffix] = useState('');
  const { run, isBusy, error } = useAction();
  const mint = () =>
    run(async () => {
      const scopes = ['git:read', 'git:write', 'repo:write'];
      setToken((await post<{ token: string }>('tokens', { repo: name, scopes })).token);
    });
  const remote = `${location.protocol}//t:${token ?? '$TOKEN'}@${location.host}/${encodeURI(name)}${suffix}.git`;
  const folder = suffix === '' ? '' : ` ${quoteWord(name.split('/').at(-1)!)}`;
  return (
    <div class="clone-line">
      <Copy text={suffix === '+import' ? `git push --mirror ${remote}` : `git clone ${remote}${folder}`} />
      <div class="toolbar">
        <label class="inline">
          Remote
          <select value={suffix} onChange={({ currentTarget }) => setSuffix(currentTarget.value)}>
            {REMOTES.map((one) => (
              <option key={one} value={one}>
                {one === '' ? 'plain' : one}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="small" disabled={isBusy} onClick={mint}>
          {token === undefined ? 'Mint a token' : 'Mint another token'}
        </button>
      </div>
      <Failure error={error} />
    </div>
  );
}
