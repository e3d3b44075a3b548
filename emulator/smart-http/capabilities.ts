import { type ByteString, bytesOf, latin1, NO_BYTES } from '../git/object/bytes.js';
import { ProtocolError } from './pkt-line.js';

/**
 * Capabilities that the fetch service announces in protocol versions 0 and 1. All of them are implemented. Sources:
 * gitprotocol-capabilities for versions 0 and 1, gitprotocol-v2 for version 2.
 */
export const UPLOAD_PACK_CAPABILITIES = [
  'multi_ack',
  'thin-pack',
  'side-band',
  'side-band-64k',
  'ofs-delta',
  'shallow',
  'deepen-since',
  'deepen-not',
  'deepen-relative',
  'no-progress',
  'include-tag',
  'multi_ack_detailed',
  'allow-tip-sha1-in-want',
  'allow-reachable-sha1-in-want',
  'no-done',
  'filter',
] as const;

/** Capabilities that the push service announces. */
export const RECEIVE_PACK_CAPABILITIES = [
  'report-status',
  'report-status-v2',
  'delete-refs',
  'side-band-64k',
  'quiet',
  'atomic',
  'ofs-delta',
  'push-options',
] as const;

/**
 * Commands of protocol version 2. The values are the features that the server announces for the command, separated by
 * spaces.
 */
export const COMMANDS = {
  'ls-refs': 'unborn',
  fetch: 'shallow wait-for-done filter ref-in-want',
  'object-info': 'size',
} as const;
export type Command = keyof typeof COMMANDS;

export const OBJECT_FORMAT = 'sha1';

/** Values of the capabilities `agent` and `session-id`, which identify a server. */
export interface ServerIdentity {
  /** Value of the capability `agent`: `name/version`, printable and without spaces. */
  readonly agent: string;
  /**
   * Value of the capability `session-id`, printable and without spaces. Client and server log it, so that their logs
   * can be compared.
   */
  readonly sessionId: string;
}

/**
 * Returns the capability lines of the version 2 advertisement. They come between the line `version 2` and the flush
 * packet.
 */
export function v2Capabilities(identity: ServerIdentity): string[] {
  return [
    `agent=${identity.agent}`,
    ...Object.entries(COMMANDS).map(([command, features]) => `${command}=${features}`),
    'server-option',
    `object-format=${OBJECT_FORMAT}`,
    `session-id=${identity.sessionId}`,
  ];
}

/** Returns the capability list for protocol versions 0 and 1. It follows the NUL byte after the first ref. */
export function capabilityList(
  names: readonly string[],
  identity: ServerIdentity,
  symref?: readonly [ByteString, ByteString],
): ByteString {
  const offered = bytesOf(names.join(' '));
  const pointed = symref ? latin1` symref=${symref[0]}:${symref[1]}` : NO_BYTES;
  const about = [`session-id=${identity.sessionId}`, `object-format=${OBJECT_FORMAT}`, `agent=${identity.agent}`];
  return latin1`${offered}${pointed} ${bytesOf(about.join(' '))}`;
}

/**
 * Parses the capabilities that the client chose, separated by spaces. Each is a name or `name=value`, split at the
 * first `=`. A name without `=` has an empty value.
 */
export function parseCapabilities(list: ByteString): ReadonlyMap<string, string> {
  const chosen = new Map<string, string>();
  for (const word of list.split(' ')) {
    const split = word.indexOf('=');
    if (split < 0) chosen.set(word, '');
    else chosen.set(word.slice(0, split), word.slice(split + 1));
  }
  chosen.delete('');
  return chosen;
}

/**
 * Throws `ProtocolError` if the client names an object format (hash function) other than SHA-1, the only supported one.
 * SHA-1 is assumed if the client names none.
 */
export function checkObjectFormat(format: string | undefined): void {
  if (format !== undefined && format !== OBJECT_FORMAT) {
    throw new ProtocolError(`mismatched object format: server ${OBJECT_FORMAT}; client ${format}`);
  }
}

export type ProtocolVersion = 0 | 1 | 2;

/**
 * Returns the protocol version that a `Git-Protocol` header requests. The header contains `key[=value]` pairs joined by
 * colons. If it has several pairs `version=n`, the highest known version counts. Everything else is ignored.
 */
export function protocolVersion(header: string | undefined): ProtocolVersion {
  let version: ProtocolVersion = 0;
  for (const part of header?.split(':') ?? []) {
    if (part === 'version=2') version = 2;
    else if (part === 'version=1' && version < 1) version = 1;
  }
  return version;
}
