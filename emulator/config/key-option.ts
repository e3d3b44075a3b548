import { createPublicKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { OptionError, readGivenFile } from './option-values.js';

/** Value of the option `--key`: a file with a key, and the settings for its registration. */
export interface KeyOption {
  /** Absolute path of a PEM file with a public key or its private key. */
  readonly file: string;
  /** Public key as PEM. If the file contains a private key, it is not kept. */
  readonly publicKey: string;
  /** Id of the key, as in the token header `kid`. If undefined, the key's thumbprint is used (RFC 7638). */
  readonly id: string | undefined;
  /** Name of the organization that registers the key. If undefined, the first organization registers it. */
  readonly organization: string | undefined;
  /** Scopes that tokens of the key may have; undefined for all scopes. */
  readonly allowedScopes: readonly string[] | undefined;
}

/** Key as the library accepts it: text as on the command line, or an object. */
export type GivenKey = string | (Pick<KeyOption, 'file'> & Partial<KeyOption>);

const ID = /^[\x21-\x7e]{1,200}$/;
const SCOPE = /^(\*|[a-z]+:[a-z]+)$/;

/**
 * Reads the value of the option `--key`:
 *
 *     FILE[:ID][;organization=NAME][;allowed_scopes=SCOPE+SCOPE]
 *
 * A file name may contain a colon. If the whole text before the first `;` is the name of an existing file, the value
 * has no ID.
 */
export function key(given: unknown): KeyOption {
  const { file, id, organization, allowedScopes } = typeof given === 'string' ? parse(given) : readObject(given);
  if (id !== undefined && !ID.test(id))
    throw new OptionError('must have a key id of 1 to 200 printable ASCII characters');
  if (allowedScopes?.some((scope) => !SCOPE.test(scope))) {
    throw new OptionError('must have scopes joined by + in allowed_scopes, such as git:read+git:write, or *');
  }
  return { file: resolve(file), publicKey: readPublicPart(file), id, organization, allowedScopes };
}

type Read = Omit<KeyOption, 'publicKey'>;

function readObject(given: unknown): Read {
  if (typeof given !== 'object' || given === null || typeof (given as KeyOption).file !== 'string') {
    throw new OptionError(
      'must be the name of a PEM file, optionally followed by a colon and a key id, or an object with the member file',
    );
  }
  const { file, id, organization, allowedScopes } = given as Read;
  return { file, id, organization, allowedScopes };
}

function parse(text: string): Read {
  const [place = '', ...parameters] = text.split(';');
  const colon = existsSync(place) ? -1 : place.lastIndexOf(':');
  const read: { -readonly [Name in keyof Read]: Read[Name] } = {
    file: colon < 0 ? place : place.slice(0, colon),
    id: colon < 0 ? undefined : place.slice(colon + 1),
    organization: undefined,
    allowedScopes: undefined,
  };
  for (const parameter of parameters) {
    const [name, value = ''] = parameter.split('=') as [string, string?];
    if (name === 'organization') read.organization = value;
    else if (name === 'allowed_scopes') read.allowedScopes = value.split('+');
    else
      throw new OptionError(
        `has the unknown parameter ${JSON.stringify(name)}, but allows only organization and allowed_scopes`,
      );
  }
  return read;
}

function readPublicPart(file: string): string {
  const pem = readGivenFile(file);
  try {
    return createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
  } catch {
    throw new OptionError(`must name a file with a key in PEM, but ${JSON.stringify(file)} contains none`);
  }
}
