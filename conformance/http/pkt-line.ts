/**
 * pkt-line of the Git protocol (gitprotocol-common): four hexadecimal digits with the length of the whole line, then
 * the data. Three special lines have no data: `0000` flush, `0001` delimiter, `0002` response end.
 */
export type PktLine = Buffer | 'flush' | 'delimiter' | 'end';

const SPECIAL: Readonly<Record<string, PktLine>> = { '0000': 'flush', '0001': 'delimiter', '0002': 'end' };

export function writePkt(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data as string);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

export const FLUSH = Buffer.from('0000');
export const DELIMITER = Buffer.from('0001');

/** Parses a body into its pkt-lines. Throws if a length is invalid or if the body ends inside a line. */
export function readPkts(body: Buffer): PktLine[] {
  const lines: PktLine[] = [];
  let at = 0;
  while (at < body.length) {
    const head = body.toString('latin1', at, at + 4);
    const special = SPECIAL[head];
    if (special !== undefined) {
      lines.push(special);
      at += 4;
      continue;
    }
    const length = /^[0-9a-fA-F]{4}$/.test(head) ? Number.parseInt(head, 16) : 0;
    if (length < 4 || at + length > body.length) throw new Error(`not a pkt-line at byte ${at}`);
    lines.push(body.subarray(at + 4, at + length));
    at += length;
  }
  return lines;
}
