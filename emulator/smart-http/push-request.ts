import { type ByteString, sliceBytes } from '../git/object/bytes.js';
import { isOid } from '../git/object/object.js';
import { isDeletion, type RefChange } from '../git/refs/ref-change.js';
import { Meter } from '../schedule/meter.js';
import type { Schedule } from '../schedule/schedule.js';
import { checkObjectFormat, parseCapabilities } from './capabilities.js';
import { lineOf, type PacketReader, ProtocolError } from './pkt-line.js';
import type { WireLimits } from './wire-limits.js';

export interface PushRequest {
  /** Requested ref updates. Names are as the client wrote them, without the prefix of a ref namespace. */
  readonly commands: readonly RefChange[];
  readonly capabilities: ReadonlyMap<string, string>;
  /** True if the client's repository is shallow, which means that some of its commits lack their parents. */
  readonly isShallow: boolean;
  /** Reason why the whole push is refused although it is well-formed; undefined if it is accepted. */
  readonly refusal: string | undefined;
}

/** Returns true if a pack follows the commands. No pack follows if all commands delete refs. */
export function carriesPack({ commands }: PushRequest): boolean {
  return commands.some((command) => !isDeletion(command));
}

/**
 * Reads the part of the request before the pack. gitprotocol-pack, Reference Update Request:
 *
 *     update-requests = *shallow ( command-list | push-cert )
 *     command-list    = PKT-LINE(command NUL capability-list) *PKT-LINE(command) flush-pkt
 *     command         = old-id SP new-id SP name
 *     push-options    = *PKT-LINE(push-option) flush-pkt       ; when negotiated
 *
 * The request may be a single flush packet: clients send one to check their permission before they send a large body.
 */
export async function readPushRequest(
  reader: PacketReader,
  limits: WireLimits,
  schedule: Schedule,
): Promise<PushRequest> {
  const commands: RefChange[] = [];
  let capabilities: ReadonlyMap<string, string> = new Map();
  let isShallow = false;
  let count = 0;
  const meter = new Meter({ schedule });
  for (;;) {
    // Lets other requests run. Thousands of lines can be in the buffer, so that reading them never waits for the
    // network.
    if ((count & 63) === 63 && meter.shouldYield) await meter.yieldToEventLoop();
    const packet = await reader.read();
    if (packet === 'end' && count > 0) throw new ProtocolError('the remote end hung up unexpectedly');
    if (typeof packet === 'string') break;
    const nul = packet.indexOf(0);
    const line = lineOf(nul < 0 ? packet : packet.subarray(0, nul));
    if (nul >= 0) capabilities = parseCapabilities(lineOf(packet.subarray(nul + 1)));
    if (line.startsWith('shallow ')) isShallow = true;
    else if (++count <= limits.refUpdates) commands.push(parseCommand(line));
  }
  checkObjectFormat(capabilities.get('object-format'));
  if (count > 0 && capabilities.has('push-options')) await skipOptions(reader, limits);
  const refusal =
    count > limits.refUpdates
      ? `push has ${count} ref updates, but at most ${limits.refUpdates} are allowed`
      : undefined;
  return { commands, capabilities, isShallow, refusal };
}

function parseCommand(line: ByteString): RefChange {
  const [old, next, name] = [line.slice(0, 40), line.slice(41, 81), sliceBytes(line, 82)];
  if (!isOid(old) || !isOid(next) || line[40] !== ' ' || line[81] !== ' ' || name === '') {
    throw new ProtocolError(`protocol error: expected old/new/ref, got '${line.slice(0, 200)}'`);
  }
  return { name, old, new: next };
}

/** Skips the options of `git push -o`. Git also ignores them if no hook uses them. */
async function skipOptions(reader: PacketReader, limits: WireLimits): Promise<void> {
  for (let count = 0; ; count++) {
    const packet = await reader.read();
    if (typeof packet === 'string') return;
    if (count === limits.pushOptions)
      throw new ProtocolError(`push has more than ${limits.pushOptions} push options, the maximum`);
  }
}
