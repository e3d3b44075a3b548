import { type ByteString, bytesOf, latin1, sliceBytes } from '../git/object/bytes.js';
import { isOid, type Oid } from '../git/object/object.js';
import { findCommit, findCommits } from '../git/object/tag.js';
import { Meter } from '../schedule/meter.js';
import { runSync, runYielding } from '../schedule/steps.js';
import { checkObjectFormat, parseCapabilities, UPLOAD_PACK_CAPABILITIES } from './capabilities.js';
import {
  asksForDepth,
  emptyRequest,
  type FetchRequest,
  findShallowBoundary,
  Negotiation,
  NO_ANSWER,
  notOurRef,
  readDepthLine,
  readFilter,
  readWant,
  type UploadPackRequest,
  type UploadPackResponse,
  writeShallowBoundary,
} from './fetch-request.js';
import { type GitFacts, note } from './git-facts.js';
import { FLUSH, lineText, type PacketReader, ProtocolError } from './pkt-line.js';
import { type RepositoryView, visibleTips } from './view.js';

/**
 * Handles a fetch in protocol versions 0 and 1. gitprotocol-pack, for a stateless request:
 *
 *     upload-request = want-list *shallow-line *1depth-request *1filter-request flush-pkt
 *     upload-haves   = *have-line (flush-pkt / "done")
 *
 * The response consists of acknowledgments and the pack. If a depth was requested, shallow lines and a flush packet
 * come first.
 */
export async function uploadPackV0(upload: UploadPackRequest): Promise<UploadPackResponse> {
  const { view, reader, facts } = upload;
  facts.command = 'fetch';
  const request = await readRequest(reader, view);
  const { flags } = request;
  for (const want of request.wants) note(facts, 'wants', want);
  if (request.wants.size === 0) return NO_ANSWER;
  await checkReachable(view, request.wants);
  const boundary = await findShallowBoundary(view, request);
  const head: Buffer[] = asksForDepth(request.depth) ? [writeShallowBoundary(boundary), FLUSH] : [];
  const negotiation = new Negotiation(view.repository, request.wants);
  const { replies, sendsPack } = await negotiate(reader, negotiation, flags, facts);
  head.push(Buffer.from(replies.map(lineText).join(''), 'latin1'));
  if (!sendsPack) return { head: Buffer.concat(head) };
  const sideband = SIDEBANDS.find((each) => flags.has(each)) ?? 'none';
  return {
    head: Buffer.concat(head),
    pack: { view, fetch: request, haves: negotiation.common, boundary, sideband },
  };
}

/**
 * Throws `ProtocolError` if a wanted commit is not reachable from a visible ref. In protocol versions 0 and 1 the
 * server first sends all visible refs, so a client has no reason to want other commits. Version 2 allows any object.
 *
 * As in `git rev-list`, wanted trees and blobs are not checked, because finding the commits that contain them would be
 * too expensive.
 */
async function checkReachable({ repository, prefix }: RepositoryView, wants: Iterable<Oid>): Promise<void> {
  const { refs, objects, history } = repository;
  const tips = new Set(visibleTips(refs, prefix));
  const wantOf = new Map<Oid, Oid>();
  for (const want of wants) {
    const commit = tips.has(want) ? undefined : runSync(findCommit(objects, want));
    if (commit) wantOf.set(commit, want);
  }
  if (wantOf.size === 0) return;
  const meter = new Meter({ schedule: objects.schedule });
  const commits = await runYielding(findCommits(objects, tips), meter);
  const [lost] = await history.unreached(commits, wantOf.keys(), meter);
  if (lost !== undefined) throw notOurRef(wantOf.get(lost)!);
}

/**
 * Side-band capabilities (the side-band multiplexes pack, progress and errors). The one with the largest packets comes
 * first.
 */
const SIDEBANDS = ['side-band-64k', 'side-band'] as const;

