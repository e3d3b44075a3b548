import { DELIMITER, FLUSH, type PktLine, readPkts, writePkt } from './pkt-line.js';

/** What asks for every ref (gitprotocol-v2, `ls-refs`), tags peeled. */
export const LS_REFS = {
  service: 'git-upload-pack',
  contentType: 'application/x-git-upload-pack-request',
  protocol: 'version=2',
  body: Buffer.concat([writePkt('command=ls-refs\n'), DELIMITER, writePkt('peel\n'), writePkt('symrefs\n'), FLUSH]),
} as const;

export interface ListedRefs {
  /** Name to object id; what a tag leads to as `<name>^{}`. */
  readonly refs: Map<string, string>;
  /** The branch that HEAD stands for, where the service says so. */
  readonly head?: string;
}

/** Reads the answer. Throws on a body that is not made of pkt-lines. */
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
