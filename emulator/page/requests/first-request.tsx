import { useState } from 'preact/hooks';
import { get, post } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { Empty, Failure } from '../components/feedback.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { quoteWord } from './shell.js';

const REPOSITORY = 'team/app';
const SCOPES = ['repo:write', 'git:write', 'git:read'];

/** What to do where no request has come yet: lines that work as they stand. */
export function FirstRequest() {
  const { value: health } = useLoaded((signal) => get<{ organization: string }>('health', { signal }), []);
  const [minted, setMinted] = useState<string>();
  const { run, isBusy, error } = useAction();
  const mint = () =>
    run(async () => {
      const { token } = await post<{ token: string }>('tokens', { repo: REPOSITORY, scopes: SCOPES, sub: 'me' });
      setMinted(token);
    });
  const org = health ? ` --org ${quoteWord(health.organization)}` : '';
  const token = minted ?? `$(npx emulator token${org} --repo ${REPOSITORY} --scopes ${SCOPES.join(',')})`;
  const remote = `${location.protocol}//t:$TOKEN@${location.host}/${REPOSITORY}.git`;
  return (
    <Empty title="No request has come yet">
      <p>Requests appear here as they are answered. Two lines make a repository, and show it here:</p>
      <Copy text={`TOKEN=${token}\ncurl -X POST -H "Authorization: Bearer $TOKEN" ${location.origin}/api/repos`} />
      {minted === undefined && (
        <p>
          <button type="button" disabled={isBusy} onClick={mint}>
            Mint the token here
          </button>{' '}
          <span class="quiet">instead of by the command line</span>
        </p>
      )}
      <Failure error={error} />
      <p>Then clone it, or push to it:</p>
      <Copy text={`git clone ${remote}`} />
      <Copy text={`git push ${remote} HEAD:main`} />
    </Empty>
  );
}
