import { type ByteString, bytesOf, latin1, NO_BYTES } from '../git/object/bytes.js';
import { ProtocolError } from './pkt-line.js';

/**
 * Capabilities that the fetch service announces in protocol versions 0 and 1. The server announces exactly what it
 * implements. Sources: gitprotocol-capabilities for versions 0 and 1, gitprotocol-v2 for version 2.
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
 * Commands of protocol version 2. The values are the features that the server announces for a command, separated by
 * spaces.
 */
export const COMMANDS = {
  'ls-refs': 'unborn',
  fetch: 'shallow wait-for-done filter ref-in-want',
  'object-info': 'size',
} as const;
export type Command = keyof typeof COMMANDS;

export const OBJECT_FORMAT = 'sha1';

/** Values of the capabilities `agent` and `session-id`. They differ between servers. */
export interface ServerIdentity {
  /** Value of the capability `agent`: `name/version`, printable and without spaces. */
  readonly agent: string;
  /**
   * Value of the capability `session-id`. It identifies the request in the logs of client and server. Printable and
   * without spaces.
   */
  readonly sessionId: string;
}

/**
 * Returns the capability lines of the version 2 advertisement. They follow the line `version 2`; a flush packet ends
 * them.
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

/**
 * Returns the capability list for protocol versions 0 and 1. In the advertisement, it follows the first ref and a NUL
 * byte.
 */
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
 * Parses the space-separated capabilities that the client chose. Each is `name=value`, or a name without a value. A
 * missing value becomes an empty string.
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
 * Throws `ProtocolError` if the client uses another object format (hash function) than SHA-1. Without a format, SHA-1
 * is assumed.
 */
export function checkObjectFormat(format: string | undefined): void {
  if (format !== undefined && format !== OBJECT_FORMAT) {
    throw new ProtocolError(`mismatched object format: server ${OBJECT_FORMAT}; client ${format}`);
  }
}

export type ProtocolVersion = 0 | 1 | 2;

/**
 * Returns the protocol version that a `Git-Protocol` header requests. The header contains `key[=value]` pairs joined by
 * colons. If several pairs are `version=n`, the highest known version counts. Everything else is ignored.
 */
export function protocolVersion(header: string | undefined): ProtocolVersion {
  let version: ProtocolVersion = 0;
  for (const part of header?.split(':') ?? []) {
    if (part === 'version=2') version = 2;
    else if (part === 'version=1' && version < 1) version = 1;
  }
  return version;
}
