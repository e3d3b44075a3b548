import type { KeyRecord } from '@emulator/admin/keys.js';
import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { MintedToken } from '@emulator/admin/tokens.js';
import { useState } from 'preact/hooks';
import { type Address, ownAddress, readAddresses } from '../api/addresses.js';
import { all, post } from '../api/client.js';
import { Form } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { filled, TextArea, TextField } from '../components/fields.js';
import { GivenBlock } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { useRepeated } from '../components/repeated.js';
import { DateTime } from '../components/time.js';
import { quoteWord } from '../requests/shell.js';
import { readClock } from './clock-record.js';
import { showSpan, showTime } from './clock-text.js';
import { Commands, flags } from './command.js';
import { OrganizationChoice } from './organization-choice.js';
import { ScopeChoice } from './scopes.js';
import { claimsOf } from './token-claims.js';

/** What the token is asked to be; empty texts leave a claim to the emulator. */
const USUAL = {
  repo: '',
  scopes: ['git:read', 'git:write', 'repo:write'] as readonly string[],
  sub: 'me',
  org: '',
  key: '',
  /** A fault a line. */
  faults: '',
  ttl: '3600',
};

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** Signs a token with a test key, and shows lines that use it. */
export function TokenPart() {
  const { value: repositories = [] } = useLoaded((signal) => all<RepositoryRecord>('repositories', { signal }), []);
  const { value: keys = [] } = useLoaded((signal) => all<KeyRecord>('keys', { signal }), []);
  const { value: addresses = [] } = useLoaded(readAddresses, []);
  const [wanted, setWanted] = useState(USUAL);
  const [minted, setMinted] = useState<MintedToken & Pick<typeof USUAL, 'repo' | 'org'>>();
  const { ttl, faults: text, ...claims } = wanted;
  const { repo, scopes, sub, org, key } = claims;
  const faults = linesOf(text);
  const write = (changes: Partial<typeof USUAL>) => setWanted({ ...wanted, ...changes });
  const mint = async () => {
    const token = await post<MintedToken>('tokens', { ...filled({ ...claims, faults }), ttl: Number(ttl) });
    setMinted({ ...token, repo, org });
  };
  const words = [...(repo ? [] : ['--no-repo']), ...flags(claims), ...faults.flatMap((fault) => ['--fault', fault])];
  return (
    <>
      <Form act={mint} submit="Mint" submitClass="primary">
        <div class="fields">
          <TextField
            label="Repository (none: a token of the organization)"
            value={repo}
            proposals={repositories.map(({ name }) => name)}
            onChange={(name) => write({ repo: name })}
          />
          <TextField label="Subject" value={sub} onChange={(subject) => write({ sub: subject })} />
          <TextField
            label="Seconds it is good for"
            type="number"
            min="1"
            required
            value={ttl}
            onChange={(seconds) => write({ ttl: seconds })}
          />
          <OrganizationChoice value={org} onChange={(name) => write({ org: name })} />
          <TextField
            label="Test key (none: the first)"
            value={key}
            proposals={keys.map(({ id }) => id)}
            onChange={(id) => write({ key: id })}
          />
        </div>
        <ScopeChoice legend="Scopes" scopes={scopes} onChange={(chosen) => write({ scopes: chosen })} />
        <details class="command">
          <summary>Faults that its requests meet</summary>
          <TextArea
            label="One a line, such as rate_limited*1;retry-after=2"
            rows={2}
            cols={60}
            value={text}
            onChange={(lines) => write({ faults: lines })}
          />
        </details>
      </Form>
      {minted && (
        <Result minted={minted} address={addresses.find((one) => one.org === minted.org) ?? ownAddress(addresses)} />
      )}
      <Commands lines={[['token', ...words, '--ttl', ttl || '3600']]} />
    </>
  );
}

interface ResultProps {
  readonly minted: MintedToken & { readonly repo: string };
  readonly address: Address | undefined;
}

function Result({ minted: { token, key, expires_at, repo }, address }: ResultProps) {
  const bearer = quoteWord(`Authorization: Bearer ${token}`);
  return (
    <div class="card">
      <p>
        Signed by <code>{key}</code>. <Remaining expiresAt={expires_at} /> It is shown here once.
      </p>
      <Copy text={token} label="Copy token" />
      {repo && address && (
        <Copy text={`git clone ${quoteWord(withToken(address.git_url, token, repo))}`} label="Copy clone line" />
      )}
      {address && (
        <Copy
          text={`curl -H ${bearer} ${quoteWord(`${address.base_url}/api/${repo ? 'v1/repo' : 'repos'}`)}`}
          label="Copy curl line"
        />
      )}
      <h2>What it claims</h2>
      <GivenBlock text={claimsOf(token)} />
    </div>
  );
}

function withToken(gitUrl: string, token: string, repo: string): string {
  return `${gitUrl.replace('://', `://t:${token}@`)}/${encodeURI(repo)}.git`;
}

/** How long a token is good yet, by the clock of the emulator. */
function Remaining({ expiresAt }: { readonly expiresAt: string }) {
  const { value: clock, error, reload } = useLoaded(readClock, [expiresAt]);
  useRepeated(reload, 1000);
  return (
    <>
      Good until <DateTime at={expiresAt} /> UTC on the clock of the emulator
      {clock !== undefined && (
        <>
          , which shows <span class="figures">{showTime(clock)}</span>
          {error !== undefined ? ' when the emulator last answered' : clock.mode === 'frozen' && ' and stands still'}:{' '}
          {clock.now < expiresAt ? (
            <span class="figures">{showSpan(Date.parse(expiresAt) - Date.parse(clock.now))} are left</span>
          ) : (
            <strong class="failed">it has ended</strong>
          )}
        </>
      )}
      .
    </>
  );
}
