import { useState } from 'preact/hooks';
import { useOrganization } from '../api/addresses.js';
import { mintToken } from '../api/client.js';
import { creationLines, remoteOf, SCOPES } from '../api/shell.js';
import { ActionButton } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { Empty } from '../components/loaded.js';

const REPOSITORY = 'team/app';

/**
 * Instructions that are shown until the emulator has received a request. They contain shell commands that create a
 * repository, clone it, and push to it.
 */
export function FirstRequest() {
  const organization = useOrganization();
  const [token, setToken] = useState<string>();
  const mint = async () => setToken(await mintToken({ repo: REPOSITORY, scopes: SCOPES, sub: 'me' }));
  return (
    <Empty title="No requests yet">
      <p>Requests appear on this page when their responses are sent. Two commands create a repository:</p>
      <Copy text={creationLines(REPOSITORY, organization, token)} />
      {token === undefined && (
        <p>
          <ActionButton act={mint}>Insert a new token</ActionButton>{' '}
          <span class="quiet">instead of creating it on the command line</span>
        </p>
      )}
      <p>Then clone it, or push to it:</p>
      <Copy text={`git clone ${remoteOf(REPOSITORY)}`} />
      <Copy text={`git push ${remoteOf(REPOSITORY)} HEAD:main`} />
    </Empty>
  );
}
