import { type ByteString, bytesOf, latin1 } from '../git/object/bytes.js';
import type { RefChange } from '../git/refs/ref-change.js';
import { FLUSH, packet } from './pkt-line.js';
import { bandPackets, DATA, PROGRESS } from './sideband.js';

/** How a push ended. */
export interface PushOutcome {
  /** Why the pack could not be taken in; undefined when it was, or when there was none. */
  readonly unpackError: string | undefined;
  /** By command: why it was refused, or undefined when it was done. */
  readonly reasons: readonly (string | undefined)[];
  /** Lines for the user's terminal. */
  readonly messages: readonly string[];
}

/**
 * The answer to a push. gitprotocol-pack, Report Status:
 *
 *     report-status  = PKT-LINE("unpack" SP ("ok" / error-msg)) 1*(command-status) flush-pkt
 *     command-status = PKT-LINE("ok" SP refname) / PKT-LINE("ng" SP refname SP error-msg)
 *
 * In side-band the report as a whole travels in band 1. `report-status-v2` adds `option` lines for refs
 * that were done under another name, which never happens here, so both look the same.
 */
export function writeReport(
  capabilities: ReadonlyMap<string, string>,
  commands: readonly Pick<RefChange, 'name'>[],
  { unpackError, reasons, messages }: PushOutcome,
): Buffer {
  const report: Buffer[] = [];
  if (capabilities.has('report-status') || capabilities.has('report-status-v2')) {
    report.push(packet(latin1`unpack ${oneLine(unpackError ?? 'ok')}\n`));
    for (const [index, { name }] of commands.entries()) {
      const reason = reasons[index];
      report.push(packet(reason === undefined ? latin1`ok ${name}\n` : latin1`ng ${name} ${oneLine(reason)}\n`));
    }
    report.push(FLUSH);
  }
  if (!capabilities.has('side-band-64k')) return Buffer.concat(report);
  const text = Buffer.from(messages.map((message) => `${message}\n`).join(''));
  return Buffer.concat([
    ...(text.length > 0 ? bandPackets(text, PROGRESS, 'side-band-64k') : []),
    ...(report.length > 0 ? bandPackets(Buffer.concat(report), DATA, 'side-band-64k') : []),
    FLUSH,
  ]);
}

/** A reason fills the rest of its line, and a line has to fit a packet beside a name. */
function oneLine(reason: string): ByteString {
  return bytesOf(reason.replaceAll(/[\r\n]+/g, ' ').slice(0, 1000));
}
