import type { Oid } from '../git/object/object.js';
import { NothingSelected, type ShallowBoundary } from '../git/revwalk/depth.js';
import { Meter } from '../git/schedule/meter.js';
import { asksForDepth, type DepthRequest } from './fetch-request.js';
import { packetText } from './pkt-line.js';
import { ProtocolError } from './protocol-error.js';
import { type RepositoryView, visibleTips } from './view.js';

/** Where a fetch cuts the history off, and how that differs from before. Throws `ProtocolError`. */
export async function findCut(
  view: RepositoryView,
  wants: Iterable<Oid>,
  request: DepthRequest,
): Promise<ShallowBoundary> {
  const { depth, relative, since, not, clientShallow } = request;
  if (depth > 0 && (since !== undefined || not.size > 0)) {
    throw new ProtocolError('upload-pack: deepen and deepen-since (or deepen-not) cannot be used together');
  }
  if (!asksForDepth(request)) return { shallow: [], unshallow: [], boundary: clientShallow };
  const { repository, prefix } = view;
  try {
    return await repository.history.shallowBoundary(
      {
        wants: [...wants],
        clientShallow,
        depth,
        relative,
        tips: visibleTips(repository.refs, prefix),
        ...(since !== undefined && { since }),
        not: [...not],
      },
      new Meter({ schedule: repository.objects.schedule }),
    );
  } catch (error) {
    throw error instanceof NothingSelected ? new ProtocolError(error.message) : error;
  }
}

/** gitprotocol-pack: `*PKT-LINE("shallow" SP obj-id) *PKT-LINE("unshallow" SP obj-id)` */
export function writeCut({ shallow, unshallow }: ShallowBoundary): Buffer {
  const lines = [...shallow.map((oid) => `shallow ${oid}`), ...unshallow.map((oid) => `unshallow ${oid}`)];
  return Buffer.from(lines.map(packetText).join(''), 'latin1');
}
