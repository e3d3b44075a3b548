import { isLoopback } from '../config/loopback.js';
import type { BaseRepository } from '../repositories/repository.js';

interface Provider {
  /** Default host of the provider; undefined if requests must name one. */
  readonly host: string | undefined;
  /** Name of the provider in the option `--upstream-host`, which replaces its host. */
  readonly mappedAs: string;
  readonly path: (owner: string, name: string) => string;
}

const dotGit = (owner: string, name: string) => `/${owner}/${name}.git`;
const tildeOwner = (owner: string, name: string) => `/${owner.startsWith('~') ? '' : '~'}${owner}/${name}`;
const SOURCEHUT: Provider = { host: 'git.sr.ht', mappedAs: 'sourcehut', path: tildeOwner };

/** Forges (Git hosting services) from which a repository can be synced, by the name in requests. */
const PROVIDERS: ReadonlyMap<string, Provider> = new Map([
  ['github', { host: 'github.com', mappedAs: 'github', path: dotGit }],
  ['gitlab', { host: 'gitlab.com', mappedAs: 'gitlab', path: dotGit }],
  ['bitbucket', { host: 'bitbucket.org', mappedAs: 'bitbucket', path: dotGit }],
  ['codeberg', { host: 'codeberg.org', mappedAs: 'codeberg', path: dotGit }],
  ['gitea', { host: undefined, mappedAs: 'gitea', path: dotGit }],
  ['forgejo', { host: undefined, mappedAs: 'forgejo', path: dotGit }],
  ['sr.ht', SOURCEHUT],
  ['sourcehut', SOURCEHUT],
]);

export const PROVIDER_NAMES: readonly string[] = [...PROVIDERS.keys()];

export function isProvider(name: string): boolean {
  return PROVIDERS.has(name);
}

export function needsHost(provider: string): boolean {
  return PROVIDERS.get(provider)?.host === undefined;
}

/**
 * Returns true if a text is a host with an optional port and nothing else: a name, an IPv4 address, or an IPv6 address
 * in brackets.
 */
export function isBareHost(text: string): boolean {
  return (
    /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(text) && URL.canParse(`http://${text}`)
  );
}

/**
 * Returns true if a text can be an owner or a repository name on a forge (Git hosting service): path segments without
 * `.`, `..` or control characters.
 */
export function isPath(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (text.length > 255 || /[\x00-\x20\x7f\\]|\p{Surrogate}/u.test(text)) return false;
  return text.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

/**
 * Returns the Git URL of an upstream (repository on another hosting service). `origins` contains origins that replace
 * those of providers, by name. Without one, the URL has the provider's host, with HTTPS unless it is a loopback host.
 */
export function upstreamUrl(base: BaseRepository, origins: Readonly<Record<string, string>>): URL {
  const provider = PROVIDERS.get(base.provider)!;
  const host = base.host ?? provider.host ?? 'localhost';
  const scheme = isLoopback(new URL(`http://${host}`).hostname) ? 'http' : 'https';
  const url = new URL(origins[provider.mappedAs] ?? `${scheme}://${host}`);
  const path = provider.path(encodePath(base.owner), encodePath(base.name));
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  return url;
}

function encodePath(text: string): string {
  return text.split('/').map(encodeURIComponent).join('/').replaceAll('%7E', '~');
}
