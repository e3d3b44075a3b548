import { createPublicKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { OptionError, readGivenFile } from './option-values.js';

/** Value of `--key`: a file, and the organization that registers the key. */
export interface KeyOption {
  /** Absolute path of a PEM file with a public key, or with its private key. */
  readonly file: string;
  /** Public key in PEM. The private key is not kept. */
  readonly publicKey: string;
  /** Id for `kid`; undefined for its thumbprint (RFC 7638). */
  readonly id: string | undefined;
  /** Undefined for the first organization. */
  readonly organization: string | undefined;
  /** Undefined for all scopes. */
  readonly allowedScopes: readonly string[] | undefined;
}

/** Key as given to the library. */
export type GivenKey = string | (Pick<KeyOption, 'file'> & Partial<KeyOption>);

const ID = /^[\x21-\x7e]{1,200}$/;
const SCOPE = /^(\*|[a-z]+:[a-z]+)$/;

/**
 * Reads a key:
 *
 *     FILE[:ID][;organization=NAME][;allowed_scopes=SCOPE+SCOPE]
 *
 * If a file with the whole name before `;` exists, including a colon, that file is used.
 */
export function key(given: unknown): KeyOption {
  const { file, id, organization, allowedScopes } = typeof given === 'string' ? parse(given) : readObject(given);
  if (id !== undefined && !ID.test(id)) throw new OptionError('must have an id of 1 to 200 printable ASCII characters');
  if (allowedScopes?.some((scope) => !SCOPE.test(scope))) {
    throw new OptionError('must have allowed_scopes of the form git:read+git:write, or *');
  }
  return { file: resolve(file), publicKey: readPublicPart(file), id, organization, allowedScopes };
}

type Read = Omit<KeyOption, 'publicKey'>;

function readObject(given: unknown): Read {
  if (typeof given !== 'object' || given === null || typeof (given as KeyOption).file !== 'string') {
    throw new OptionError('must be FILE[:ID], or an object with a file');
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
        `has the unknown parameter ${JSON.stringify(name)}; the parameters are organization and allowed_scopes`,
      );
  }
  return read;
}

function readPublicPart(file: string): string {
  const pem = readGivenFile(file);
  try {
    return createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
  } catch {
    throw new OptionError(`must be a file with a key in PEM, not ${JSON.stringify(file)}`);
  }
}
