import { useState } from 'preact/hooks';
import { type Address, ownAddress, readAddresses } from '../api/addresses.js';
import { all, post } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { Failure } from '../components/feedback.js';
import { GivenBlock } from '../components/given.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { useRepeated } from '../components/repeated.js';
import { DateTime } from '../components/time.js';
import { quoteWord } from '../requests/shell.js';
import { readClock } from './clock-record.js';
import { showSpan, showTime } from './clock-text.js';
import { Commands } from './command.js';
import { ScopeChoice } from './scopes.js';
import { claimsOf } from './token-claims.js';

interface Minted {
  readonly token: string;
  readonly key: string;
  readonly issued_at: string;
  readonly expires_at: string;
}

/** What the token is asked to be; empty texts leave a claim to the emulator. */
interface Wanted {
  readonly repo: string;
  readonly sub: string;
  readonly org: string;
  readonly key: string;
  readonly ttl: string;
  /** A fault a line. */
  readonly faults: string;
  readonly scopes: readonly string[];
}

const USUAL: Wanted = {
  repo: '',
  sub: 'me',
  org: '',
  key: '',
  ttl: '3600',
  faults: '',
  scopes: ['git:read', 'git:write', 'repo:write'],
};

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** Signs a token with a test key, and shows lines that use it. */
export function TokenPart() {
  const { value: names = [] } = useLoaded((signal) => all<{ name: string }>('repositories', { signal }), []);
  const { value: keys = [] } = useLoaded((signal) => all<{ id: string }>('keys', { signal }), []);
  const { value: addresses = [] } = useLoaded(readAddresses, []);
  const [wanted, setWanted] = useState(USUAL);
  const [minted, setMinted] = useState<Minted & Pick<Wanted, 'repo' | 'org'>>();
  const { run, isBusy, error } = useAction();
  const { repo, sub, org, key, ttl, faults, scopes } = wanted;
  const write = (changes: Partial<Wanted>) => setWanted({ ...wanted, ...changes });
  const submit = (event: Event) => {
    event.preventDefault();
    run(async () => {
      const answer = await post<Minted>('tokens', {
        ...(repo && { repo }),
        ...(scopes.length > 0 && { scopes }),
        ...(sub && { sub }),
        ...(org && { org }),
        ...(key && { key }),
        ...(linesOf(faults).length > 0 && { faults: linesOf(faults) }),
        ttl: Number(ttl),
      });
      setMinted({ ...answer, repo, org });
    });
  };
  const flags = [
    ...(repo ? ['--repo', repo] : ['--no-repo']),
    ...(scopes.length > 0 ? ['--scopes', scopes.join(',')] : []),
    ...(sub ? ['--sub', sub] : []),
    ...(org ? ['--org', org] : []),
    ...(key ? ['--key', key] : []),
    ...linesOf(faults).flatMap((fault) => ['--fault', fault]),
  ];
  return (
    <>
      <form onSubmit={submit}>
        <div class="fields">
          <label>
            Repository (none: a token of the organization)
            <input
              list="repositories"
              value={repo}
              onInput={({ currentTarget }) => write({ repo: currentTarget.value })}
            />
            <datalist id="repositories">
              {names.map(({ name }) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </label>
          <label>
            Subject
            <input value={sub} onInput={({ currentTarget }) => write({ sub: currentTarget.value })} />
          </label>
          <label>
            Seconds it is good for
            <input
              type="number"
              min="1"
              required
              value={ttl}
              onInput={({ currentTarget }) => write({ ttl: currentTarget.value })}
            />
          </label>
          <label>
            Organization
            <select value={org} onChange={({ currentTarget }) => write({ org: currentTarget.value })}>
              <option value="">that of this address</option>
              {addresses.map(({ org: name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label>
            Test key (none: the first)
            <input list="keys" value={key} onInput={({ currentTarget }) => write({ key: currentTarget.value })} />
            <datalist id="keys">
              {keys.map(({ id }) => (
                <option key={id} value={id} />
              ))}
            </datalist>
          </label>
        </div>
        <ScopeChoice legend="Scopes" scopes={scopes} onChange={(chosen) => write({ scopes: chosen })} />
        <details class="command">
          <summary>Faults that its requests meet</summary>
          <label>
            One a line, such as rate_limited*1;retry-after=2
            <textarea
              rows={2}
              cols={60}
              spellcheck={false}
              value={faults}
              onInput={({ currentTarget }) => write({ faults: currentTarget.value })}
            />
          </label>
        </details>
        <button type="submit" class="primary" disabled={isBusy}>
          Mint
        </button>
      </form>
      <Failure error={error} />
      {minted && (
        <Result
          minted={minted}
          repo={minted.repo}
          address={addresses.find((one) => one.org === minted.org) ?? ownAddress(addresses)}
        />
      )}
      <Commands lines={[['token', ...flags, '--ttl', ttl || '3600']]} />
    </>
  );
}

interface ResultProps {
  readonly minted: Minted;
  readonly repo: string;
  readonly address: Address | undefined;
}

function Result({ minted: { token, key, expires_at }, repo, address }: ResultProps) {
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
  const left = clock === undefined ? undefined : Date.parse(expiresAt) - Date.parse(clock.now);
  return (
    <>
      Good until <DateTime at={expiresAt} /> UTC on the clock of the emulator
      {clock !== undefined && left !== undefined && (
        <>
          , which shows <span class="figures">{showTime(clock)}</span>
          {error !== undefined ? ' when the emulator last answered' : clock.mode === 'frozen' && ' and stands still'}:{' '}
          {left > 0 ? (
            <span class="figures">{showSpan(left)} are left</span>
          ) : (
            <strong class="failed">it has ended</strong>
          )}
        </>
      )}
      .
    </>
  );
}
