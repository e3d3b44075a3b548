import { type Fact, Facts } from '../components/facts.js';
import { Given } from '../components/given.js';
import { ownValue } from '../components/own-value.js';
import { DateTime } from '../components/time.js';
import type { SentToken } from './entry.js';

type Members = NonNullable<SentToken['claims']>;

/** Meanings of claims and of members of the JOSE header. Claims that are not listed are shown with their name. */
const MEANINGS: Readonly<Record<string, string>> = {
  iss: 'Issuer',
  scopes: 'Scopes',
  refs: 'Rules for refs',
  ops: 'Rules for operations',
  nbf: 'Valid from',
  emu: 'Injected faults',
  alg: 'Algorithm',
  kid: 'Key',
  typ: 'Type',
};

/** Claims that `TokenFacts` shows in rows of its own. */
const SHOWN: ReadonlySet<string> = new Set(['sub', 'repo', 'jti', 'iat', 'exp']);

export interface TokenFactsProps {
  readonly token: SentToken;
  /** Start of the request (ISO 8601), with which the expiry of the token is compared. */
  readonly began: string;
}

/** All claims of a request's token, and the members of its header. The signature is not recorded. */
export function TokenFacts({ token, began }: TokenFactsProps) {
  const { scheme, verified, subject, repository, issued, expires, jti, digest, header, claims } = token;
  return (
    <section>
      <h3>Token</h3>
      <Facts
        facts={[
          [
            'Signature',
            <>
              {verified ? (
                <span class="passed">valid</span>
              ) : (
                <span class="failed">not verified, so the claims may be false</span>
              )}
              <span class="quiet">, sent as {scheme}</span>
            </>,
          ],
          ['Claims', claims === undefined && 'none: the token is not a readable JWT'],
          ['Subject (sub)', subject],
          ['Repository (repo)', repository],
          ...factsOf(claims),
          ['Id (jti)', jti],
          ['Issued (iat)', issued !== undefined && <DateTime at={issued} />],
          [
            'Expires (exp)',
            expires !== undefined && (
              <>
                <DateTime at={expires} /> {expires <= began && <span class="failed">expired before the request</span>}
              </>
            ),
          ],
          ...wrongFactsOf(token),
          ...factsOf(header),
          [
            'Digest',
            <span key="digest" title="Hash that identifies the claims of the token. It is not a secret.">
              {digest}
            </span>,
            'mono quiet',
          ],
        ]}
      />
    </section>
  );
}

/** Returns a row for each member that `TokenFacts` does not show in a row of its own. */
function factsOf(members: Members = {}): Fact[] {
  return Object.entries(members)
    .filter(([name]) => !SHOWN.has(name))
    .map(([name, value]) => factOf(name, value));
}

/**
 * Returns a row for each claim of `SHOWN` whose value has the wrong type, such as a subject that is a number. The
 * journal has no member for such a value.
 */
function wrongFactsOf({ claims = {}, subject, repository, jti, issued, expires }: SentToken): Fact[] {
  const read: Members = { sub: subject, repo: repository, jti, iat: issued, exp: expires };
  return [...SHOWN]
    .filter((name) => Object.hasOwn(claims, name) && read[name] === undefined)
    .map((name) => factOf(name, claims[name]));
}

function factOf(name: string, value: unknown): Fact {
  const meaning = ownValue(MEANINGS, name);
  const label = meaning === undefined ? name : `${meaning} (${name})`;
  const time = name === 'nbf' ? timeOf(value) : undefined;
  if (time !== undefined) return [label, <DateTime key={name} at={time} />];
  if (typeof value === 'string') return [label, value];
  const isTexts =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((item) => typeof item === 'string' && /^[^\s,]+$/.test(item));
  return [label, <Given key={name} text={isTexts ? value.join(', ') : JSON.stringify(value)} />, isTexts ? '' : 'mono'];
}

/** Converts seconds since 1970 to ISO 8601. Returns undefined if the value is not a valid time. */
function timeOf(seconds: unknown): string | undefined {
  const date = new Date(typeof seconds === 'number' ? seconds * 1000 : Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
