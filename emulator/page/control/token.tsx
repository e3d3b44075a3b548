import type { KeyRecord } from '@emulator/admin/keys.js';
import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { MintedToken } from '@emulator/admin/tokens.js';
import { useState } from 'preact/hooks';
import { type Address, ownAddress, readAddresses } from '../api/addresses.js';
import { all, post } from '../api/client.js';
import { quoteWord, remoteOf } from '../api/shell.js';
import { Form } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { filled, TextField, useDraft } from '../components/fields.js';
import { GivenBlock } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { DateTime } from '../components/time.js';
import { readClock } from './clock.js';
import { showSpan, showTime } from './clock-text.js';
import { Commands, flags } from './command.js';
import { OrganizationChoice, ScopeChoice } from './token-fields.js';

/**
 * Initial values of the form for a new token. If the field of a claim is empty, the emulator uses its own default for
 * the claim.
 */
const USUAL = {
  repo: '',
  scopes: ['git:read', 'git:write', 'repo:write'] as readonly string[],
  sub: 'me',
  org: '',
  key: '',
  /** Faults (deliberate failures) that affect requests with the token, one fault per line. */
  faults: '',
  ttl: '3600',
};

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/**
 * Part of the emulator's web page that creates a token. The token is signed with a test key. The page also shows shell
 * commands that use the token.
 */
export function TokenPart() {
  const { value: repositories = [] } = useLoaded((signal) => all<RepositoryRecord>('repositories', { signal }), []);
  const { value: keys = [] } = useLoaded((signal) => all<KeyRecord>('keys', { signal }), []);
  const { value } = useLoaded(readAddresses, []);
  const { orgs = [] } = value ?? {};
  const { draft, bind } = useDraft(USUAL);
  const [minted, setMinted] = useState<MintedToken & Pick<typeof USUAL, 'repo' | 'org'>>();
  const { ttl, faults: text, ...claims } = draft;
  const { repo, org } = claims;
  const faults = linesOf(text);
  const mint = async () => {
    const token = await post<MintedToken>('tokens', { ...filled({ ...claims, faults }), ttl: Number(ttl) });
    setMinted({ ...token, repo, org });
  };
  const words = [...(repo ? [] : ['--no-repo']), ...flags(claims), ...faults.flatMap((fault) => ['--fault', fault])];
  return (
    <>
      <Form act={mint} submit="Create the token" submitClass="primary">
        <div class="fields">
          <TextField
            label="Repository (empty: token without a repository)"
            proposals={repositories.map(({ name }) => name)}
            {...bind('repo')}
          />
          <TextField label="Subject" {...bind('sub')} />
          <TextField label="Lifetime in seconds" type="number" min="1" required {...bind('ttl')} />
          <OrganizationChoice {...bind('org')} />
          <TextField
            label="Signing key (empty: the first test key)"
            proposals={keys.map(({ id }) => id)}
            {...bind('key')}
          />
        </div>
        <ScopeChoice legend="Scopes" {...bind('scopes')} />
        <details class="command">
          <summary>Faults for requests with this token</summary>
          <TextField
            label="Faults, one per line, such as rate_limited*1;retry-after=2"
            rows={2}
            cols={60}
            {...bind('faults')}
          />
        </details>
      </Form>
      {minted && (
        <Result minted={minted} address={orgs.find(({ org: name }) => name === minted.org) ?? ownAddress(orgs)} />
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
        Signed with the key <code>{key}</code>. <Remaining expiresAt={expires_at} /> Copy it now: it is not shown again.
      </p>
      <Copy text={token} label="Copy token" />
      {repo && address && (
        <Copy text={`git clone ${quoteWord(remoteOf(repo, token, '', address.git_url))}`} label="Copy git clone" />
      )}
      {address && (
        <Copy
          text={`curl -H ${bearer} ${quoteWord(`${address.base_url}/api/${repo ? 'v1/repo' : 'repos'}`)}`}
          label="Copy curl"
        />
      )}
      <h2>Claims</h2>
      <GivenBlock text={claimsOf(token)} />
    </div>
  );
}

/** Sentence that states until when a token is valid, and its remaining lifetime by the emulator's clock. */
function Remaining({ expiresAt }: { readonly expiresAt: string }) {
  const { value: clock, error } = useLoaded(readClock, [expiresAt], 1000);
  return (
    <>
      Valid until <DateTime at={expiresAt} /> UTC by the clock of the emulator
      {clock !== undefined && (
        <>
          , which shows <span class="figures">{showTime(clock)}</span>
          {error !== undefined ? ' when the emulator last answered' : clock.mode === 'frozen' && ' and is frozen'}:{' '}
          {clock.now < expiresAt ? (
            <span class="figures">{showSpan(Date.parse(expiresAt) - Date.parse(clock.now))} are left</span>
          ) : (
            <strong class="failed">it has expired</strong>
          )}
        </>
      )}
      .
    </>
  );
}

/**
 * Formats the claims of a token (RFC 7519, section 3) as indented JSON. The signature is not verified, because the
 * emulator itself has just created the token.
 */
function claimsOf(token: string): string {
  const text = atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'));
  const json = new TextDecoder().decode(Uint8Array.from(text, (unit) => unit.charCodeAt(0)));
  return JSON.stringify(JSON.parse(json), undefined, 2);
}
