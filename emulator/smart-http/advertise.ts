import { type ByteString, bytesOf, latin1 } from '../git/object/bytes.js';
import { Meter } from '../schedule/meter.js';
import {
  capabilityList,
  type ProtocolVersion,
  RECEIVE_PACK_CAPABILITIES,
  type ServerIdentity,
  UPLOAD_PACK_CAPABILITIES,
  v2Capabilities,
} from './capabilities.js';
import { FLUSH, packet } from './pkt-line.js';
import type { RefListings } from './ref-listings.js';
import { HEAD, type RepositoryView, visibleHead } from './view.js';

export type Service = 'git-upload-pack' | 'git-receive-pack';

/**
 * Returns the Git service that the query parameter `service` of `info/refs` names. Returns undefined if it names none.
 */
export function serviceOf(name: string | undefined): Service | undefined {
  return name === 'git-upload-pack' || name === 'git-receive-pack' ? name : undefined;
}

/**
 * Builds the body of `GET info/refs?service=`. gitprotocol-http, Smart Server Response:
 *
 *     smart_reply = PKT-LINE("# service=$servicename" LF) "0000" *1("version 1") ref_list "0000"
 *
 * For version 2 (gitprotocol-v2), it is only `PKT-LINE("version 2" LF) *capability flush-pkt`. Pushes have no version
 * 2; a client that requests it gets version 0.
 * @internal
 */
export async function advertise(
  view: RepositoryView,
  service: Service,
  version: ProtocolVersion,
  identity: ServerIdentity,
  listings: RefListings,
): Promise<Buffer> {
  if (service === 'git-upload-pack' && version === 2) {
    const lines = ['version 2', ...v2Capabilities(identity)];
    return Buffer.concat([...lines.map((line) => packet(bytesOf(`${line}\n`))), FLUSH]);
  }
  const meter = new Meter({ schedule: view.repository.objects.schedule });
  const kind = service === 'git-upload-pack' ? 'upload-pack' : 'receive-pack';
  const { first, rest } = await listings.advertisement(view, kind, meter);
  const capabilities =
    service === 'git-upload-pack'
      ? capabilityList(UPLOAD_PACK_CAPABILITIES, identity, headSymref(view))
      : capabilityList(RECEIVE_PACK_CAPABILITIES, identity);
  return Buffer.concat([
    packet(bytesOf(`# service=${service}\n`)),
    FLUSH,
    ...(version === 1 ? [packet(latin1`version 1\n`)] : []),
    packet(latin1`${first}\0${capabilities}\n`),
    rest,
    FLUSH,
  ]);
}

/**
 * Returns the names HEAD and its target, for the capability `symref`. Returns undefined if HEAD is detached, or if its
 * branch is unborn (has no commit). Unborn branches can be announced only from protocol version 2 on.
 */
function headSymref({ repository, prefix }: RepositoryView): readonly [ByteString, ByteString] | undefined {
  const head = visibleHead(repository.refs, prefix);
  return head?.oid && head.symref !== undefined ? [HEAD, head.symref] : undefined;
}
