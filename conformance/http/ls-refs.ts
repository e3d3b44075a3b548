import { DELIMITER, FLUSH, type PktLine, readPkts, writePkt } from './pkt-line.js';

/**
 * Git protocol v2 request for all refs. The response includes the target of each annotated tag (gitprotocol-v2,
 * `ls-refs`).
 */
export const LS_REFS = {
  service: 'git-upload-pack',
  contentType: 'application/x-git-upload-pack-request',
  protocol: 'version=2',
  body: Buffer.concat([writePkt('command=ls-refs\n'), DELIMITER, writePkt('peel\n'), writePkt('symrefs\n'), FLUSH]),
} as const;

export interface ListedRefs {
  /** Object ids by ref name. The object that an annotated tag points to has the name `<name>^{}`. */
  readonly refs: Map<string, string>;
  /** Full name of the branch that HEAD refers to. Undefined if the server does not report it. */
  readonly head?: string;
}

/**
 * Parses a ref advertisement of Git protocol v0, the response to `/info/refs` (gitprotocol-http). Throws an error if
 * the body does not consist of pkt-lines.
 */
export function readAdvertisedRefs(body: Buffer): ListedRefs {
  const refs = new Map<string, string>();
  let head: string | undefined;
  for (const line of readPkts(body).filter(isData)) {
    // In the first line, the server's capabilities follow a NUL, such as `symref=HEAD:refs/heads/main`.
    const [text = '', capabilities = ''] = line.toString('utf8').split('\0', 2);
    head ??= /(?:^| )symref=HEAD:(\S+)/.exec(capabilities)?.[1];
    const [, oid, name] = /^([0-9a-f]{40}) (\S+)$/.exec(text.trimEnd()) ?? [];
    if (oid !== undefined && name !== undefined && name !== 'capabilities^{}') refs.set(name, oid);
  }
  return head === undefined ? { refs } : { refs, head };
}

/** Parses the body of an `ls-refs` response. Throws an error if the body does not consist of pkt-lines. */
export function readListedRefs(body: Buffer): ListedRefs {
  const refs = new Map<string, string>();
  let head: string | undefined;
  for (const line of readPkts(body).filter(isData)) {
    const [oid = '', name = '', ...attributes] = line.toString('utf8').trimEnd().split(' ');
    const isUnborn = oid === 'unborn';
    if (!isUnborn && !/^[0-9a-f]{40}$/.test(oid)) continue;
    if (!isUnborn) refs.set(name, oid);
    for (const attribute of attributes) {
      const [key, value = ''] = attribute.split(':', 2);
      if (key === 'peeled') refs.set(`${name}^{}`, value);
      if (key === 'symref-target' && name === 'HEAD') head = value;
    }
  }
  return head === undefined ? { refs } : { refs, head };
}

function isData(line: PktLine): line is Buffer {
  return typeof line !== 'string';
}