async function readRequest(reader: PacketReader, view: RepositoryView): Promise<FetchRequest> {
  const request = emptyRequest();
  for (;;) {
    const line = await reader.readLine();
    if (typeof line !== 'string') return request;
    if (readDepthLine(line, request.depth, view)) continue;
    if (line.startsWith('filter ')) {
      if (!request.flags.has('filter')) throw new ProtocolError('filtering capability not negotiated');
      readFilter(sliceBytes(line, 'filter '.length), request);
    } else if (line.startsWith('want ')) {
      const end = line.indexOf(' ', 'want '.length);
      if (end >= 0) chooseCapabilities(sliceBytes(line, end + 1), request);
      request.wants.add(readWant(sliceBytes(line, 'want '.length, end < 0 ? undefined : end), view));
    } else throw new ProtocolError(`protocol error, expected to get object ID, not '${line}'`);
  }
}

function chooseCapabilities(list: ByteString, { flags }: FetchRequest): void {
  const chosen = parseCapabilities(list);
  checkObjectFormat(chosen.get('object-format'));
  for (const name of UPLOAD_PACK_CAPABILITIES) if (chosen.has(name)) flags.add(name);
}

const NAK = bytesOf('NAK');
const COMMON = bytesOf('common');
const READY = bytesOf('ready');
const CONTINUE = bytesOf('continue');

interface Outcome {
  readonly replies: readonly ByteString[];
  readonly sendsPack: boolean;
}

/**
 * Reads the `have` lines of a fetch and writes the acknowledgments (gitprotocol-pack, "Packfile Negotiation"). In
 * multi_ack_detailed mode:
 *
 * - A common object is acknowledged with `ACK <oid> common`, and with `ACK <oid> ready` once the server knows enough
 *   common objects.
 * - A flush packet is answered with NAK.
 * - `done` is answered with a final ACK, or with NAK if nothing is common.
 * - With `no-done`, the pack follows `ready` immediately.
 */
async function negotiate(
  reader: PacketReader,
  negotiation: Negotiation,
  flags: ReadonlySet<string>,
  facts: GitFacts,
): Promise<Outcome> {
  const isDetailed = flags.has('multi_ack_detailed');
  const isMulti = isDetailed || flags.has('multi_ack');
  const common = isDetailed ? COMMON : CONTINUE;
  const ready = isDetailed ? READY : CONTINUE;
  const replies: ByteString[] = [];
  let last: Oid | undefined;
  let sawOther = false;
  let saidReady = false;
  for (let first = true; ; first = false) {
    const line = await reader.readLine();
    if (typeof line !== 'string') {
      // Sends no pack. A client that limits the depth of the history first sends a request without `have` lines, only
      // to learn the new shallow boundary.
      if (first && line.mark === 'end') return { replies, sendsPack: false };
      if (isDetailed && last && !sawOther && (await negotiation.isReady())) {
        saidReady = true;
        replies.push(latin1`ACK ${last} ready`);
      }
      if (!last || isMulti) replies.push(NAK);
      if (!flags.has('no-done') || !saidReady || last === undefined) return { replies, sendsPack: false };
      replies.push(latin1`ACK ${last}`);
      return { replies, sendsPack: true };
    }
    if (line === 'done') {
      if (!last) replies.push(NAK);
      else if (isMulti) replies.push(latin1`ACK ${last}`);
      return { replies, sendsPack: true };
    }
    const oid = line.startsWith('have ') ? line.slice('have '.length) : '';
    if (!isOid(oid)) throw new ProtocolError(`expected SHA1 list, got '${line}'`);
    note(facts, 'haves', oid);
    if (negotiation.add(oid)) {
      if (isMulti) replies.push(latin1`ACK ${oid} ${common}`);
      else if (!last) replies.push(latin1`ACK ${oid}`);
      last = oid;
    } else {
      sawOther = true;
      if (isMulti && (await negotiation.isReadyRoughly())) {
        saidReady = true;
        replies.push(latin1`ACK ${oid} ${ready}`);
      }
    }
  }
}
